#include "kernel_tiles.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "base/wide.h"
#include "gaussian_kernel.h"
#include "rough_tiles.h"

enum { ROWS = 4, COLUMNS = 64, STRIPS = 16 };
static const double NOTHING = 50.0; /* tiles whose every exponent is above it are left out: e^-50 = 2e-22 */
static const double FAR = 700.0;    /* exponents are cut here, where exp is still normal */

struct mfpg_kernel_tiles {
    ptrdiff_t n, d, padded; /* padded: a multiple of COLUMNS */
    double inverse;         /* 1/eta */
    double *x;              /* d x padded: coordinate by coordinate, from each one's first */
    double *sums;           /* STRIPS x padded: what each strip adds to the product */
    double *u;              /* padded: of the product under way, with zeros behind */
    mfpg_rough_tiles *rough;
    double *pulls; /* n x d, the caller's: of the pull under way */
};

mfpg_status mfpg_kernel_tiles_create(
    mfpg_context *ctx, ptrdiff_t n, ptrdiff_t d, const float *x, double eta, mfpg_kernel_tiles **out) {
    mfpg_kernel_tiles *tiles = mfpg_alloc(1, sizeof *tiles);
    if (!tiles) return mfpg_fail_memory(ctx);
    *tiles = (mfpg_kernel_tiles){.n = n, .d = d, .inverse = 1.0 / eta};
    tiles->padded = (n + COLUMNS - 1) / COLUMNS * COLUMNS;
    tiles->x = mfpg_alloc(d * tiles->padded, sizeof *tiles->x);
    tiles->sums = mfpg_alloc(STRIPS * tiles->padded, sizeof *tiles->sums);
    tiles->u = mfpg_alloc(tiles->padded, sizeof *tiles->u);
    if (!tiles->x || !tiles->sums || !tiles->u) {
        mfpg_kernel_tiles_destroy(tiles);
        return mfpg_fail_memory(ctx);
    }
    for (ptrdiff_t k = 0; k < d; k++)
        for (ptrdiff_t i = 0; i < n; i++) /* differences of floats, so a common offset harms nothing */
            tiles->x[k * tiles->padded + i] = (double)x[i * d + k] - (double)x[k];
    mfpg_status status = mfpg_rough_tiles_create(ctx, n, d, tiles->x, tiles->padded, eta, &tiles->rough);
    if (status != MFPG_OK) {
        mfpg_kernel_tiles_destroy(tiles);
        return status;
    }
    *out = tiles;
    return MFPG_OK;
}

void mfpg_kernel_tiles_destroy(mfpg_kernel_tiles *tiles) {
    if (!tiles) return;
    mfpg_rough_tiles_destroy(tiles->rough);
    free(tiles->x);
    free(tiles->sums);
    free(tiles->u);
    free(tiles);
}

enum { LANES = 4, GROUP = 2 * LANES };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t mask __attribute__((vector_size(LANES * sizeof(int64_t))));

/* The exponents |x_i - x_j|^2/eta of ROWS rows from i and GROUP columns from j, cut at FAR. */
static inline __attribute__((always_inline)) void fill_group(
    const mfpg_kernel_tiles *tiles, ptrdiff_t i, ptrdiff_t j, double exponent[ROWS][COLUMNS], mask *near) {
    lanes sum[ROWS][2] = {{{0}}};
    const double *x = tiles->x;
    for (ptrdiff_t k = 0; k < tiles->d; k++, x += tiles->padded) {
        lanes column[2]; /* each its own load: a load across two stores would wait */
        for (int half = 0; half < 2; half++) memcpy(&column[half], x + j + LANES * half, sizeof column[half]);
        for (int r = 0; r < ROWS; r++)
            for (int half = 0; half < 2; half++) {
                lanes difference = column[half] - x[i + r];
                sum[r][half] += difference * difference;
            }
    }
    for (int r = 0; r < ROWS; r++)
        for (int half = 0; half < 2; half++) {
            lanes e = sum[r][half] * tiles->inverse, far = (lanes){0} + FAR;
            mask keep = e < far;
            *near |= e < NOTHING;
            e = (lanes)(((mask)e & keep) | ((mask)far & ~keep));
            memcpy(&exponent[r][LANES * half], &e, sizeof e);
        }
}

/* 1 where some exponent of the tile counts. */
static inline __attribute__((always_inline)) int fill_tile(
    const mfpg_kernel_tiles *tiles, ptrdiff_t i, ptrdiff_t j, double exponent[ROWS][COLUMNS]) {
    mask near = {0};
    for (int c = 0; c < COLUMNS; c += GROUP)
        fill_group(tiles, i, j + c, (double(*)[COLUMNS])(void *)&exponent[0][c], &near);
    return (near[0] | near[1] | near[2] | near[3]) != 0;
}

/* The tile's part of the product, for its rows and, being symmetric, for its columns. Pads have u = 0. */
static inline __attribute__((always_inline)) void use_tile(
    const mfpg_kernel_tiles *tiles, ptrdiff_t i, ptrdiff_t j, double entry[ROWS][COLUMNS], double *sum) {
    const double *u = tiles->u;
    lanes rows[ROWS] = {{0}};
    for (int c = 0; c < COLUMNS; c += LANES) {
        lanes own, columns;
        memcpy(&own, u + j + c, sizeof own);
        memcpy(&columns, sum + j + c, sizeof columns);
        for (int r = 0; r < ROWS; r++) {
            lanes e;
            memcpy(&e, &entry[r][c], sizeof e);
            rows[r] += e * own;
            columns += e * u[i + r];
        }
        memcpy(sum + j + c, &columns, sizeof columns);
    }
    for (int r = 0; r < ROWS; r++) sum[i + r] += (rows[r][0] + rows[r][2]) + (rows[r][1] + rows[r][3]);
}

