/* Gaussian differential privacy: every release is a Gaussian mechanism, and those compose exactly, mu^2 adding up
 * (theory S2.1, S2.2), whatever the loss, the clip and the order. Examples that were sampled count as if all had been
 * used: that is sound for every sampling scheme and both adjacencies, and claims no amplification. */
#include <math.h>

#include "gdp_sum.h"
#include "release_check.h"
#include "upward.h"

/* One round of S2.2: the early local steps are blurred by the client's own noise, the last by what the view grants. */
double mfpg_release_mu(const mfpg_release *release, mfpg_adjacency adjacency) {
    if (mfpg_release_fault(release) || release->particles != MFPG_PARTICLES_PARAMETERS)
        return (double)INFINITY;
    double shift = adjacency == MFPG_ADJACENCY_REPLACE ? 2.0 * release->sensitivity : release->sensitivity;
    double last = divide_up(shift, release->last_sd);
    if (release->steps == 1) return last;
    double early = divide_up(shift, release->noise_sd);
    double early_square = multiply_up((double)(release->steps - 1), multiply_up(early, early));
    return root_up(add_up(early_square, multiply_up(last, last)));
}

static mfpg_status record(mfpg_context *ctx, void *state, const mfpg_release *release, int64_t times) {
    (void)ctx;
    gdp_sum *gdp = state;
    square_sum_add_times(&gdp->spent, mfpg_release_mu(release, gdp->adjacency), times);
    if (release->sampling_rate < 1.0 || release->last_sd != release->noise_sd) gdp->loose = 1;
    return MFPG_OK;
}

const mfpg_accountant_ops mfpg_accountant_gdp = {
    .name = "gdp",
    .help = "Gaussian differential privacy, exact for these mechanisms; sampling is not credited",
    .certifies = 1,
    .facts = MFPG_ACCOUNTANT_SUMS_SQUARES,
    .state_size = sizeof(gdp_sum),
    .record = record,
    .epsilon = gdp_sum_epsilon,
    .delta = gdp_sum_delta,
    .start = gdp_sum_start,
    .mu = gdp_sum_mu,
    .rdp = gdp_sum_rdp,
    .other = gdp_sum_other,
    .epsilon_bounds = gdp_sum_epsilon_bounds,
    .delta_bounds = gdp_sum_delta_bounds,
    .covers = gdp_sum_covers,
};
