/* The mechanisms that take plain gradient steps: gaussian and input, whose noise is set by a budget b (more
 * budget, less noise), and none, which adds no noise. */
#include "mechanism_ops.h"

#include <math.h>

/* Returns the noise divided by the zero-out sensitivity, times b. Law game: sd = S_r/b with S_r = 2 S_z, so
 * that mu = b per step under replace (theory S2.2). Law classical: sd = S_z sqrt(2 ln(1.25/delta))/b, as in
 * the paper; this does not prove epsilon b (theory S0, 11), and the accountant computes what it does prove. */
static double law(const mfpg_mechanism_options *options) {
    return options->law == MFPG_LAW_GAME ? 2.0 : sqrt(2.0 * log(1.25 / options->delta));
}

static mfpg_status noise_sd(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release,
    ptrdiff_t rows, double *sd) {
    (void)ctx;
    (void)rows;
    const mfpg_action *action = &release->action;
    double multiplier = action->control == MFPG_CONTROL_MULTIPLIER
                            ? action->multiplier
                            : law(&mechanism->options) / action->budget.value;
    *sd = multiplier * release->sensitivity;
    return MFPG_OK;
}

static mfpg_action action_for(
    const mfpg_mechanism *mechanism, double sd, double sensitivity, ptrdiff_t rows) {
    (void)rows;
    return (mfpg_action){
        .control = MFPG_CONTROL_BUDGET, .budget = {.value = law(&mechanism->options) * sensitivity / sd}};
}

static double rate(const mfpg_mechanism_options *options) {
    return options->learning_rate;
}

/* Algorithm 2: w <- w - eta (g + N(0, sd^2)). */
const mfpg_mechanism_ops mfpg_mechanism_gaussian = {
    .name = "gaussian",
    .help = "clipped gradient steps with Gaussian noise set by a budget (DP-SGD, MAPG-DP)",
    .control = MFPG_CONTROL_BUDGET,
    .rate = rate,
    .noise_sd = noise_sd,
    .action_for = action_for,
};

/* x + N(0, sd^2 I) for features clipped to norm C, drawn once and kept; then plain gradient steps on the
 * noised records in every round (theory S5.3, MAPG-input). The noise follows the same law as for gaussian,
 * with the sensitivity of a record. */
const mfpg_mechanism_ops mfpg_mechanism_input = {
    .name = "input",
    .help = "noise on clipped records, drawn once and set by a budget; then plain training on them",
    .control = MFPG_CONTROL_BUDGET,
    .rate = rate,
    .noise_sd = noise_sd,
    .action_for = action_for,
    .particles = MFPG_PARTICLES_DATA,
};

/* No privacy. */
const mfpg_mechanism_ops mfpg_mechanism_none = {
    .name = "none",
    .help = "plain gradient steps without clip and noise; certifies nothing",
    .control = MFPG_CONTROL_NONE,
    .rate = rate,
};
