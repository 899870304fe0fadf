/* The answer of mfpg solve: one JSON object, or words for people. */
#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "solve.h"

/* A longer list of actions is told by quantiles, unless a file was asked for. */
enum { MOST_LISTED = 1000, QUANTILES = 101 };

static int tells_quantiles(const solve_settings *chosen, const mfpg_solution *solution) {
    return solution->equilibrium->clients > MOST_LISTED && !chosen->asked.out;
}

static json_t *list_of(const double *values, ptrdiff_t count) {
    json_t *list = json_array();
    for (ptrdiff_t i = 0; i < count; i++) json_array_append_new(list, cli_json_number(values[i]));
    return list;
}

static json_t *actions_json(mfpg_context *ctx, const double *action, ptrdiff_t clients, int quantiles) {
    double told[QUANTILES];
    if (!action) return json_null();
    if (!quantiles) return list_of(action, clients);
    if (mfpg_solution_quantiles(ctx, action, clients, QUANTILES, told) != MFPG_OK) return NULL;
    return list_of(told, QUANTILES);
}

static json_t *gains_json(double max, double mean) {
    if (isnan(max)) return json_null();
    return json_pack("{s:o, s:o}", "max", cli_json_number(max), "mean", cli_json_number(mean));
}

/* Clients that mix alike stand in one object. */
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
        json_t *one = json_pack("{s:o, s:o, s:o}", "clients", clients, "action",
            cli_json_number(first->upper), "weight", cli_json_number(first->weight));
        if (end - i > (ptrdiff_t)json_array_size(clients))
            json_object_set_new(one, "count", json_integer(end - i));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *unique_json(int unique) {
    return unique < 0 ? json_string("unknown") : json_boolean(unique);
}

static json_t *warnings_json(const mfpg_solution *solution) {
    char text[1024];
    json_t *list = json_array();
    for (ptrdiff_t i = 0; mfpg_solution_warning(solution, i, text, sizeof text); i++)
        json_array_append_new(list, json_string(text));
    return list;
}

static json_t *fixed_points_json(const mfpg_equilibrium *q) {
    json_t *list = json_array();
    for (ptrdiff_t i = 0; i < q->fixed_point_count; i++)
        json_array_append_new(
            list, json_pack("{s:o, s:b}", "mean_action", cli_json_number(q->fixed_point[i].mean), "mixes",
                      q->fixed_point[i].mixes));
    return list;
}

static json_t *price_json(mfpg_context *ctx, const mfpg_priced *priced, ptrdiff_t clients, int quantiles) {
    return json_pack("{s:o, s:o, s:o, s:o}", "clients", actions_json(ctx, priced->price, clients, quantiles),
        "mean_action", cli_json_number(priced->mean_action), "difference",
        cli_json_number(priced->difference), "exploitability", cli_json_number(priced->exploitability));
}

/* Keys that are there only where they say something. */
static void add_extras(mfpg_context *ctx, json_t *object, const mfpg_solution *solution, int quantiles) {
    const mfpg_equilibrium *q = solution->equilibrium;
    if (q->selection) json_object_set_new(object, "selection", json_string(q->selection));
    if (q->fixed_point_count > 0) {
        json_object_set_new(object, "fixed_points", fixed_points_json(q));
        json_object_set_new(object, "more_fixed_points", json_boolean(q->fixed_point_more));
    }
    if (solution->preference_factor != 0.0)
        json_object_set_new(object, "preference_factor", cli_json_number(solution->preference_factor));
    if (solution->priced)
        json_object_set_new(object, "price", price_json(ctx, solution->priced, q->clients, quantiles));
    json_t *warnings = warnings_json(solution);
    if (json_array_size(warnings) > 0)
        json_object_set_new(object, "warnings", warnings);
    else
        json_decref(warnings);
    if (quantiles) { /* actions[i] is the quantile at i/100 */
        double steps[QUANTILES];
        for (int i = 0; i < QUANTILES; i++) steps[i] = i / (double)(QUANTILES - 1);
        json_object_set_new(object, "quantiles", list_of(steps, QUANTILES));
    } else if (solution->name) {
        json_t *names = json_array();
        for (ptrdiff_t k = 0; k < q->clients; k++)
            json_array_append_new(names, json_string(solution->name(solution->name_user, k)));
        json_object_set_new(object, "names", names);
    }
}

static json_t *answer_json(mfpg_context *ctx, const solve_settings *chosen, const mfpg_solution *solution) {
    const mfpg_equilibrium *q = solution->equilibrium;
    int quantiles = tells_quantiles(chosen, solution);
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o}, s:o, s:o, s:o, s:b, s:i, s:o, s:o}", "mean_action",
        cli_json_number(q->mean_action), "actions", actions_json(ctx, q->action, q->clients, quantiles),
        "mixing", mixing_json(q, quantiles), "exploitability",
        gains_json(q->exploitability_max, q->exploitability_mean), "exploitability_finite",
        gains_json(solution->finite_max, solution->finite_mean), "social", "mean_action",
        cli_json_number(q->social_mean), "actions",
        actions_json(ctx, q->social_action, q->clients, quantiles), "cost", cli_json_number(q->social_cost),
        "cost", cli_json_number(q->cost), "price_of_anarchy", cli_json_number(q->price_of_anarchy), "unique",
        unique_json(q->unique), "converged", q->converged, "iterations", q->iterations, "residual",
        cli_json_number(q->residual), "consistency_gap", cli_json_number(q->consistency_gap));
    if (object && q->social_action && !q->social_exact)
        json_object_set_new(json_object_get(object, "social"), "exact", json_false());
    if (object) add_extras(ctx, object, solution, quantiles);
    return object;
}

/* Prints the solution with what else was asked for. */
static int print_answer(mfpg_context *ctx, const solve_settings *chosen, const mfpg_solution *solution) {
    int code = CLI_DONE, converged = solution->equilibrium->converged;
    mfpg_status status = chosen->asked.out ? mfpg_solution_write(ctx, solution, chosen->asked.out) : MFPG_OK;
    if (status == MFPG_OK && !chosen->common.json) status = mfpg_solution_print(ctx, solution, stdout);
    if (status != MFPG_OK) return cli_fail(ctx, "solve", status);
    cli_warn_of_game(solution);
    if (chosen->common.json)
        code = cli_json_print("solve", answer_json(ctx, chosen, solution));
    else if (chosen->asked.out)
        printf("Every client: %s\n", chosen->asked.out);
    code = cli_finish("solve", code);
    if (converged || code != CLI_DONE) return code;
    fprintf(stderr,
        "mfpg solve: not solved: residual %.3g after %d iterations; what is printed is the best "
        "profile that was found\n",
        solution->equilibrium->residual, solution->equilibrium->iterations);
    return CLI_FAILED;
}

int solve_print(mfpg_context *ctx, const solve_settings *chosen, const mfpg_solution *solution) {
    mfpg_solution told = *solution;
    mfpg_priced priced = {0};
    mfpg_status status =
        chosen->asked.game.price ? mfpg_solution_find_price(ctx, solution, &priced) : MFPG_OK;
    if (chosen->asked.game.price) told.priced = &priced;
    int code = CLI_DONE;
    if (status != MFPG_OK) {
        cli_refuse("solve", "--price: %s", mfpg_context_message(ctx));
        code = cli_exit_code(status);
    } else {
        code = print_answer(ctx, chosen, &told);
    }
    mfpg_priced_clear(&priced);
    return code;
}
