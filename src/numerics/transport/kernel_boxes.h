/* Products with the transport kernel in linear time: points in equal boxes, the kernel between two boxes interpolated
 * at Chebyshev nodes. The table of two boxes depends on their distance alone and is its mirror image's transpose, so the
 * kernel that is applied is exactly symmetric. */
#ifndef MFPG_NUMERICS_KERNEL_BOXES_H
#define MFPG_NUMERICS_KERNEL_BOXES_H

#include <stddef.h>

#include "mfpg/context.h"

typedef struct mfpg_kernel_boxes mfpg_kernel_boxes;

/* How long products take, in the units of mfpg_kernel_rows_cost_at_most. x ascending, from x[0] = 0. */
double mfpg_kernel_boxes_cost(ptrdiff_t n, const double *x, double eta);

/* x is borrowed. Memory: n doubles and at most a few hundred a box, of which there are at most n. */
mfpg_status mfpg_kernel_boxes_create(
    mfpg_context *ctx, ptrdiff_t n, const double *x, double eta, mfpg_kernel_boxes **out);
void mfpg_kernel_boxes_destroy(mfpg_kernel_boxes *boxes);

/* out_i = sum_j K_ij u_j, and sum_j K_ij u_j (x_j - x_i), which needs n doubles of work. */
void mfpg_kernel_boxes_weigh(mfpg_kernel_boxes *boxes, const double *u, double *out);
void mfpg_kernel_boxes_pull(mfpg_kernel_boxes *boxes, const double *u, double *out, double *work);

/* The weights in floats, to some six digits of their largest: for u of both signs, of the sum of sizes. */
void mfpg_kernel_boxes_weigh_roughly(mfpg_kernel_boxes *boxes, const float *u, float *out);

/* How much a weight, times its own u_i, can be off for what interpolation and cutoff leave out: the certificate of the
 * row sums, a posteriori, from the weights at hand. */
double mfpg_kernel_boxes_error(const mfpg_kernel_boxes *boxes, const double *u);

#endif