MFPG_WIDE static void do_tile(const mfpg_kernel_tiles *tiles, ptrdiff_t i, ptrdiff_t j, double *sum) {
    double entry[ROWS][COLUMNS];
    if (!fill_tile(tiles, i, j, entry)) return;
    mfpg_gaussian_entries(ROWS * COLUMNS, &entry[0][0]);
    /* in the tile that holds the diagonal every pair would be met twice: once is what stands right of it */
    for (int r = 0; r < ROWS && j < i + ROWS; r++)
        for (ptrdiff_t c = 0; c <= i + r - j && c < COLUMNS; c++) entry[r][c] = 0.0;
    use_tile(tiles, i, j, entry, sum);
}

static mfpg_status do_strip(mfpg_context *ctx, ptrdiff_t strip, int worker, void *arg) {
    const mfpg_kernel_tiles *tiles = arg;
    double *sum = tiles->sums + strip * tiles->padded;
    (void)ctx, (void)worker;
    memset(sum, 0, (size_t)tiles->padded * sizeof *sum);
    for (ptrdiff_t i = ROWS * strip; i < tiles->n; i += ROWS * STRIPS)
        for (ptrdiff_t j = i / COLUMNS * COLUMNS; j < tiles->padded; j += COLUMNS) do_tile(tiles, i, j, sum);
    return MFPG_OK;
}

/* The strips' sums in their order, and the diagonal, which is 1. */
mfpg_status mfpg_kernel_tiles_weigh(mfpg_context *ctx, void *kernel, const double *u, double *out) {
    mfpg_kernel_tiles *tiles = kernel;
    memcpy(tiles->u, u, (size_t)tiles->n * sizeof *u);
    mfpg_status status = mfpg_tasks_run(ctx, STRIPS, do_strip, tiles);
    for (ptrdiff_t i = 0; i < tiles->n; i++) {
        out[i] = u[i];
        for (int s = 0; s < STRIPS; s++) out[i] += tiles->sums[s * tiles->padded + i];
    }
    return status;
}

mfpg_status mfpg_kernel_tiles_weigh_roughly(mfpg_context *ctx, void *kernel, const float *u, float *out) {
    mfpg_kernel_tiles *tiles = kernel;
    return mfpg_rough_tiles_weigh(ctx, tiles->rough, u, out);
}

/* ---- pulls: once, all coordinates, row by row ---- */

/* The tile's part of the pulls on its rows: d apart. */
MFPG_WIDE static void pull_tile(
    const mfpg_kernel_tiles *tiles, ptrdiff_t i, ptrdiff_t j, ptrdiff_t rows, double *pull) {
    double entry[ROWS][COLUMNS];
    if (!fill_tile(tiles, i, j, entry)) return;
    mfpg_gaussian_entries(ROWS * COLUMNS, &entry[0][0]);
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < COLUMNS; c++) entry[r][c] *= tiles->u[j + c];
        for (ptrdiff_t k = 0; k < tiles->d; k++) {
            const double *x = tiles->x + k * tiles->padded;
            lanes sum = {0};
            for (int c = 0; c < COLUMNS; c += LANES) {
                lanes e, place;
                memcpy(&e, &entry[r][c], sizeof e);
                memcpy(&place, x + j + c, sizeof place);
                sum += e * (place - x[i + r]);
            }
            pull[r * tiles->d + k] += (sum[0] + sum[2]) + (sum[1] + sum[3]);
        }
    }
}

static mfpg_status pull_rows(mfpg_context *ctx, ptrdiff_t block, int worker, void *arg) {
    const mfpg_kernel_tiles *tiles = arg;
    ptrdiff_t first = block * COLUMNS;
    (void)ctx, (void)worker;
    for (ptrdiff_t i = first; i < first + COLUMNS && i < tiles->n; i += ROWS) {
        ptrdiff_t rows = tiles->n - i < ROWS ? tiles->n - i : ROWS;
        double *pull = tiles->pulls + i * tiles->d;
        memset(pull, 0, (size_t)(rows * tiles->d) * sizeof *pull);
        for (ptrdiff_t j = 0; j < tiles->padded; j += COLUMNS) pull_tile(tiles, i, j, rows, pull);
    }
    return MFPG_OK;
}

mfpg_status mfpg_kernel_tiles_pull(
    mfpg_context *ctx, mfpg_kernel_tiles *tiles, const double *u, double *out) {
    memcpy(tiles->u, u, (size_t)tiles->n * sizeof *u);
    tiles->pulls = out;
    return mfpg_tasks_run(ctx, tiles->padded / COLUMNS, pull_rows, tiles);
}

double mfpg_kernel_tiles_error(const mfpg_kernel_tiles *tiles, const double *u) {
    double total = 0.0, largest = 0.0;
    for (ptrdiff_t i = 0; i < tiles->n; i++) {
        total += u[i];
        largest = fmax(largest, u[i]);
    }
    /* tiles left out; then entries to 1e-15 and their exponents, up to 50 where they count, to a few roundings; sums */
    double rounding = 1e-15 + (NOTHING * (double)(tiles->d + 4) + (double)(tiles->n / 4 + STRIPS)) * 0x1p-53;
    return largest * total * exp(-NOTHING) + 2.0 * rounding;
}
