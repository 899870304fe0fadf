/* mfpg solve --study limit: how N players near the mean field. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reproduction/studies.h"

#include "options.h"
#include "solve.h"

enum { MOST_RUNGS = 64 };

/* What is studied, read from the options. */
typedef struct limit_request {
    mfpg_posed_game game; /* of clients that are alike */
    mfpg_limit_options options;
    mfpg_chaos_options chaos;
    const char *types;
    ptrdiff_t population[MOST_RUNGS];
} limit_request;

/* ---- options ---- */

/* Too many are refused by the study, which reads none of them then. */
static void read_ladder(const mfpg_number_list *ladder, limit_request *out) {
    out->options.rungs = ladder->count;
    out->options.population = out->population;
    for (ptrdiff_t i = 0; i < ladder->count && i < MOST_RUNGS; i++)
        out->population[i] = (ptrdiff_t)ladder->value[i];
}

/* Without --cost the example of theory S3.3; options then change one of its numbers each. */
static solve_settings with_example(const solve_settings *chosen) {
    solve_settings example = *chosen;
    if (chosen->asked.game.cost) return example;
    example.asked.game.cost = "entropic";
    example.asked.game.dimension = solve_or(chosen->asked.game.dimension, 5.0);
    if (!solve_given(chosen->asked.game.personalisation))
        example.asked.game.own_cost = solve_or(chosen->asked.game.own_cost, 0.045);
    if (!chosen->asked.game.beta.text) example.asked.game.beta.text = "uniform:0.025:0.075";
    return example;
}

/* The costs' constants are read as for one client of the mean field. */
static int read_game(mfpg_context *ctx, const solve_settings *chosen, limit_request *out) {
    solve_settings one = *chosen;
    one.asked.study = one.asked.out = NULL;
    one.asked.populations = (mfpg_number_list){0};
    one.asked.seed = one.asked.repeats = (double)NAN;
    one.asked.game.beta.text = "1";
    if (!one.asked.game.actions.text) one.asked.game.actions.text = "continuous";
    return solve_pose(ctx, &one, &out->game);
}

static int read_request(mfpg_context *ctx, const solve_settings *chosen, limit_request *out) {
    *out = (limit_request){.options = mfpg_limit_options_default(), .chaos = mfpg_chaos_options_default()};
    out->types = chosen->asked.game.beta.text ? chosen->asked.game.beta.text : "0.5:1.5";
    int code = read_game(ctx, chosen, out);
    if (code) return code;
    if (chosen->asked.populations.value) read_ladder(&chosen->asked.populations, out);
    out->options.repeats = (ptrdiff_t)solve_or(chosen->asked.repeats, (double)out->options.repeats);
    out->chaos.repeats = (ptrdiff_t)solve_or(chosen->asked.repeats, (double)out->chaos.repeats);
    out->options.seed = out->chaos.seed = (uint64_t)solve_or(chosen->asked.seed, (double)out->options.seed);
    mfpg_status status = mfpg_population_parse(ctx, out->types, &out->options.types);
    if (status == MFPG_OK) return 0;
    cli_refuse("solve", "--beta: %s", mfpg_context_message(ctx));
    return cli_exit_code(status);
}

/* ---- words ---- */

static void print_values(const mfpg_convergence *of) {
    printf("%8s", "N");
    for (ptrdiff_t l = 0; l < of->line_count; l++)
        printf("  %*s", of->line[l].repeats ? 19 : 12, of->line[l].name);
    putchar('\n');
    for (ptrdiff_t i = 0; i < of->rungs; i++) {
        printf("%8td", of->population[i]);
        for (ptrdiff_t l = 0; l < of->line_count; l++) {
            const mfpg_convergence_line *line = &of->line[l];
            if (isnan(line->value[i]))
                printf("  %*s", line->repeats ? 19 : 12, "-");
            else if (line->repeats)
                printf("  %9.3e ±%8.1e", line->value[i], line->standard_error[i]);
            else
                printf("  %12.3e", line->value[i]);
        }
        putchar('\n');
    }
}

static void print_slope(const mfpg_convergence *of, const mfpg_convergence_line *line) {
    const mfpg_slope *fit = &line->slope;
    printf("%-15s  ", line->name);
    if (isnan(fit->slope))
        printf("%-16s", "no slope");
    else
        printf("%7.4f ± %.4f", fit->slope, fit->standard_error);
    printf(
        "  %4.1f ± %.1f  %-9s  %s", fit->expected, fit->window, mfpg_verdict_name(fit->verdict), line->says);
    if (line->first > 0 && line->first < of->rungs) printf(" (from N = %td)", of->population[line->first]);
    if (isnan(fit->slope)) printf(" (%td points; a slope needs 3)", fit->points);
    putchar('\n');
}

static void print_slopes(const mfpg_convergence *of) {
    printf("\n%-15s  %-16s  %-10s  %-9s  what it is\n", "line", "slope", "theory", "verdict");
    for (ptrdiff_t l = 0; l < of->line_count; l++) print_slope(of, &of->line[l]);
}

