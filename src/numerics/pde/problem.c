#include "problem.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "check.h"

static const double MOST_OUTSIDE = 1e-6; /* of the start's mass */

/* The mass of the start beyond the domain. */
static double mass_outside(const mfpg_problem *p) {
    const mfpg_pde_model *m = p->model;
    double root = sqrt(2.0 * m->start_variance);
    return 0.5 * erfc((m->start_mean - p->options.low) / root) +
           0.5 * erfc((p->options.high - m->start_mean) / root);
}

/* A sum over evenly spaced nodes differs from the integral of a normal density of deviation s by 2 exp(-2 pi^2 (s/h)^2):
 * 5e-9 at h = s, 1e-2 at h = 2s. Beyond h = s the start is not on the grid at all. */
static mfpg_status check_start(mfpg_context *ctx, const mfpg_problem *p) {
    const mfpg_pde_model *m = p->model;
    double sd = sqrt(m->start_variance), outside = mass_outside(p);
    char text[3][MFPG_NUMBER_SIZE];
    if (!(outside <= MOST_OUTSIDE))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "continuous game: the domain %s to %s does not hold the start: %.3g of its mass lies outside, "
            "allowed are 1e-6; give the domain at least 5 standard deviations (%s) around the start's mean",
            mfpg_number_format(p->options.low, text[0]), mfpg_number_format(p->options.high, text[1]),
            outside, mfpg_number_format(5.0 * sd, text[2]));
    if (!(p->h <= sd))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "continuous game: the grid is too coarse for the start: its step %.3g is wider than the standard "
            "deviation %.3g; take at least %.0f nodes",
            p->h, sd, 1.0 + ceil((p->options.high - p->options.low) / sd));
    return MFPG_OK;
}

static mfpg_status check_tables(mfpg_context *ctx, const mfpg_problem *p) {
    for (ptrdiff_t i = 0; i < p->n; i++)
        if (!isfinite(p->slope[i]) || !isfinite(p->running[i]) || !isfinite(p->pull[i]))
            return mfpg_pde_refuse(ctx, "the loss at an end of the domain", p->slope[i], "a finite number");
    return MFPG_OK;
}

static void tabulate(mfpg_problem *p) {
    const mfpg_pde_model *m = p->model;
    double total = 0.0;
    for (ptrdiff_t i = 0; i < p->n; i++) {
        double x = p->options.low + (double)i * p->h, away = x - m->start_mean;
        p->x[i] = x;
        p->slope[i] = mfpg_pde_slope(&m->potential, x);
        p->running[i] = mfpg_pde_value(&m->running, x);
        p->pull[i] = x / m->prior_variance;
        p->start[i] = exp(-0.5 * away * away / m->start_variance);
        total += p->start[i];
    }
    for (ptrdiff_t i = 0; i < p->n; i++) p->start[i] /= total;
    double shares = 0.0;
    for (ptrdiff_t k = 0; k < p->types; k++) shares += m->share ? m->share[k] : 1.0;
    for (ptrdiff_t k = 0; k < p->types; k++) p->share[k] = (m->share ? m->share[k] : 1.0) / shares;
    for (ptrdiff_t k = 0; k < p->controls.count; k++)
        p->costs[k] = mfpg_control_cost(&m->cost, m->controls[k]);
}

static mfpg_status allocate(mfpg_context *ctx, mfpg_problem *p) {
    p->x = mfpg_alloc(5 * p->n + p->types + p->controls.count, sizeof *p->x);
    p->workspace = mfpg_alloc(7 * p->n * p->types, sizeof *p->workspace);
    if (!p->x || !p->workspace) return mfpg_fail_memory(ctx);
    p->slope = p->x + p->n;
    p->running = p->slope + p->n;
    p->pull = p->running + p->n;
    p->start = p->pull + p->n;
    p->share = p->start + p->n;
    p->costs = p->share + p->types;
    p->controls.costs = p->costs;
    return MFPG_OK;
}

mfpg_status mfpg_problem_create(
    mfpg_context *ctx, const mfpg_pde_model *model, const mfpg_pde_options *options, mfpg_problem *out) {
    *out = (mfpg_problem){.model = model, .options = options ? *options : mfpg_pde_options_default()};
    mfpg_status status = mfpg_pde_check_model(ctx, model);
    if (status == MFPG_OK) status = mfpg_pde_check_options(ctx, model, &out->options);
    if (status != MFPG_OK) return status;
    out->n = out->options.nodes;
    out->steps = out->options.steps;
    out->types = model->types;
    out->h = (out->options.high - out->options.low) / (double)(out->n - 1);
    out->inverse_h = 1.0 / out->h;
    out->dt = model->horizon / (double)out->steps;
    out->controls = (mfpg_controls){.cost = model->cost,
        .low = model->control_low,
        .high = model->control_high,
        .values = model->controls,
        .count = model->controls ? model->control_count : 0};
    status = check_start(ctx, out);
    if (status == MFPG_OK) status = allocate(ctx, out);
    if (status != MFPG_OK) return status;
    tabulate(out);
    return check_tables(ctx, out);
}

void mfpg_problem_clear(mfpg_problem *problem) {
    free(problem->x);
    free(problem->workspace);
}

void mfpg_problem_chain(const mfpg_problem *p, double mean, const double *control, mfpg_chain *chain) {
    for (ptrdiff_t i = 0; i < p->n; i++) {
        double drift = mfpg_problem_drift(p, i, mean) - p->pull[i] * control[i];
        mfpg_rates rates = mfpg_generator_rates(p->options.scheme, p->h, p->inverse_h, drift, control[i]);
        chain->up[i] = p->dt * rates.up;
        chain->down[i] = p->dt * rates.down;
    }
    chain->up[p->n - 1] = 0.0; /* reflection: nothing leaves */
    chain->down[0] = 0.0;
}

mfpg_chain mfpg_problem_workspace(const mfpg_problem *p, ptrdiff_t type, double *further[4]) {
    double *at = p->workspace + 7 * p->n * type;
    for (int k = 0; k < 4; k++) further[k] = at + (3 + k) * p->n;
    return (mfpg_chain){.n = p->n, .up = at, .down = at + p->n, .pivot = at + 2 * p->n};
}
