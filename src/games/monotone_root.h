/* The root of a function that changes sign once, also if rounding hides the change at an end of the bracket. */
#ifndef MFPG_GAMES_MONOTONE_ROOT_H
#define MFPG_GAMES_MONOTONE_ROOT_H

#include "numerics/special/roots.h"

/* f falls through its root in [low, high] (rising 0) or rises (rising 1). The theory says that the root is inside; if f has by
 * rounding the sign of a root outside, the nearer end is the root. The root is between the ends of the result, which are
 * neighbouring doubles up to a relative width of 2^-51, or the same. */
static inline mfpg_root mfpg_monotone_root(
    mfpg_scalar_function f, const void *arg, double low, double high, int rising) {
    double at_low = f(low, arg), at_high = f(high, arg);
    if (rising ? at_low >= 0.0 : at_low <= 0.0) return (mfpg_root){.low = low, .high = low, .converged = 1};
    if (rising ? at_high <= 0.0 : at_high >= 0.0)
        return (mfpg_root){.low = high, .high = high, .converged = 1};
    return mfpg_root_bracket(f, arg, low, high, 0x1p-51);
}

#endif
