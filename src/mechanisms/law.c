#include "law.h"

#include <math.h>

/* Noise over the zero-out sensitivity is law/b. Game: sd = S_r/b with S_r = 2 S_z, so that mu = b a step under replace
 * (theory S2.2). Classical: sd = S_z sqrt(2 ln(1.25/delta))/b, what the paper writes; it is no proof of epsilon b
 * (theory S0, 11), the accountant decides what it is worth. */
static double law(const mfpg_mechanism_options *options) {
    return options->law == MFPG_LAW_GAME ? 2.0 : sqrt(2.0 * log(1.25 / options->delta));
}

mfpg_status mfpg_budget_noise_sd(mfpg_context *ctx, const mfpg_mechanism *mechanism,
    const mfpg_release *release, ptrdiff_t rows, double *sd) {
    (void)ctx;
    (void)rows;
    const mfpg_action *action = &release->action;
    double multiplier = action->control == MFPG_CONTROL_MULTIPLIER
                            ? action->multiplier
                            : law(&mechanism->options) / action->budget.value;
    *sd = multiplier * release->sensitivity;
    return MFPG_OK;
}

mfpg_action mfpg_budget_action_for(
    const mfpg_mechanism *mechanism, double sd, double sensitivity, ptrdiff_t rows) {
    (void)rows;
    return (mfpg_action){
        .control = MFPG_CONTROL_BUDGET, .budget = {.value = law(&mechanism->options) * sensitivity / sd}};
}
