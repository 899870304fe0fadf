/* The clients of summary.json: one object each, or of a large federation the quantiles of what clients.csv holds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/solution.h"

#include "base/error.h"
#include "base/memory.h"
#include "federation/run_folder.h"
#include "internal.h"

enum { MOST_LISTED = 1000, LEVELS = 21 }; /* as mfpg solve; quantiles at 0, 0.05, ..., 1 */

json_t *mfpg_json_if_complete(json_t *value, int complete) {
    if (complete) return value;
    json_decref(value);
    return NULL;
}

json_t *mfpg_metrics_json(const mfpg_metrics *m) {
    return json_pack("{s:o, s:o, s:o, s:o, s:I}", "loss", mfpg_json_number(m->loss), "accuracy",
        mfpg_json_number(m->accuracy), "auc", mfpg_json_number(m->auc), "majority_rate",
        mfpg_json_number(m->majority_rate), "rows", (json_int_t)m->rows);
}

/* ---- everybody ---- */

static json_t *client_json(mfpg_context *ctx, const mfpg_experiment *e, ptrdiff_t k) {
    mfpg_client_report c;
    mfpg_metrics m;
    char words[MFPG_MESSAGE_SIZE];
    if (mfpg_federation_client(ctx, e->federation, k, &c) != MFPG_OK) return NULL;
    if (mfpg_federation_metrics(ctx, e->federation, k, &m) != MFPG_OK) return NULL;
    mfpg_promise_text(&e->options, mfpg_config_particles(e->config), &c, words, sizeof words);
    int replace = e->options.promise.adjacency == MFPG_ADJACENCY_REPLACE;
    json_t *client = json_pack(
        "{s:I, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o, "
        "s:I, s:b, s:o, s:b, s:s}",
        "client", (json_int_t)k, "name", e->data->client[k].name, "rows",
        (json_int_t)e->data->client[k].train.rows, "dropped_rows",
        (json_int_t)e->data->client[k].dropped_rows, "preference",
        mfpg_json_number(e->preference ? e->preference[k] : (double)NAN), "action",
        mfpg_json_number(c.action_value), "mu", mfpg_json_number(c.mu), "epsilon",
        mfpg_json_number(c.epsilon), replace ? "epsilon_zero_out" : "epsilon_replace",
        mfpg_json_number(c.epsilon_other), "noise_multiplier", mfpg_json_number(c.noise_multiplier), "grid",
        mfpg_json_number(c.grid), "rounding", mfpg_json_number(c.rounding), "rounds", (json_int_t)c.rounds,
        "steps", (json_int_t)c.steps, "sampling_rate", mfpg_json_number(c.sampling_rate), "weight",
        mfpg_json_number(c.weight), "nonfinite_gradients", (json_int_t)c.nonfinite, "stopped", c.stopped,
        "stopped_before_round", c.stopped ? json_integer(c.stopped_before) : json_null(), "certificate",
        isfinite(c.epsilon), "promise", words);
    if (client && e->options.acting)
        client = mfpg_json_if_complete(
            client, json_object_set_new(client, "spent_mu", mfpg_json_number(c.spent_mu)) == 0 &&
                        json_object_set_new(client, "choice_mu", mfpg_json_number(c.choice_mu)) == 0);
    if (!client || e->options.evaluate == MFPG_EVALUATE_NONE) return client;
    return mfpg_json_if_complete(client, json_object_set_new(client, "metrics", mfpg_metrics_json(&m)) == 0);
}

static json_t *list_clients(mfpg_context *ctx, const mfpg_experiment *e) {
    json_t *list = json_array();
    int complete = list != NULL;
    for (ptrdiff_t k = 0; k < e->data->clients && complete; k++)
        complete = json_array_append_new(list, client_json(ctx, e, k)) == 0;
    return mfpg_json_if_complete(list, complete);
}

/* ---- quantiles ---- */

static double preference_of(const mfpg_experiment *e, ptrdiff_t k, const mfpg_client_report *c) {
    (void)c;
    return e->preference ? e->preference[k] : (double)NAN;
}

static double action_of(const mfpg_experiment *e, ptrdiff_t k, const mfpg_client_report *c) {
    (void)e;
    (void)k;
    return c->action_value;
}

static double mu_of(const mfpg_experiment *e, ptrdiff_t k, const mfpg_client_report *c) {
    (void)e;
    (void)k;
    return c->mu;
}

static double epsilon_of(const mfpg_experiment *e, ptrdiff_t k, const mfpg_client_report *c) {
    (void)e;
    (void)k;
    return c->epsilon;
}

static double epsilon_other_of(const mfpg_experiment *e, ptrdiff_t k, const mfpg_client_report *c) {
    (void)e;
    (void)k;
    return c->epsilon_other;
}

static double rounds_of(const mfpg_experiment *e, ptrdiff_t k, const mfpg_client_report *c) {
    (void)e;
    (void)k;
    return (double)c->rounds;
}

