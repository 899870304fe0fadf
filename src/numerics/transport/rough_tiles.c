#include "rough_tiles.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "base/wide.h"

enum { ROWS = 4, LANES = 16, COLUMNS = 4 * LANES, STRIPS = 16 };
static const float NOTHING = 30.0f; /* tiles whose every exponent is above it are left out: e^-30 = 9e-14 */
static const float FAR = 60.0f;     /* exponents are cut here */

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

struct mfpg_rough_tiles {
    ptrdiff_t n, d, padded; /* padded: a multiple of COLUMNS */
    float *x;               /* d x padded, in units of sqrt(eta) */
    float *sums;            /* STRIPS x padded: what each strip adds to the product */
    float *u;               /* padded: of the product under way, with zeros behind */
};

mfpg_status mfpg_rough_tiles_create(mfpg_context *ctx, ptrdiff_t n, ptrdiff_t d, const double *x,
    ptrdiff_t stride, double eta, mfpg_rough_tiles **out) {
    mfpg_rough_tiles *tiles = mfpg_alloc(1, sizeof *tiles);
    if (!tiles) return mfpg_fail_memory(ctx);
    *tiles = (mfpg_rough_tiles){.n = n, .d = d, .padded = (n + COLUMNS - 1) / COLUMNS * COLUMNS};
    tiles->x = mfpg_alloc(d * tiles->padded, sizeof *tiles->x);
    tiles->sums = mfpg_alloc(STRIPS * tiles->padded, sizeof *tiles->sums);
    tiles->u = mfpg_alloc(tiles->padded, sizeof *tiles->u);
    if (!tiles->x || !tiles->sums || !tiles->u) {
        mfpg_rough_tiles_destroy(tiles);
        return mfpg_fail_memory(ctx);
    }
    double unit = 1.0 / sqrt(eta),
           most = 0x1p60; /* squares of larger ones would overflow: they are as far as that */
    for (ptrdiff_t k = 0; k < d; k++)
        for (ptrdiff_t i = 0; i < n; i++)
            tiles->x[k * tiles->padded + i] = (float)fmax(-most, fmin(x[k * stride + i] * unit, most));
    *out = tiles;
    return MFPG_OK;
}

void mfpg_rough_tiles_destroy(mfpg_rough_tiles *tiles) {
    if (!tiles) return;
    free(tiles->x);
    free(tiles->sums);
    free(tiles->u);
    free(tiles);
}

