/* What the processes of a group do together (without a group every call does nothing, as in a group of one),
 * and sums that do not depend on the order of clients, threads or ranks. */
#ifndef MFPG_BASE_RANKS_H
#define MFPG_BASE_RANKS_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/context.h"

int mfpg_ranks_size(const mfpg_context *ctx);
int mfpg_ranks_rank(const mfpg_context *ctx);

/* Returns 1 on the rank that writes files, prints and keeps the ledger. */
static inline int mfpg_ranks_first(const mfpg_context *ctx) {
    return mfpg_ranks_rank(ctx) == 0;
}

/* Replaces numbers[i] by the sum over all ranks; the caller guarantees that it fits. */
mfpg_status mfpg_ranks_sum(mfpg_context *ctx, int64_t *numbers, ptrdiff_t count);

/* Makes all ranks fail if one failed, with its status and message (of several, the lowest rank). If a status
 * can differ between ranks, this must be called before the next collective call. */
mfpg_status mfpg_ranks_agree(mfpg_context *ctx, mfpg_status status);

/* Sets *flag to 1 on all ranks if it is not 0 on any. */
mfpg_status mfpg_ranks_any(mfpg_context *ctx, int *flag);

/* Shares words of 64 bits, including doubles: every word is known to one rank and is 0 on the others;
 * afterwards all ranks know it. */
static inline mfpg_status mfpg_ranks_share(mfpg_context *ctx, void *words, ptrdiff_t count) {
    return mfpg_ranks_sum(ctx, words, count); /* the sum of a word and zeros has the bits of the word */
}

/* Copies bytes of the first rank to all others; there only the memory must exist. */
mfpg_status mfpg_ranks_hand_out(mfpg_context *ctx, void *bytes, size_t size);

/* Does the same for a block whose size only the first rank knows: *block and *size are set on the others,
 * which must free the block. On the first rank they do not change. A failure is the same on all. */
mfpg_status mfpg_ranks_hand_out_block(mfpg_context *ctx, char **block, size_t *size);

/* ---- sums of weighted vectors in fixed point (fixed_sum.c) ----
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
#define MFPG_FIXED_SUM_UNIT  0x1p-40
#define MFPG_FIXED_SUM_LIMIT 0x1p22

typedef struct mfpg_fixed_sum {
    ptrdiff_t count; /* entries */
    int64_t *units;  /* count; entry i is units[i] * MFPG_FIXED_SUM_UNIT */
    int64_t bound;   /* of |entry|, in units */
} mfpg_fixed_sum;

/* Creates an empty sum of count >= 0 entries; *out is set only on success. Free it with
 * mfpg_fixed_sum_clear. */
mfpg_status mfpg_fixed_sum_init(mfpg_context *ctx, ptrdiff_t count, mfpg_fixed_sum *out);

/* Frees the sum; a zeroed struct, and a second call, are allowed. */
void mfpg_fixed_sum_clear(mfpg_fixed_sum *sum);

/* Makes the sum empty again, with the same count. */
void mfpg_fixed_sum_reset(mfpg_fixed_sum *sum);

/* Adds weight * x, count entries, to sum. MFPG_ERR_NUMERIC if the weight or an entry is not finite (the
 * message names the first such entry) or if the range would be left (it names the largest term); sum is then
 * unchanged. */
mfpg_status mfpg_fixed_sum_add(mfpg_context *ctx, mfpg_fixed_sum *sum, double weight, const float *x);

/* Adds units, count integers in steps of a grid instead of MFPG_FIXED_SUM_UNIT, to sum. There is no range
 * limit: overflow of 64 bits wraps around, so the result depends only on the sum. A sum may contain either
 * such integers or weighted vectors, not both. */
void mfpg_fixed_sum_add_units(mfpg_fixed_sum *sum, const int64_t *units);

/* Adds other, of the same count, to sum. MFPG_ERR_NUMERIC if the range would be left; sum is then unchanged. */
mfpg_status mfpg_fixed_sum_merge(mfpg_context *ctx, mfpg_fixed_sum *sum, const mfpg_fixed_sum *other);

/* Replaces sum by the sum over all ranks, the same on each. MFPG_ERR_NUMERIC, on all, if the range would be
 * left. */
mfpg_status mfpg_fixed_sum_merge_ranks(mfpg_context *ctx, mfpg_fixed_sum *sum);

/* Returns the sum as floats, count entries, each rounded once. */
void mfpg_fixed_sum_read_float(const mfpg_fixed_sum *sum, float *out);

/* Sets out = from + step times the units, count floats, each rounded once. */
void mfpg_fixed_sum_move(const mfpg_fixed_sum *sum, double step, const float *from, float *out);

#endif
