/* The projections: checks, the order of the points, and the application of the plan. */
#include "mfpg/transport.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/wide.h"
#include "kernels.h"
#include "numerics/sorting.h"
#include "transport_report.h"

static mfpg_status check(
    mfpg_context *ctx, ptrdiff_t n, ptrdiff_t d, mfpg_regularisation regularisation, const float *x) {
    char text[MFPG_NUMBER_SIZE];
    double value = regularisation.value;
    if (n < 0 || n > INT32_MAX || d < 1 || d > 1 << 20 || (n > 0 && d > PTRDIFF_MAX / 64 / n))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "Sinkhorn projection: %td points of %td coordinates, allowed are 0 to %d of 1 to %d", n, d,
            INT32_MAX, 1 << 20);
    if (regularisation.scale != MFPG_REGULARISATION_ABSOLUTE &&
        regularisation.scale != MFPG_REGULARISATION_VARIANCE)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "Sinkhorn projection: scale %d of the regularisation; allowed: absolute (%d), variance (%d)",
            (int)regularisation.scale, MFPG_REGULARISATION_ABSOLUTE, MFPG_REGULARISATION_VARIANCE);
    if (!(value > 0.0 && isfinite(value)))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "Sinkhorn projection: the regularisation is %s, allowed is a number above 0",
            mfpg_number_format(value, text));
    ptrdiff_t i = 0;
    while (i < n * d && isfinite(x[i])) i++;
    if (i == n * d) return MFPG_OK;
    mfpg_number_format((double)x[i], text);
    if (d == 1) return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "Sinkhorn projection: entry %td is %s", i, text);
    return mfpg_fail(
        ctx, MFPG_ERR_DOMAIN, "Sinkhorn projection: coordinate %td of point %td is %s", i % d, i / d, text);
}

/* Returns eta_S for a cloud of that variance: 0 if it is relative and the variance is 0. Otherwise it is
 * clamped to the range from 1e-100, below which all different floats are too far apart to interact, to the
 * largest number. */
static double absolute_of(mfpg_regularisation regularisation, double variance) {
    double eta = regularisation.value;
    if (regularisation.scale == MFPG_REGULARISATION_VARIANCE) {
        if (!(variance > 0.0)) return 0.0;
        eta *= variance;
    }
    return fmin(fmax(eta, 1e-100), DBL_MAX);
}

/* ---- one dimension ---- */

/* Returns the sum of x - from - mean, or of its squares. Independent partial sums are used, because each
 * addition would otherwise wait for the previous one. */
MFPG_WIDE static double sum_apart(ptrdiff_t n, const double *x, double from, double mean, int squares) {
    enum { PARTS = 16 };
    double part[PARTS] = {0}, sum = 0.0;
    ptrdiff_t i = 0;
    for (; i + PARTS <= n; i += PARTS)
        for (int k = 0; k < PARTS; k++) {
            double apart = (x[i + k] - from) - mean;
            part[k] += squares ? apart * apart : apart;
        }
    for (; i < n; i++) {
        double apart = (x[i] - from) - mean;
        part[0] += squares ? apart * apart : apart;
    }
    for (int k = 0; k < PARTS; k++) sum += part[k];
    return sum;
}

/* Returns the variance of n >= 1 numbers, relative to the first of them, so that a common offset does no
 * harm and equal numbers give 0. */
static double variance_of(ptrdiff_t n, const double *x) {
    double mean = sum_apart(n, x, x[0], 0.0, 0) / (double)n;
    return sum_apart(n, x, x[0], mean, 1) / (double)n;
}

typedef struct problem {
    ptrdiff_t n;
    double first;       /* the smallest of the caller's */
    int32_t *order;     /* places in the caller's array, ascending */
    double *x;          /* n points, ascending from 0; the arrays below are parts of the same block */
    double *u;          /* scaling, P_ij = u_i K_ij u_j */
    double *row_sum;    /* r_i = u_i (K u)_i */
    double *work;       /* 3 n */
    mfpg_kernel kernel; /* by rows or by boxes, whichever is cheaper */
} problem;

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

/* Computes y_i = x_i + sum_j P_ij (x_j - x_i): what a row sum lacks of 1 stays at x_i. The plan applied in
 * this way has unit rows and is symmetric whatever the residual, so the mean is kept. The exact map
 * preserves order and range; if the last bits of the result do not, they are corrected. */
static void apply_in_order(problem *p, double before, float *x, mfpg_sinkhorn_result *result) {
    double *moved = p->row_sum, last = 0.0, most = p->x[p->n - 1];
    for (ptrdiff_t i = 0; i < p->n; i++) {
        double image = p->x[i] + p->u[i] * moved[i];
        if (image > last) last = image < most ? image : most;
        moved[i] = last;
    }
    for (ptrdiff_t i = 0; i < p->n; i++) x[p->order[i]] = (float)(p->first + moved[i]);
    result->variance_ratio = before > 0.0 ? variance_of(p->n, moved) / before : 1.0;
}

