/* Propagation of chaos: particles compared with the law of the forward equation (transport_and_pde 4b). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/random.h"
#include "convergence.h"

enum { MEAN, VARIANCE, PATH, LINES };

static const mfpg_line_plan plans[LINES] = {
    [MEAN] = {"chaos-mean", "particles: |their mean - the law's| at the horizon", -0.5, 0.1, 1},
    [VARIANCE] = {"chaos-variance", "particles: |their variance - the law's| at the horizon", -0.5, 0.1, 1},
    [PATH] = {"chaos-path", "particles: the largest |mean - the law's| along the way", -0.5, 0.1, 1},
};

mfpg_chaos_options mfpg_chaos_options_default(void) {
    static const ptrdiff_t ladder[] = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
    mfpg_chaos_options usual = {.population = ladder,
        .rungs = sizeof ladder / sizeof ladder[0],
        .repeats = 100,
        .seed = 1,
        .grid = mfpg_pde_options_default()};
    usual.grid.low = -4.0;
    usual.grid.high = 4.0;
    usual.grid.steps = 100;
    return usual;
}

mfpg_pde_model mfpg_chaos_model(void) {
    static const double weight[] = {0.5, 1.0, 1.5};
    return (mfpg_pde_model){.potential = mfpg_pde_double_well(1.0, 0.5),
        .running = mfpg_pde_double_well(1.0, 0.5),
        .attraction = 0.5,
        .prior_variance = INFINITY,
        .horizon = 1.0,
        .start_mean = 0.5,
        .start_variance = 0.25,
        .cost = {.scale = 0.5, .rate = 2.0, .offset = 0.2},
        .control_low = 0.05,
        .control_high = 1.5,
        .weight = weight,
        .types = sizeof weight / sizeof weight[0]};
}

/* ---- the law ---- */

/* The law with which the particles are compared, and the controls that they play. */
typedef struct chaos_law {
    mfpg_pde_solution *solution;
    double *path; /* steps + 1: the mean */
    double variance;
    double mean_error, variance_error, path_error;
} chaos_law;

/* Of all types together, at the horizon. */
static double final_variance(const mfpg_pde_model *model, const mfpg_pde_solution *of) {
    double whole = of->mean_path[of->steps], sum = 0.0;
    for (ptrdiff_t k = 0; k < of->types; k++) {
        const mfpg_pde_moments *own = &of->moments[k * (of->steps + 1) + of->steps];
        double share = model->share ? model->share[k] : 1.0 / (double)of->types;
        sum += share * (own->variance + (own->mean - whole) * (own->mean - whole));
    }
    return sum;
}

static mfpg_status solve_law(
    mfpg_context *ctx, const mfpg_pde_model *model, const mfpg_pde_options *grid, mfpg_pde_solution **out) {
    mfpg_status status = mfpg_pde_solve(ctx, model, grid, out);
    if (status || (*out)->converged) return status;
    return mfpg_fail(ctx, MFPG_ERR_NUMERIC,
        "the law's equilibrium did not converge: residual %.3g after %d iterations; there is nothing to "
        "measure particles against",
        (*out)->residual, (*out)->iterations);
}

/* Extrapolates: twice the finer result minus the coarser one, because the scheme is of first order in time
 * (transport_and_pde 4.6). */
static void extrapolate(const mfpg_pde_model *model, const mfpg_pde_solution *finer, chaos_law *law) {
    const mfpg_pde_solution *coarser = law->solution;
    for (ptrdiff_t n = 0; n <= coarser->steps; n++) {
        double change = finer->mean_path[2 * n] - coarser->mean_path[n];
        law->path[n] = finer->mean_path[2 * n] + change;
        law->path_error = fmax(law->path_error, 2.0 * fabs(change));
        law->mean_error = 2.0 * fabs(change); /* the last that is written stays */
    }
    double variance = final_variance(model, finer), change = variance - final_variance(model, coarser);
    law->variance = variance + change;
    law->variance_error = 2.0 * fabs(change);
}

static mfpg_status find_law(
    mfpg_context *ctx, const mfpg_pde_model *model, const mfpg_pde_options *grid, chaos_law *out) {
    mfpg_pde_options fine = *grid;
    mfpg_pde_solution *finer = NULL;
    mfpg_status status = solve_law(ctx, model, grid, &out->solution);
    fine.nodes = 2 * grid->nodes - 1;
    fine.steps = 2 * grid->steps;
    if (!status) status = solve_law(ctx, model, &fine, &finer);
    if (!status && !(out->path = reproduction_alloc(grid->steps + 1, sizeof *out->path)))
        status = mfpg_fail_memory(ctx);
    if (!status) extrapolate(model, finer, out);
    mfpg_pde_solution_destroy(finer);
    return status;
}

