/* summary.json describes a run in one object; it is written completely or not at all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/filter.h"
#include "mfpg/version.h"

#include "base/error.h"
#include "base/fields.h"
#include "base/memory.h"
#include "base/json_file.h"
#include "federation/adaptive_actions.h"
#include "federation/run_folder.h"
#include "mechanisms/mechanism_ops.h"
#include "internal.h"

/* Returns a list of count items, or NULL if one of them is NULL. */
static json_t *list_json(ptrdiff_t count,
    json_t *(*item)(mfpg_context *ctx, const mfpg_experiment *e, ptrdiff_t i), mfpg_context *ctx,
    const mfpg_experiment *e) {
    json_t *list = json_array();
    int complete = list != NULL;
    for (ptrdiff_t i = 0; i < count && complete; i++)
        complete = json_array_append_new(list, item(ctx, e, i)) == 0;
    return mfpg_json_if_complete(list, complete);
}

/* ---- the promise ---- */

static json_t *promise_json(const mfpg_experiment *e) {
    const mfpg_promise_record record =
        mfpg_promise_record_of(&e->options, e->config->set.mechanism.particles);
    if (!mfpg_promises_anything(e)) return json_null();
    json_t *promise = mfpg_fields_json(&mfpg_promise_fields, MFPG_FIELD_JSON | MFPG_PROMISE_SUMMARY, &record);
    if (!promise || e->options.hidden == MFPG_HIDDEN_NONE) return promise;
    return mfpg_json_if_complete(
        promise, json_object_set_new(promise, "assumed",
                     json_pack("{s:s, s:o}", "case", mfpg_hidden_case_name(e->options.hidden), "smoothness",
                         mfpg_json_number(e->options.hidden_smoothness))) == 0);
}

/* Returns the end of the ledger: without it, the removal of whole lines from its end would not be noticed. */
static json_t *ledger_json(const mfpg_experiment *e) {
    if (!e->ledger) return json_null();
    const mfpg_ledger_end end = mfpg_ledger_tell(e->ledger).end;
    return json_pack("{s:I, s:s}", "lines", (json_int_t)end.lines, "chain", end.chain);
}

/* Returns, for display, the spending of the client that spent most; null if some epsilon is not finite. */
static json_t *odometer_json(const mfpg_experiment *e, const client_tally *tally) {
    int finite = mfpg_promises_anything(e) && tally->certified == e->data->clients;
    mfpg_odometer read = mfpg_odometer_read(finite ? tally->spent : (double)NAN, e->options.delta);
    return read.index < 0 ? json_null()
                          : json_pack("{s:o, s:o, s:o, s:s}", "epsilon", mfpg_json_number(read.epsilon),
                                "rho", mfpg_json_number(read.rho), "delta", mfpg_json_number(read.delta),
                                "note", MFPG_ODOMETER_NOTE);
}

/* Returns what enforces budgets, by name, and its own budget: mu of a GDP filter, rho of a zCDP filter. */
static json_t *stop_json(mfpg_context *ctx, const mfpg_experiment *e) {
    const mfpg_federation_options *o = &e->options;
    mfpg_filter filter = {.budget = NAN};
    if (!isfinite(o->stop_at_epsilon)) return json_null();
    if (o->filter != MFPG_FILTER_ACCOUNTANT &&
        mfpg_filter_start(ctx, o->filter, o->stop_at_epsilon, o->delta, &filter) != MFPG_OK)
        return NULL;
    return json_pack("{s:o, s:s, s:o}", "epsilon", mfpg_json_number(o->stop_at_epsilon), "filter",
        mfpg_filter_name(o->filter), o->filter == MFPG_FILTER_ZCDP ? "rho" : "mu",
        mfpg_json_number(filter.budget));
}

/* ---- the game ---- */

/* If actions are chosen in each round, only the mean of the last round is written. Their distance from an
 * equilibrium depends on raw measurements and is not written. */
static mfpg_equilibrium equilibrium_for_json(const mfpg_experiment *e) {
    if (!e->options.acting) return e->equilibrium;
    return (mfpg_equilibrium){.mean_action = mfpg_experiment_last_round(e).mean_action,
        .exploitability_max = NAN,
        .exploitability_mean = NAN,
        .consistency_gap = NAN,
        .cost = NAN,
        .social_mean = NAN,
        .social_cost = NAN,
        .price_of_anarchy = NAN,
        .unique = -1,
        .converged = 1,
        .residual = NAN};
}

