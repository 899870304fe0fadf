/* The outer loop: path of the mean -> best responses -> their flow -> path of its mean, to a fixed point. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "pde_parts.h"

/* ---- which path to try next ---- */

/* share of the residual: if a plain step leaves at most this much, it is fast enough */
static const double CONTRACTS = 0.25;
static const double LED_AWAY = 4.0; /* times the least residual */
static const double LEAST_DAMPING = 1.0 / 64.0;
enum { PATIENCE = 8 }; /* turns without a new best */

typedef struct path_search {
    mfpg_pde_method method; /* auto ends as fictitious */
    ptrdiff_t n;
    double *path;            /* n: the path to which the players respond */
    double *difference;      /* n: mean of the flow of the best responses, minus the path */
    double *best;            /* n: the path of the least residual so far, */
    double *best_difference; /* n: its difference, */
    double least;            /* and its residual */
    double before;           /* the residual of the turn before */
    /* share of the difference that is removed; 1 unless that increased the residual */
    double damping;
    int turns; /* of the method */
    int stale; /* turns since the best */
    mfpg_anderson anderson;
} path_search;

/* Every path starts at `first`. */
static void start_search(
    ptrdiff_t n, mfpg_pde_method method, double first, mfpg_pool *memory, path_search *s) {
    *s = (path_search){.n = n,
        .method = method,
        .least = (double)INFINITY,
        .before = (double)INFINITY,
        .damping = 1.0,
        .path = mfpg_pool_alloc(memory, n, sizeof(double)),
        .difference = mfpg_pool_alloc(memory, n, sizeof(double)),
        .best = mfpg_pool_alloc(memory, n, sizeof(double)),
        .best_difference = mfpg_pool_alloc(memory, n, sizeof(double)),
        .anderson = mfpg_anderson_start(n, memory)};
    for (ptrdiff_t i = 0; s->path && i < n; i++) s->path[i] = first;
}

/* Returns the largest difference; the path is kept if it is the best so far. */
static double residual_of(path_search *s) {
    size_t bytes = (size_t)s->n * sizeof *s->path;
    double residual = 0.0;
    for (ptrdiff_t i = 0; i < s->n; i++) residual = fmax(residual, fabs(s->difference[i]));
    s->stale++;
    if (residual < s->least) {
        s->least = residual;
        s->stale = 0;
        memcpy(s->best, s->path, bytes);
        memcpy(s->best_difference, s->difference, bytes);
    }
    return residual;
}

static void step(path_search *s, double share) {
    for (ptrdiff_t i = 0; i < s->n; i++) s->path[i] += share * s->difference[i];
}

static void go_back(path_search *s) {
    size_t bytes = (size_t)s->n * sizeof *s->path;
    memcpy(s->path, s->best, bytes);
    memcpy(s->difference, s->best_difference, bytes);
    s->before = (double)INFINITY;
    s->stale = 0;
    s->anderson.held = s->anderson.started = 0;
}

/* Takes full steps while they contract, and secants if they do not. If those increase the residual, it takes
 * shorter steps from the best path; this happens if the responses overshoot (a population that avoids
 * itself) or jump (few controls). */
static void accelerate(path_search *s, double residual) {
    if (residual > LED_AWAY * s->least || s->stale >= PATIENCE) {
        go_back(s);
        s->damping = fmax(0.5 * s->damping, LEAST_DAMPING);
    } else if (s->damping == 1.0 && residual <= CONTRACTS * s->before) {
        s->anderson.held = s->anderson.started = 0;
        step(s, 1.0);
        s->before = residual;
        return;
    }
    s->before = residual;
    mfpg_anderson_step(&s->anderson, s->damping, s->path, s->difference);
}

static void choose_next(path_search *s, double residual) {
    s->turns++;
    switch (s->method) {
    case MFPG_PDE_AUTO: accelerate(s, residual); break;
    case MFPG_PDE_PICARD: step(s, 1.0); break;
    case MFPG_PDE_FICTITIOUS: step(s, 1.0 / (s->turns + 1.0)); break;
    }
}

/* ---- the loop ---- */

static const double MOST_EDGE_MASS = 1e-4, MOST_ADDED_NOISE = 0.5, MOST_DRIFT_STEP = 0.5;

typedef struct loop {
    mfpg_problem problem;
    path_search search;
    double *flow_path;       /* steps + 1: the mean of the flow of the responses */
    double *cost;            /* types: what is paid */
    double *current;         /* types x n: the masses of a step */
    double *start_value;     /* types x n */
    double *control;         /* types x (steps+1) x n: of the solution */
    double *value;           /* the same, or NULL: not kept */
    int turns;               /* completed */
    int certify;             /* 1: the replies are not to be kept */
    mfpg_hjb_report *report; /* types */
    mfpg_pool memory;
} loop;

