/* Ascending order of many floats. */
#ifndef MFPG_NUMERICS_SORT_FLOATS_H
#define MFPG_NUMERICS_SORT_FLOATS_H

#include <stddef.h>

/* Puts x[0 .. n) in ascending order; no x is NaN, and -0 comes before 0. work: n floats. Linear in n. */
void mfpg_sort_floats(ptrdiff_t n, float *x, float *work);

#endif