typedef double (*column)(const mfpg_experiment *e, ptrdiff_t k, const mfpg_client_report *c);

/* A column at every level; null where a client has no such number. */
static json_t *quantiles_json(mfpg_context *ctx, const mfpg_experiment *e, column of) {
    ptrdiff_t clients = e->data->clients;
    double *value = mfpg_alloc(clients, sizeof *value), at[LEVELS];
    int known = value != NULL, all = 1;
    for (ptrdiff_t k = 0; k < clients && known; k++) {
        mfpg_client_report c;
        known = mfpg_federation_client(ctx, e->federation, k, &c) == MFPG_OK;
        value[k] = known ? of(e, k, &c) : 0.0;
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

static json_t *levels_json(void) {
    json_t *list = json_array();
    int complete = list != NULL;
    for (int i = 0; i < LEVELS && complete; i++)
        complete = json_array_append_new(list, json_real(i / (double)(LEVELS - 1))) == 0;
    return mfpg_json_if_complete(list, complete);
}

/* The names in the order of clients.csv, which has numbers; null where the names are those numbers. */
static json_t *names_json(const mfpg_experiment *e) {
    int named = 0;
    for (ptrdiff_t k = 0; k < e->data->clients && !named; k++) {
        char number[24];
        snprintf(number, sizeof number, "%td", k);
        named = strcmp(e->data->client[k].name, number) != 0;
    }
    if (!named) return json_null();
    json_t *list = json_array();
    int complete = list != NULL;
    for (ptrdiff_t k = 0; k < e->data->clients && complete; k++)
        complete = json_array_append_new(list, json_string(e->data->client[k].name)) == 0;
    return mfpg_json_if_complete(list, complete);
}

/* Counts over all clients into the object. */
static int add_counts(mfpg_context *ctx, const mfpg_experiment *e, json_t *object) {
    json_int_t stopped = 0, nonfinite = 0, certified = 0;
    for (ptrdiff_t k = 0; k < e->data->clients; k++) {
        mfpg_client_report c;
        if (mfpg_federation_client(ctx, e->federation, k, &c) != MFPG_OK) return 0;
        stopped += c.stopped;
        nonfinite += c.nonfinite;
        certified += isfinite(c.epsilon);
    }
    return json_object_set_new(object, "stopped", json_integer(stopped)) == 0 &&
           json_object_set_new(object, "nonfinite_gradients", json_integer(nonfinite)) == 0 &&
           json_object_set_new(object, "certified", json_integer(certified)) == 0;
}

/* The client with the smallest or the largest epsilon, and its promise in words. */
static json_t *extreme_json(mfpg_context *ctx, const mfpg_experiment *e, int largest) {
    mfpg_client_report c, found = {0};
    ptrdiff_t client = 0;
    char words[MFPG_MESSAGE_SIZE];
    for (ptrdiff_t k = 0; k < e->data->clients; k++) {
        if (mfpg_federation_client(ctx, e->federation, k, &c) != MFPG_OK) return NULL;
        if (k > 0 && !(largest ? c.epsilon > found.epsilon : c.epsilon < found.epsilon)) continue;
        found = c;
        client = k;
    }
    mfpg_promise_text(&e->options, mfpg_config_particles(e->config), &found, words, sizeof words);
    return json_pack("{s:I, s:s, s:s}", "client", (json_int_t)client, "name", e->data->client[client].name,
        "promise", words);
}

static json_t *describe_clients(mfpg_context *ctx, const mfpg_experiment *e) {
    int replace = e->options.promise.adjacency == MFPG_ADJACENCY_REPLACE;
    const struct {
        const char *name;
        column of;
    } columns[] = {{"preference", preference_of}, {"action", action_of}, {"mu", mu_of},
        {"epsilon", epsilon_of}, {replace ? "epsilon_zero_out" : "epsilon_replace", epsilon_other_of},
        {"rounds", rounds_of}};
    json_t *object = json_pack("{s:I, s:s, s:s, s:o}", "count", (json_int_t)e->data->clients, "file",
        "clients.csv", "note", "more than 1000 clients: each is in the file; here are quantiles", "level",
        levels_json());
    int complete = object != NULL;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0] && complete; i++)
        complete = json_object_set_new(object, columns[i].name, quantiles_json(ctx, e, columns[i].of)) == 0;
    complete = complete && add_counts(ctx, e, object) &&
               json_object_set_new(object, "least_protected", extreme_json(ctx, e, 1)) == 0 &&
               json_object_set_new(object, "most_protected", extreme_json(ctx, e, 0)) == 0 &&
               json_object_set_new(object, "names", names_json(e)) == 0;
    return mfpg_json_if_complete(object, complete);
}

json_t *mfpg_clients_json(mfpg_context *ctx, const mfpg_experiment *e) {
    return e->data->clients <= MOST_LISTED ? list_clients(ctx, e) : describe_clients(ctx, e);
}
