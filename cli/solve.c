/* mfpg solve computes the equilibrium of a game with its certificate, without training; it also runs studies
 * of such games. */
#include <math.h>
#include <string.h>

#include "mfpg/experiment.h"
#include "mfpg/names.h"

#include "solve.h"

/* ---- the answer: one JSON object, or words for people ---- */

/* A long list of actions is printed by quantiles, unless a file was requested. */
enum { MOST_LISTED = 1000, QUANTILES = 101 };

void solve_warn(const mfpg_solution *solution) {
    char text[1024];
    for (ptrdiff_t i = 0; mfpg_solution_warning(solution, i, text, sizeof text); i++) cli_warn(text);
}

static json_t *actions_json(mfpg_context *ctx, const double *action, ptrdiff_t clients, int quantiles) {
    double chosen[QUANTILES];
    if (!action) return json_null();
    if (!quantiles) return cli_json_numbers(action, clients);
    if (mfpg_solution_quantiles(ctx, action, clients, QUANTILES, chosen) != MFPG_OK) return NULL;
    return cli_json_numbers(chosen, QUANTILES);
}

static json_t *gains_json(double max, double mean) {
    return isnan(max) ? json_null() : cli_json("max:n mean:n", max, mean);
}

/* Clients that mix alike share one object. */
static json_t *mixing_json(const mfpg_equilibrium *q, int quantiles) {
    json_t *list = json_array();
    for (ptrdiff_t i = 0, end; i < q->mixing_count; i = end) {
        const mfpg_mixing *first = &q->mixing[i];
        json_t *clients = json_array();
        for (end = i; end < q->mixing_count && q->mixing[end].upper == first->upper &&
                      q->mixing[end].weight == first->weight;
             end++)
            if (!quantiles || end - i < MOST_LISTED)
                json_array_append_new(clients, json_integer(q->mixing[end].client));
        ptrdiff_t named = (ptrdiff_t)json_array_size(clients);
        json_array_append_new(list, cli_json("clients:o action:n weight:n count:I", clients, first->upper,
                                        first->weight, end - i > named ? end - i : 0));
    }
    return list;
}

static json_t *warnings_json(const mfpg_solution *solution) {
    char text[1024];
    json_t *list = json_array();
    for (ptrdiff_t i = 0; mfpg_solution_warning(solution, i, text, sizeof text); i++)
        json_array_append_new(list, cli_json_text(text));
    return list;
}

static json_t *fixed_point_json(const void *equilibrium, ptrdiff_t index) {
    const mfpg_equilibrium *q = equilibrium;
    return cli_json("mean_action:n mixes:b", q->fixed_point[index].mean, q->fixed_point[index].mixes);
}

static json_t *name_json(const void *solution, ptrdiff_t client) {
    const mfpg_solution *s = solution;
    return cli_json_text(s->name(s->name_user, client));
}

/* Adds keys only if they have content. */
static json_t *add_extras(mfpg_context *ctx, json_t *object, const mfpg_solution *solution, int quantiles) {
    const mfpg_equilibrium *q = solution->equilibrium;
    const mfpg_priced *priced = solution->priced;
    json_t *warnings = warnings_json(solution);
    object = cli_json_add(object, "selection:S", q->selection);
    if (q->fixed_point_count > 0)
        object = cli_json_add(object, "fixed_points:o more_fixed_points:b",
            cli_json_array(q->fixed_point_count, fixed_point_json, q), q->fixed_point_more);
    if (solution->preference_factor != 0.0)
        object = cli_json_add(object, "preference_factor:n", solution->preference_factor);
    if (priced)
        object = cli_json_add(object, "price:o",
            cli_json("clients:o mean_action:n difference:n exploitability:n",
                actions_json(ctx, priced->price, q->clients, quantiles), priced->mean_action,
                priced->difference, priced->exploitability));
    if (json_array_size(warnings) > 0) object = cli_json_add(object, "warnings:o", json_incref(warnings));
    json_decref(warnings);
    if (quantiles) { /* actions[i] is the quantile at i/100 */
        double steps[QUANTILES];
        for (int i = 0; i < QUANTILES; i++) steps[i] = i / (double)(QUANTILES - 1);
        return cli_json_add(object, "quantiles:o", cli_json_numbers(steps, QUANTILES));
    }
    if (!solution->name) return object;
    return cli_json_add(object, "names:o", cli_json_array(q->clients, name_json, solution));
}

