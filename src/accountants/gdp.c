/* Gaussian differential privacy: every release is a Gaussian mechanism, and those compose exactly, mu^2 adding up
 * (theory S2.1, S2.2), whatever the loss, the clip and the order. Examples that were sampled count as if all had been
 * used: that is sound for every sampling scheme and both adjacencies, and claims no amplification. */
#include <math.h>

#include "ops.h"
#include "release_check.h"
#include "square_sum.h"
#include "upward.h"

/* One round of S2.2: the early local steps are blurred by the client's own noise, the last by what the view grants. */
double mfpg_release_mu(const mfpg_release *release, mfpg_adjacency adjacency) {
    if (mfpg_release_fault(release)) return (double)INFINITY;
    double shift = adjacency == MFPG_ADJACENCY_ZERO_OUT ? release->sensitivity : 2.0 * release->sensitivity;
    double last = divide_up(shift, release->last_sd);
    if (release->steps == 1) return last;
    double early = divide_up(shift, release->noise_sd);
    double early_square = multiply_up((double)(release->steps - 1), multiply_up(early, early));
    return root_up(add_up(early_square, multiply_up(last, last)));
}

typedef struct gdp_state {
    mfpg_adjacency adjacency;
    square_sum spent; /* sum of mu_t^2 */
} gdp_state;

static mfpg_status start(mfpg_context *ctx, void *state, const mfpg_accountant_options *options) {
    (void)ctx;
    ((gdp_state *)state)->adjacency = options->promise.adjacency;
    return MFPG_OK;
}

static mfpg_status record(mfpg_context *ctx, void *state, const mfpg_release *release, int64_t times) {
    (void)ctx;
    gdp_state *gdp = state;
    square_sum_add_times(&gdp->spent, mfpg_release_mu(release, gdp->adjacency), times);
    return MFPG_OK;
}

static double mu(const void *state) {
    return square_sum_root_up(&((const gdp_state *)state)->spent);
}

static mfpg_status epsilon(mfpg_context *ctx, const void *state, double delta, double *out) {
    (void)ctx;
    *out = mfpg_gdp_epsilon(mu(state), delta);
    return MFPG_OK;
}

static mfpg_status delta(mfpg_context *ctx, const void *state, double at, double *out) {
    (void)ctx;
    *out = mfpg_gdp_delta(mu(state), at);
    return MFPG_OK;
}

static double rdp(const void *state, double order) {
    double spent = mu(state);
    return spent == 0.0 ? 0.0 : multiply_up(0.5 * order, multiply_up(spent, spent));
}

/* Sensitivity, and mu with it, is twice or half. */
static mfpg_status other(mfpg_context *ctx, const void *state, double delta, double *out) {
    (void)ctx;
    int replace = ((const gdp_state *)state)->adjacency == MFPG_ADJACENCY_REPLACE;
    *out = mfpg_gdp_epsilon(replace ? 0.5 * mu(state) : 2.0 * mu(state), delta);
    return MFPG_OK;
}

static int covers(const void *state, const void *less) {
    return mu(state) >= mu(less);
}

const mfpg_accountant_ops mfpg_accountant_gdp = {
    .name = "gdp",
    .help = "Gaussian differential privacy, exact for these mechanisms; sampling is not credited",
    .certifies = 1,
    .state_size = sizeof(gdp_state),
    .record = record,
    .epsilon = epsilon,
    .delta = delta,
    .start = start,
    .mu = mu,
    .rdp = rdp,
    .other = other,
    .covers = covers,
};
