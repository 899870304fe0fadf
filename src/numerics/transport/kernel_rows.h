/* Products with the transport kernel, row by row, each over the window of points near enough to count. */
#ifndef MFPG_NUMERICS_KERNEL_ROWS_H
#define MFPG_NUMERICS_KERNEL_ROWS_H

#include <stddef.h>

#include "mfpg/context.h"

typedef struct mfpg_kernel_rows mfpg_kernel_rows;

/* 1 where a product takes no longer than cost, in units of a stored entry (an eighth of a nanosecond where this was
 * measured). x ascending. */
int mfpg_kernel_rows_cost_at_most(double cost, ptrdiff_t n, const double *x, double inverse);

/* x is borrowed: n points, ascending; inverse = 1/eta. Memory: 5 n doubles and the entries, where they fit 2 MiB;
 * otherwise every product makes the rows anew. */
mfpg_status mfpg_kernel_rows_create(
    mfpg_context *ctx, ptrdiff_t n, const double *x, double inverse, mfpg_kernel_rows **out);
void mfpg_kernel_rows_destroy(mfpg_kernel_rows *rows);

/* out_i = sum_j K_ij u_j, and sum_j K_ij u_j (x_j - x_i). */
void mfpg_kernel_rows_weigh(mfpg_kernel_rows *rows, const double *u, double *out);
void mfpg_kernel_rows_pull(mfpg_kernel_rows *rows, const double *u, double *out);

/* The weights of floats. */
void mfpg_kernel_rows_weigh_roughly(mfpg_kernel_rows *rows, const float *u, float *out);

/* How much a weight, times its own u_i, can be off by what the cutoff leaves out and by the entries' rounding. */
double mfpg_kernel_rows_error(const mfpg_kernel_rows *rows, const double *u);

#endif