static mfpg_status reply(mfpg_context *ctx, ptrdiff_t type, int worker, void *arg) {
    loop *l = arg;
    const mfpg_problem *p = &l->problem;
    ptrdiff_t field = type * (p->steps + 1) * p->n;
    (void)ctx;
    (void)worker;
    mfpg_hjb_report report = mfpg_hjb_solve(p, type, l->search.path, l->certify ? NULL : l->control + field,
        l->turns > 0, l->value ? l->value + field : NULL, l->start_value + type * p->n);
    l->report[type].unfinished = report.unfinished;
    if (report.rounds > l->report[type].rounds) l->report[type].rounds = report.rounds;
    return MFPG_OK;
}

/* One iteration: best responses to the path, their flow, and the distance of its mean from the path. */
static mfpg_status turn(mfpg_context *ctx, loop *l, double *residual) {
    const mfpg_problem *p = &l->problem;
    mfpg_status status = mfpg_tasks_run(ctx, p->types, reply, l);
    if (status != MFPG_OK) return status;
    mfpg_flow_run(p, l->control, l->flow_path, l->cost, l->current, NULL, NULL);
    l->turns++;
    for (ptrdiff_t n = 0; n < p->steps; n++) /* nothing depends on the mean at T */
        l->search.difference[n] = l->flow_path[n] - l->search.path[n];
    *residual = residual_of(&l->search);
    return MFPG_OK;
}

/* Leaves the best path in the search, and the best responses to it in l->control. */
static mfpg_status iterate(mfpg_context *ctx, loop *l, mfpg_pde_solution *s) {
    const mfpg_pde_options *o = &l->problem.options;
    path_search *search = &l->search;
    double tolerance = o->tolerance * (o->high - o->low);
    for (s->iterations = 1;; s->iterations++) {
        mfpg_status status = turn(ctx, l, &s->residual);
        if (status != MFPG_OK) return status;
        s->converged = s->residual <= tolerance;
        if (s->converged || s->iterations >= o->iterations) break;
        if (search->method == MFPG_PDE_AUTO && s->iterations > o->iterations / 2) {
            search->method = MFPG_PDE_FICTITIOUS;
            search->turns = 0;
            go_back(search);
            s->fictitious = 1;
        }
        choose_next(search, s->residual);
    }
    if (s->residual <= search->least) return MFPG_OK;
    memcpy(search->path, search->best, (size_t)search->n * sizeof *search->path);
    return turn(ctx, l, &s->residual); /* not converged: the last iteration was not the best one */
}

/* What the flow of the replies looks like, and what a player could still gain against it: its cost minus the value of
 * the best reply to the flow's own mean, by the same matrices. */
static mfpg_status certify(mfpg_context *ctx, loop *l, mfpg_pde_solution *s, mfpg_flow_report *report) {
    const mfpg_problem *p = &l->problem;
    for (ptrdiff_t k = 0; k < p->types; k++) {
        s->policy_unfinished += l->report[k].unfinished;
        if (l->report[k].rounds > s->policy_rounds) s->policy_rounds = l->report[k].rounds;
    }
    mfpg_flow_run(p, l->control, s->mean_path, l->cost, l->current, s->density, report);
    memcpy(l->search.path, s->mean_path, (size_t)p->steps * sizeof *s->mean_path);
    l->certify = 1;
    l->value = s->value;
    mfpg_status status = mfpg_tasks_run(ctx, p->types, reply, l);
    if (status != MFPG_OK) return status;
    s->exploitability_largest = -(double)INFINITY;
    for (ptrdiff_t k = 0; k < p->types; k++) {
        double least = 0.0;
        for (ptrdiff_t i = 0; i < p->n; i++) least += p->start[i] * l->start_value[k * p->n + i];
        double gain = l->cost[k] - least;
        s->cost += p->share[k] * l->cost[k];
        s->exploitability += p->share[k] * gain;
        s->exploitability_largest = fmax(s->exploitability_largest, gain);
    }
    return MFPG_OK;
}

/* Refuses a grid whose own effects dominate the answer; the measured values tell which grid would be fine
 * enough. */