static json_t *answer_json(mfpg_context *ctx, const mfpg_solution *solution, int quantiles) {
    const mfpg_equilibrium *q = solution->equilibrium;
    json_t *social = cli_json("mean_action:n actions:o cost:n", q->social_mean,
        actions_json(ctx, q->social_action, q->clients, quantiles), q->social_cost);
    if (q->social_action && !q->social_exact) social = cli_json_add(social, "exact:b", 0);
    json_t *object =
        cli_json("mean_action:n actions:o mixing:o exploitability:o exploitability_finite:o social:o cost:n "
                 "price_of_anarchy:n unique:o converged:b iterations:i residual:n consistency_gap:n",
            q->mean_action, actions_json(ctx, q->action, q->clients, quantiles), mixing_json(q, quantiles),
            gains_json(q->exploitability_max, q->exploitability_mean),
            gains_json(solution->finite_max, solution->finite_mean), social, q->cost, q->price_of_anarchy,
            q->unique < 0 ? json_string("unknown") : json_boolean(q->unique), q->converged,
            (int64_t)q->iterations, q->residual, q->consistency_gap);
    return add_extras(ctx, object, solution, quantiles);
}

/* Prints the solution with everything else that was requested. */
static mfpg_status print_answer(cli_call *call, const mfpg_solution *solution) {
    const char *out = ((const mfpg_solve_request *)call->options)->out;
    const mfpg_equilibrium *q = solution->equilibrium;
    mfpg_status status = out ? mfpg_solution_write(call->ctx, solution, out) : MFPG_OK;
    if (status == MFPG_OK && !call->json) status = mfpg_solution_print(call->ctx, solution, stdout);
    if (status != MFPG_OK) return status;
    solve_warn(solution);
    if (call->json)
        status = cli_json_print(answer_json(call->ctx, solution, q->clients > MOST_LISTED && !out));
    else if (out)
        printf("Every client: %s\n", out);
    if (status != MFPG_OK || q->converged || fflush(stdout) != 0) return status;
    cli_error(call->name,
        "not solved: residual %.3g after %d iterations; what is printed is the best profile that was found",
        q->residual, q->iterations);
    call->code = CLI_FAILED;
    return status;
}

static mfpg_status print_solution(cli_call *call, mfpg_solution *solution) {
    mfpg_priced priced = {0};
    mfpg_status status = MFPG_OK;
    if (((const mfpg_solve_request *)call->options)->game.price) {
        solution->priced = &priced;
        status = mfpg_solution_find_price(call->ctx, solution, &priced);
        if (status != MFPG_OK) return mfpg_fail_in(call->ctx, status, "--price");
    }
    status = print_answer(call, solution);
    mfpg_priced_clear(&priced);
    return status;
}

/* ---- studies ---- */

#define STUDY(name, reader, help) {#name, help, MFPG_SOLVE_##reader, solve_study_##name},
static const struct study {
    const char *name, *help;
    mfpg_solve_reader reader;
    mfpg_status (*run)(cli_call *call);
} studies[] = {
#include "studies.def"
};
#undef STUDY

enum { STUDIES = sizeof studies / sizeof studies[0] };

const char *solve_name_of_study(ptrdiff_t index) {
    return index >= 0 && index < STUDIES ? studies[index].name : NULL;
}

const char *solve_help_of_study(ptrdiff_t index) {
    return index >= 0 && index < STUDIES ? studies[index].help : NULL;
}

static mfpg_status solve_study(cli_call *call, const mfpg_solve_request *asked) {
    const char *names[STUDIES], *given = call->arguments > 0 ? call->argument[0] : call->assignment[0];
    for (int i = 0; i < STUDIES; i++) {
        names[i] = studies[i].name;
        if (strcmp(names[i], asked->study) != 0) continue;
        mfpg_status status = mfpg_solve_check(call->ctx, asked, studies[i].reader);
        if (status == MFPG_OK && given && studies[i].reader != MFPG_SOLVE_COSTS)
            return mfpg_fail(
                call->ctx, MFPG_ERR_INPUT, "%.60s: study %s plays no configuration", given, names[i]);
        return status == MFPG_OK ? studies[i].run(call) : status;
    }
    return mfpg_fail_in(
        call->ctx, mfpg_names_unknown(call->ctx, "study", asked->study, names, STUDIES), "--study");
}

/* ---- the game of a configuration ---- */

