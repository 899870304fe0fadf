/* Isotonic regression: the nondecreasing sequence nearest to given numbers. */
#ifndef MFPG_NUMERICS_ISOTONIC_H
#define MFPG_NUMERICS_ISOTONIC_H

#include <stddef.h>

/* fit = argmin sum_i (fit_i - y_i)^2 over nondecreasing fit, by pooling adjacent violators. Numbers that need no pooling
 * come back to the bit. fit may be y.
 * @param work  count sizes  @return how many numbers stand in a pool with others */
ptrdiff_t mfpg_isotonic_fit(ptrdiff_t count, const double *y, double *fit, ptrdiff_t *work);

#endif
