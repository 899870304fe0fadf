/* Sorting, results from sorted numbers (the nearest monotone sequence, the entropy of a sample), and the
 * cheapest assignment. */
#ifndef MFPG_NUMERICS_SORTING_H
#define MFPG_NUMERICS_SORTING_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/context.h"

/* Sorts x[0 .. n) in ascending order; no x may be NaN, and -0 comes before 0. work: n floats. Linear in n. */
void mfpg_sort_floats(ptrdiff_t n, float *x, float *work);

/* order[0..n) becomes the places of x in ascending order, equal numbers by place; 0 and -0 are equal. x finite,
 * 0 <= n < 2^31. Linear in n; 8 n bytes besides order while it runs. MFPG_ERR_MEMORY. */
mfpg_status mfpg_order_floats(mfpg_context *ctx, ptrdiff_t n, const float *x, int32_t *order);

/* fit = argmin sum_i (fit_i - y_i)^2 over nondecreasing fit, by pooling adjacent violators. Numbers that need no pooling
 * come back to the bit. fit may be y. work: count sizes. Returns how many numbers are in a pool with others. */
ptrdiff_t mfpg_isotonic_fit(ptrdiff_t count, const double *y, double *fit, ptrdiff_t *work);

/* The differential entropy, in nats, of the law that n ascending finite numbers were drawn from: Vasicek's estimate, the
 * mean logarithm of spacings over 2m neighbours, less its error for uniform numbers, m = n^(1/3) rounded. For normal numbers
 * the bias that is left is below 0.02 from n = 60 on and below 0.003 from 200 on, and the standard deviation is sqrt(1/(2n))
 * to a tenth, that of the best estimate that knows the law to be normal. NAN for n < 3; -INFINITY if more than 2m numbers are
 * equal: such a law has no density. */
double mfpg_spacing_entropy(ptrdiff_t n, const float *sorted);

/* column[i]: the column of row i, a permutation of 0 .. n-1 with the smallest sum of cost[i * n + column[i]]; of several, one
 * that depends on the costs alone. Costs are finite. Shortest augmenting paths with potentials (Kuhn 1955, Munkres 1957),
 * n^3 steps. MFPG_ERR_MEMORY only. */
mfpg_status mfpg_assign(mfpg_context *ctx, ptrdiff_t n, const double *cost, ptrdiff_t *column);

#endif
