/* mfpg solve --study limit: the distance of N players from the mean field. */
#include <math.h>

#include "reproduction/studies.h"

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

/* Without --cost the study uses the example of theory S3.3, in which each option changes one number. */
static mfpg_solve_request with_example(const mfpg_solve_request *asked) {
    mfpg_solve_request example = *asked;
    if (asked->game.cost) return example;
    example.game.cost = "entropic";
    example.game.dimension = cli_or(asked->game.dimension, 5.0);
    if (isnan(asked->game.personalisation)) example.game.own_cost = cli_or(asked->game.own_cost, 0.045);
    if (!asked->game.beta.text) example.game.beta.text = "uniform:0.025:0.075";
    return example;
}

/* The costs' constants are read as for one client of the mean field. */
static mfpg_status read_game(cli_call *call, mfpg_solve_request asked, mfpg_posed_game *out) {
    asked.study = asked.out = NULL;
    asked.populations = (mfpg_number_list){0};
    asked.seed = asked.repeats = (double)NAN;
    asked.game.beta.text = "1";
    if (!asked.game.actions.text) asked.game.actions.text = "continuous";
    return solve_pose(call, &asked, out);
}

static mfpg_status read_request(cli_call *call, const mfpg_solve_request *asked, limit_request *out) {
    const mfpg_number_list *ladder = &asked->populations;
    *out = (limit_request){.options = mfpg_limit_options_default(), .chaos = mfpg_chaos_options_default()};
    out->types = asked->game.beta.text ? asked->game.beta.text : "0.5:1.5";
    mfpg_status status = read_game(call, *asked, &out->game);
    if (status != MFPG_OK) return status;
    if (ladder->value) { /* if there are too many, the study refuses them and reads none */
        out->options.rungs = ladder->count;
        out->options.population = out->population;
        for (ptrdiff_t i = 0; i < ladder->count && i < MOST_RUNGS; i++)
            out->population[i] = (ptrdiff_t)ladder->value[i];
    }
    out->options.repeats = (ptrdiff_t)cli_or(asked->repeats, (double)out->options.repeats);
    out->chaos.repeats = (ptrdiff_t)cli_or(asked->repeats, (double)out->chaos.repeats);
    out->options.seed = out->chaos.seed = (uint64_t)cli_or(asked->seed, (double)out->options.seed);
    status = mfpg_population_parse(call->ctx, out->types, &out->options.types);
    return status == MFPG_OK ? status : mfpg_fail_in(call->ctx, status, "--beta");
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
    printf("\nPropagation of chaos: N particles of three types in a double well, which feel their own mean "
           "and play the equilibrium's\ncontrol of the HJB-FPK system, against the moments of its law; %td "
           "runs at every N, seed %llu.\nMean of the law at the horizon: %.4f, known to %.0e, the particles' "
           "steps of time included.\n\n",
        request->chaos.repeats, (unsigned long long)request->chaos.seed, chaos->limit, chaos->limit_error);
    print_values(chaos);
    print_slopes(chaos);
    printf("\n± is one standard error: of the root mean square over the draws in the tables, of the "
           "least-squares slope of log\nvalue on log N below them. A slope agrees with theory (holds) if two "
           "standard errors on either side of it lie\ninside theory's range.\n");
}

/* ---- JSON ---- */

static json_t *line_json(const void *convergence, ptrdiff_t index) {
    const mfpg_convergence *of = convergence;
    const mfpg_convergence_line *line = &of->line[index];
    const mfpg_slope *fit = &line->slope;
    return cli_json("line:s says:s repeats:i value:o standard_error:o first:i floor:n slope:n "
                    "slope_standard_error:n points:i expected:n window:n verdict:s",
        line->name, line->says, line->repeats, cli_json_numbers(line->value, of->rungs),
        cli_json_numbers(line->standard_error, of->rungs), line->first, line->floor, fit->slope,
        fit->standard_error, fit->points, fit->expected, fit->window, mfpg_verdict_name(fit->verdict));
}

static json_t *population_json(const void *convergence, ptrdiff_t index) {
    return json_integer(((const mfpg_convergence *)convergence)->population[index]);
}

static json_t *add_lines(json_t *object, const mfpg_convergence *of) {
    return cli_json_add(object, "population:o lines:o", cli_json_array(of->rungs, population_json, of),
        cli_json_array(of->line_count, line_json, of));
}

static json_t *answer_json(
    const limit_request *request, const mfpg_convergence *of, const mfpg_convergence *chaos) {
    json_t *object = cli_json("study:s cost:s beta:s seed:i mean_action:n mean_action_error:n", "limit",
        request->game.game.cost, request->types, (int64_t)request->options.seed, of->limit, of->limit_error);
    json_t *second = cli_json("mean:n mean_error:n", chaos->limit, chaos->limit_error);
    return cli_json_add(add_lines(object, of), "chaos:o", add_lines(second, chaos));
}

/* ---- the study ---- */

static mfpg_status study(cli_call *call, const char *out, const limit_request *request) {
    mfpg_convergence measured = {0}, chaos = {0};
    const mfpg_convergence *const all[] = {&measured, &chaos};
    mfpg_pde_model model = mfpg_chaos_model();
    mfpg_status status = mfpg_study_limit(call->ctx, &request->game.game, &request->options, &measured);
    if (status == MFPG_OK) status = mfpg_study_chaos(call->ctx, &model, &request->chaos, &chaos);
    if (status == MFPG_OK && out) status = mfpg_convergence_write(call->ctx, all, 2, NULL, out);
    if (status == MFPG_OK && call->json) {
        status = cli_json_print(answer_json(request, &measured, &chaos));
    } else if (status == MFPG_OK) {
        print_words(request, &measured, &chaos);
        if (out) printf("\nEvery number: %s\n", out);
    }
    mfpg_convergence_clear(&measured);
    mfpg_convergence_clear(&chaos);
    return status;
}

mfpg_status solve_study_limit(cli_call *call) {
    mfpg_solve_request asked = with_example(call->options);
    limit_request request;
    mfpg_status status = read_request(call, &asked, &request);
    if (status == MFPG_OK) status = study(call, asked.out, &request);
    mfpg_population_clear(&request.options.types);
    mfpg_posed_game_clear(&request.game);
    return status;
}
