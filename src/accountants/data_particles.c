/* Records as particles. Each record is mapped and noised once, and everything later reads only the noised
 * record (theory S5.2, S5.3). Two neighbouring clients differ by S at the start and so by at most c S after
 * the first map, to which the noise is added: mu = c S/s. This is paid once, for any number of rounds, all
 * of which may be seen. Every record() is a new release of the raw records; releases compose like any
 * Gaussian mechanisms. */
#include <float.h>
#include <math.h>

#include "accounting.h"
#include "gdp.h"
#include "release_check.h"

double mfpg_data_release_mu(const mfpg_release *release, mfpg_adjacency adjacency) {
    if (mfpg_release_fault(release) || release->particles != MFPG_PARTICLES_DATA) return (double)INFINITY;
    double distance = adjacency == MFPG_ADJACENCY_REPLACE ? 2.0 * release->sensitivity : release->sensitivity;
    return divide_up(multiply_up(release->contraction, distance), release->noise_sd);
}

/* Beyond this exponent the shares approach the limits of doubles. The loss falls with the number of steps,
 * so the bound for fewer steps is used. */
#define LARGEST_EXPONENT 600.0

/* Computes c^(2K) (1-c^2)/(1-c^(2K)) = (1-c)(1+c)/expm1(-2K ln c), which is S2.3 with a gap at the start
 * only, also for c > 1. 1 - c is exact from 1/2 to 2, and log1p and expm1 avoid cancellation for c near 1.
 * There are about a dozen roundings in addition to those of the exponent. It carries at most four, which
 * expm1 magnifies by at most 1 + exponent above 0, and not at all below. */
static double share_after(double c, int64_t steps) {
    if (c == 1.0) return 1.0 / (double)steps * (1.0 + 4.0 * DBL_EPSILON);
    double exponent = fmin(-2.0 * (double)steps * log1p(c - 1.0), LARGEST_EXPONENT);
    double share = (1.0 - c) * (1.0 + c) / expm1(exponent);
    return share * (1.0 + (16.0 + 8.0 * fmax(exponent, 0.0)) * DBL_EPSILON);
}

double mfpg_data_exogenous_mu(double distance, double noise_sd, double contraction, int64_t steps) {
    int sound = distance >= 0.0 && isfinite(distance) && noise_sd >= 0.0 && isfinite(noise_sd) &&
                contraction >= 0.0 && isfinite(contraction) && steps >= 1;
    if (!sound) return (double)INFINITY;
    if (contraction == 0.0) return noise_sd > 0.0 || distance == 0.0 ? 0.0 : (double)INFINITY;
    double alone = divide_up(distance, noise_sd);
    double latest = multiply_up(alone, root_up(share_after(contraction, steps)));
    return fmin(
        /* the share after the first map is an upper bound for all later ones */
        latest, multiply_up(contraction, alone));
}

static mfpg_status record(mfpg_context *ctx, void *state, const mfpg_release *release, int64_t times) {
    (void)ctx;
    gdp_sum *data = state;
    data->loose = 1; /* contraction is an upper bound */
    square_sum_add_times(&data->spent, mfpg_data_release_mu(release, data->adjacency), times);
    return MFPG_OK;
}

const mfpg_accountant_ops mfpg_accountant_data_particles = {
    .name = "data-particles",
    .help = "records noised once: Gaussian DP of the noised records, for any number of rounds",
    .certifies = 1,
    .particles = MFPG_PARTICLES_DATA,
    .facts = MFPG_ACCOUNTANT_SUMS_SQUARES,
    .state_size = sizeof(gdp_sum),
    .record = record,
    .answer = gdp_sum_answer,
    .start = gdp_sum_start,
    .mu = gdp_sum_mu,
    .covers = gdp_sum_covers,
};
