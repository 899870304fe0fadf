/* Lower bounds are rounded down and never fall below 0. */
#ifndef MFPG_AUDIT_OUTWARD_H
#define MFPG_AUDIT_OUTWARD_H

static inline double mfpg_max0(double x) {
    return x > 0.0 ? x : 0.0; /* NaN becomes 0: nothing is proved */
}

/* value less a rounding error of `size` units of about 2^-43: special functions here err by tens of units of 2^-53. */
static inline double mfpg_below(double value, double size) {
    return mfpg_max0(value - 0x1p-43 * size);
}

#endif
