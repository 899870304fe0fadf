#include "mfpg/transport.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/wide.h"
#include "kernel_boxes.h"
#include "kernel_rows.h"
#include "order.h"

/* The symmetric relaxed iteration on sorted points. Near the solution the errors of log u obey d <- (I - theta (I+P)) d,
 * and P has its spectrum in [0,1] because the Gaussian kernel is positive semidefinite: theta = 2/3 contracts by 1/3,
 * whatever n and eta. K_ii = 1 gives r_i >= u_i^2, so u <= 1 and K u >= 1 at the solution: no logarithms are needed. */

static const double TOLERANCE = 1e-9; /* of the row sums, and so of log u: I+P has no eigenvalue below 1 */
static const double SMALLEST_ETA = 1e-100; /* from there down all different floats are beyond the cutoff */
enum { MOST_ITERATIONS = 200 };

typedef struct problem {
    ptrdiff_t n;
    double first;           /* the smallest of the caller's */
    int32_t *order;         /* places in the caller's array, ascending */
    double *x;              /* n, ascending from 0; the arrays below are parts of the same block */
    double *u;              /* scaling, P_ij = u_i K_ij u_j */
    double *row_sum;        /* r_i = u_i (K u)_i */
    double *work;           /* n */
    mfpg_kernel_rows *rows; /* one of the two makes the products */
    mfpg_kernel_boxes *boxes;
} problem;

static void forget(problem *p) {
    mfpg_kernel_rows_destroy(p->rows);
    mfpg_kernel_boxes_destroy(p->boxes);
    free(p->order);
    free(p->x);
}

static mfpg_status choose_kernel(mfpg_context *ctx, double eta, problem *p) {
    double inverse = 1.0 / eta;
    if (mfpg_kernel_rows_size(p->n, p->x, inverse).cost <= mfpg_kernel_boxes_cost(p->n, p->x, eta))
        return mfpg_kernel_rows_create(ctx, p->n, p->x, inverse, &p->rows);
    return mfpg_kernel_boxes_create(ctx, p->n, p->x, eta, &p->boxes);
}

static mfpg_status prepare(mfpg_context *ctx, ptrdiff_t n, double eta, const float *x, problem *p) {
    p->n = n;
    p->order = mfpg_alloc(n, sizeof *p->order);
    p->x = mfpg_alloc(4 * n, sizeof *p->x);
    if (!p->order || !p->x) return mfpg_fail_memory(ctx);
    p->u = p->x + n;
    p->row_sum = p->u + n;
    p->work = p->row_sum + n;
    mfpg_status status = mfpg_order_floats(ctx, n, x, p->order);
    if (status != MFPG_OK) return status;
    p->first = (double)x[p->order[0]];
    for (ptrdiff_t i = 0; i < n; i++) p->x[i] = (double)x[p->order[i]] - p->first;
    return choose_kernel(ctx, fmax(eta, SMALLEST_ETA), p);
}

static void weigh(problem *p, double *out) {
    if (p->boxes)
        mfpg_kernel_boxes_weigh(p->boxes, p->u, out);
    else
        mfpg_kernel_rows_weigh(p->rows, p->u, out);
}

static void pull(problem *p, double *out) {
    if (p->boxes)
        mfpg_kernel_boxes_pull(p->boxes, p->u, out, p->work);
    else
        mfpg_kernel_rows_pull(p->rows, p->u, out);
}

/* Row sums of the plan; returns max |r_i - 1|. */
static double measure(problem *p) {
    double worst = 0.0;
    weigh(p, p->row_sum);
    for (ptrdiff_t i = 0; i < p->n; i++) {
        p->row_sum[i] *= p->u[i];
        double error = fabs(p->row_sum[i] - 1.0);
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

/* u r^(-2/3) for r within 0.1 of 1: seven terms of the series, which is off by 2e-9 at most and by nothing at 1. */
MFPG_WIDE static void scale_near_one(ptrdiff_t n, const double *restrict r, double *restrict u) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double e = r[i] - 1.0;
        u[i] *=
            1.0 +
            e * (-2.0 / 3 +
                    e * (5.0 / 9 +
                            e * (-40.0 / 81 +
                                    e * (110.0 / 243 + e * (-308.0 / 729 + e * (2618.0 / 6561 -
                                                                                   e * (7480.0 / 19683)))))));
    }
}

