/* The sum of one block of examples as integers: made in float or double from zero, then rounded once to multiples of the
 * unit and added to whatever blocks came before. */
#ifndef MFPG_MODELS_BLOCK_SUM_H
#define MFPG_MODELS_BLOCK_SUM_H

#include "ops.h"

/* For every block, sum += sum over its examples of signal_i x_i, and bias += sum of signal_i unless bias is NULL, in whole
 * multiples of 1/per_unit, a power of two. A block is summed in double, in which products of two floats are exact. A row
 * of signal 0 is left out, whatever it holds, NaN too. Magnitudes stay below 2^51 multiples. fresh 1: what sum and bias
 * hold counts as zero. */
void mfpg_block_sum_outer(const mfpg_batch *batch, const mfpg_blocks *blocks, const float *signal,
    double per_unit, int fresh, int64_t *sum, int64_t *bias);

/* sum += the rows x cols matrix `from`, row-major without padding, each entry below 2^51 and rounded to the nearest
 * integer, ties to even; rows of sum are `down` entries apart. fresh as above. */
void mfpg_block_sum_convert(
    ptrdiff_t rows, ptrdiff_t cols, const float *from, int fresh, ptrdiff_t down, int64_t *sum);

#endif
