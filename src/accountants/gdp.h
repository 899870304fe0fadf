/* What accountants of Gaussian mechanisms share: these compose exactly by adding mu^2 (theory S2.1). gdp_sum
 * is the state of accountants that keep nothing else; they supply record and use the functions below as the
 * other entries of their ops. */
#ifndef MFPG_ACCOUNTANTS_GDP_H
#define MFPG_ACCOUNTANTS_GDP_H

#include "accountant_ops.h"
#include "upward.h"

typedef struct gdp_sum {
    mfpg_adjacency adjacency;
    square_sum spent; /* sum of mu_t^2 */
    /* 1: mu may be larger than what was really released, so 0 is the only valid lower end */
    int loose;
} gdp_sum;

mfpg_status gdp_sum_start(mfpg_context *ctx, void *state, const mfpg_accountant_options *options);
mfpg_status gdp_sum_answer(
    mfpg_context *ctx, const void *state, const mfpg_question *asked, mfpg_bounds *out);
double gdp_sum_mu(const void *state);
int gdp_sum_covers(const void *state, const void *less);

/* Converts mu under the promise's adjacency to mu under the requested one: the sensitivity, and mu with it,
 * is doubled, halved or unchanged. */
double gdp_mu_under(double mu, mfpg_adjacency own, mfpg_adjacency asked);

/* Sets the upper end of a mu that was rounded up by less than 1e-14 of itself and, unless it is loose, the
 * lower end. */
void gdp_answer(double mu, int loose, const mfpg_question *asked, mfpg_bounds *out);

/* Returns the Renyi divergence of mu-GDP, order mu^2/2, rounded up. */
double gdp_renyi(double mu, double order);

#endif
