#include "mfpg/transport.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/wide.h"
#include "gaussian_kernel.h"

/* The symmetric relaxed iteration on sorted points. Near the solution the errors of log u obey d <- (I - theta (I+P)) d,
 * and P has its spectrum in [0,1] because the Gaussian kernel is positive semidefinite: theta = 2/3 contracts by 1/3,
 * whatever n and eta. K_ii = 1 gives r_i >= u_i^2, so u <= 1 and K u >= 1 at the solution: no logarithms are needed. */

static const double TOLERANCE = 1e-9; /* of the row sums, and so of log u: I+P has no eigenvalue below 1 */
static const double SMALLEST_ETA = 1e-100; /* from there down all different floats are beyond the cutoff */
enum { LARGEST = 4096, MOST_ITERATIONS = 200, MOST_STORED = 512 * 512 };

typedef struct point {
    double x;
    ptrdiff_t place; /* in the caller's array */
} point;

typedef struct columns {
    ptrdiff_t from, to;
} columns;

typedef struct problem {
    ptrdiff_t n;
    double inverse;  /* 1/eta */
    point *points;   /* n, sorted by x */
    columns *near;   /* n: the columns of each row of K whose entries count */
    double *x;       /* n, sorted; the arrays below are parts of the same block */
    double *u;       /* scaling, P_ij = u_i K_ij u_j */
    double *row_sum; /* r_i = u_i (K u)_i */
    double *row;     /* one row of K, where they are not stored */
    double *stored;  /* the near columns of all rows, one after the other; or NULL */
} problem;

static int by_position(const void *a, const void *b) {
    const point *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return p->place < q->place ? -1 : 1;
}

static void forget(problem *p) {
    free(p->points);
    free(p->near);
    free(p->x);
    free(p->stored);
}

/* The near columns of every row. Exponents grow with distance, so both ends move up with the row; an entry is near for
 * its row exactly where it is near for its column. */
static ptrdiff_t find_near(problem *p) {
    ptrdiff_t from = 0, to = 0, entries = 0;
    for (ptrdiff_t i = 0; i < p->n; i++) {
        double at = p->x[i];
        while (mfpg_gaussian_exponent(at, p->x[from], p->inverse) > MFPG_GAUSSIAN_CUTOFF) from++;
        while (to < p->n && mfpg_gaussian_exponent(at, p->x[to], p->inverse) <= MFPG_GAUSSIAN_CUTOFF) to++;
        p->near[i] = (columns){from, to};
        entries += to - from;
    }
    return entries;
}

static void store_kernel(problem *p) {
    double *row = p->stored;
    for (ptrdiff_t i = 0; i < p->n; i++) {
        columns near = p->near[i];
        mfpg_gaussian_row(near.to - near.from, p->x + near.from, p->x[i], p->inverse, row);
        row += near.to - near.from;
    }
}

static mfpg_status prepare(mfpg_context *ctx, ptrdiff_t n, double eta, const float *x, problem *p) {
    p->n = n;
    p->inverse = 1.0 / fmax(eta, SMALLEST_ETA);
    p->points = mfpg_alloc(n, sizeof *p->points);
    p->near = mfpg_alloc(n, sizeof *p->near);
    p->x = mfpg_alloc(4 * n, sizeof *p->x);
    if (!p->points || !p->near || !p->x) return mfpg_fail_memory(ctx);
    p->u = p->x + n;
    p->row_sum = p->u + n;
    p->row = p->row_sum + n;
    for (ptrdiff_t i = 0; i < n; i++) p->points[i] = (point){(double)x[i], i};
    qsort(p->points, (size_t)n, sizeof *p->points, by_position);
    for (ptrdiff_t i = 0; i < n; i++) p->x[i] = p->points[i].x;
    ptrdiff_t entries = find_near(p);
    if (entries > MOST_STORED) return MFPG_OK;
    p->stored = mfpg_alloc(entries, sizeof *p->stored);
    if (!p->stored) return mfpg_fail_memory(ctx);
    store_kernel(p);
    return MFPG_OK;
}

/* The near columns of row i, given the end of the row before it; made anew where they are not stored. */
static const double *kernel_row(problem *p, ptrdiff_t i, const double *stored) {
    if (stored) return stored;
    columns near = p->near[i];
    mfpg_gaussian_row(near.to - near.from, p->x + near.from, p->x[i], p->inverse, p->row);
    return p->row;
}

typedef double (*row_use)(ptrdiff_t n, const double *kernel, const double *u, const double *x, double at);

