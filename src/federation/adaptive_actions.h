/* Actions that are chosen in each round: their names, and the rules for the options of a federation that
 * uses them. */
#ifndef MFPG_FEDERATION_ADAPTIVE_ACTIONS_H
#define MFPG_FEDERATION_ADAPTIVE_ACTIONS_H

#include "mfpg/federation.h"

const char *mfpg_selection_name(mfpg_selection selection); /* "none", "noisy", "exponential" */

/* The option that breaks a rule. */
typedef enum mfpg_acting_option {
    MFPG_ACTING_RIGHT = 0, /* none does */
    MFPG_ACTING_PARTICLES,
    MFPG_ACTING_COST,
    MFPG_ACTING_VIEW,
    MFPG_ACTING_WEIGHTS,
    MFPG_ACTING_ACCOUNTANT,
    MFPG_ACTING_FILTER,
    MFPG_ACTING_BUDGET,
    MFPG_ACTING_ACTIONS,
    MFPG_ACTING_SELECTION,
    MFPG_ACTING_LOSS_CLIP,
    MFPG_ACTING_LOSS_NOISE,
    MFPG_ACTING_GRADIENT_NOISE,
    MFPG_ACTING_EPSILON
} mfpg_acting_option;

/* Returns the first option that breaks a rule, and the reason. Of the game of options->acting it reads only
 * the cost and the actions, so that a configuration can be checked before data exist. */
mfpg_acting_option mfpg_acting_fault(
    const mfpg_federation_options *options, mfpg_particles particles, const char **why);

#endif
