/* Geometric sums of a ratio c >= 0 that may be close to 1, for any number of terms. */
#ifndef MFPG_NUMERICS_GEOMETRIC_H
#define MFPG_NUMERICS_GEOMETRIC_H

#include <math.h>

/* log c; -INFINITY for 0. */
static inline double mfpg_log_ratio(double c) {
    return c >= 0.5 ? log1p(c - 1.0) : log(c); /* c - 1 is exact */
}

/* Returns 1 + c + ... + c^(n-1), n >= 1. Its relative error is some units times 1 + n |log c| if c > 1, and
 * some units otherwise. */
static inline double mfpg_geometric_sum(double c, double n) {
    if (c == 1.0) return n;
    if (c == 0.0) return 1.0;
    return expm1(n * mfpg_log_ratio(c)) / (c - 1.0);
}

/* Returns the same for the ratio c^2; computing c^2 - 1 directly would cancel. */
static inline double mfpg_geometric_sum_squares(double c, double n) {
    if (c == 1.0) return n;
    if (c == 0.0) return 1.0;
    return expm1(2.0 * n * mfpg_log_ratio(c)) / ((c - 1.0) * (c + 1.0));
}

#endif
