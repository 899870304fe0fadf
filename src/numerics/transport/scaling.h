/* The scaling u > 0 with u_i (K u)_i = 1 of a symmetric kernel, whatever makes its products. */
#ifndef MFPG_NUMERICS_SCALING_H
#define MFPG_NUMERICS_SCALING_H

#include "mfpg/transport.h"

/* A kernel K that is symmetric, positive semidefinite and 1 on its diagonal, by its products out = K u. */
typedef struct mfpg_kernel {
    void *self;
    mfpg_status (*weigh)(mfpg_context *ctx, void *self, const double *u, double *out);
    /* The same to some six digits, which is what the way to the solution needs; u >= 0, or of both signs. */
    mfpg_status (*weigh_roughly)(mfpg_context *ctx, void *self, const float *u, float *out);
} mfpg_kernel;

/* u and row_sum: n each, set to the scaling and its row sums u_i (K u)_i, the latter by weigh, of the very u. work: 6 n
 * floats. Sets converged, iterations and residual of the result. Fails where a product fails. */
mfpg_status mfpg_scaling_solve(mfpg_context *ctx, ptrdiff_t n, const mfpg_kernel *kernel, double *u,
    double *row_sum, float *work, mfpg_sinkhorn_result *result);

#endif
