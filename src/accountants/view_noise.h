/* Computes how much noise protects a client's last local step if only the average is seen (theory S2.2). */
#ifndef MFPG_ACCOUNTANTS_VIEW_NOISE_H
#define MFPG_ACCOUNTANTS_VIEW_NOISE_H

#include "mfpg/release.h"
#include "mfpg/secure_sum.h"

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
    /* A secure sum: t > 0 is its threshold, and share[client] what each member brings. t = 0: the sum is trusted. */
    int threshold, colluders;
    int64_t members;
    mfpg_sum_share share[MFPG_SUM_MOST];
} mfpg_view_noise;

/* Starts a round of that view. Every release of the round must then be passed to rank, and afterwards every
 * one to add; last_sd then returns what each client is granted. */
mfpg_view_noise mfpg_view_start(const mfpg_promise *promise, const unsigned char *colluder, int participants);
void mfpg_view_rank(mfpg_view_noise *view, const mfpg_release *release);
void mfpg_view_add(mfpg_view_noise *view, const mfpg_release *release);

/* Makes the sum of a started view a secure one (mfpg/secure_sum.h). Up to `colluders` of its members may work together
 * with the server, any participant and those that are named included, and clients may drop out until `threshold` are left: last_sd is then
 * mfpg_sum_noise. Releases are those of the clients 0 to MFPG_SUM_MOST - 1 and have a grid. */
void mfpg_view_secure(mfpg_view_noise *view, int threshold, int colluders);

/* Returns last_sd for a release of the round, in which each client occurs once. local: noise_sd. average and
 * final: the noise of the whole sum in client k's units, sqrt(sum over honest j of p_j^2 sd_j^2) / p_k,
 * never below noise_sd. Honest clients are neither colluders nor, if participants observe, the observer (the
 * worst observer i != k is taken). Rounded down. A colluder, a weight of 0, a number that is not finite and
 * a release of data particles are granted noise_sd only; data particles protect no other client. */
double mfpg_view_last_sd(const mfpg_view_noise *view, const mfpg_release *release);

/* Returns the same for a release into a secure sum whose survivors are known: flags of MFPG_SUM_MOST clients. */
double mfpg_view_survived_sd(
    const mfpg_view_noise *view, const mfpg_release *release, const unsigned char *survivors);

#endif
