/* Checks a model and its options, and puts the model on its grid. Messages name the field as mfpg/pde.h
 * does. */
#include <float.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "pde_parts.h"

#define LARGEST 1e100

/* A number must be at least low (or above low) and at most high. */
static const struct {
    double low, high;
    int above;
    const char *words;
} RANGES[] = {
    [MFPG_PDE_ANY] = {-LARGEST, LARGEST, 0, "a number"},
    [MFPG_PDE_NOT_NEGATIVE] = {0.0, LARGEST, 0, "a number from 0 on"},
    [MFPG_PDE_POSITIVE] = {0.0, LARGEST, 1, "a number above 0"},
    [MFPG_PDE_PRIOR] = {0.0, (double)INFINITY, 1, "a number above 0, or infinity"},
    [MFPG_PDE_ONE_OR_MORE] = {1.0, LARGEST, 0, "1 or more"},
    [MFPG_PDE_SHARES] = {1.0 - 1e-9, 1.0 + 1e-9, 0, "1"},
    [MFPG_PDE_THOUSAND] = {1.0, 1000.0, 0, "1 to 1000"},
    [MFPG_PDE_NODES] = {5.0, 100001.0, 0, "5 to 100001"},
    [MFPG_PDE_STEPS] = {1.0, 100000.0, 0, "1 to 100000"},
    [MFPG_PDE_PARTICLE_STEPS] = {1.0, 1e7, 0, "1 to 1e7"},
    [MFPG_PDE_PARTICLES] = {1.0, 0x1p31, 0, "1 to 2^31"},
    [MFPG_PDE_SCHEMES] = {MFPG_PDE_HYBRID, MFPG_PDE_UPWIND, 0, "hybrid or upwind"},
    [MFPG_PDE_METHODS] = {MFPG_PDE_AUTO, MFPG_PDE_FICTITIOUS, 0, "auto, picard or fictitious"},
    [MFPG_PDE_ENTRIES] = {1.0, 0x1p28, 0, "at most 2^28 = 268435456"}, /* of a field: 2 GiB */
};

mfpg_status mfpg_pde_refuse(mfpg_context *ctx, const char *what, double value, const char *words) {
    char text[MFPG_NUMBER_SIZE];
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "continuous game: %s is %s; allowed: %s", what,
        mfpg_number_format(value, text), words);
}

mfpg_status mfpg_pde_check(mfpg_context *ctx, const mfpg_pde_rule *rules, size_t count) {
    for (const mfpg_pde_rule *r = rules; r < rules + count; r++) {
        double low = RANGES[r->range].low;
        int allowed = RANGES[r->range].above ? r->value > low : r->value >= low;
        if (!allowed || !(r->value <= RANGES[r->range].high))
            return mfpg_pde_refuse(ctx, r->what, r->value, RANGES[r->range].words);
    }
    return MFPG_OK;
}

static mfpg_status check_one(mfpg_context *ctx, const char *what, double value, mfpg_pde_range range) {
    return mfpg_pde_check(ctx, &(mfpg_pde_rule){what, value, range}, 1);
}

static mfpg_status check_controls(mfpg_context *ctx, const mfpg_pde_model *m) {
    const mfpg_pde_rule interval[] = {{"the least control", m->control_low, MFPG_PDE_NOT_NEGATIVE},
        {"the largest control", m->control_high, MFPG_PDE_NOT_NEGATIVE}};
    mfpg_status status =
        m->controls ? check_one(ctx, "the number of controls", (double)m->control_count, MFPG_PDE_THOUSAND)
                    : mfpg_pde_check(ctx, interval, 2);
    if (status == MFPG_OK && !m->controls && !(m->control_low <= m->control_high))
        return mfpg_pde_refuse(ctx, "the largest control", m->control_high, "no less than the least control");
    for (ptrdiff_t k = 0; status == MFPG_OK && m->controls && k < m->control_count; k++) {
        status = check_one(ctx, "a control", m->controls[k], MFPG_PDE_NOT_NEGATIVE);
        if (status == MFPG_OK && k > 0 && !(m->controls[k] > m->controls[k - 1]))
            status =
                mfpg_pde_refuse(ctx, "a control", m->controls[k], "increasing numbers, none of them twice");
    }
    return status;
}

static mfpg_status check_types(mfpg_context *ctx, const mfpg_pde_model *m) {
    double sum = 0.0;
    mfpg_status status = check_one(ctx, "the number of types", (double)m->types, MFPG_PDE_THOUSAND);
    for (ptrdiff_t k = 0; status == MFPG_OK && k < m->types; k++) {
        double share = m->share ? m->share[k] : 1.0 / (double)m->types;
        const mfpg_pde_rule rules[] = {{"a type's weight", m->weight[k], MFPG_PDE_NOT_NEGATIVE},
            {"a type's share", share, MFPG_PDE_POSITIVE}};
        status = mfpg_pde_check(ctx, rules, 2);
        sum += share;
    }
    return status == MFPG_OK ? check_one(ctx, "the sum of the types' shares", sum, MFPG_PDE_SHARES) : status;
}

