/* The only rule of clipping, for examples, client gradients and updates alike. */
#ifndef MFPG_MODELS_CLIP_FACTOR_H
#define MFPG_MODELS_CLIP_FACTOR_H

#include <math.h>

/* Between the factor and the final float there are at most six roundings of 2^-24 each; reducing the factor
 * by this much keeps rounding from raising a clipped norm above the clip. */
#define MFPG_CLIP_SHRINK (1.0 - 0x1p-21)

/* Returns min(1, clip/norm), slightly reduced so that rounding cannot exceed the clip; 0 if the norm is not
 * finite. */
static inline double mfpg_clip_factor(double norm, double clip) {
    double bound = clip * MFPG_CLIP_SHRINK;
    if (norm <= bound) return 1.0;
    return isfinite(norm) ? bound / norm : 0.0;
}

#endif