/* ---- the particles ---- */

typedef struct chaos_study {
    const mfpg_pde_model *model;
    const mfpg_chaos_options *options;
    const chaos_law *law;
    const mfpg_convergence *out;
    mfpg_key key;
    double *gap[LINES]; /* rungs x repeats each */
} chaos_study;

/* The largest populations first: they take longest. */
static mfpg_status follow(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    const chaos_study *study = arg;
    const mfpg_chaos_options *options = study->options;
    ptrdiff_t slot = options->rungs * options->repeats - 1 - index, steps = study->law->solution->steps;
    (void)worker;
    double largest = 0.0, *mean = reproduction_alloc(2 * (steps + 1), sizeof *mean);
    if (!mean) return mfpg_fail_memory(ctx);
    double *variance = mean + steps + 1;
    mfpg_pde_particles_options particles = {.count = study->out->population[slot / options->repeats],
        .steps = steps,
        .repeat = (uint64_t)slot,
        .key = &study->key};
    mfpg_status status =
        mfpg_pde_particles(ctx, study->model, study->law->solution, &particles, mean, variance);
    if (!status) {
        for (ptrdiff_t n = 0; n <= steps; n++) largest = fmax(largest, fabs(mean[n] - study->law->path[n]));
        study->gap[MEAN][slot] = mean[steps] - study->law->path[steps];
        study->gap[VARIANCE][slot] = variance[steps] - study->law->variance;
        study->gap[PATH][slot] = largest;
    }
    free(mean);
    return status;
}

static mfpg_status check(mfpg_context *ctx, const mfpg_chaos_options *options) {
    mfpg_status status = mfpg_check_ladder(ctx, options->population, options->rungs, options->repeats);
    if (status) return status;
    if (options->grid.nodes > 50001 || options->grid.steps > 50000)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "grid: found %td nodes and %td steps; allowed: at most 50001 and 50000, since both are doubled",
            options->grid.nodes, options->grid.steps);
    return MFPG_OK;
}

static void summarise(const chaos_study *study, mfpg_convergence *out) {
    const double errors[LINES] = {[MEAN] = study->law->mean_error,
        [VARIANCE] = study->law->variance_error,
        [PATH] = study->law->path_error};
    ptrdiff_t repeats = study->options->repeats;
    out->limit = study->law->path[study->law->solution->steps];
    out->limit_error = study->law->mean_error;
    for (int i = 0; i < LINES; i++) {
        mfpg_convergence_line *line = &out->line[i];
        for (ptrdiff_t rung = 0; rung < out->rungs; rung++)
            mfpg_root_mean_square(
                study->gap[i] + rung * repeats, repeats, &line->value[rung], &line->standard_error[rung]);
        line->floor = 3.0 * errors[i];
        mfpg_fit_line(out, i);
    }
}

mfpg_status mfpg_study_chaos(mfpg_context *ctx, const mfpg_pde_model *model,
    const mfpg_chaos_options *options, mfpg_convergence *out) {
    mfpg_chaos_options usual = mfpg_chaos_options_default();
    if (!options) options = &usual;
    mfpg_status status = check(ctx, options);
    if (status) return status;
    mfpg_convergence made = {0};
    chaos_law law = {0};
    ptrdiff_t draws = options->rungs * options->repeats;
    chaos_study study = {.model = model, .options = options, .law = &law, .out = &made};
    study.key = mfpg_key_from_seed(options->seed);
    study.gap[0] = reproduction_alloc(LINES * draws, sizeof(double));
    if (!study.gap[0]) return mfpg_fail_memory(ctx);
    for (int i = 1; i < LINES; i++) study.gap[i] = study.gap[0] + i * draws;
    status = mfpg_convergence_create(
        ctx, options->population, options->rungs, plans, LINES, options->repeats, &made);
    if (!status) status = find_law(ctx, model, &options->grid, &law);
    if (!status) status = mfpg_tasks_run(ctx, draws, follow, &study);
    if (!status) summarise(&study, &made);
    mfpg_pde_solution_destroy(law.solution);
    free(law.path);
    free(study.gap[0]);
    if (status)
        mfpg_convergence_clear(&made);
    else
        *out = made;
    return status;
}