/* On entry the points are arranged, `variance` is theirs, and found->eta is set. */
static mfpg_status solve_in_order(
    mfpg_context *ctx, problem *p, double variance, float *x, mfpg_sinkhorn_result *found) {
    double eta = found->eta;
    int by_rows = mfpg_kernel_rows_cost_at_most(mfpg_kernel_boxes_cost(p->n, p->x, eta), p->n, p->x, eta);
    mfpg_status status = (by_rows ? mfpg_kernel_rows : mfpg_kernel_boxes)(ctx, p->n, p->x, eta, &p->kernel);
    if (status == MFPG_OK)
        status = mfpg_scaling_solve(ctx, p->n, &p->kernel, p->u, p->row_sum, (float *)(void *)p->work, found);
    if (status != MFPG_OK) return status;
    found->kernel_error = p->kernel.error(p->kernel.self, p->u);
    status = p->kernel.pull(ctx, p->kernel.self, p->u, p->row_sum, p->work);
    if (status == MFPG_OK) apply_in_order(p, variance, x, found);
    return status;
}

mfpg_status mfpg_sinkhorn_project(mfpg_context *ctx, ptrdiff_t n, mfpg_regularisation regularisation,
    float *x, mfpg_sinkhorn_result *result) {
    mfpg_status status = check(ctx, n, 1, regularisation, x);
    if (status != MFPG_OK) return status;
    mfpg_sinkhorn_result found = {.converged = 1, .variance_ratio = 1.0};
    problem p = {0};
    if (n > 0) status = arrange(ctx, n, x, &p);
    double variance = n > 0 && status == MFPG_OK ? variance_of(n, p.x) : 0.0;
    found.eta = absolute_of(regularisation, variance);
    if (status == MFPG_OK && variance > 0.0) status = solve_in_order(ctx, &p, variance, x, &found);
    mfpg_kernel_destroy(&p.kernel);
    free(p.order);
    free(p.x);
    if (status == MFPG_OK) *result = found;
    return status;
}

/* ---- several dimensions ---- */

/* Returns n times the variance of one coordinate of x + move, or of x if move is NULL. Coordinates are d
 * apart. */
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

/* before: the spread of all points, above 0; found->eta is set. Computes y_i = x_i + sum_j P_ij (x_j - x_i),
 * as in one dimension. */
static mfpg_status solve_points(
    mfpg_context *ctx, ptrdiff_t n, ptrdiff_t d, double before, float *x, mfpg_sinkhorn_result *found) {
    mfpg_kernel kernel = {0};
    double *u = mfpg_alloc(5 * n, sizeof *u), *move = mfpg_alloc(n * d, sizeof *move);
    mfpg_status status =
        u && move ? mfpg_kernel_tiles(ctx, n, d, x, found->eta, &kernel) : mfpg_fail_memory(ctx);
    if (status == MFPG_OK)
        status = mfpg_scaling_solve(ctx, n, &kernel, u, u + n, (float *)(void *)(u + 2 * n), found);
    if (status == MFPG_OK) status = kernel.pull(ctx, kernel.self, u, move, u + 2 * n);
    if (status == MFPG_OK) {
        found->kernel_error = kernel.error(kernel.self, u);
        for (ptrdiff_t i = 0; i < n * d; i++) move[i] *= u[i / d];
        found->variance_ratio = spread_of_all(n, d, x, move) / before;
        for (ptrdiff_t i = 0; i < n * d; i++) x[i] = (float)((double)x[i] + move[i]);
    }
    mfpg_kernel_destroy(&kernel);
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
    found.eta = absolute_of(regularisation, spread / (double)n / (double)d);
    if (spread > 0.0) status = solve_points(ctx, n, d, spread, x, &found);
    if (status == MFPG_OK) *result = found;
    return status;
}

/* ---- many projections summarised by maxima, minima and an integer sum, which do not depend on the order
 * ---- */

static const double UNIT = 0x1p-30;

void mfpg_transport_count(
    mfpg_transport_report *report, ptrdiff_t tensor, const mfpg_sinkhorn_result *projection) {
    const mfpg_transport_report one = {
        .projections = 1,
        .iterations = projection->iterations,
        .least_tensor = tensor,
        .ratio_sum = llrint(projection->variance_ratio / UNIT),
        .least_ratio = projection->variance_ratio,
        .largest_ratio = projection->variance_ratio,
        .residual = projection->residual,
        .kernel_error = projection->kernel_error,
    };
    mfpg_transport_add(report, &one);
}

void mfpg_transport_add(mfpg_transport_report *report, const mfpg_transport_report *other) {
    if (other->projections == 0) return;
    if (report->projections == 0) {
        *report = *other;
        return;
    }
    int less = other->least_ratio < report->least_ratio, equal = other->least_ratio == report->least_ratio;
    if (less || (equal && other->least_tensor < report->least_tensor))
        report->least_tensor = other->least_tensor;
    if (other->iterations > report->iterations) report->iterations = other->iterations;
    report->projections += other->projections;
    report->ratio_sum += other->ratio_sum;
    report->least_ratio = fmin(report->least_ratio, other->least_ratio);
    report->largest_ratio = fmax(report->largest_ratio, other->largest_ratio);
    report->residual = fmax(report->residual, other->residual);
    report->kernel_error = fmax(report->kernel_error, other->kernel_error);
}

double mfpg_transport_mean_ratio(const mfpg_transport_report *report) {
    if (report->projections == 0) return (double)NAN;
    return UNIT * (double)report->ratio_sum / (double)report->projections;
}
