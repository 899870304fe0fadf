/* The root of a function that changes sign once, where rounding may hide the change at an end of the bracket. */
#ifndef MFPG_GAMES_MONOTONE_ROOT_H
#define MFPG_GAMES_MONOTONE_ROOT_H

#include "numerics/special/roots.h"

typedef struct mfpg_monotone_result {
    double low, high; /* the root lies between; the same where it was hit, or lies at an end */
    int converged, iterations;
} mfpg_monotone_result;

/* f falls through its root in [low, high] (rising 0) or rises (rising 1). The theory says that the root lies inside;
 * where f has the sign of a root outside, by rounding, the nearer end is the root. Neighbouring doubles are reached up to
 * a relative width of 2^-51. */
mfpg_monotone_result mfpg_monotone_root(
    mfpg_scalar_function f, const void *arg, double low, double high, int rising);

#endif
