#include "ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "memory.h"
#include "number.h"
#include "wide.h"

static const int64_t LARGEST_BOUND = (int64_t)1 << 62; /* MFPG_FIXED_SUM_LIMIT in units */

mfpg_status mfpg_fixed_sum_init(mfpg_context *ctx, ptrdiff_t count, mfpg_fixed_sum *out) {
    int64_t *units = mfpg_alloc(count, sizeof *units);
    if (!units) return mfpg_fail_memory(ctx);
    *out = (mfpg_fixed_sum){.count = count, .units = units};
    return MFPG_OK;
}

void mfpg_fixed_sum_clear(mfpg_fixed_sum *sum) {
    free(sum->units);
    *sum = (mfpg_fixed_sum){0};
}

void mfpg_fixed_sum_reset(mfpg_fixed_sum *sum) {
    memset(sum->units, 0, (size_t)sum->count * sizeof *sum->units);
    sum->bound = 0;
}

/* Returns the largest |x_i| as the bits of a float. Without the sign, bits of floats are ordered like the
 * numbers, with infinity and NaN last. */
MFPG_WIDE static uint32_t largest_magnitude(ptrdiff_t n, const float *x) {
    uint32_t largest = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bits &= 0x7fffffffu;
        largest = bits > largest ? bits : largest;
    }
    return largest;
}

static mfpg_status fail_not_finite(mfpg_context *ctx, ptrdiff_t n, const float *x) {
    char value[MFPG_NUMBER_SIZE];
    ptrdiff_t i = 0;
    while (i < n - 1 && isfinite(x[i])) i++;
    return mfpg_fail(ctx, MFPG_ERR_NUMERIC, "sum: entry %td of the vector is %s", i,
        mfpg_number_format((double)x[i], value));
}

static mfpg_status fail_range(mfpg_context *ctx, ptrdiff_t n, const float *x, float largest, double weight) {
    char value[MFPG_NUMBER_SIZE], factor[MFPG_NUMBER_SIZE], limit[MFPG_NUMBER_SIZE];
    ptrdiff_t i = 0;
    while (i < n - 1 && fabsf(x[i]) != largest) i++;
    return mfpg_fail(ctx, MFPG_ERR_NUMERIC,
        "sum: entry %td of the vector, %s with weight %s, leaves the range of the sum: %s for all terms", i,
        mfpg_number_format((double)x[i], value), mfpg_number_format(weight, factor),
        mfpg_number_format(MFPG_FIXED_SUM_LIMIT, limit));
}

/* Rounds by adding and subtracting 1.5 * 2^52, which is valid if all |terms| are below 2^51. The result is
 * that of llrint, but unlike llrint this uses vector registers on every x86-64. */
MFPG_WIDE static void add_small_terms(ptrdiff_t n, double scale, const float *x, int64_t *units) {
    const double shift = 0x1.8p52;
    int64_t shift_bits;
    memcpy(&shift_bits, &shift, sizeof shift_bits);
    for (ptrdiff_t i = 0; i < n; i++) {
        double shifted = scale * (double)x[i] + shift;
        int64_t bits;
        memcpy(&bits, &shifted, sizeof bits);
        units[i] += bits - shift_bits;
    }
}

mfpg_status mfpg_fixed_sum_add(mfpg_context *ctx, mfpg_fixed_sum *sum, double weight, const float *x) {
    char text[MFPG_NUMBER_SIZE];
    if (!isfinite(weight))
        return mfpg_fail(ctx, MFPG_ERR_NUMERIC, "sum: the weight is %s", mfpg_number_format(weight, text));
    if (sum->count == 0) return MFPG_OK;
    uint32_t bits = largest_magnitude(sum->count, x);
    float largest;
    memcpy(&largest, &bits, sizeof largest);
    if (!isfinite(largest)) return fail_not_finite(ctx, sum->count, x);
    double scale = weight / MFPG_FIXED_SUM_UNIT;
    double term = fabs(scale) * (double)largest;
    if (!(term <= 0x1p62) || llrint(term) > LARGEST_BOUND - sum->bound)
        return fail_range(ctx, sum->count, x, largest, weight);
    if (term < 0x1p51)
        add_small_terms(sum->count, scale, x, sum->units);
    else
        for (ptrdiff_t i = 0; i < sum->count; i++) sum->units[i] += llrint(scale * (double)x[i]);
    sum->bound += llrint(term);
    return MFPG_OK;
}

MFPG_WIDE static void wrapping_sum(ptrdiff_t n, const int64_t *restrict x, int64_t *restrict sum) {
    for (ptrdiff_t i = 0; i < n; i++) sum[i] = (int64_t)((uint64_t)sum[i] + (uint64_t)x[i]);
}

mfpg_status mfpg_fixed_sum_merge(mfpg_context *ctx, mfpg_fixed_sum *sum, const mfpg_fixed_sum *other) {
    char limit[MFPG_NUMBER_SIZE];
    if (other->bound > LARGEST_BOUND - sum->bound)
        return mfpg_fail(ctx, MFPG_ERR_NUMERIC, "sum: merging leaves the range of the sum: %s for all terms",
            mfpg_number_format(MFPG_FIXED_SUM_LIMIT, limit));
    wrapping_sum(sum->count, other->units, sum->units);
    sum->bound += other->bound;
    return MFPG_OK;
}

/* The sum of the bounds may overflow an int64, but its two halves cannot. */
mfpg_status mfpg_fixed_sum_merge_ranks(mfpg_context *ctx, mfpg_fixed_sum *sum) {
    int64_t halves[2] = {sum->bound >> 32, sum->bound & 0xffffffff};
    char limit[MFPG_NUMBER_SIZE];
    mfpg_status status = mfpg_ranks_sum(ctx, halves, 2);
    if (status != MFPG_OK) return status;
    halves[0] += halves[1] >> 32;
    if (halves[0] > LARGEST_BOUND >> 32 || (halves[0] == LARGEST_BOUND >> 32 && (halves[1] & 0xffffffff) > 0))
        return mfpg_fail(ctx, MFPG_ERR_NUMERIC,
            "sum: the ranks together leave the range of the sum: %s for all terms",
            mfpg_number_format(MFPG_FIXED_SUM_LIMIT, limit));
    sum->bound = halves[0] * ((int64_t)1 << 32) + (halves[1] & 0xffffffff);
    return mfpg_ranks_sum(ctx, sum->units, sum->count);
}

void mfpg_fixed_sum_read_float(const mfpg_fixed_sum *sum, float *out) {
    for (ptrdiff_t i = 0; i < sum->count; i++) out[i] = (float)sum->units[i] * (float)MFPG_FIXED_SUM_UNIT;
}

void mfpg_fixed_sum_add_units(mfpg_fixed_sum *sum, const int64_t *units) {
    wrapping_sum(sum->count, units, sum->units);
}

void mfpg_fixed_sum_move(const mfpg_fixed_sum *sum, double step, const float *from, float *out) {
    for (ptrdiff_t i = 0; i < sum->count; i++)
        out[i] = (float)((double)from[i] + step * (double)sum->units[i]);
}
