/* Products by tiles in floats: the way to the scaling, which products in doubles then check and correct. */
#ifndef MFPG_NUMERICS_ROUGH_TILES_H
#define MFPG_NUMERICS_ROUGH_TILES_H

#include <stddef.h>

#include "mfpg/context.h"

typedef struct mfpg_rough_tiles mfpg_rough_tiles;

/* x: d rows of n, each `stride` apart; copied. Memory: (d + 17) n floats. */
mfpg_status mfpg_rough_tiles_create(mfpg_context *ctx, ptrdiff_t n, ptrdiff_t d, const double *x,
    ptrdiff_t stride, double eta, mfpg_rough_tiles **out);
void mfpg_rough_tiles_destroy(mfpg_rough_tiles *tiles);

/* out_i = sum_j K_ij u_j; on the context's threads, whose number changes no bit. */
mfpg_status mfpg_rough_tiles_weigh(mfpg_context *ctx, mfpg_rough_tiles *tiles, const float *u, float *out);

#endif
