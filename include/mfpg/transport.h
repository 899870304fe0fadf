/** Entropic optimal transport of a set of scalars onto itself (Algorithm 3, lines 3 and 4 of the paper). */
#ifndef MFPG_TRANSPORT_H
#define MFPG_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"

/** The unit of a regularisation. */
typedef enum mfpg_regularisation_scale {
    MFPG_REGULARISATION_ABSOLUTE = 0, /* eta_S, in squared units of x */
    MFPG_REGULARISATION_VARIANCE      /* eta_S divided by the variance of the numbers that are projected */
} mfpg_regularisation_scale;

/** eta_S of the kernel exp(-|x_i-x_j|^2 / eta_S). GeomLoss's blur is sqrt(eta_S/2), because its cost is half
 *  a square; POT's reg is eta_S, for squared distances. */
typedef struct mfpg_regularisation {
    double value; /* > 0, finite */
    mfpg_regularisation_scale scale;
} mfpg_regularisation;

typedef struct mfpg_sinkhorn_result {
    int converged;
    int iterations;  /* number of products with the kernel after the first one */
    double residual; /* max_i |row sum i - 1| of the plan */
    /* bound on the error of a row sum, because the kernel is not summed entry by entry */
    double kernel_error;
    double variance_ratio; /* Var(projected) / Var(x); 1 if x is constant */
    double eta;            /* the absolute regularisation; 0 if a relative one was given and x is constant */
} mfpg_sinkhorn_result;

/** Replaces x_i by sum_j P_ij x_j, where P = diag(u) K diag(u), K_ij = exp(-(x_i-x_j)^2 / eta_S), has unit
 *  row sums. A symmetric relaxed iteration with momentum, which contracts by 0.172 for every n and eta_S,
 *  runs in floats. Newton steps follow, whose residual is computed in doubles, until every row sum r_i is 1
 *  to 1e-9 (about 15 iterations) or 200 iterations are done. The remaining 1 - r_i is added to the diagonal
 *  of P, so the mean of x is kept to rounding, and no value leaves the range of x or changes its order,
 *  whether or not the iteration converged. Equal entries stay equal; reordering x reorders the result and
 *  changes no bit. The iterations, and a relative eta_S, depend on x only, so that the projection of a
 *  released x is post-processing.
 *  Time: linear in n if points are dense (in boxes of half a sqrt(eta_S)), otherwise in the entries of K
 *  above e^-36; the cheaper of the two is used. Both agree to kernel_error. residual, kernel_error and the
 *  last product are computed without floats.
 *  @param[in]     n               entries, 0 <= n < 2^31. Memory: at most about 100 n bytes and 2 MiB
 *  @param[in,out] x               finite; unchanged on error
 *  @param[out]    result          set on success
 *  @return MFPG_OK (also when not converged: see result), MFPG_ERR_DOMAIN, MFPG_ERR_MEMORY. */
mfpg_status mfpg_sinkhorn_project(mfpg_context *ctx, ptrdiff_t n, mfpg_regularisation regularisation,
    float *x, mfpg_sinkhorn_result *result);

/** Does the same for n points of d coordinates (n x d, one point after the other), K_ij =
 *  exp(-|x_i-x_j|^2/eta_S); a relative eta_S refers to the mean of the coordinates' variances. Distances are
 *  sums of squared differences; the kernel is never stored. Time: n^2 d/2 per product, three products in
 *  doubles and about 13 in floats. It uses the context's threads, whose number changes no bit. d = 1 is
 *  mfpg_sinkhorn_project.
 *  @param[in] n  points, 0 <= n < 2^31; d coordinates, 1 <= d <= 2^20. Memory: (3 d + 32) n doubles
 *  The mean is kept to rounding; points stay in the convex hull up to the residual. x is unchanged on error. */
mfpg_status mfpg_sinkhorn_project_points(mfpg_context *ctx, ptrdiff_t n, ptrdiff_t d,
    mfpg_regularisation regularisation, float *x, mfpg_sinkhorn_result *result);

/** Counts of the projections of tensors; the result has the same bits in any order. All fields are zero if
 *  there were none. */
typedef struct mfpg_transport_report {
    int64_t projections;  /* below 2^33 */
    int64_t iterations;   /* the most that one took */
    int64_t least_tensor; /* the tensor with the smallest ratio; if several, the first */
    /* sum of the variance ratios, each rounded to 2^-30, in units of 2^-30 */
    int64_t ratio_sum;
    double least_ratio, largest_ratio; /* of the variances */
    double residual, kernel_error;     /* the largest of each */
} mfpg_transport_report;

/** Returns the mean of the variance ratios; NAN if there are none. */
double mfpg_transport_mean_ratio(const mfpg_transport_report *report);

/** A projection that leaves less than this share of a tensor's variance has erased it. */
#define MFPG_TRANSPORT_ERASED 0.01

#endif
