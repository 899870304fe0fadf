/** Entropic optimal transport of a cloud of scalars onto itself (Algorithm 3, lines 3 and 4 of the paper). */
#ifndef MFPG_TRANSPORT_H
#define MFPG_TRANSPORT_H

#include <stddef.h>

#include "context.h"

typedef struct mfpg_sinkhorn_result {
    int converged;
    int iterations;
    double residual;       /* max_i |row sum i - 1| of the plan */
    double variance_ratio; /* Var(projected) / Var(x); 1 where x is constant */
} mfpg_sinkhorn_result;

/** Replaces x_i by sum_j P_ij x_j, where P = diag(u) K diag(u), K_ij = exp(-(x_i-x_j)^2 / regularisation), has unit
 *  row sums. Symmetric relaxed iteration u <- u r^(-2/3), which contracts by 1/3 whatever n and regularisation, until
 *  every row sum r_i is 1 to 1e-9 or 200 iterations are done. What a row sum then lacks of 1 stays on the diagonal of P:
 *  the mean of x is kept and no value leaves the range of x, converged or not. Equal entries stay equal; reordering x
 *  reorders the result and changes no bit. Number of iterations and stopping look at x only, so applied to a released x
 *  it is post-processing.
 *  @param[in]     n               entries, 0 <= n <= 4096. Memory: some 10 n doubles and the entries of K above 1e-16,
 *                                 at most 2 MiB of them; where there are more, every product makes the rows of K anew
 *  @param[in]     regularisation  eta_S > 0, finite
 *  @param[in,out] x               finite; unchanged on error
 *  @param[out]    result          set on success
 *  @return MFPG_OK (also when not converged: see result), MFPG_ERR_DOMAIN, MFPG_ERR_MEMORY. */
mfpg_status mfpg_sinkhorn_project(
    mfpg_context *ctx, ptrdiff_t n, double regularisation, float *x, mfpg_sinkhorn_result *result);

#endif
