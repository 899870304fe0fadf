/* The symmetric projection of points in several dimensions. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "kernel_tiles.h"
#include "mfpg/transport.h"
#include "scaling.h"

static const double SMALLEST_ETA =
    1e-100; /* from there down all different floats are beyond every exponent */

static mfpg_status check(mfpg_context *ctx, ptrdiff_t n, ptrdiff_t d, double regularisation, const float *x) {
    char text[MFPG_NUMBER_SIZE];
    if (n < 0 || n > INT32_MAX || d < 1 || d > 1 << 20 || (n > 0 && d > PTRDIFF_MAX / 64 / n))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "Sinkhorn projection: %td points of %td coordinates, allowed are 0 to %d of 1 to %d", n, d,
            INT32_MAX, 1 << 20);
    if (!(regularisation > 0.0 && isfinite(regularisation)))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "Sinkhorn projection: the regularisation is %s, allowed is a number above 0",
            mfpg_number_format(regularisation, text));
    for (ptrdiff_t i = 0; i < n * d; i++)
        if (!isfinite(x[i]))
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "Sinkhorn projection: coordinate %td of point %td is %s",
                i % d, i / d, mfpg_number_format((double)x[i], text));
    return MFPG_OK;
}

/* n times the variance of one coordinate of x + move; move NULL: of x. Both are d apart. */
static double spread(ptrdiff_t n, ptrdiff_t d, const float *x, const double *move) {
    double mean = 0.0, sum = 0.0;
    for (ptrdiff_t i = 0; i < n * d; i += d)
        mean += ((double)x[i] - (double)x[0] + (move ? move[i] : 0.0)) / (double)n;
    for (ptrdiff_t i = 0; i < n * d; i += d) {
        double apart = (double)x[i] - (double)x[0] + (move ? move[i] : 0.0) - mean;
        sum += apart * apart;
    }
    return sum;
}

/* y_i = x_i + sum_j P_ij (x_j - x_i), as in one dimension. */
static void apply(
    ptrdiff_t n, ptrdiff_t d, const double *u, double *move, float *x, mfpg_sinkhorn_result *result) {
    double before = 0.0, after = 0.0;
    for (ptrdiff_t i = 0; i < n * d; i++) move[i] *= u[i / d];
    for (ptrdiff_t k = 0; k < d; k++) {
        before += spread(n, d, x + k, NULL);
        after += spread(n, d, x + k, move + k);
    }
    for (ptrdiff_t i = 0; i < n * d; i++) x[i] = (float)((double)x[i] + move[i]);
    result->variance_ratio = before > 0.0 ? after / before : 1.0;
}

mfpg_status mfpg_sinkhorn_project_points(mfpg_context *ctx, ptrdiff_t n, ptrdiff_t d, double regularisation,
    float *x, mfpg_sinkhorn_result *result) {
    if (d == 1) return mfpg_sinkhorn_project(ctx, n, regularisation, x, result);
    mfpg_status status = check(ctx, n, d, regularisation, x);
    if (status != MFPG_OK) return status;
    mfpg_sinkhorn_result found = {.converged = 1, .variance_ratio = 1.0};
    mfpg_kernel_tiles *tiles = NULL;
    double *u = NULL, *move = NULL;
    if (n == 0) goto done;
    u = mfpg_alloc(2 * n, sizeof *u);
    move = mfpg_alloc(n * d, sizeof *move);
    status = u && move ? mfpg_kernel_tiles_create(ctx, n, d, x, fmax(regularisation, SMALLEST_ETA), &tiles)
                       : mfpg_fail_memory(ctx);
    if (status == MFPG_OK)
        status = mfpg_scaling_solve(ctx, n, mfpg_kernel_tiles_weigh, tiles, u, u + n, &found);
    if (status == MFPG_OK) status = mfpg_kernel_tiles_pull(ctx, tiles, u, move);
    if (status != MFPG_OK) goto done;
    found.kernel_error = mfpg_kernel_tiles_error(tiles, u);
    apply(n, d, u, move, x, &found);
done:
    mfpg_kernel_tiles_destroy(tiles);
    free(u);
    free(move);
    if (status == MFPG_OK) *result = found;
    return status;
}
