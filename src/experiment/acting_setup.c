/* Actions that are chosen anew in every round: what the game keys say of them. */
#include <math.h>

#include "internal.h"

/* What is not set is not used; the federation checks what is. */
static double given(const mfpg_config *config, const char *path) {
    return mfpg_config_has(config, path) ? mfpg_config_number(config, path) : 0.0;
}

static mfpg_selection selection_of(const mfpg_config *config) {
    if (mfpg_config_is(config, "game.selection", "noisy")) return MFPG_SELECTION_NOISY;
    if (mfpg_config_is(config, "game.selection", "exponential")) return MFPG_SELECTION_EXPONENTIAL;
    return MFPG_SELECTION_NONE;
}

void mfpg_setup_acting(mfpg_experiment *experiment) {
    const mfpg_config *config = experiment->config;
    if (!mfpg_config_is(config, "game.update", "each-round")) return;
    experiment->acting = (mfpg_acting){
        .game = &experiment->game.game,
        .selection = selection_of(config),
        .loss_clip = mfpg_config_number(config, "game.loss_clip"),
        .noise = {given(config, "game.loss_noise"), given(config, "game.gradient_noise")},
        .epsilon = given(config, "game.selection_epsilon"),
    };
    experiment->options.acting = &experiment->acting;
}
