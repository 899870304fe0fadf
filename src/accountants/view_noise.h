/* Computes how much noise protects a client's last local step if only the average is seen (theory S2.2). */
#ifndef MFPG_ACCOUNTANTS_VIEW_NOISE_H
#define MFPG_ACCOUNTANTS_VIEW_NOISE_H

#include "mfpg/release.h"

#include "upward.h"

/* The noise in one round's sum, and whom it protects. */
typedef struct mfpg_view_noise {
    int sums;         /* 0: the view is local */
    int participants; /* 1: other participants see the average too and know their own noise */
    /* flags of the federation's clients, indexed by release.client; NULL: no colluders. Borrowed */
    const unsigned char *colluder;
    int64_t first, second; /* the clients with the largest noise and the next largest; -1 for none */
    double first_noise, second_noise;
    square_sum all, without_first, without_second;
} mfpg_view_noise;

/* Starts a round of that view. Every release of the round must then be passed to rank, and afterwards every
 * one to add; last_sd then returns what each client is granted. */
mfpg_view_noise mfpg_view_start(const mfpg_promise *promise, const unsigned char *colluder, int participants);
void mfpg_view_rank(mfpg_view_noise *view, const mfpg_release *release);
void mfpg_view_add(mfpg_view_noise *view, const mfpg_release *release);

/* Returns last_sd for a release of the round, in which each client occurs once. local: noise_sd. average and
 * final: the noise of the whole sum in client k's units, sqrt(sum over honest j of p_j^2 sd_j^2) / p_k,
 * never below noise_sd. Honest clients are neither colluders nor, if participants observe, the observer (the
 * worst observer i != k is taken). Rounded down. A colluder, a weight of 0, a number that is not finite and
 * a release of data particles are granted noise_sd only; data particles protect no other client. */
double mfpg_view_last_sd(const mfpg_view_noise *view, const mfpg_release *release);

#endif