/* exp(-e), 0 <= e <= FAR: e = k log 2 - r with |r| <= log(2)/2, and exp(r) by its series. */
static inline __attribute__((always_inline)) float exp_minus(float e) {
    const float shift = 0x1.8p23f; /* adding it rounds to a whole number, which stands in the low bits */
    float shifted = e * 1.44269504f + shift, k = shifted - shift, power;
    float r = (k * 0x1.62ep-1f - e) + k * 0x1.0bfbe8p-15f; /* log 2 in two parts */
    float r2 = r * r;
    float p = ((1.0f + r) + r2 * (0.5f + r * (1.0f / 6.0f))) +
              (r2 * r2) * ((1.0f / 24.0f + r * (1.0f / 120.0f)) + r2 * (1.0f / 720.0f));
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (UINT32_C(127) << 23) - (bits << 23);
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* The exponents of ROWS rows from i and LANES columns from j. */
static inline __attribute__((always_inline)) void fill_lanes(
    const mfpg_rough_tiles *tiles, ptrdiff_t i, ptrdiff_t j, float *exponent) {
    lanes sum[ROWS] = {{0}};
    const float *x = tiles->x;
    for (ptrdiff_t k = 0; k < tiles->d; k++, x += tiles->padded) {
        lanes column;
        memcpy(&column, x + j, sizeof column);
        MFPG_UNROLL
        for (int r = 0; r < ROWS; r++) {
            lanes difference = column - x[i + r];
            sum[r] += difference * difference;
        }
    }
    for (int r = 0; r < ROWS; r++) memcpy(exponent + r * COLUMNS, &sum[r], sizeof sum[r]);
}

/* The least of them; numbers from 0 compare like their bits. */
static inline __attribute__((always_inline)) float least_of(const float *exponent) {
    int32_t least = INT32_MAX, bits;
    float out;
    for (int c = 0; c < ROWS * COLUMNS; c++) {
        memcpy(&bits, exponent + c, sizeof bits);
        least = bits < least ? bits : least;
    }
    memcpy(&out, &least, sizeof out);
    return out;
}

/* The tile's part of the product, for its rows and, being symmetric, for its columns. Pads have u = 0. */
static inline __attribute__((always_inline)) void use_tile(
    const float *u, ptrdiff_t i, ptrdiff_t j, float entry[ROWS][COLUMNS], float *sum) {
    lanes rows[ROWS] = {{0}};
    for (int c = 0; c < COLUMNS; c += LANES) {
        lanes own, columns;
        memcpy(&own, u + j + c, sizeof own);
        memcpy(&columns, sum + j + c, sizeof columns);
        MFPG_UNROLL
        for (int r = 0; r < ROWS; r++) {
            lanes e;
            memcpy(&e, &entry[r][c], sizeof e);
            rows[r] += e * own;
            columns += e * u[i + r];
        }
        memcpy(sum + j + c, &columns, sizeof columns);
    }
    for (int r = 0; r < ROWS; r++) {
        float parts[LANES];
        memcpy(parts, &rows[r], sizeof parts);
        for (int width = LANES / 2; width > 0; width /= 2)
            for (int l = 0; l < width; l++) parts[l] += parts[l + width];
        sum[i + r] += parts[0];
    }
}

MFPG_WIDE static void do_rough_tile(const mfpg_rough_tiles *tiles, ptrdiff_t i, ptrdiff_t j, float *sum) {
    float entry[ROWS][COLUMNS];
    float *all = &entry[0][0];
    for (int c = 0; c < COLUMNS; c += LANES) fill_lanes(tiles, i, j + c, &entry[0][c]);
    if (least_of(all) > NOTHING) return;
    for (int c = 0; c < ROWS * COLUMNS; c++) all[c] = exp_minus(all[c] < FAR ? all[c] : FAR);
    /* in the tile that holds the diagonal every pair would be met twice: once is what stands right of it */
    for (int r = 0; r < ROWS && j < i + ROWS; r++)
        for (ptrdiff_t c = 0; c <= i + r - j && c < COLUMNS; c++) entry[r][c] = 0.0f;
    use_tile(tiles->u, i, j, entry, sum);
}

static mfpg_status do_rough_strip(mfpg_context *ctx, ptrdiff_t strip, int worker, void *arg) {
    const mfpg_rough_tiles *tiles = arg;
    float *sum = tiles->sums + strip * tiles->padded;
    (void)ctx, (void)worker;
    memset(sum, 0, (size_t)tiles->padded * sizeof *sum);
    for (ptrdiff_t i = ROWS * strip; i < tiles->n; i += ROWS * STRIPS)
        for (ptrdiff_t j = i / COLUMNS * COLUMNS; j < tiles->padded; j += COLUMNS)
            do_rough_tile(tiles, i, j, sum);
    return MFPG_OK;
}

/* The strips' sums in their order, and the diagonal, which is 1. */
mfpg_status mfpg_rough_tiles_weigh(mfpg_context *ctx, mfpg_rough_tiles *tiles, const float *u, float *out) {
    memcpy(tiles->u, u, (size_t)tiles->n * sizeof *u);
    mfpg_status status = mfpg_tasks_run(ctx, STRIPS, do_rough_strip, tiles);
    for (ptrdiff_t i = 0; i < tiles->n; i++) {
        out[i] = u[i];
        for (int s = 0; s < STRIPS; s++) out[i] += tiles->sums[s * tiles->padded + i];
    }
    return status;
}
