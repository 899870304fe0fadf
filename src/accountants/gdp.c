/* Gaussian differential privacy. Every release is a Gaussian mechanism, and these compose exactly by adding
 * mu^2 (theory S2.1, S2.2), for any loss, any clip and any order. Sampled examples count as if all had been
 * used: this is valid for every sampling scheme and both adjacencies, and claims no amplification. */
#include "gdp.h"

#include <math.h>

#include "release_check.h"

/* One round of S2.2: the client's own noise protects the early local steps; the noise that the view grants
 * protects the last one. */
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

double gdp_mu_under(double mu, mfpg_adjacency own, mfpg_adjacency asked) {
    if (asked == own) return mu;
    return own == MFPG_ADJACENCY_REPLACE ? 0.5 * mu : 2.0 * mu;
}

/* The two conversions round up by the effect of a relative 2e-12 of mu (or delta by a relative 1e-12, which
 * is less than the effect of 1e-12 of mu). */
void gdp_answer(double mu, int loose, const mfpg_question *asked, mfpg_bounds *out) {
    double (*convert)(double mu, double given) = asked->for_delta ? mfpg_gdp_delta : mfpg_gdp_epsilon;
    out->upper = convert(mu, asked->given);
    if (asked->both_ends && !loose) out->lower = convert(mu * (1.0 - 1e-10), asked->given);
}

double gdp_renyi(double mu, double order) {
    return mu == 0.0 ? 0.0 : multiply_up(0.5 * order, multiply_up(mu, mu));
}

/* ---- the accountant, and what data_particles shares with it ---- */

mfpg_status gdp_sum_start(mfpg_context *ctx, void *state, const mfpg_accountant_options *options) {
    (void)ctx;
    ((gdp_sum *)state)->adjacency = options->promise.adjacency;
    return MFPG_OK;
}

double gdp_sum_mu(const void *state) {
    return square_sum_root_up(&((const gdp_sum *)state)->spent);
}

mfpg_status gdp_sum_answer(
    mfpg_context *ctx, const void *state, const mfpg_question *asked, mfpg_bounds *out) {
    (void)ctx;
    const gdp_sum *gdp = state;
    gdp_answer(gdp_mu_under(gdp_sum_mu(state), gdp->adjacency, asked->adjacency), gdp->loose, asked, out);
    return MFPG_OK;
}

int gdp_sum_covers(const void *state, const void *less) {
    return gdp_sum_mu(state) >= gdp_sum_mu(less);
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
    .answer = gdp_sum_answer,
    .start = gdp_sum_start,
    .mu = gdp_sum_mu,
    .covers = gdp_sum_covers,
};
