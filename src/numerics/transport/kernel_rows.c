/* Products row by row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/wide.h"
#include "kernels.h"

enum { MOST_STORED = 512 * 512 };
/* Costs in stored entries, measured with products of 500 to 200,000 points: an entry that is recomputed, and
 * the overhead of a row. */
static const double COST_OF_MAKING = 9.0, COST_OF_ROW = 30.0;

typedef struct columns {
    ptrdiff_t from, to;
} columns;

typedef struct kernel_rows {
    ptrdiff_t n;
    const double *x;
    double inverse;
    columns *near;  /* n: the columns of each row whose entries count */
    double *row;    /* n: one row, if they are not stored */
    double *exact;  /* 2 n: of a product in floats */
    double *stored; /* the near columns of all rows, one after the other; or NULL */
    mfpg_pool memory;
} kernel_rows;

/* Returns the near columns of the row after `last`. Exponents grow with distance, so both ends move up with
 * the row. Nearness is symmetric in row and column. */
static columns near_row(ptrdiff_t n, const double *x, double inverse, ptrdiff_t i, columns last) {
    while (mfpg_gaussian_exponent(x[i], x[last.from], inverse) > MFPG_GAUSSIAN_CUTOFF) last.from++;
    while (last.to < n && mfpg_gaussian_exponent(x[i], x[last.to], inverse) <= MFPG_GAUSSIAN_CUTOFF)
        last.to++;
    return last;
}

static double cost_of(ptrdiff_t n, ptrdiff_t entries) {
    return COST_OF_ROW * (double)n + (entries > MOST_STORED ? COST_OF_MAKING : 1.0) * (double)entries;
}

int mfpg_kernel_rows_cost_at_most(double cost, ptrdiff_t n, const double *x, double eta) {
    double inverse = 1.0 / eta;
    ptrdiff_t entries = 0;
    columns near = {0};
    for (ptrdiff_t i = 0; i < n && cost_of(n, entries) <= cost; i++) {
        near = near_row(n, x, inverse, i, near);
        entries += near.to - near.from;
    }
    return cost_of(n, entries) <= cost;
}

static void make_row(const kernel_rows *rows, ptrdiff_t i, double *out) {
    columns near = rows->near[i];
    mfpg_gaussian_row(near.to - near.from, rows->x + near.from, rows->x[i], rows->inverse, out);
}

typedef double (*row_use)(ptrdiff_t n, const double *kernel, const double *u, const double *x, double at);

/* Computes out_i = use(row i) for all rows; only this function walks the kernel. */
static void for_rows(kernel_rows *rows, row_use use, const double *u, double *out) {
    const double *stored = rows->stored;
    for (ptrdiff_t i = 0; i < rows->n; i++) {
        columns near = rows->near[i];
        if (!rows->stored) make_row(rows, i, rows->row);
        out[i] = use(
            near.to - near.from, stored ? stored : rows->row, u + near.from, rows->x + near.from, rows->x[i]);
        if (stored) stored += near.to - near.from;
    }
}

enum { LANES = 4 };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

/* Computes sum_j K_ij u_j if x is NULL, otherwise sum_j K_ij u_j (x_j - x_i). */
static inline __attribute__((always_inline)) double row_product(
    ptrdiff_t n, const double *kernel, const double *u, const double *x, double at) {
    lanes sums[2] = {{0}, {0}};
    ptrdiff_t j = 0;
    for (; j + 2 * LANES <= n; j += 2 * LANES) {
        for (int half = 0; half < 2; half++) {
            lanes k, v;
            memcpy(&k, kernel + j + LANES * half, sizeof k);
            memcpy(&v, u + j + LANES * half, sizeof v);
            k *= v;
            if (x) {
                memcpy(&v, x + j + LANES * half, sizeof v);
                k *= v - at;
            }
            sums[half] += k;
        }
    }
    sums[0] += sums[1];
    double sum = (sums[0][0] + sums[0][2]) + (sums[0][1] + sums[0][3]);
    for (; j < n; j++) sum += kernel[j] * u[j] * (x ? x[j] - at : 1.0);
    return sum;
}

