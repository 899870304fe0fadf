#include "model_ops.h"

#include <string.h>

#include "base/wide.h"

enum {
    COLUMNS = 16,    /* number of sums that are computed in registers at a time, */
    FEW_COLUMNS = 4, /* and what is left over */
    NARROW = 64,     /* features below which they are */
    /* number of sums that stay in the nearest cache while the rows of a block are processed, */
    PANEL = 512,
    ROWS = 4 /* so many at a time */
};

/* Adding 1.5 * 2^52 leaves the nearest integer, ties to even, in the low bits of a double of magnitude below 2^51; unlike
 * llrint it goes through vector registers on every x86-64. */
static const double SHIFT = 0x1.8p52;
static const int64_t SHIFT_BITS = INT64_C(0x4338000000000000);

static inline __attribute__((always_inline)) int64_t nearest(double value) {
    double shifted = value + SHIFT;
    int64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    return bits - SHIFT_BITS;
}

/* The rows of a block that contribute: signals that are not 0, and where their features begin. */
typedef struct terms {
    ptrdiff_t count;
    double factor[MFPG_SUM_ROWS_DOUBLE];
    const float *row[MFPG_SUM_ROWS_DOUBLE];
} terms;

/* `width` columns from j on, known when compiling: sums in registers over all rows, then multiples of the unit. */
static inline __attribute__((always_inline)) void add_columns(
    int width, const terms *t, ptrdiff_t j, double per_unit, int fresh, int64_t *sum) {
    double y[COLUMNS] = {0};
    for (ptrdiff_t i = 0; i < t->count; i++) {
        const float *x = t->row[i] + j;
        double factor = t->factor[i];
        MFPG_UNROLL
        for (int k = 0; k < width; k++) y[k] += factor * (double)x[k];
    }
    MFPG_UNROLL
    for (int k = 0; k < width; k++) sum[j + k] = (fresh ? 0 : sum[j + k]) + nearest(y[k] * per_unit);
}

MFPG_WIDE_SHORT static void add_narrow(
    const terms *t, ptrdiff_t cols, double per_unit, int fresh, int64_t *sum) {
    ptrdiff_t j = 0;
    for (; j + COLUMNS <= cols; j += COLUMNS) add_columns(COLUMNS, t, j, per_unit, fresh, sum);
    for (; j + FEW_COLUMNS <= cols; j += FEW_COLUMNS) add_columns(FEW_COLUMNS, t, j, per_unit, fresh, sum);
    for (; j < cols; j++) add_columns(1, t, j, per_unit, fresh, sum);
}

/* At most PANEL columns from j on. */
MFPG_WIDE static void add_panel(
    const terms *t, ptrdiff_t j, ptrdiff_t cols, double per_unit, int fresh, int64_t *restrict sum) {
    double y[PANEL];
    ptrdiff_t i = 0;
    for (ptrdiff_t k = 0; k < cols; k++) y[k] = 0.0;
    for (; i + ROWS <= t->count; i += ROWS) {
        const float *p = t->row[i] + j, *q = t->row[i + 1] + j, *r = t->row[i + 2] + j,
                    *s = t->row[i + 3] + j;
        const double *factor = t->factor + i;
        for (ptrdiff_t k = 0; k < cols; k++)
            y[k] += (factor[0] * (double)p[k] + factor[1] * (double)q[k]) +
                    (factor[2] * (double)r[k] + factor[3] * (double)s[k]);
    }
    for (; i < t->count; i++)
        for (ptrdiff_t k = 0; k < cols; k++) y[k] += t->factor[i] * (double)t->row[i][j + k];
    if (fresh)
        for (ptrdiff_t k = 0; k < cols; k++) sum[j + k] = nearest(y[k] * per_unit);
    else
        for (ptrdiff_t k = 0; k < cols; k++) sum[j + k] += nearest(y[k] * per_unit);
}

static void add_block(const mfpg_batch *batch, ptrdiff_t first, ptrdiff_t end, const float *signal,
    double per_unit, int fresh, int64_t *sum, int64_t *bias) {
    ptrdiff_t features = batch->data->features;
    double total = 0.0;
    terms t;
    t.count = 0;
    for (ptrdiff_t i = first; i < end; i++) {
        t.factor[t.count] = (double)signal[i];
        t.row[t.count] = batch->data->x + mfpg_batch_row(batch, i) * features;
        t.count += signal[i] != 0.0F;
        total += (double)signal[i];
    }
    if (features < NARROW)
        add_narrow(&t, features, per_unit, fresh, sum);
    else
        for (ptrdiff_t j = 0; j < features; j += PANEL)
            add_panel(&t, j, features - j < PANEL ? features - j : PANEL, per_unit, fresh, sum);
    if (bias) *bias = (fresh ? 0 : *bias) + nearest(total * per_unit);
}

void mfpg_block_sum_outer(const mfpg_batch *batch, const mfpg_blocks *blocks, const float *signal,
    double per_unit, int fresh, int64_t *sum, int64_t *bias) {
    for (ptrdiff_t k = 0; k < blocks->count; k++)
        add_block(batch, mfpg_blocks_first(blocks, k), blocks->end[k], signal, per_unit, fresh && k == 0, sum,
            bias);
}

MFPG_WIDE static void store_floats(ptrdiff_t n, const float *restrict from, int64_t *restrict sum) {
    for (ptrdiff_t i = 0; i < n; i++) sum[i] = nearest((double)from[i]);
}

MFPG_WIDE static void add_floats(ptrdiff_t n, const float *restrict from, int64_t *restrict sum) {
    for (ptrdiff_t i = 0; i < n; i++) sum[i] += nearest((double)from[i]);
}

void mfpg_block_sum_convert(
    ptrdiff_t rows, ptrdiff_t cols, const float *from, int fresh, ptrdiff_t down, int64_t *sum) {
    if (cols == down) { /* all in one run */
        cols *= rows;
        rows = 1;
    }
    for (ptrdiff_t i = 0; i < rows; i++) {
        if (fresh)
            store_floats(cols, from + i * cols, sum + i * down);
        else
            add_floats(cols, from + i * cols, sum + i * down);
    }
}
