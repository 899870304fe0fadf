/* Actions that are chosen anew in every round: what the game keys say of them. */
#include "internal.h"

/* What is not set is not used; the federation checks what is. */
void mfpg_setup_acting(mfpg_experiment *experiment) {
    const mfpg_config *config = experiment->config;
    if (!mfpg_config_is(config, "game.update", "each-round")) return;
    experiment->acting = mfpg_config_fill(config).acting;
    experiment->acting.game = &experiment->game.game;
    experiment->options.acting = &experiment->acting;
}
