/* How much noise protects a client's last local step if only the average is seen (theory S2.2). */
#ifndef MFPG_ACCOUNTANTS_VIEW_NOISE_H
#define MFPG_ACCOUNTANTS_VIEW_NOISE_H

#include "mfpg/release.h"

#include "upward.h"

/* What protects whom in one round's sum. */
typedef struct mfpg_view_noise {
    int sums;         /* 0: the view is local */
    int participants; /* 1: other participants see the average too and know their own noise */
    const unsigned char
        *colluder;         /* flags of the federation's clients, by release.client; NULL: none. Borrowed */
    int64_t first, second; /* the clients of the largest noise and the next; -1 for none */
    double first_noise, second_noise;
    square_sum all, without_first, without_second;
} mfpg_view_noise;

/* Starts a round of that view. Every release of the round then goes through rank, once more every one through add, and from
 * then on last_sd tells what each client is granted. */
mfpg_view_noise mfpg_view_start(const mfpg_promise *promise, const unsigned char *colluder, int participants);
void mfpg_view_rank(mfpg_view_noise *view, const mfpg_release *release);
void mfpg_view_add(mfpg_view_noise *view, const mfpg_release *release);

/* last_sd of a release of the round, whose clients differ from one another. local: noise_sd. average and final: the noise
 * of the whole sum in client k's units, sqrt(sum over honest j of p_j^2 sd_j^2) / p_k, never below noise_sd; honest are the
 * clients that are neither colluders nor, with participants watching, the observer (the worst observer i != k is taken).
 * Rounded down; a colluder, a weight of 0, a number that is none and a release of data particles are granted noise_sd
 * alone; data particles protect nobody else. */
double mfpg_view_last_sd(const mfpg_view_noise *view, const mfpg_release *release);

#endif
