/* Products with a symmetric kernel by tiles of ROWS x COLUMNS entries, in doubles (kernel_tiles.c) and in floats (kernel_tiles_float.c).
 * What includes it says before: the type `real`, LANES of it in a register, the type `tile_set` with the fields n, d, padded, x, sums
 * and u, and DO_TILE, a name of its own for the function that is compiled for several processors. It defines make_entries. */
#ifndef MFPG_NUMERICS_TILE_PASSES_H
#define MFPG_NUMERICS_TILE_PASSES_H

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "mfpg/program.h"
#include "lanes.h"

enum { ROWS = 4, COLUMNS = 64, STRIPS = 16 };

/* Allocates memory for n points of d coordinates; returns 0 if memory runs out. free_tiles frees it, also
 * after a failure. */
static int allocate_tiles(tile_set *t, ptrdiff_t n, ptrdiff_t d) {
    t->n = n;
    t->d = d;
    t->padded = (n + COLUMNS - 1) / COLUMNS * COLUMNS;
    t->x = mfpg_alloc(d * t->padded, sizeof *t->x);
    t->sums = mfpg_alloc(STRIPS * t->padded, sizeof *t->sums);
    t->u = mfpg_alloc(t->padded, sizeof *t->u);
    return t->x && t->sums && t->u;
}

static void free_tiles(tile_set *t) {
    free(t->x);
    free(t->sums);
    free(t->u);
    free(t);
}

/* Computes the entries of ROWS rows from i and COLUMNS columns from j; returns 0 if all of them are
 * negligible. */
static inline __attribute__((always_inline)) int make_entries(
    const tile_set *t, ptrdiff_t i, ptrdiff_t j, real entry[ROWS][COLUMNS]);

/* Adds the tile's contribution to the product, for its rows and, because of symmetry, for its columns.
 * Padding has u = 0. */
static inline __attribute__((always_inline)) void use_tile(
    const real *u, ptrdiff_t i, ptrdiff_t j, real entry[ROWS][COLUMNS], real *sum) {
    lanes rows[ROWS] = {{0}};
    for (int c = 0; c < COLUMNS; c += LANES) {
        lanes own, columns;
        load(u + j + c, &own);
        load(sum + j + c, &columns);
        MFPG_UNROLL
        for (int r = 0; r < ROWS; r++) {
            lanes e;
            load(&entry[r][c], &e);
            rows[r] += e * own;
            columns += e * u[i + r];
        }
        memcpy(sum + j + c, &columns, sizeof columns);
    }
    for (int r = 0; r < ROWS; r++) sum[i + r] += sum_of(&rows[r]);
}

MFPG_WIDE static void DO_TILE(const tile_set *t, ptrdiff_t i, ptrdiff_t j, real *sum) {
    real entry[ROWS][COLUMNS];
    if (!make_entries(t, i, j, entry)) return;
    /* in a tile on the diagonal every pair occurs twice, so only entries to the right of the diagonal count */
    for (int r = 0; r < ROWS && j < i + ROWS; r++)
        for (ptrdiff_t c = 0; c <= i + r - j && c < COLUMNS; c++) entry[r][c] = 0;
    use_tile(t->u, i, j, entry, sum);
}

static mfpg_status do_strip(mfpg_context *ctx, ptrdiff_t strip, int worker, void *arg) {
    const tile_set *t = arg;
    real *sum = t->sums + strip * t->padded;
    (void)ctx, (void)worker;
    memset(sum, 0, (size_t)t->padded * sizeof *sum);
    for (ptrdiff_t i = ROWS * strip; i < t->n; i += ROWS * STRIPS)
        for (ptrdiff_t j = i / COLUMNS * COLUMNS; j < t->padded; j += COLUMNS) DO_TILE(t, i, j, sum);
    return MFPG_OK;
}

/* Computes out_i = sum_j K_ij u_j: the strips' sums in their order, and the diagonal, which is 1. */
static mfpg_status weigh_tiles(mfpg_context *ctx, tile_set *t, const real *u, real *out) {
    memcpy(t->u, u, (size_t)t->n * sizeof *u);
    mfpg_status status = mfpg_tasks_run(ctx, STRIPS, do_strip, t);
    for (ptrdiff_t i = 0; i < t->n; i++) {
        out[i] = u[i];
        for (int s = 0; s < STRIPS; s++) out[i] += t->sums[s * t->padded + i];
    }
    return status;
}

#endif
