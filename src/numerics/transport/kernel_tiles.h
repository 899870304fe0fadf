/* Products with the transport kernel in several dimensions: tiles of it are made, used for their rows and for their
 * columns, and forgotten. */
#ifndef MFPG_NUMERICS_KERNEL_TILES_H
#define MFPG_NUMERICS_KERNEL_TILES_H

#include <stddef.h>

#include "mfpg/context.h"

typedef struct mfpg_kernel_tiles mfpg_kernel_tiles;

/* x: n x d, copied. Memory: (d + 17) n doubles and as many floats. */
mfpg_status mfpg_kernel_tiles_create(
    mfpg_context *ctx, ptrdiff_t n, ptrdiff_t d, const float *x, double eta, mfpg_kernel_tiles **out);
void mfpg_kernel_tiles_destroy(mfpg_kernel_tiles *tiles);

/* out_i = sum_j K_ij u_j. The context's threads share the tiles, and their number changes no
 * bit. */
mfpg_status mfpg_kernel_tiles_weigh(mfpg_context *ctx, void *tiles, const double *u, double *out);

/* The same in floats, to some six digits. */
mfpg_status mfpg_kernel_tiles_weigh_roughly(mfpg_context *ctx, void *tiles, const float *u, float *out);

/* out_ik = sum_j K_ij u_j (x_jk - x_ik), n x d. */
mfpg_status mfpg_kernel_tiles_pull(mfpg_context *ctx, mfpg_kernel_tiles *tiles, const double *u, double *out);

/* How much a weight, times its own u_i, can be off, for the u of the last product. */
double mfpg_kernel_tiles_error(const mfpg_kernel_tiles *tiles, const double *u);

#endif