static mfpg_status check_grid(mfpg_context *ctx, const mfpg_problem *p, const mfpg_pde_solution *s) {
    const mfpg_pde_options *o = &p->options;
    if (!(s->edge_mass <= MOST_EDGE_MASS))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "continuous game: the domain %g to %g is too narrow: its ends hold back %.3g of the mass, "
            "allowed are 1e-4; widen it",
            o->low, o->high, s->edge_mass);
    if (!(s->added_noise <= MOST_ADDED_NOISE))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "continuous game: the grid is too coarse for the drift: the scheme adds %.3g of the controlled "
            "noise, allowed are 0.5; take at least %.0f nodes%s",
            s->added_noise, 1.0 + ceil((double)(p->n - 1) * s->added_noise / MOST_ADDED_NOISE),
            o->scheme == MFPG_PDE_UPWIND ? ", or the hybrid scheme" : "");
    if (!(s->drift_step <= MOST_DRIFT_STEP))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "continuous game: the step of time is too large for the drift: within it neighbouring states "
            "approach by a factor of %.3g, allowed are 0.5; take at least %.0f steps of time",
            s->drift_step, ceil((double)p->steps * s->drift_step / MOST_DRIFT_STEP));
    return MFPG_OK;
}

static mfpg_status allocate_loop(mfpg_context *ctx, loop *l) {
    const mfpg_problem *p = &l->problem;
    l->flow_path = mfpg_pool_alloc(&l->memory, p->steps + 1, sizeof(double));
    l->cost = mfpg_pool_alloc(&l->memory, p->types, sizeof(double));
    l->current = mfpg_pool_alloc(&l->memory, p->types * p->n, sizeof(double));
    l->start_value = mfpg_pool_alloc(&l->memory, p->types * p->n, sizeof(double));
    l->report = mfpg_pool_alloc(&l->memory, p->types, sizeof *l->report);
    start_search(p->steps, p->options.method, p->model->start_mean, &l->memory, &l->search);
    return l->memory.failed ? mfpg_fail_memory(ctx) : MFPG_OK;
}

static mfpg_pde_solution *make_solution(const mfpg_problem *p) {
    mfpg_pde_solution *s = mfpg_alloc(1, sizeof *s);
    if (!s) return NULL;
    ptrdiff_t rows = p->types * (p->steps + 1);
    *s = (mfpg_pde_solution){.types = p->types,
        .steps = p->steps,
        .nodes = p->n,
        .low = p->options.low,
        .step = p->h,
        .time_step = p->dt,
        .mean_path = mfpg_alloc(p->steps + 1, sizeof(double)),
        .value = mfpg_alloc(rows * p->n, sizeof(double)),
        .control = mfpg_alloc(rows * p->n, sizeof(double)),
        .density = mfpg_alloc(rows * p->n, sizeof(double)),
        .moments = mfpg_alloc(rows, sizeof(mfpg_pde_moments))};
    if (s->mean_path && s->value && s->control && s->density && s->moments) return s;
    mfpg_pde_solution_destroy(s);
    return NULL;
}

mfpg_status mfpg_pde_solve(mfpg_context *ctx, const mfpg_pde_model *model, const mfpg_pde_options *options,
    mfpg_pde_solution **out) {
    loop l = {0};
    mfpg_pde_solution *s = NULL;
    mfpg_flow_report report;
    mfpg_status status = mfpg_problem_create(ctx, model, options, &l.problem);
    if (status == MFPG_OK) status = allocate_loop(ctx, &l);
    if (status != MFPG_OK) goto done;
    s = make_solution(&l.problem);
    if (!s) {
        status = mfpg_fail_memory(ctx);
        goto done;
    }
    l.control = s->control;
    status = iterate(ctx, &l, s);
    if (status == MFPG_OK) status = certify(ctx, &l, s, &report);
    if (status != MFPG_OK) goto done;
    s->edge_mass = report.edge_mass;
    s->added_noise = report.noise > 0.0         ? report.added_noise / report.noise
                     : report.added_noise > 0.0 ? (double)INFINITY
                                                : 0.0;
    s->drift_step = report.drift_step;
    status = check_grid(ctx, &l.problem, s);
    if (status != MFPG_OK) goto done;
    mfpg_moments_fill(&l.problem, s);
    s->least_density = (double)INFINITY;
    for (ptrdiff_t i = 0; i < s->types * (s->steps + 1) * s->nodes; i++) {
        s->density[i] /= s->step; /* masses become densities */
        s->least_density = fmin(s->least_density, s->density[i]);
    }
done:
    mfpg_problem_clear(&l.problem);
    mfpg_pool_clear(&l.memory);
    if (status == MFPG_OK)
        *out = s;
    else
        mfpg_pde_solution_destroy(s);
    return status;
}

void mfpg_pde_solution_destroy(mfpg_pde_solution *s) {
    if (!s) return;
    free(s->mean_path);
    free(s->value);
    free(s->control);
    free(s->density);
    free(s->moments);
    free(s);
}
