/* Products by tiles, in doubles. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernels.h"

enum { LANES = 4, GROUP = 2 * LANES };
typedef double real;
typedef struct kernel_tiles {
    ptrdiff_t n, d, padded; /* padded: a multiple of COLUMNS */
    double inverse;         /* 1/eta */
    /* d x padded: one coordinate after the other, each relative to the first point's */
    double *x;
    double *sums; /* STRIPS x padded: the contribution of each strip to the product */
    double *u;    /* padded: of the product under way, then zeros */
    mfpg_float_tiles *rough;
    double *pulls; /* n x d, owned by the caller: the result of the current pull */
} tile_set;
#define DO_TILE do_tile
#include "tile_passes.h"

static const double NOTHING = 50.0; /* a tile is skipped if all its exponents are above this: e^-50 = 2e-22 */
static const double FAR = 700.0;    /* exponents are cut here, where exp is still normal */

typedef int64_t mask __attribute__((vector_size(LANES * sizeof(int64_t))));

/* Computes the exponents |x_i - x_j|^2/eta of ROWS rows from i and GROUP columns from j, clamped to FAR. */
static inline __attribute__((always_inline)) void fill_group(
    const tile_set *tiles, ptrdiff_t i, ptrdiff_t j, double exponent[ROWS][COLUMNS], mask *near) {
    lanes sum[ROWS][2] = {{{0}}};
    const double *x = tiles->x;
    for (ptrdiff_t k = 0; k < tiles->d; k++, x += tiles->padded) {
        lanes column[2]; /* each is loaded separately, because a load that spans two stores would stall */
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

static inline __attribute__((always_inline)) int make_entries(
    const tile_set *t, ptrdiff_t i, ptrdiff_t j, double entry[ROWS][COLUMNS]) {
    mask near = {0};
    for (int c = 0; c < COLUMNS; c += GROUP)
        fill_group(t, i, j + c, (double(*)[COLUMNS])(void *)&entry[0][c], &near);
    if ((near[0] | near[1] | near[2] | near[3]) == 0) return 0;
    mfpg_gaussian_entries(ROWS * COLUMNS, &entry[0][0]);
    return 1;
}

static mfpg_status weigh(mfpg_context *ctx, void *tiles, const double *u, double *out) {
    return weigh_tiles(ctx, tiles, u, out);
}

static mfpg_status weigh_roughly(mfpg_context *ctx, void *self, const float *u, float *out) {
    tile_set *tiles = self;
    return mfpg_float_tiles_weigh(ctx, tiles->rough, u, out);
}

/* ---- pulls: once, all coordinates, row by row ---- */

/* Adds the tile's contribution to the pulls on its rows, which are d apart. */
MFPG_WIDE static void pull_tile(
    const tile_set *tiles, ptrdiff_t i, ptrdiff_t j, ptrdiff_t rows, double *pull) {
    double entry[ROWS][COLUMNS];
    if (!make_entries(tiles, i, j, entry)) return;
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
            pull[r * tiles->d + k] += sum_of(&sum);
        }
    }
}

static mfpg_status pull_rows(mfpg_context *ctx, ptrdiff_t block, int worker, void *arg) {
    const tile_set *tiles = arg;
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

static mfpg_status pull(mfpg_context *ctx, void *self, const double *u, double *out, double *work) {
    tile_set *tiles = self;
    (void)work;
    memcpy(tiles->u, u, (size_t)tiles->n * sizeof *u);
    tiles->pulls = out;
    return mfpg_tasks_run(ctx, tiles->padded / COLUMNS, pull_rows, tiles);
}

static double error_of(const void *self, const double *u) {
    const tile_set *tiles = self;
    double total = 0.0, largest = 0.0;
    for (ptrdiff_t i = 0; i < tiles->n; i++) {
        total += u[i];
        largest = fmax(largest, u[i]);
    }
    /* the errors of skipped tiles; of entries (1e-15), and of exponents up to 50 (a few roundings); of sums */
    double rounding = 1e-15 + (NOTHING * (double)(tiles->d + 4) + (double)(tiles->n / 4 + STRIPS)) * 0x1p-53;
    return largest * total * exp(-NOTHING) + 2.0 * rounding;
}

static void destroy(void *self) {
    tile_set *tiles = self;
    mfpg_float_tiles_destroy(tiles->rough);
    free_tiles(tiles);
}

mfpg_status mfpg_kernel_tiles(
    mfpg_context *ctx, ptrdiff_t n, ptrdiff_t d, const float *x, double eta, mfpg_kernel *out) {
    tile_set *tiles = mfpg_alloc(1, sizeof *tiles);
    if (!tiles) return mfpg_fail_memory(ctx);
    tiles->inverse = 1.0 / eta;
    if (allocate_tiles(tiles, n, d)) {
        for (ptrdiff_t k = 0; k < d; k++)
            for (ptrdiff_t i = 0; i < n; i++) /* differences of floats, so a common offset harms nothing */
                tiles->x[k * tiles->padded + i] = (double)x[i * d + k] - (double)x[k];
        tiles->rough = mfpg_float_tiles_create(n, d, tiles->x, tiles->padded, eta);
    }
    if (!tiles->rough) {
        destroy(tiles);
        return mfpg_fail_memory(ctx);
    }
    *out = (mfpg_kernel){tiles, weigh, weigh_roughly, pull, error_of, destroy};
    return MFPG_OK;
}
