/* mfpg solve --study continuous: the coupled HJB-FPK system. */
#include <stdlib.h>
#include <string.h>

#include "mfpg/names.h"
#include "mfpg/preference_law.h"

#include "options.h"
#include "solve.h"
#include "solve_continuous.h"

/* A model with the arrays that it borrows. */
typedef struct problem {
    mfpg_pde_model model;
    mfpg_pde_options options;
    double *controls, *weight, *share;
} problem;

/* ---- from options to a model ---- */

/* The options of the other shape would do nothing. */
static int refuse_strangers(const solve_settings *chosen, int double_well) {
    const struct {
        const char *name;
        int given, of_double_well;
    } options[] = {{"curvature", solve_given(chosen->asked.game.curvature), 0},
        {"running-curvature", solve_given(chosen->asked.running_curvature), 0},
        {"well-position", solve_given(chosen->asked.well_position), 1},
        {"well-barrier", solve_given(chosen->asked.well_barrier), 1}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (options[i].given && options[i].of_double_well != double_well)
            return cli_refuse("solve", "--%s belongs to --shape %s", options[i].name,
                double_well ? "quadratic" : "double-well");
    if (solve_given(chosen->asked.seed) && !solve_given(chosen->asked.particles))
        return cli_refuse("solve", "--seed: nothing is drawn without --particles");
    return 0;
}

static int read_shape(const solve_settings *chosen, mfpg_pde_model *model) {
    int double_well = chosen->asked.shape == 1, code = refuse_strangers(chosen, double_well);
    if (code) return code;
    if (double_well) {
        model->potential = mfpg_pde_double_well(
            solve_or(chosen->asked.well_position, 1.0), solve_or(chosen->asked.well_barrier, 0.5));
        model->running = model->potential;
    } else {
        model->potential = mfpg_pde_quadratic(solve_or(chosen->asked.game.curvature, 1.0));
        model->running = mfpg_pde_quadratic(solve_or(chosen->asked.running_curvature, 1.0));
    }
    return 0;
}

static int read_actions(mfpg_context *ctx, const solve_settings *chosen, problem *out) {
    const mfpg_numbers *actions = &chosen->asked.game.actions;
    mfpg_action_set set;
    if (actions->text && strcmp(actions->text, "continuous") == 0)
        return cli_refuse("solve", "--actions: continuous has no upper end, which the control reaches at the "
                                   "horizon; give LOW:HIGH or A,B,...");
    mfpg_status status = mfpg_actions_read(ctx, actions, "0.05:1.5", &set, &out->controls);
    out->model.control_low = set.low;
    out->model.control_high = set.high;
    out->model.controls = set.grid;
    out->model.control_count = set.count;
    return status == MFPG_OK ? 0 : cli_fail(ctx, "solve", status);
}

static int read_shares(mfpg_context *ctx, const solve_settings *chosen, problem *out) {
    ptrdiff_t count;
    if (!chosen->asked.game.weights.text) return 0;
    mfpg_status status = mfpg_numbers_read(ctx, "weights", &chosen->asked.game.weights, 0,
        "P,P,... with every share a number above 0", &out->model.share, &count, &out->share);
    if (status != MFPG_OK) return cli_fail(ctx, "solve", status);
    return count == out->model.types
               ? 0
               : cli_refuse("solve", "--weights: %td numbers for %td types; give one a type", count,
                     out->model.types);
}

enum { TYPES_OF_A_LAW = 5 };

static int read_types(mfpg_context *ctx, const solve_settings *chosen, problem *out) {
    mfpg_population law;
    mfpg_status status =
        mfpg_population_parse(ctx, chosen->asked.game.beta.text ? chosen->asked.game.beta.text : "1", &law);
    if (status != MFPG_OK) {
        cli_refuse("solve", "--beta: %s", mfpg_context_message(ctx));
        return cli_exit_code(status);
    }
    ptrdiff_t usual = law.spread == MFPG_SPREAD_ALIKE ? 1 : law.list ? law.count : TYPES_OF_A_LAW;
    int code = 0;
    out->model.types = (ptrdiff_t)solve_or(chosen->asked.game.population, (double)usual);
    out->weight = calloc((size_t)out->model.types, sizeof *out->weight);
    out->model.weight = out->weight;
    if (!out->weight) {
        cli_refuse("solve", "out of memory");
        code = CLI_FAILED;
    } else if ((status = mfpg_population_fill(ctx, &law, out->model.types, out->weight)) != MFPG_OK) {
        cli_refuse("solve", "--beta: %s", mfpg_context_message(ctx));
        code = cli_exit_code(status);
    }
    mfpg_population_clear(&law);
    return code ? code : read_shares(ctx, chosen, out);
}

static int read_grid(const solve_settings *chosen, mfpg_pde_options *out) {
    out->scheme = chosen->asked.scheme == 1 ? MFPG_PDE_UPWIND : MFPG_PDE_HYBRID;
    out->nodes = (ptrdiff_t)solve_or(chosen->asked.nodes, (double)out->nodes);
    out->steps = (ptrdiff_t)solve_or(chosen->asked.time_steps, (double)out->steps);
    out->iterations = (int)solve_or(chosen->asked.iterations, (double)out->iterations);
    if (!chosen->asked.domain) return 0;
    const char *colon = strchr(chosen->asked.domain, ':');
    char low[64] = "";
    if (colon && colon - chosen->asked.domain < (ptrdiff_t)sizeof low)
        memcpy(low, chosen->asked.domain, (size_t)(colon - chosen->asked.domain));
    if (colon && cli_parse_number(low, &out->low) && cli_parse_number(colon + 1, &out->high)) return 0;
    return cli_refuse(
        "solve", "--domain: found '%.60s'; allowed: LOW:HIGH, as in -8:8", chosen->asked.domain);
}

static int read_problem(mfpg_context *ctx, const solve_settings *chosen, problem *out) {
    *out = (problem){.options = mfpg_pde_options_default(),
        .model = {.attraction = solve_or(chosen->asked.game.variance_penalty, 0.5),
            .prior_variance = solve_or(chosen->asked.game.prior_variance, (double)INFINITY),
            .horizon = solve_or(chosen->asked.horizon, 1.0),
            .start_mean = solve_or(chosen->asked.start_mean, 1.0),
            .start_variance = solve_or(chosen->asked.start_variance, 0.25),
            .cost = {.scale = solve_or(chosen->asked.game.privacy_scale, 0.5),
                .rate = solve_or(chosen->asked.privacy_rate, 2.0),
                .offset = solve_or(chosen->asked.privacy_offset, 0.2)}}};
    int code = read_shape(chosen, &out->model);
    if (!code) code = read_actions(ctx, chosen, out);
    if (!code) code = read_types(ctx, chosen, out);
    if (!code) code = read_grid(chosen, &out->options);
    return code;
}

static void clear_problem(problem *made) {
    free(made->controls);
    free(made->weight);
    free(made->share);
}

/* ---- what is done with it ---- */

static mfpg_status follow_particles(
    mfpg_context *ctx, const solve_settings *chosen, const problem *made, continuous_answer *answer) {
    ptrdiff_t steps = made->options.steps;
    mfpg_key key = mfpg_key_from_seed((uint64_t)solve_or(chosen->asked.seed, 1.0));
    const mfpg_pde_particles_options options = {
        .count = (ptrdiff_t)chosen->asked.particles, .steps = steps, .key = &key};
    double *moments = calloc((size_t)steps + 1, 2 * sizeof *moments);
    if (!moments) return MFPG_ERR_MEMORY;
    mfpg_status status =
        mfpg_pde_particles(ctx, &made->model, answer->solution, &options, moments, moments + steps + 1);
    answer->particles = options.count;
    answer->particles_mean = moments[steps];
    answer->particles_variance = moments[2 * steps + 1];
    free(moments);
    return status;
}

static int solve_and_print(mfpg_context *ctx, const solve_settings *chosen, const problem *made) {
    mfpg_pde_solution *solution = NULL;
    mfpg_status status = mfpg_pde_solve(ctx, &made->model, &made->options, &solution);
    continuous_answer answer = {.model = &made->model, .options = &made->options, .solution = solution};
    if (status == MFPG_OK && solve_given(chosen->asked.particles))
        status = follow_particles(ctx, chosen, made, &answer);
    if (status == MFPG_OK && chosen->asked.out)
        status = mfpg_pde_solution_write(ctx, solution, &made->model, chosen->asked.out);
    int code = status == MFPG_OK ? continuous_print(chosen, &answer) : cli_fail(ctx, "solve", status);
    mfpg_pde_solution_destroy(solution);
    return code;
}

int solve_study_continuous(const solve_settings *chosen) {
    problem made = {0};
    mfpg_context *ctx = cli_context(0);
    int code = read_problem(ctx, chosen, &made);
    if (!code) code = solve_and_print(ctx, chosen, &made);
    clear_problem(&made);
    mfpg_context_destroy(ctx);
    return code;
}