static void print_words(
    const limit_request *request, const mfpg_convergence *of, const mfpg_convergence *chaos) {
    printf("Cost %s, preferences %s, %td draws of random types at every N, seed %llu.\n"
           "Mean action of the law's mean field: %.9g, known to %.0e.\n\n",
        request->game.game.cost, request->types, request->options.repeats,
        (unsigned long long)request->options.seed, of->limit, of->limit_error);
    print_values(of);
    print_slopes(of);
    printf("\nPropagation of chaos: N particles of three types in a double well, who feel their own mean and "
           "play the "
           "equilibrium's\ncontrol of the HJB-FPK system, against the moments of its law; %td runs at every "
           "N, seed "
           "%llu.\nMean of the law at the horizon: %.4f, known to %.0e, the particles' steps of time "
           "included.\n\n",
        request->chaos.repeats, (unsigned long long)request->chaos.seed, chaos->limit, chaos->limit_error);
    print_values(chaos);
    print_slopes(chaos);
    printf("\n± is one standard error: of the root mean square over the draws in the tables, of the "
           "least-squares "
           "slope of log\nvalue on log N below them. A slope agrees with theory (holds) where two standard "
           "errors on "
           "either side of it lie\ninside theory's range.\n");
}

/* ---- JSON ---- */

static json_t *line_json(const mfpg_convergence *of, const mfpg_convergence_line *line) {
    const mfpg_slope *fit = &line->slope;
    json_t *values = json_array(), *errors = json_array();
    for (ptrdiff_t i = 0; i < of->rungs; i++) {
        json_array_append_new(values, cli_json_number(line->value[i]));
        json_array_append_new(errors, cli_json_number(line->standard_error[i]));
    }
    return json_pack("{s:s, s:s, s:I, s:o, s:o, s:I, s:o, s:o, s:o, s:I, s:f, s:f, s:s}", "line", line->name,
        "says", line->says, "repeats", (json_int_t)line->repeats, "value", values, "standard_error", errors,
        "first", (json_int_t)line->first, "floor", cli_json_number(line->floor), "slope",
        cli_json_number(fit->slope), "slope_standard_error", cli_json_number(fit->standard_error), "points",
        (json_int_t)fit->points, "expected", fit->expected, "window", fit->window, "verdict",
        mfpg_verdict_name(fit->verdict));
}

/* {"population": ..., "lines": ...} with what it tends to. */
static json_t *convergence_json(const mfpg_convergence *of, const char *limit, const char *limit_error) {
    json_t *population = json_array(), *lines = json_array();
    for (ptrdiff_t i = 0; i < of->rungs; i++)
        json_array_append_new(population, json_integer(of->population[i]));
    for (ptrdiff_t l = 0; l < of->line_count; l++) json_array_append_new(lines, line_json(of, &of->line[l]));
    return json_pack("{s:o, s:o, s:o, s:o}", limit, cli_json_number(of->limit), limit_error,
        cli_json_number(of->limit_error), "population", population, "lines", lines);
}

static json_t *answer_json(
    const limit_request *request, const mfpg_convergence *of, const mfpg_convergence *chaos) {
    json_t *object = json_pack("{s:s, s:s, s:s, s:I}", "study", "limit", "cost", request->game.game.cost,
        "beta", request->types, "seed", (json_int_t)request->options.seed);
    json_t *game = convergence_json(of, "mean_action", "mean_action_error");
    if (object && game) {
        json_object_update(object, game);
        json_object_set_new(object, "chaos", convergence_json(chaos, "mean", "mean_error"));
    }
    json_decref(game);
    return object;
}

/* ---- the study ---- */

static int tell(mfpg_context *ctx, const solve_settings *chosen, const limit_request *request,
    const mfpg_convergence *of, const mfpg_convergence *chaos) {
    const mfpg_convergence *const all[] = {of, chaos};
    mfpg_status status =
        chosen->asked.out ? mfpg_convergence_write(ctx, all, 2, NULL, chosen->asked.out) : MFPG_OK;
    if (status != MFPG_OK) return cli_fail(ctx, "solve", status);
    if (chosen->common.json) return cli_json_print("solve", answer_json(request, of, chaos));
    print_words(request, of, chaos);
    if (chosen->asked.out) printf("\nEvery number: %s\n", chosen->asked.out);
    return cli_finish("solve", CLI_DONE);
}

static int study(mfpg_context *ctx, const solve_settings *chosen, const limit_request *request) {
    mfpg_convergence measured = {0}, chaos = {0};
    mfpg_pde_model model = mfpg_chaos_model();
    mfpg_status status = mfpg_study_limit(ctx, &request->game.game, &request->options, &measured);
    if (status == MFPG_OK) status = mfpg_study_chaos(ctx, &model, &request->chaos, &chaos);
    int code =
        status == MFPG_OK ? tell(ctx, chosen, request, &measured, &chaos) : cli_fail(ctx, "solve", status);
    mfpg_convergence_clear(&measured);
    mfpg_convergence_clear(&chaos);
    return code;
}

int solve_study_limit(const solve_settings *chosen) {
    solve_settings complete = with_example(chosen);
    mfpg_context *ctx = cli_context(0);
    limit_request request;
    int code = read_request(ctx, &complete, &request);
    if (!code) code = study(ctx, &complete, &request);
    mfpg_population_clear(&request.options.types);
    mfpg_posed_game_clear(&request.game);
    mfpg_context_destroy(ctx);
    return code;
}