static void scale(problem *p, double residual) {
    if (residual < 0.1) {
        scale_near_one(p->n, p->row_sum, p->u);
        return;
    }
    for (ptrdiff_t i = 0; i < p->n; i++) {
        double root = cbrt(p->row_sum[i]);
        p->u[i] /= root * root;
    }
}

static void iterate(problem *p, mfpg_sinkhorn_result *result) {
    for (ptrdiff_t i = 0; i < p->n; i++) p->u[i] = 1.0;
    weigh(p, p->row_sum);
    for (ptrdiff_t i = 0; i < p->n; i++) p->u[i] = 1.0 / sqrt(p->row_sum[i]);
    result->residual = measure(p);
    while (result->residual > TOLERANCE && result->iterations < MOST_ITERATIONS) {
        scale(p, result->residual);
        result->iterations++;
        result->residual = measure(p);
    }
    result->converged = result->residual <= TOLERANCE;
    result->kernel_error =
        p->boxes ? mfpg_kernel_boxes_error(p->boxes, p->u) : mfpg_kernel_rows_error(p->rows, p->u);
}

static double variance(ptrdiff_t n, const double *x) {
    double mean = 0.0, sum = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) mean += (x[i] - x[0]) / (double)n;
    for (ptrdiff_t i = 0; i < n; i++) sum += (x[i] - x[0] - mean) * (x[i] - x[0] - mean);
    return sum / (double)n;
}

/* y_i = x_i + sum_j P_ij (x_j - x_i): what a row sum lacks of 1 stays where it is. The plan that is applied so has unit
 * rows and is symmetric, whatever is left of the residual, so the mean is kept. The exact map keeps the order and the
 * range; where the last bits would not, they are made to. */
static void project(problem *p, float *x, mfpg_sinkhorn_result *result) {
    double before = variance(p->n, p->x), *moved = p->row_sum, last = 0.0;
    pull(p, moved);
    for (ptrdiff_t i = 0; i < p->n; i++) {
        last = fmin(fmax(p->x[i] + p->u[i] * moved[i], last), p->x[p->n - 1]);
        moved[i] = last;
    }
    for (ptrdiff_t i = 0; i < p->n; i++) x[p->order[i]] = (float)(p->first + moved[i]);
    result->variance_ratio = before > 0.0 ? variance(p->n, moved) / before : 1.0;
}

static mfpg_status check(mfpg_context *ctx, ptrdiff_t n, double regularisation, const float *x) {
    char text[MFPG_NUMBER_SIZE];
    if (n < 0 || n > INT32_MAX)
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "Sinkhorn projection: %td entries, allowed are 0 to %d", n, INT32_MAX);
    if (!(regularisation > 0.0 && isfinite(regularisation)))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "Sinkhorn projection: the regularisation is %s, allowed is a number above 0",
            mfpg_number_format(regularisation, text));
    for (ptrdiff_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "Sinkhorn projection: entry %td is %s", i,
                mfpg_number_format((double)x[i], text));
    return MFPG_OK;
}

mfpg_status mfpg_sinkhorn_project(
    mfpg_context *ctx, ptrdiff_t n, double regularisation, float *x, mfpg_sinkhorn_result *result) {
    mfpg_status status = check(ctx, n, regularisation, x);
    if (status != MFPG_OK) return status;
    mfpg_sinkhorn_result found = {.converged = 1, .variance_ratio = 1.0};
    problem p = {0};
    if (n == 0) goto done;
    status = prepare(ctx, n, regularisation, x, &p);
    if (status != MFPG_OK) goto done;
    iterate(&p, &found);
    project(&p, x, &found);
done:
    forget(&p);
    if (status == MFPG_OK) *result = found;
    return status;
}