static mfpg_status print_experiment(cli_call *call, const mfpg_experiment *experiment) {
    mfpg_solution solution;
    if (!mfpg_experiment_solution(experiment, &solution))
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
            "%s: its method plays no game, so that there is nothing to solve; method mapg-dp, mfpg, or "
            "method.players finite or mean-field with a mechanism do",
            call->argument[0]);
    if (mfpg_config_is(mfpg_experiment_config(experiment), "game.update", "each-round"))
        fputs("game.update is each-round: the run chooses actions again in every round; this is the answer "
              "to the public constants, before the first\n",
            stderr);
    return print_solution(call, &solution);
}

static mfpg_status solve_configuration(cli_call *call, const mfpg_solve_request *asked) {
    mfpg_config *config = NULL;
    mfpg_experiment *experiment = NULL;
    mfpg_status status = mfpg_solve_check(call->ctx, asked, MFPG_SOLVE_CONFIGURATION);
    if (status == MFPG_OK) status = cli_open_config(call, &config);
    if (status == MFPG_OK) status = mfpg_experiment_create(call->ctx, config, &experiment);
    if (status == MFPG_OK) status = print_experiment(call, experiment);
    mfpg_experiment_destroy(experiment);
    mfpg_config_destroy(config);
    return status;
}

/* ---- a game by options ---- */

/* An option that nothing reads is refused before the game is examined. */
mfpg_status solve_pose(cli_call *call, const mfpg_solve_request *asked, mfpg_posed_game *out) {
    mfpg_status status = mfpg_solve_check(call->ctx, asked, MFPG_SOLVE_GAME);
    return status == MFPG_OK ? mfpg_game_pose(call->ctx, &asked->game, out) : status;
}

static mfpg_status solve_options(cli_call *call, const mfpg_solve_request *asked) {
    mfpg_posed_game made = {0};
    mfpg_equilibrium equilibrium = {0};
    mfpg_solution solution = {.game = &made.game,
        .equilibrium = &equilibrium,
        .finite_max = (double)NAN,
        .finite_mean = (double)NAN};
    mfpg_status status = solve_pose(call, asked, &made);
    if (status == MFPG_OK) status = mfpg_game_solve(call->ctx, &made.game, &equilibrium);
    if (status == MFPG_OK && made.named_population && made.game.players == MFPG_PLAYERS_MEAN_FIELD)
        status = mfpg_solution_judge_finite(
            call->ctx, &made.game, &equilibrium, &solution.finite_max, &solution.finite_mean);
    if (status == MFPG_OK) status = print_solution(call, &solution);
    mfpg_equilibrium_clear(&equilibrium);
    mfpg_posed_game_clear(&made);
    return status;
}

static mfpg_status solve(cli_call *call) {
    const mfpg_solve_request *asked = call->options;
    if (asked->study) return solve_study(call, asked);
    if (call->arguments > 0) return solve_configuration(call, asked);
    if (call->assignments > 0)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
            "%.60s: KEY=VALUE changes a configuration, and none was given", call->assignment[0]);
    if (asked->game.cost) return solve_options(call, asked);
    return mfpg_fail(call->ctx, MFPG_ERR_INPUT,
        "nothing to solve; give a configuration, as in `mfpg solve clinics`, or a game by options, as in "
        "`mfpg solve --cost entropic --beta 0.5:1.5` (mfpg solve --help)");
}

/* No line of the examples is longer than a line of the help, which would break it. */
const cli_command command_solve = {
    .list_of = mfpg_solve_options,
    .size = sizeof(mfpg_solve_request),
    .threads = CLI_ALL_THREADS,
    .forms = "[CONFIG.yaml|EXAMPLE [KEY=VALUE...]]",
    .most = 1,
    .doc = "Prints the equilibrium of a privacy game with its certificate: of the game in a configuration, "
           "or of one that options describe.\vExit codes: 0 done, 1 the solver did not converge (the best "
           "profile and its exploitability are printed), 2 wrong input. Examples:\n\n"
           "  mfpg solve --cost gaussian --players mean-field --beta 0.5 \\\n"
           "    --curvature 2 --dimension 10 --learning-rate 0.1 \\\n"
           "    --privacy-power 2 --actions continuous\n"
           "  mfpg solve --cost entropic --players finite --population 20 \\\n"
           "    --beta 0.025:0.075 --dimension 5 --own-cost 0.045 \\\n"
           "    --actions continuous\n"
           "  mfpg solve clinics method=mapg-dp\n\n"
           "Studies:\n\n"
#define STUDY(name, reader, help) "  " #name ": " help "\n"
#include "studies.def"
#undef STUDY
    ,
    .run = solve,
};
