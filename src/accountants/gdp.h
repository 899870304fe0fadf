/* What accountants of Gaussian mechanisms share: they compose exactly, mu^2 adding up (theory S2.1). gdp_sum is the state
 * of those that keep nothing else; they supply record, and have the functions below as the other entries of their ops. */
#ifndef MFPG_ACCOUNTANTS_GDP_H
#define MFPG_ACCOUNTANTS_GDP_H

#include "accountant_ops.h"
#include "upward.h"

typedef struct gdp_sum {
    mfpg_adjacency adjacency;
    square_sum spent; /* sum of mu_t^2 */
    int loose;        /* 1: mu may be larger than the releases deserve, so nothing but 0 is a lower end */
} gdp_sum;

mfpg_status gdp_sum_start(mfpg_context *ctx, void *state, const mfpg_accountant_options *options);
mfpg_status gdp_sum_answer(
    mfpg_context *ctx, const void *state, const mfpg_question *asked, mfpg_bounds *out);
double gdp_sum_mu(const void *state);
int gdp_sum_covers(const void *state, const void *less);

/* mu under the adjacency asked for, if it is mu under that of the promise: sensitivity, and mu with it, is twice as large
 * or half. */
double gdp_mu_under(double mu, mfpg_adjacency own, mfpg_adjacency asked);

/* The upper end of a mu that was rounded up by less than 1e-14 of itself, and the lower end, unless it is loose. */
void gdp_answer(double mu, int loose, const mfpg_question *asked, mfpg_bounds *out);

/* The Renyi divergence of mu-GDP, order mu^2/2, rounded up. */
double gdp_renyi(double mu, double order);

#endif
