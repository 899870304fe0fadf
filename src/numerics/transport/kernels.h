/* The transport kernel K_ij = exp(-|x_i - x_j|^2 / eta), represented by its products, and the scaling that
 * gives it unit row sums. */
#ifndef MFPG_NUMERICS_TRANSPORT_KERNELS_H
#define MFPG_NUMERICS_TRANSPORT_KERNELS_H

#include "mfpg/transport.h"

/* A kernel that is symmetric, positive semidefinite and 1 on its diagonal. The number of the context's
 * threads changes no bit. */
typedef struct mfpg_kernel {
    void *self; /* NULL: there is no kernel */
    /* out_i = sum_j K_ij u_j. */
    mfpg_status (*weigh)(mfpg_context *ctx, void *self, const double *u, double *out);
    /* Does the same to about six digits, relative to the largest result, or to the sum of absolute values if
     * u has both signs. */
    mfpg_status (*weigh_roughly)(mfpg_context *ctx, void *self, const float *u, float *out);
    /* Computes out_ik = sum_j K_ij u_j (x_jk - x_ik), n x d; work: n doubles. */
    mfpg_status (*pull)(mfpg_context *ctx, void *self, const double *u, double *out, double *work);
    /* Returns a bound on the error of a product entry, times its own u_i, because the kernel is not summed
     * entry by entry and because of rounding. It certifies the row sums, and applies to the u of the last
     * product. */
    double (*error)(const void *self, const double *u);
    void (*destroy)(void *self);
} mfpg_kernel;

static inline void mfpg_kernel_destroy(mfpg_kernel *kernel) {
    if (kernel->self) kernel->destroy(kernel->self);
}

/* Creates a kernel that works row by row, each over the window of points that are near enough to contribute.
 * x is borrowed: n points, ascending. Memory: 5 n doubles, and the entries if they fit into 2 MiB; otherwise
 * every product recomputes the rows. */
mfpg_status mfpg_kernel_rows(mfpg_context *ctx, ptrdiff_t n, const double *x, double eta, mfpg_kernel *out);

/* Returns 1 if a product takes no longer than cost, in units of a stored entry (an eighth of a nanosecond on
 * the machine where it was measured). */
int mfpg_kernel_rows_cost_at_most(double cost, ptrdiff_t n, const double *x, double eta);

/* In linear time: points in equal boxes, the kernel between two boxes interpolated at Chebyshev nodes. The table of two boxes
 * depends on their distance alone and is its mirror image's transpose, so the kernel that is applied is exactly symmetric.
 * x is borrowed, ascending, from x[0] = 0. Memory: n doubles and at most a few hundred a box, of which there are at most n. */
mfpg_status mfpg_kernel_boxes(mfpg_context *ctx, ptrdiff_t n, const double *x, double eta, mfpg_kernel *out);
double mfpg_kernel_boxes_cost(ptrdiff_t n, const double *x, double eta); /* in the same units */

/* Creates a kernel in several dimensions: tiles of it are computed, used for their rows and for their
 * columns, and discarded. x: n x d, copied. Memory: (d + 17) n doubles and as many floats. */
mfpg_status mfpg_kernel_tiles(
    mfpg_context *ctx, ptrdiff_t n, ptrdiff_t d, const float *x, double eta, mfpg_kernel *out);

/* Computes the scaling u > 0 with u_i (K u)_i = 1. u and row_sum have n entries each and are set to the
 * scaling and to its row sums, computed by weigh from this u. work: 6 n floats. Sets converged, iterations
 * and residual of the result. Fails if a product fails. */
mfpg_status mfpg_scaling_solve(mfpg_context *ctx, ptrdiff_t n, const mfpg_kernel *kernel, double *u,
    double *row_sum, float *work, mfpg_sinkhorn_result *result);

/* ---- entries ---- */

/* Larger exponents count as 0 entries: e^-36 = 2e-16, compared with the diagonal's 1. */
#define MFPG_GAUSSIAN_CUTOFF 36.0

/* Returns (at - x)^2 / eta with inverse = 1/eta. It uses the difference, so exchanging the two gives the
 * same bits, and a common offset does no harm. */
static inline double mfpg_gaussian_exponent(double at, double x, double inverse) {
    double difference = at - x;
    return difference * difference * inverse;
}

/* Computes out_j = exp(-mfpg_gaussian_exponent(at, x_j, inverse)) for n entries whose exponents are at most
 * the cutoff, with relative error below 1e-15. It uses only additions and multiplications, so the bits are
 * the same on every x86-64. */
void mfpg_gaussian_row(ptrdiff_t n, const double *x, double at, double inverse, double *out);

/* Replaces entry_j by exp(-entry_j) for n numbers from 0 to 700, in the same way. */
void mfpg_gaussian_entries(ptrdiff_t n, double *entry);

/* ---- boxes ---- */

/* Distance in boxes: further boxes are beyond the cutoff, which is 6 units of sqrt(eta), and a box is at
 * most half a unit wide. */
enum { MFPG_BOX_REACH = 12, MFPG_BOX_MOST_ORDER = 12 };

typedef struct mfpg_box {
    ptrdiff_t from, to; /* its points */
    /* Its column in the expansions; empty boxes in between have columns too, but at most REACH + 1. */
    ptrdiff_t place;
} mfpg_box;

typedef struct mfpg_box_layout {
    ptrdiff_t n, count;
    ptrdiff_t columns; /* number of columns: REACH empty ones at both ends, and a multiple of 16 in between */
    double half;       /* of a box's width, in the units of x */
    mfpg_box *boxes;   /* count */
    double *t;         /* one per point: its place in its box, in [-1, 1] */
} mfpg_box_layout;

/* Computes Chebyshev coefficients C_kl, order x order, of the kernel between two boxes of that width (in
 * units of sqrt(eta)) at distance m: exp(-(width m + (width/2)(s - t))^2) = sum_kl C_kl T_k(s) T_l(t). Both
 * symmetries are exact. */
void mfpg_box_table(int order, double width, int m, double *table);

/* ---- products in floats, which find the scaling; products in doubles then check and correct it ---- */

typedef struct mfpg_float_boxes mfpg_float_boxes;
typedef struct mfpg_float_tiles mfpg_float_tiles;

/* layout is borrowed. Memory: n floats and about 70 per column. NULL if memory runs out. */
mfpg_float_boxes *mfpg_float_boxes_create(const mfpg_box_layout *layout, double eta);
void mfpg_float_boxes_destroy(mfpg_float_boxes *boxes);
void mfpg_float_boxes_weigh(mfpg_float_boxes *boxes, const float *u, float *out);

/* x: d rows of n, each `stride` apart; copied. Memory: (d + 17) n floats. NULL if memory runs out. */
mfpg_float_tiles *mfpg_float_tiles_create(
    ptrdiff_t n, ptrdiff_t d, const double *x, ptrdiff_t stride, double eta);
void mfpg_float_tiles_destroy(mfpg_float_tiles *tiles);
mfpg_status mfpg_float_tiles_weigh(mfpg_context *ctx, mfpg_float_tiles *tiles, const float *u, float *out);

#endif
