/* Shapes S and P of cost.h that several costs share, as functions of their tables. */
#ifndef MFPG_GAMES_SHAPES_H
#define MFPG_GAMES_SHAPES_H

#include <math.h>

#include "cost.h"

/* Strengths: S = e, P = 1/e, and where u e + v/e is least; with a price u of 0 or less it falls with e for ever. */
static inline double mfpg_strength_utility(const mfpg_play *play, double e) {
    (void)play;
    return e;
}

static inline double mfpg_strength_privacy(const mfpg_play *play, double e) {
    (void)play;
    return 1.0 / e;
}

static inline double mfpg_strength_minimiser(const mfpg_play *play, double u, double v) {
    (void)play;
    return u > 0.0 ? sqrt(v / u) : (double)INFINITY;
}

/* Budgets: P = b^p/p. */
static inline double mfpg_budget_privacy(const mfpg_play *play, double b) {
    return play->game->privacy_power == 1.0 ? b : 0.5 * b * b;
}

#endif
