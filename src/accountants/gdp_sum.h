/* What accountants of Gaussian mechanisms share: they compose exactly, mu^2 adding up (theory S2.1). Such an accountant
 * supplies record alone; the functions below are the other entries of its ops. */
#ifndef MFPG_ACCOUNTANTS_GDP_SUM_H
#define MFPG_ACCOUNTANTS_GDP_SUM_H

#include "ops.h"
#include "square_sum.h"

typedef struct gdp_sum {
    mfpg_adjacency adjacency;
    square_sum spent; /* sum of mu_t^2 */
    int loose;        /* 1: mu may be larger than the releases deserve, so nothing but 0 is a lower end */
} gdp_sum;

mfpg_status gdp_sum_start(mfpg_context *ctx, void *state, const mfpg_accountant_options *options);
double gdp_sum_mu(const void *state);
mfpg_status gdp_sum_epsilon(mfpg_context *ctx, const void *state, double delta, double *out);
mfpg_status gdp_sum_delta(mfpg_context *ctx, const void *state, double at, double *out);
double gdp_sum_rdp(const void *state, double order);
mfpg_status gdp_sum_other(mfpg_context *ctx, const void *state, double delta, double *out);
mfpg_status gdp_sum_epsilon_bounds(mfpg_context *ctx, const void *state, double delta, mfpg_bounds *out);
mfpg_status gdp_sum_delta_bounds(mfpg_context *ctx, const void *state, double at, mfpg_bounds *out);
int gdp_sum_covers(const void *state, const void *less);

#endif