mfpg_status mfpg_pde_check_model(mfpg_context *ctx, const mfpg_pde_model *m) {
    const mfpg_pde_rule rules[] = {{"the attraction to the mean", m->attraction, MFPG_PDE_NOT_NEGATIVE},
        {"the prior's variance", m->prior_variance, MFPG_PDE_PRIOR},
        {"the horizon", m->horizon, MFPG_PDE_POSITIVE},
        {"the mean at the start", m->start_mean, MFPG_PDE_ANY},
        {"the variance at the start", m->start_variance, MFPG_PDE_POSITIVE},
        {"the scale of the control's cost", m->cost.scale, MFPG_PDE_NOT_NEGATIVE},
        {"the rate of the control's cost", m->cost.rate, MFPG_PDE_POSITIVE},
        {"the offset of the control's cost", m->cost.offset, MFPG_PDE_ANY}};
    mfpg_status status = MFPG_OK;
    for (int k = 0; k < 10 && status == MFPG_OK; k++)
        status = k < 5
                     ? check_one(ctx, "a coefficient of the loss", m->potential.coefficient[k], MFPG_PDE_ANY)
                     : check_one(ctx, "a coefficient of the running loss", m->running.coefficient[k - 5],
                           MFPG_PDE_ANY);
    if (status == MFPG_OK) status = mfpg_pde_check(ctx, rules, sizeof rules / sizeof *rules);
    if (status == MFPG_OK) status = check_controls(ctx, m);
    if (status == MFPG_OK) status = check_types(ctx, m);
    double low = m->controls ? m->controls[0] : m->control_low;
    if (status == MFPG_OK && !isfinite(mfpg_control_cost(&m->cost, low)))
        status = mfpg_pde_refuse(ctx, "the cost of the least control", (double)INFINITY, "a finite number");
    return status;
}

static mfpg_status check_options(mfpg_context *ctx, const mfpg_pde_model *model, const mfpg_pde_options *o) {
    const mfpg_pde_rule domain[] = {{"the lower end of the domain", o->low, MFPG_PDE_ANY},
        {"the upper end of the domain", o->high, MFPG_PDE_ANY}};
    const mfpg_pde_rule rules[] = {{"the number of nodes", (double)o->nodes, MFPG_PDE_NODES},
        {"the number of steps of time", (double)o->steps, MFPG_PDE_STEPS},
        {"the number of iterations", o->iterations, MFPG_PDE_ONE_OR_MORE},
        {"the tolerance", o->tolerance, MFPG_PDE_POSITIVE},
        {"the scheme", (double)o->scheme, MFPG_PDE_SCHEMES},
        {"the method", (double)o->method, MFPG_PDE_METHODS},
        {"types times (steps + 1) times nodes",
            (double)model->types * ((double)o->steps + 1.0) * (double)o->nodes, MFPG_PDE_ENTRIES}};
    mfpg_status status = mfpg_pde_check(ctx, domain, 2);
    if (status == MFPG_OK && !(o->low < o->high))
        status = mfpg_pde_refuse(ctx, "the upper end of the domain", o->high, "more than the lower end");
    return status == MFPG_OK ? mfpg_pde_check(ctx, rules, sizeof rules / sizeof *rules) : status;
}

/* ---- a model on its grid ---- */

static const double MOST_OUTSIDE = 1e-6; /* of the start's mass */

/* A sum over evenly spaced nodes differs from the integral of a normal density of deviation s by 2 exp(-2 pi^2 (s/h)^2):
 * 5e-9 at h = s, 1e-2 at h = 2s. Beyond h = s the start is not on the grid at all. */
static mfpg_status check_start(mfpg_context *ctx, const mfpg_problem *p) {
    const mfpg_pde_model *m = p->model;
    double sd = sqrt(m->start_variance), root = sqrt(2.0 * m->start_variance);
    double outside = 0.5 * erfc((m->start_mean - p->options.low) / root) +
                     0.5 * erfc((p->options.high - m->start_mean) / root);
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
    if (status == MFPG_OK) status = check_options(ctx, model, &out->options);
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
    for (ptrdiff_t i = 0; i < out->n; i++)
        if (!isfinite(out->slope[i]) || !isfinite(out->running[i]) || !isfinite(out->pull[i]))
            return mfpg_pde_refuse(ctx, "the loss at an end of the domain", out->slope[i], "a finite number");
    return MFPG_OK;
}

void mfpg_problem_clear(mfpg_problem *problem) {
    free(problem->x);
    free(problem->workspace);
}
