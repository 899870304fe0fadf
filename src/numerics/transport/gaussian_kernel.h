/* Entries of the transport kernel exp(-(x_i - x_j)^2 / eta). */
#ifndef MFPG_NUMERICS_GAUSSIAN_KERNEL_H
#define MFPG_NUMERICS_GAUSSIAN_KERNEL_H

#include <stddef.h>

/* Exponents beyond this count as 0: e^-36 = 2e-16 beside the diagonal's 1. */
#define MFPG_GAUSSIAN_CUTOFF 36.0

/* (at - x)^2 / eta with inverse = 1/eta; from the difference, so the same bits with the two exchanged and unharmed by a
 * common offset. */
static inline double mfpg_gaussian_exponent(double at, double x, double inverse) {
    double difference = at - x;
    return difference * difference * inverse;
}

/* out_j = exp(-mfpg_gaussian_exponent(at, x_j, inverse)) for n entries whose exponents are at most the cutoff; relative
 * error below 1e-15. Additions and multiplications only: the same bits on every x86-64. */
void mfpg_gaussian_row(ptrdiff_t n, const double *x, double at, double inverse, double *out);

/* entry_j becomes exp(-entry_j) for n numbers from 0 to 700, in the same way. */
void mfpg_gaussian_entries(ptrdiff_t n, double *entry);

#endif