MFPG_WIDE static double row_weight(
    ptrdiff_t n, const double *kernel, const double *u, const double *x, double at) {
    (void)x;
    return row_product(n, kernel, u, NULL, at);
}

MFPG_WIDE static double row_pull(
    ptrdiff_t n, const double *kernel, const double *u, const double *x, double at) {
    return row_product(n, kernel, u, x, at);
}

static mfpg_status weigh(mfpg_context *ctx, void *rows, const double *u, double *out) {
    (void)ctx;
    for_rows(rows, row_weight, u, out);
    return MFPG_OK;
}

/* Rows are as quick in doubles. */
static mfpg_status weigh_roughly(mfpg_context *ctx, void *self, const float *u, float *out) {
    kernel_rows *rows = self;
    double *exact = rows->exact + rows->n;
    (void)ctx;
    for (ptrdiff_t i = 0; i < rows->n; i++) exact[i] = (double)u[i];
    for_rows(rows, row_weight, exact, rows->exact);
    for (ptrdiff_t i = 0; i < rows->n; i++) out[i] = (float)rows->exact[i];
    return MFPG_OK;
}

static mfpg_status pull(mfpg_context *ctx, void *rows, const double *u, double *out, double *work) {
    (void)ctx, (void)work;
    for_rows(rows, row_pull, u, out);
    return MFPG_OK;
}

static double error_of(const void *self, const double *u) {
    const kernel_rows *rows = self;
    double total = 0.0, largest = 0.0, window = 0.0;
    for (ptrdiff_t i = 0; i < rows->n; i++) {
        total += u[i];
        largest = fmax(largest, u[i]);
        window = fmax(window, (double)(rows->near[i].to - rows->near[i].from));
    }
    /* u_i (K u)_i is about 1, entries are accurate to 1e-15, and all terms of the sums have one sign */
    return largest * total * exp(-MFPG_GAUSSIAN_CUTOFF) + 2.0 * (1e-15 + (4.0 + window / LANES) * 0x1p-53);
}

static void destroy(void *self) {
    kernel_rows *rows = self;
    mfpg_pool_clear(&rows->memory);
    free(rows);
}

mfpg_status mfpg_kernel_rows(mfpg_context *ctx, ptrdiff_t n, const double *x, double eta, mfpg_kernel *out) {
    kernel_rows *rows = mfpg_alloc(1, sizeof *rows);
    if (!rows) return mfpg_fail_memory(ctx);
    *rows = (kernel_rows){.n = n, .x = x, .inverse = 1.0 / eta};
    mfpg_pool *memory = &rows->memory;
    rows->near = mfpg_pool_alloc(memory, n, sizeof *rows->near);
    rows->row = mfpg_pool_alloc(memory, n, sizeof *rows->row);
    rows->exact = mfpg_pool_alloc(memory, 2 * n, sizeof *rows->exact);
    ptrdiff_t entries = 0;
    columns near = {0};
    for (ptrdiff_t i = 0; !memory->failed && i < n; i++) {
        rows->near[i] = near = near_row(n, x, rows->inverse, i, near);
        if (entries <= MOST_STORED) entries += near.to - near.from; /* more need not be counted */
    }
    if (!memory->failed && entries <= MOST_STORED) {
        double *row = rows->stored = mfpg_pool_alloc(memory, entries, sizeof *rows->stored);
        for (ptrdiff_t i = 0; row && i < n; row += rows->near[i].to - rows->near[i].from, i++)
            make_row(rows, i, row);
    }
    if (memory->failed) {
        destroy(rows);
        return mfpg_fail_memory(ctx);
    }
    *out = (mfpg_kernel){rows, weigh, weigh_roughly, pull, error_of, destroy};
    return MFPG_OK;
}
