/* Noise on the records: x + N(0, sd^2 I) for features clipped to norm C, drawn once and kept; then plain gradient steps on
 * the noised records in every round (theory S5.3, MAPG-input). The budget b sets the noise as for gaussian, over the
 * sensitivity of a record: law game sd = 2 S_z/b, so that mu = b under replace; classical sd = S_z sqrt(2 ln(1.25/delta))/b. */
#include "law.h"

static double rate(const mfpg_mechanism_options *options) {
    return options->learning_rate;
}

const mfpg_mechanism_ops mfpg_mechanism_input = {
    .name = "input",
    .help = "noise on clipped records, drawn once and set by a budget; then plain training on them",
    .control = MFPG_CONTROL_BUDGET,
    .rate = rate,
    .noise_sd = mfpg_budget_noise_sd,
    .action_for = mfpg_budget_action_for,
    .particles = MFPG_PARTICLES_DATA,
};
