/* The variance of many numbers. */
#ifndef MFPG_NUMERICS_VARIANCE_H
#define MFPG_NUMERICS_VARIANCE_H

#include <stddef.h>

/* Of n >= 1 numbers, counted from the first of them: a common offset harms nothing, and equal numbers have 0. */
double mfpg_variance_of(ptrdiff_t n, const double *x);

#endif
