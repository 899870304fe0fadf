/* Sums of weighted vectors in fixed point: integers, so that no order of clients, threads or ranks can change a bit.
 *
 * Every term weight * x_i is rounded to the nearest multiple of 2^-40 (ties to even) and kept as int64: one term errs by
 * at most 2^-41 = 4.5e-13, a sum of N terms by at most N 2^-41. In a mean of 10^6 clients, whose weights are 10^-6, that
 * is 4.5e-7 at worst and some 3e-10 in practice.
 *
 * Range: a sum carries a bound, the sum over its terms of max_i |weight * x_i|, and refuses a term or a merge that would
 * bring the bound above MFPG_FIXED_SUM_LIMIT = 2^22. Then no partial sum in any order can reach the 2^23 of an int64.
 * The bound is an integer too, so whether a whole sum is accepted does not depend on the order either.
 *
 * One sum a worker, filled by that worker alone, then merged: the same bits as one sum over all. Ranks do the same by
 * adding units and bound as integers. Threads: different sums are independent, one sum is not shared. */
#ifndef MFPG_BASE_FIXED_SUM_H
#define MFPG_BASE_FIXED_SUM_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/context.h"

#define MFPG_FIXED_SUM_UNIT  0x1p-40
#define MFPG_FIXED_SUM_LIMIT 0x1p22

typedef struct mfpg_fixed_sum {
    ptrdiff_t count; /* entries */
    int64_t *units;  /* count; entry i is units[i] * MFPG_FIXED_SUM_UNIT */
    int64_t bound;   /* of |entry|, in units */
} mfpg_fixed_sum;

/* An empty sum of count >= 0 entries; *out is set only on success. Free it with mfpg_fixed_sum_clear. */
mfpg_status mfpg_fixed_sum_init(mfpg_context *ctx, ptrdiff_t count, mfpg_fixed_sum *out);

/* Frees; harmless on a zeroed struct and twice. */
void mfpg_fixed_sum_clear(mfpg_fixed_sum *sum);

/* Back to an empty sum of the same count. */
void mfpg_fixed_sum_reset(mfpg_fixed_sum *sum);

/* sum += weight * x, count entries. MFPG_ERR_NUMERIC where the weight or an entry is not finite (the message names the
 * first such entry) or the range would be left (it names the largest term); the sum is unchanged then. */
mfpg_status mfpg_fixed_sum_add(mfpg_context *ctx, mfpg_fixed_sum *sum, double weight, const float *x);

/* sum += units, count integers that are counted in another unit than MFPG_FIXED_SUM_UNIT: in steps of a grid. No range: what leaves
 * 64 bits wraps around, which is a function of the sum alone. A sum is of such integers or of weighted vectors, not of both. */
void mfpg_fixed_sum_add_units(mfpg_fixed_sum *sum, const int64_t *units);

/* sum += other, of the same count. MFPG_ERR_NUMERIC where the range would be left; the sum is unchanged then. */
mfpg_status mfpg_fixed_sum_merge(mfpg_context *ctx, mfpg_fixed_sum *sum, const mfpg_fixed_sum *other);

/* sum becomes the sum over all ranks, the same on each. MFPG_ERR_NUMERIC, on all, where the range would be left. */
mfpg_status mfpg_fixed_sum_merge_ranks(mfpg_context *ctx, mfpg_fixed_sum *sum);

/* The sum as doubles or as floats, count entries, each rounded once. */
void mfpg_fixed_sum_read(const mfpg_fixed_sum *sum, double *out);
void mfpg_fixed_sum_read_float(const mfpg_fixed_sum *sum, float *out);

/* out = from + step times the units, count floats, each rounded once. */
void mfpg_fixed_sum_move(const mfpg_fixed_sum *sum, double step, const float *from, float *out);

#endif
