#include "gdp_sum.h"

#include "upward.h"

mfpg_status gdp_sum_start(mfpg_context *ctx, void *state, const mfpg_accountant_options *options) {
    (void)ctx;
    ((gdp_sum *)state)->adjacency = options->promise.adjacency;
    return MFPG_OK;
}

double gdp_sum_mu(const void *state) {
    return square_sum_root_up(&((const gdp_sum *)state)->spent);
}

mfpg_status gdp_sum_epsilon(mfpg_context *ctx, const void *state, double delta, double *out) {
    (void)ctx;
    *out = mfpg_gdp_epsilon(gdp_sum_mu(state), delta);
    return MFPG_OK;
}

mfpg_status gdp_sum_delta(mfpg_context *ctx, const void *state, double at, double *out) {
    (void)ctx;
    *out = mfpg_gdp_delta(gdp_sum_mu(state), at);
    return MFPG_OK;
}

double gdp_sum_rdp(const void *state, double order) {
    double spent = gdp_sum_mu(state);
    return spent == 0.0 ? 0.0 : multiply_up(0.5 * order, multiply_up(spent, spent));
}

/* Sensitivity, and mu with it, is twice or half. */
mfpg_status gdp_sum_other(mfpg_context *ctx, const void *state, double delta, double *out) {
    (void)ctx;
    int replace = ((const gdp_sum *)state)->adjacency == MFPG_ADJACENCY_REPLACE;
    double spent = gdp_sum_mu(state);
    *out = mfpg_gdp_epsilon(replace ? 0.5 * spent : 2.0 * spent, delta);
    return MFPG_OK;
}

/* mu was rounded up by less than 1e-14 of itself, and the two conversions by what 2e-12 of mu makes of them (or, of delta,
 * 1e-12 of it, which is less than what 1e-12 of mu makes of it). */
static double mu_below(const void *state) {
    const gdp_sum *gdp = state;
    return gdp->loose ? 0.0 : gdp_sum_mu(state) * (1.0 - 1e-10);
}

mfpg_status gdp_sum_epsilon_bounds(mfpg_context *ctx, const void *state, double delta, mfpg_bounds *out) {
    out->lower = mfpg_gdp_epsilon(mu_below(state), delta);
    return gdp_sum_epsilon(ctx, state, delta, &out->upper);
}

mfpg_status gdp_sum_delta_bounds(mfpg_context *ctx, const void *state, double at, mfpg_bounds *out) {
    out->lower = mfpg_gdp_delta(mu_below(state), at);
    return gdp_sum_delta(ctx, state, at, &out->upper);
}

int gdp_sum_covers(const void *state, const void *less) {
    return gdp_sum_mu(state) >= gdp_sum_mu(less);
}
