/* The answer of mfpg solve: one JSON object, or words for people. */
#include <math.h>

#include "solve.h"

/* A longer list of actions is given by quantiles, unless a file was asked for. */
enum { MOST_LISTED = 1000, QUANTILES = 101 };

void solve_warn(const mfpg_solution *solution) {
    char text[1024];
    for (ptrdiff_t i = 0; mfpg_solution_warning(solution, i, text, sizeof text); i++) cli_warn(text);
}

/* ---- JSON ---- */

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
        json_t *one = cli_json("clients:o action:n weight:n", clients, first->upper, first->weight);
        if (end - i > named) one = cli_json_add(one, "count:i", end - i);
        json_array_append_new(list, one);
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

/* Keys that are there only if they say something. */
static json_t *add_extras(mfpg_context *ctx, json_t *object, const mfpg_solution *solution, int quantiles) {
    const mfpg_equilibrium *q = solution->equilibrium;
    const mfpg_priced *priced = solution->priced;
    json_t *warnings = warnings_json(solution);
    if (q->selection) object = cli_json_add(object, "selection:s", q->selection);
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
        cli_json("mean_action:n actions:o mixing:o exploitability:o exploitability_finite:o social:o "
                 "cost:n price_of_anarchy:n unique:o converged:b iterations:i residual:n "
                 "consistency_gap:n",
            q->mean_action, actions_json(ctx, q->action, q->clients, quantiles), mixing_json(q, quantiles),
            gains_json(q->exploitability_max, q->exploitability_mean),
            gains_json(solution->finite_max, solution->finite_mean), social, q->cost, q->price_of_anarchy,
            q->unique < 0 ? json_string("unknown") : json_boolean(q->unique), q->converged,
            (int64_t)q->iterations, q->residual, q->consistency_gap);
    return add_extras(ctx, object, solution, quantiles);
}

/* ---- the whole ---- */

/* Prints the solution with what else was asked for. */
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

mfpg_status solve_print(cli_call *call, const mfpg_solution *solution) {
    const mfpg_solve_request *asked = call->options;
    mfpg_solution priced_solution = *solution;
    mfpg_priced priced = {0};
    if (!asked->game.price) return print_answer(call, solution);
    mfpg_status status = mfpg_solution_find_price(call->ctx, solution, &priced);
    priced_solution.priced = &priced;
    status =
        status == MFPG_OK ? print_answer(call, &priced_solution) : mfpg_fail_in(call->ctx, status, "--price");
    mfpg_priced_clear(&priced);
    return status;
}
