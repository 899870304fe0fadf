/* Algorithm 2: w <- w - eta (g + N(0, sd^2)), the noise set by a budget b (more budget, less noise). */
#include "law.h"

static double rate(const mfpg_mechanism_options *options) {
    return options->learning_rate;
}

const mfpg_mechanism_ops mfpg_mechanism_gaussian = {
    .name = "gaussian",
    .help = "clipped gradient steps with Gaussian noise set by a budget (DP-SGD, MAPG-DP)",
    .control = MFPG_CONTROL_BUDGET,
    .rate = rate,
    .noise_sd = mfpg_budget_noise_sd,
    .action_for = mfpg_budget_action_for,
};
