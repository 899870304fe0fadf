/* The symmetric projection of points in several dimensions. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "kernel_tiles.h"
#include "mfpg/transport.h"
#include "regularisation.h"
#include "scaling.h"

static mfpg_status check(
    mfpg_context *ctx, ptrdiff_t n, ptrdiff_t d, mfpg_regularisation regularisation, const float *x) {
    char text[MFPG_NUMBER_SIZE];
    if (n < 0 || n > INT32_MAX || d < 1 || d > 1 << 20 || (n > 0 && d > PTRDIFF_MAX / 64 / n))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "Sinkhorn projection: %td points of %td coordinates, allowed are 0 to %d of 1 to %d", n, d,
            INT32_MAX, 1 << 20);
    mfpg_status status = mfpg_regularisation_check(ctx, regularisation);
    if (status != MFPG_OK) return status;
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

static double spread_of_all(ptrdiff_t n, ptrdiff_t d, const float *x, const double *move) {
    double sum = 0.0;
    for (ptrdiff_t k = 0; k < d; k++) sum += spread(n, d, x + k, move ? move + k : NULL);
    return sum;
}

/* y_i = x_i + sum_j P_ij (x_j - x_i), as in one dimension. */
static void apply(ptrdiff_t n, ptrdiff_t d, const double *u, double before, double *move, float *x,
    mfpg_sinkhorn_result *result) {
    for (ptrdiff_t i = 0; i < n * d; i++) move[i] *= u[i / d];
    result->variance_ratio = spread_of_all(n, d, x, move) / before;
    for (ptrdiff_t i = 0; i < n * d; i++) x[i] = (float)((double)x[i] + move[i]);
}

/* before: the spread of all, above 0; found->eta is set. */
static mfpg_status solve(
    mfpg_context *ctx, ptrdiff_t n, ptrdiff_t d, double before, float *x, mfpg_sinkhorn_result *found) {
    mfpg_kernel_tiles *tiles = NULL;
    double *u = mfpg_alloc(5 * n, sizeof *u), *move = mfpg_alloc(n * d, sizeof *move);
    mfpg_status status =
        u && move ? mfpg_kernel_tiles_create(ctx, n, d, x, found->eta, &tiles) : mfpg_fail_memory(ctx);
    const mfpg_kernel kernel = {
        .self = tiles, .weigh = mfpg_kernel_tiles_weigh, .weigh_roughly = mfpg_kernel_tiles_weigh_roughly};
    if (status == MFPG_OK)
        status = mfpg_scaling_solve(ctx, n, &kernel, u, u + n, (float *)(void *)(u + 2 * n), found);
    if (status == MFPG_OK) status = mfpg_kernel_tiles_pull(ctx, tiles, u, move);
    if (status == MFPG_OK) {
        found->kernel_error = mfpg_kernel_tiles_error(tiles, u);
        apply(n, d, u, before, move, x, found);
    }
    mfpg_kernel_tiles_destroy(tiles);
    free(u);
    free(move);
    return status;
}

mfpg_status mfpg_sinkhorn_project_points(mfpg_context *ctx, ptrdiff_t n, ptrdiff_t d,
    mfpg_regularisation regularisation, float *x, mfpg_sinkhorn_result *result) {
    if (d == 1) return mfpg_sinkhorn_project(ctx, n, regularisation, x, result);
    mfpg_status status = check(ctx, n, d, regularisation, x);
    if (status != MFPG_OK) return status;
    double spread = n > 0 ? spread_of_all(n, d, x, NULL) : 0.0;
    mfpg_sinkhorn_result found = {.converged = 1, .variance_ratio = 1.0};
    found.eta = mfpg_regularisation_absolute(regularisation, spread / (double)n / (double)d);
    if (spread > 0.0) status = solve(ctx, n, d, spread, x, &found);
    if (status == MFPG_OK) *result = found;
    return status;
}
