#include "mfpg/transport.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "kernel_boxes.h"
#include "kernel_rows.h"
#include "numerics/order_floats.h"
#include "regularisation.h"
#include "scaling.h"
#include "variance.h"

typedef struct problem {
    ptrdiff_t n;
    double first;           /* the smallest of the caller's */
    int32_t *order;         /* places in the caller's array, ascending */
    double *x;              /* n, ascending from 0; the arrays below are parts of the same block */
    double *u;              /* scaling, P_ij = u_i K_ij u_j */
    double *row_sum;        /* r_i = u_i (K u)_i */
    double *work;           /* 3 n */
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
    if (mfpg_kernel_rows_cost_at_most(mfpg_kernel_boxes_cost(p->n, p->x, eta), p->n, p->x, inverse))
        return mfpg_kernel_rows_create(ctx, p->n, p->x, inverse, &p->rows);
    return mfpg_kernel_boxes_create(ctx, p->n, p->x, eta, &p->boxes);
}

/* The points in their order, from 0. */
static mfpg_status arrange(mfpg_context *ctx, ptrdiff_t n, const float *x, problem *p) {
    p->n = n;
    p->order = mfpg_alloc(n, sizeof *p->order);
    p->x = mfpg_alloc(6 * n, sizeof *p->x);
    if (!p->order || !p->x) return mfpg_fail_memory(ctx);
    p->u = p->x + n;
    p->row_sum = p->u + n;
    p->work = p->row_sum + n;
    mfpg_status status = mfpg_order_floats(ctx, n, x, p->order);
    if (status != MFPG_OK) return status;
    p->first = (double)x[p->order[0]];
    for (ptrdiff_t i = 0; i < n; i++) p->x[i] = (double)x[p->order[i]] - p->first;
    return MFPG_OK;
}

static mfpg_status weigh(mfpg_context *ctx, void *kernel, const double *u, double *out) {
    problem *p = kernel;
    (void)ctx;
    if (p->boxes)
        mfpg_kernel_boxes_weigh(p->boxes, u, out);
    else
        mfpg_kernel_rows_weigh(p->rows, u, out);
    return MFPG_OK;
}

static mfpg_status weigh_roughly(mfpg_context *ctx, void *kernel, const float *u, float *out) {
    problem *p = kernel;
    (void)ctx;
    if (p->boxes)
        mfpg_kernel_boxes_weigh_roughly(p->boxes, u, out);
    else
        mfpg_kernel_rows_weigh_roughly(p->rows, u, out);
    return MFPG_OK;
}

static void pull(problem *p, double *out) {
    if (p->boxes)
        mfpg_kernel_boxes_pull(p->boxes, p->u, out, p->work);
    else
        mfpg_kernel_rows_pull(p->rows, p->u, out);
}

/* y_i = x_i + sum_j P_ij (x_j - x_i): what a row sum lacks of 1 stays where it is. The plan that is applied so has unit
 * rows and is symmetric, whatever is left of the residual, so the mean is kept. The exact map keeps the order and the
 * range; where the last bits would not, they are made to. */
static void project(problem *p, double before, float *x, mfpg_sinkhorn_result *result) {
    double *moved = p->row_sum, last = 0.0, most = p->x[p->n - 1];
    pull(p, moved);
    for (ptrdiff_t i = 0; i < p->n; i++) {
        double image = p->x[i] + p->u[i] * moved[i];
        if (image > last) last = image < most ? image : most;
        moved[i] = last;
    }
    for (ptrdiff_t i = 0; i < p->n; i++) x[p->order[i]] = (float)(p->first + moved[i]);
    result->variance_ratio = before > 0.0 ? mfpg_variance_of(p->n, moved) / before : 1.0;
}

static mfpg_status check(mfpg_context *ctx, ptrdiff_t n, mfpg_regularisation regularisation, const float *x) {
    char text[MFPG_NUMBER_SIZE];
    if (n < 0 || n > INT32_MAX)
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "Sinkhorn projection: %td entries, allowed are 0 to %d", n, INT32_MAX);
    mfpg_status status = mfpg_regularisation_check(ctx, regularisation);
    if (status != MFPG_OK) return status;
    for (ptrdiff_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "Sinkhorn projection: entry %td is %s", i,
                mfpg_number_format((double)x[i], text));
    return MFPG_OK;
}

/* The points are arranged, spread is their variance, and found->eta is set. */
static mfpg_status solve(
    mfpg_context *ctx, problem *p, double spread, float *x, mfpg_sinkhorn_result *found) {
    mfpg_status status = choose_kernel(ctx, found->eta, p);
    const mfpg_kernel kernel = {.self = p, .weigh = weigh, .weigh_roughly = weigh_roughly};
    if (status == MFPG_OK)
        status = mfpg_scaling_solve(ctx, p->n, &kernel, p->u, p->row_sum, (float *)(void *)p->work, found);
    if (status != MFPG_OK) return status;
    found->kernel_error =
        p->boxes ? mfpg_kernel_boxes_error(p->boxes, p->u) : mfpg_kernel_rows_error(p->rows, p->u);
    project(p, spread, x, found);
    return MFPG_OK;
}

mfpg_status mfpg_sinkhorn_project(mfpg_context *ctx, ptrdiff_t n, mfpg_regularisation regularisation,
    float *x, mfpg_sinkhorn_result *result) {
    mfpg_status status = check(ctx, n, regularisation, x);
    if (status != MFPG_OK) return status;
    mfpg_sinkhorn_result found = {.converged = 1, .variance_ratio = 1.0};
    problem p = {0};
    if (n > 0) status = arrange(ctx, n, x, &p);
    double spread = n > 0 && status == MFPG_OK ? mfpg_variance_of(n, p.x) : 0.0;
    found.eta = mfpg_regularisation_absolute(regularisation, spread);
    if (status == MFPG_OK && spread > 0.0) status = solve(ctx, &p, spread, x, &found);
    forget(&p);
    if (status == MFPG_OK) *result = found;
    return status;
}
