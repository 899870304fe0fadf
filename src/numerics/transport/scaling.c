#include "scaling.h"

#include <math.h>
#include <string.h>

#include "relaxation.h"

/* First the symmetric relaxed iteration in floats, as far as floats go. Then Newton's steps: the residual by a product in
 * doubles, and log u moved by the d of
 *
 *     (I + P) d = 1 - r,    P = diag(u) K diag(u),
 *
 * which floats solve by the same relaxation, since d needs a few digits only. What is left of the residual are those digits
 * of it and its square: two products in doubles are all that is needed. K_ii = 1 gives r_i >= u_i^2, so u <= 1 and K u >= 1 at
 * the solution: no logarithms are needed. */

static const double TOLERANCE = 1e-9; /* of the row sums, and so of log u: I+P has no eigenvalue below 1 */
static const float ROUGHLY = 1e-5f;   /* its square is below the tolerance, and floats come so far */
static const float NEAR = 1e-2f; /* from here on a round that gains little has met the floats' own error */
enum {
    MOST_ITERATIONS = 200,
    MOST_ROUGH = 40,   /* rounds of floats at the start */
    MOST_REFINING = 16 /* and of one step; 0.172^16 is nothing */
};

typedef struct solver {
    mfpg_context *ctx;
    const mfpg_kernel *kernel;
    ptrdiff_t n;
    double *u, *row_sum;
    mfpg_relaxation at; /* in floats */
    mfpg_sinkhorn_result *result;
} solver;

static mfpg_status product_roughly(solver *s) {
    return s->kernel->weigh_roughly(s->ctx, s->kernel->self, s->at.moving, s->at.product);
}

/* From u = (K 1)^(-1/2) to row sums within ROUGHLY of 1, or as near as floats come. */
static mfpg_status solve_roughly(solver *s) {
    mfpg_relaxation_begin(&s->at);
    mfpg_status status = product_roughly(s);
    if (status == MFPG_OK) mfpg_relaxation_start(&s->at);
    float worst = INFINITY, last;
    for (int round = 0; round < MOST_ROUGH && status == MFPG_OK; round++) {
        status = product_roughly(s);
        s->result->iterations++;
        if (status != MFPG_OK) break;
        last = worst;
        worst = mfpg_relaxation_scale(&s->at);
        if (worst <= ROUGHLY || (worst < NEAR && worst > 0.5f * last)) break;
    }
    for (ptrdiff_t i = 0; i < s->n; i++) s->u[i] = (double)s->at.u[i];
    return status;
}

/* Row sums of the plan, in doubles, and how far they are from 1. */
static mfpg_status measure(solver *s) {
    mfpg_status status = s->kernel->weigh(s->ctx, s->kernel->self, s->u, s->row_sum);
    s->result->iterations++;
    if (status == MFPG_OK) s->result->residual = mfpg_relaxation_residual(s->n, s->u, s->row_sum);
    return status;
}

/* One of Newton's steps, d in units of the residual. */
static mfpg_status refine(solver *s) {
    double residual = s->result->residual;
    float enough = (float)(0.3 * TOLERANCE / residual);
    mfpg_status status = MFPG_OK;
    mfpg_relaxation_aim(&s->at, s->u, s->row_sum, residual);
    for (int round = 0; round < MOST_REFINING && status == MFPG_OK; round++) {
        status = product_roughly(s);
        s->result->iterations++;
        if (status == MFPG_OK && mfpg_relaxation_step(&s->at) <= enough) break;
    }
    if (status == MFPG_OK) mfpg_relaxation_move(&s->at, residual, s->u);
    return status;
}

mfpg_status mfpg_scaling_solve(mfpg_context *ctx, ptrdiff_t n, const mfpg_kernel *kernel, double *u,
    double *row_sum, float *work, mfpg_sinkhorn_result *result) {
    solver s = {.ctx = ctx, .kernel = kernel, .n = n, .u = u, .row_sum = row_sum, .result = result};
    mfpg_relaxation_divide(&s.at, n, work);
    result->iterations = 0;
    mfpg_status status = solve_roughly(&s);
    if (status == MFPG_OK) status = measure(&s);
    while (status == MFPG_OK && !(result->residual <= TOLERANCE) && result->iterations < MOST_ITERATIONS) {
        status = refine(&s);
        if (status == MFPG_OK) status = measure(&s);
    }
    result->converged = result->residual <= TOLERANCE;
    return status;
}
