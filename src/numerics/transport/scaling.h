/* The scaling u > 0 with u_i (K u)_i = 1 of a symmetric kernel, whatever makes its products. */
#ifndef MFPG_NUMERICS_SCALING_H
#define MFPG_NUMERICS_SCALING_H

#include "mfpg/transport.h"

/* out = K u; K is symmetric, positive semidefinite and 1 on its diagonal. */
typedef mfpg_status (*mfpg_kernel_product)(mfpg_context *ctx, void *kernel, const double *u, double *out);

/* u and row_sum: n each, set to the scaling and its row sums u_i (K u)_i. Sets converged, iterations and residual of the
 * result. Fails where a product fails. */
mfpg_status mfpg_scaling_solve(mfpg_context *ctx, ptrdiff_t n, mfpg_kernel_product product, void *kernel,
    double *u, double *row_sum, mfpg_sinkhorn_result *result);

#endif
