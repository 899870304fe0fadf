/* Products by tiles, in floats. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

enum { LANES = 16 };
typedef float real;
typedef struct mfpg_float_tiles {
    ptrdiff_t n, d, padded; /* padded: a multiple of COLUMNS */
    float *x;               /* d x padded, in units of sqrt(eta) */
    float *sums;            /* STRIPS x padded: the contribution of each strip to the product */
    float *u;               /* padded: of the product under way, then zeros */
} tile_set;
#define DO_TILE do_rough_tile
#include "tile_passes.h"

static const float NOTHING = 30.0f; /* a tile is skipped if all its exponents are above this: e^-30 = 9e-14 */
static const float FAR = 60.0f;     /* exponents are cut here */

mfpg_float_tiles *mfpg_float_tiles_create(
    ptrdiff_t n, ptrdiff_t d, const double *x, ptrdiff_t stride, double eta) {
    /* Squares of larger numbers would overflow, so larger numbers are clamped to this. */
    const double unit = 1.0 / sqrt(eta), most = 0x1p60;
    mfpg_float_tiles *tiles = mfpg_alloc(1, sizeof *tiles);
    if (!tiles || !allocate_tiles(tiles, n, d)) {
        mfpg_float_tiles_destroy(tiles);
        return NULL;
    }
    for (ptrdiff_t k = 0; k < d; k++)
        for (ptrdiff_t i = 0; i < n; i++)
            tiles->x[k * tiles->padded + i] = (float)fmax(-most, fmin(x[k * stride + i] * unit, most));
    return tiles;
}

void mfpg_float_tiles_destroy(mfpg_float_tiles *tiles) {
    if (tiles) free_tiles(tiles);
}

/* exp(-e), 0 <= e <= FAR: e = k log 2 - r with |r| <= log(2)/2, and exp(r) by its series. */
static inline __attribute__((always_inline)) float exp_minus(float e) {
    /* adding this number rounds to an integer, which is then in the low bits */
    const float shift = 0x1.8p23f;
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

/* Computes the exponents of ROWS rows from i and LANES columns from j. */
static inline __attribute__((always_inline)) void fill_lanes(
    const mfpg_float_tiles *tiles, ptrdiff_t i, ptrdiff_t j, float *exponent) {
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

/* Returns the smallest exponent; numbers >= 0 are ordered like their bits. */
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

static inline __attribute__((always_inline)) int make_entries(
    const tile_set *t, ptrdiff_t i, ptrdiff_t j, float entry[ROWS][COLUMNS]) {
    float *all = &entry[0][0];
    for (int c = 0; c < COLUMNS; c += LANES) fill_lanes(t, i, j + c, &entry[0][c]);
    if (least_of(all) > NOTHING) return 0;
    for (int c = 0; c < ROWS * COLUMNS; c++) all[c] = exp_minus(all[c] < FAR ? all[c] : FAR);
    return 1;
}

mfpg_status mfpg_float_tiles_weigh(mfpg_context *ctx, mfpg_float_tiles *tiles, const float *u, float *out) {
    return weigh_tiles(ctx, tiles, u, out);
}