/* Adds the certificate in words and the warnings of the game; for actions that depend on measurements
 * neither is known. */
static int add_words(json_t *game, const mfpg_experiment *e) {
    char text[MFPG_MESSAGE_SIZE];
    mfpg_solution solution;
    json_t *warnings = json_array();
    int complete = warnings != NULL, known = !e->options.acting && mfpg_experiment_solution(e, &solution);
    for (ptrdiff_t i = 0; complete && known && mfpg_solution_warning(&solution, i, text, sizeof text); i++)
        complete = json_array_append_new(warnings, json_string(text)) == 0;
    if (known) mfpg_solution_certificate(&solution, text, sizeof text);
    complete =
        json_object_set_new(game, "certificate", known ? json_string(text) : json_null()) == 0 && complete;
    return json_object_set_new(game, "warnings", warnings) == 0 && complete;
}

/* "game" in summary.json. */
typedef struct game_record {
    const char *players, *cost, *update, *selection;
    mfpg_equilibrium equilibrium;
    double finite_max, finite_mean, preference_factor;
    int64_t iterations;
} game_record;

#define GAME(name, kind, places, member, help)                                                               \
    { name, MFPG_FIELD_##kind, MFPG_FIELD_JSON | (places), offsetof(game_record, member), help }
enum { COMPARED = MFPG_GAME_COMPARED };

static const mfpg_record_field game_fields[] = {
    GAME("players", TEXT, 0, players, "finite or mean-field"),
    GAME("cost", TEXT, 0, cost, "what the clients minimise"),
    GAME("update", TEXT, 0, update, "once, or each-round"),
    GAME("selection", TEXT, 0, selection, "how actions of each round are let out"),
    GAME("mean_action", NUMBER, COMPARED, equilibrium.mean_action, "mean budget or strength; no unit"),
    GAME("exploitability.max", NUMBER, COMPARED, equilibrium.exploitability_max,
        "the most that a client gains by deviating alone; units of its cost"),
    GAME("exploitability.mean", NUMBER, 0, equilibrium.exploitability_mean, "mean over the clients"),
    GAME("exploitability_finite.max", NUMBER, COMPARED, finite_max,
        "the same in the game among the clients themselves"),
    GAME("exploitability_finite.mean", NUMBER, 0, finite_mean, "mean over the clients"),
    GAME("consistency_gap", NUMBER, 0, equilibrium.consistency_gap,
        "between the mean that the clients answer and their mean"),
    GAME("preference_factor", NUMBER, 0, preference_factor, "of all preferences, to meet a target epsilon"),
    GAME("total_cost", NUMBER, 0, equilibrium.cost, "sum over the clients"),
    GAME("social_mean_action", NUMBER, COMPARED, equilibrium.social_mean, "at the social optimum"),
    GAME("social_cost", NUMBER, 0, equilibrium.social_cost, "sum over the clients at the social optimum"),
    GAME("price_of_anarchy", NUMBER, COMPARED, equilibrium.price_of_anarchy, "total_cost / social_cost"),
    GAME("unique", TRUTH, 0, equilibrium.unique, "whether there is no other equilibrium"),
    GAME("converged", TRUTH, 0, equilibrium.converged, "whether the game was solved"),
    GAME("iterations", COUNT, 0, iterations, "of the solver"),
    GAME("residual", NUMBER, 0, equilibrium.residual, "of the solver"),
};
const mfpg_fields mfpg_game_fields = MFPG_FIELDS("game", game_fields);

static json_t *game_json(const mfpg_experiment *e) {
    const mfpg_acting *acting = e->options.acting;
    if (!e->equilibrium.action) return json_null();
    game_record record = {.players = mfpg_players_name(e->config->method.players),
        .cost = e->config->set.game.cost,
        .update = acting ? "each-round" : "once",
        .selection = acting ? mfpg_selection_name(acting->selection) : NULL,
        .equilibrium = equilibrium_for_json(e),
        .finite_max = acting ? (double)NAN : e->finite_max,
        .finite_mean = acting ? (double)NAN : e->finite_mean,
        .preference_factor = e->preference_factor};
    record.iterations = record.equilibrium.iterations;
    json_t *game = mfpg_fields_json(&mfpg_game_fields, MFPG_FIELD_JSON, &record);
    return game ? mfpg_json_if_complete(game, add_words(game, e)) : NULL;
}

/* ---- the clients: one object each, or for a large federation the quantiles of clients.csv ---- */

enum { MOST_LISTED = 1000, LEVELS = 21 }; /* as mfpg solve; quantiles at 0, 0.05, ..., 1 */

/* Returns the name under which epsilon for the other adjacency is written. */
static int other_place(const mfpg_experiment *e) {
    return e->options.promise.adjacency == MFPG_ADJACENCY_REPLACE ? MFPG_CLIENT_ZERO_OUT
                                                                  : MFPG_CLIENT_REPLACE;
}

/* ---- everybody ---- */

static json_t *client_json(mfpg_context *ctx, const mfpg_experiment *e, ptrdiff_t k) {
    mfpg_client_record client;
    mfpg_metrics metrics;
    char words[MFPG_MESSAGE_SIZE];
    if (mfpg_experiment_client_record(ctx, e, k, &client) != MFPG_OK) return NULL;
    if (mfpg_federation_metrics(ctx, e->federation, k, &metrics) != MFPG_OK) return NULL;
    mfpg_experiment_promise(e, &client.report, words, sizeof words);
    client.promise = words;
    json_t *object = mfpg_fields_json(&mfpg_client_fields,
        MFPG_FIELD_JSON | other_place(e) | (e->options.acting ? MFPG_CLIENT_EACH_ROUND : 0), &client);
    if (!object || e->options.evaluate == MFPG_EVALUATE_NONE) return object;
    return mfpg_json_if_complete(
        object, json_object_set_new(object, "metrics",
                    mfpg_fields_json(&mfpg_metrics_fields, MFPG_FIELD_JSON, &metrics)) == 0);
}

/* ---- quantiles ---- */

/* Returns the quantiles of every column at every level; null if a client has no such number. */
static json_t *quantiles_json(mfpg_context *ctx, const mfpg_experiment *e, const mfpg_record_field *column) {
    ptrdiff_t clients = e->data->clients;
    double *value = mfpg_alloc(clients, sizeof *value), at[LEVELS];
    int known = value != NULL, all = 1;
    for (ptrdiff_t k = 0; k < clients && known; k++) {
        mfpg_client_record client;
        known = mfpg_experiment_client_record(ctx, e, k, &client) == MFPG_OK;
        value[k] = known ? mfpg_field_number(column, &client) : 0.0;
        all = all && !isnan(value[k]);
    }
    if (known && all) known = mfpg_solution_quantiles(ctx, value, clients, LEVELS, at) == MFPG_OK;
    free(value);
    if (!known || !all) return known ? json_null() : NULL;
    json_t *list = json_array();
    int complete = list != NULL;
    for (int i = 0; i < LEVELS && complete; i++)
        complete = json_array_append_new(list, mfpg_json_number(at[i])) == 0;
    return mfpg_json_if_complete(list, complete);
}

static json_t *level_json(mfpg_context *ctx, const mfpg_experiment *e, ptrdiff_t i) {
    (void)ctx;
    (void)e;
    return json_real((double)i / (double)(LEVELS - 1));
}

static json_t *name_json(mfpg_context *ctx, const mfpg_experiment *e, ptrdiff_t client) {
    (void)ctx;
    return json_string(e->data->client[client].name);
}

/* Returns the names in the order of clients.csv, which has numbers; null if the names are these numbers. */
static json_t *names_json(const mfpg_experiment *e) {
    int named = 0;
    for (ptrdiff_t k = 0; k < e->data->clients && !named; k++) {
        char number[24];
        snprintf(number, sizeof number, "%td", k);
        named = strcmp(e->data->client[k].name, number) != 0;
    }
    return named ? list_json(e->data->clients, name_json, NULL, e) : json_null();
}

/* Returns a client with an extreme epsilon, and its promise in words. */
static json_t *extreme_json(const mfpg_experiment *e, ptrdiff_t client, const mfpg_client_report *report) {
    char words[MFPG_MESSAGE_SIZE];
    mfpg_experiment_promise(e, report, words, sizeof words);
    return json_pack("{s:I, s:s, s:s}", "client", (json_int_t)client, "name", e->data->client[client].name,
        "promise", words);
}

static json_t *describe_clients(mfpg_context *ctx, const mfpg_experiment *e, const client_tally *tally) {
    const mfpg_record_field *field = mfpg_client_fields.field, *end = field + mfpg_client_fields.count;
    json_t *object = json_pack("{s:I, s:s, s:s, s:o}", "count", (json_int_t)e->data->clients, "file",
        "clients.csv", "note", "more than 1000 clients: each is in the file; here are quantiles", "level",
        list_json(LEVELS, level_json, NULL, e));
    int complete = object != NULL;
    for (; field < end && complete; field++)
        if (field->places & (MFPG_CLIENT_QUANTILES | other_place(e)))
            complete = json_object_set_new(object, field->name, quantiles_json(ctx, e, field)) == 0;
    json_t *rest = json_pack("{s:I, s:I, s:I, s:o, s:o, s:o}", "stopped", (json_int_t)tally->stopped,
        "nonfinite_gradients", (json_int_t)tally->nonfinite, "certified", (json_int_t)tally->certified,
        "least_protected", extreme_json(e, tally->most, &tally->high), "most_protected",
        extreme_json(e, tally->least, &tally->low), "names", names_json(e));
    complete = complete && rest && json_object_update(object, rest) == 0;
    json_decref(rest);
    return mfpg_json_if_complete(object, complete);
}

/* ---- the whole ---- */

/* The fingerprint would confirm a guess of the rows, so it is written only if nothing is private. */
static json_t *data_json(const mfpg_experiment *e) {
    return json_pack("{s:I, s:I, s:I, s:s?}", "clients", (json_int_t)e->data->clients, "features",
        (json_int_t)e->data->features, "dropped_rows", (json_int_t)e->data->dropped_rows, "fingerprint",
        e->key.seeded ? e->data->fingerprint : NULL);
}

static json_t *assumption_json(mfpg_context *ctx, const mfpg_experiment *e, ptrdiff_t i) {
    (void)ctx;
    return json_string(e->assumptions.text[i]);
}

static json_t *pool_json(mfpg_context *ctx, const mfpg_experiment *e) {
    mfpg_metrics m;
    if (e->options.evaluate == MFPG_EVALUATE_NONE) return json_null();
    if (mfpg_federation_metrics(ctx, e->federation, -1, &m) != MFPG_OK) return NULL;
    json_t *metrics = mfpg_fields_json(&mfpg_metrics_fields, MFPG_FIELD_JSON, &m);
    return mfpg_json_if_complete(
        metrics, json_object_set_new(metrics, "note", json_string(MFPG_METRICS_NOTE)) == 0);
}

json_t *mfpg_summary_json(mfpg_context *ctx, const mfpg_experiment *e) {
    client_tally tally;
    if (mfpg_tally_clients(ctx, e, &tally) != MFPG_OK) return NULL;
    int certified = mfpg_promises_anything(e) && tally.certified == e->data->clients;
    return json_pack("{s:s, s:s, s:s, s:{s:s, s:s, s:s}, s:b, s:I, s:I, s:o, s:b, s:o, s:o, s:o, s:o, s:o, "
                     "s:o, s:o, s:o, s:o}",
        "mfpg", mfpg_version(), "name", e->config->set.name, "status",
        e->interrupted ? "interrupted" : "complete", "method", "name", e->config->method.name, "mechanism",
        e->config->method.mechanism, "players", mfpg_players_name(e->config->method.players), "seeded",
        e->key.seeded, "rounds", (json_int_t)e->round_count, "rounds_planned", (json_int_t)e->options.rounds,
        "promise", promise_json(e), "certificate", certified, "odometer", odometer_json(e, &tally), "ledger",
        ledger_json(e), "stop", stop_json(ctx, e), "clients",
        e->data->clients <= MOST_LISTED ? list_json(e->data->clients, client_json, ctx, e)
                                        : describe_clients(ctx, e, &tally),
        "metrics", pool_json(ctx, e), "transport", mfpg_transport_json(e), "game", game_json(e), "data",
        data_json(e), "assumptions", list_json(e->assumptions.count, assumption_json, NULL, e));
}

mfpg_status mfpg_experiment_summary(mfpg_context *ctx, const mfpg_experiment *experiment, char **json) {
    json_t *summary = mfpg_summary_json(ctx, experiment);
    mfpg_status status = mfpg_json_text(ctx, summary, json);
    json_decref(summary);
    return status;
}