/* out_i = use(row i) for all rows: the only place that walks the kernel. */
static void for_rows(problem *p, row_use use, double *out) {
    const double *stored = p->stored;
    for (ptrdiff_t i = 0; i < p->n; i++) {
        columns near = p->near[i];
        const double *row = kernel_row(p, i, stored);
        out[i] = use(near.to - near.from, row, p->u + near.from, p->x + near.from, p->x[i]);
        if (stored) stored += near.to - near.from;
    }
}

enum { LANES = 4 };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

/* sum_j K_ij u_j where x is NULL, otherwise sum_j K_ij u_j (x_j - x_i). */
static inline __attribute__((always_inline)) double row_product(
    ptrdiff_t n, const double *kernel, const double *u, const double *x, double at) {
    lanes sums[2] = {{0}, {0}};
    ptrdiff_t j = 0;
    for (; j + 2 * LANES <= n; j += 2 * LANES) {
        for (int half = 0; half < 2; half++) {
            lanes k, v;
            memcpy(&k, kernel + j + LANES * half, sizeof k);
            memcpy(&v, u + j + LANES * half, sizeof v);
            k *= v;
            if (x) {
                memcpy(&v, x + j + LANES * half, sizeof v);
                k *= v - at;
            }
            sums[half] += k;
        }
    }
    sums[0] += sums[1];
    double sum = (sums[0][0] + sums[0][2]) + (sums[0][1] + sums[0][3]);
    for (; j < n; j++) sum += kernel[j] * u[j] * (x ? x[j] - at : 1.0);
    return sum;
}

MFPG_WIDE static double weight(
    ptrdiff_t n, const double *kernel, const double *u, const double *x, double at) {
    (void)x;
    return row_product(n, kernel, u, NULL, at);
}

MFPG_WIDE static double pull(ptrdiff_t n, const double *kernel, const double *u, const double *x, double at) {
    return row_product(n, kernel, u, x, at);
}

/* Row sums of the plan; returns max |r_i - 1|. */
static double measure(problem *p) {
    double worst = 0.0;
    for_rows(p, weight, p->row_sum);
    for (ptrdiff_t i = 0; i < p->n; i++) {
        p->row_sum[i] *= p->u[i];
        double error = fabs(p->row_sum[i] - 1.0);
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

static void iterate(problem *p, mfpg_sinkhorn_result *result) {
    for (ptrdiff_t i = 0; i < p->n; i++) p->u[i] = 1.0;
    for_rows(p, weight, p->row_sum);
    for (ptrdiff_t i = 0; i < p->n; i++) p->u[i] = 1.0 / sqrt(p->row_sum[i]);
    result->residual = measure(p);
    while (result->residual > TOLERANCE && result->iterations < MOST_ITERATIONS) {
        for (ptrdiff_t i = 0; i < p->n; i++) {
            double root = cbrt(p->row_sum[i]);
            p->u[i] /= root * root;
        }
        result->iterations++;
        result->residual = measure(p);
    }
    result->converged = result->residual <= TOLERANCE;
}

static double variance(ptrdiff_t n, const double *x) {
    double mean = 0.0, sum = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) mean += (x[i] - x[0]) / (double)n;
    for (ptrdiff_t i = 0; i < n; i++) sum += (x[i] - x[0] - mean) * (x[i] - x[0] - mean);
    return sum / (double)n;
}

/* y_i = x_i + sum_j P_ij (x_j - x_i): what a row sum lacks of 1 stays where it is. The plan that is applied so has unit
 * rows and is symmetric, whatever is left of the residual, so the mean is kept and no value leaves the range of x. */
static void project(problem *p, float *x, mfpg_sinkhorn_result *result) {
    double before = variance(p->n, p->x), *moved = p->row_sum;
    for_rows(p, pull, moved);
    for (ptrdiff_t i = 0; i < p->n; i++) moved[i] = p->x[i] + p->u[i] * moved[i];
    for (ptrdiff_t i = 0; i < p->n; i++) x[p->points[i].place] = (float)moved[i];
    result->variance_ratio = before > 0.0 ? variance(p->n, moved) / before : 1.0;
}

static mfpg_status check(mfpg_context *ctx, ptrdiff_t n, double regularisation, const float *x) {
    char text[MFPG_NUMBER_SIZE];
    if (n < 0 || n > LARGEST)
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "Sinkhorn projection: %td entries, allowed are 0 to %d", n, LARGEST);
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
