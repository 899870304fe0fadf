/* Differential entropy of a sample by its spacings. */
#ifndef MFPG_NUMERICS_SPACING_ENTROPY_H
#define MFPG_NUMERICS_SPACING_ENTROPY_H

#include <stddef.h>

/* The entropy, in nats, of the law that the n numbers were drawn from: Vasicek's estimate, the mean logarithm of spacings
 * over 2m neighbours, less what it is off by for uniform numbers, m = n^(1/3) rounded.
 *   For normal numbers what is left of the bias is below 0.02 from n = 60 on and below 0.003 from 200 on, and the standard
 * deviation sqrt(1/(2n)) to a tenth, that of the best estimate that knows the law to be normal.
 * @param sorted  ascending, finite
 * @return NAN for n < 3; -INFINITY where more than 2m numbers are equal: such a law has no density. */
double mfpg_spacing_entropy(ptrdiff_t n, const float *sorted);

#endif
