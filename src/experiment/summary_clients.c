/* The clients of summary.json: one object each, or of a large federation the quantiles of what clients.csv holds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/solution.h"

#include "base/error.h"
#include "base/fields.h"
#include "base/memory.h"
#include "base/json_file.h"
#include "federation/run_folder.h"
#include "internal.h"

enum { MOST_LISTED = 1000, LEVELS = 21 }; /* as mfpg solve; quantiles at 0, 0.05, ..., 1 */

/* Under which name epsilon for the other adjacency is told. */
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

static json_t *list_clients(mfpg_context *ctx, const mfpg_experiment *e) {
    json_t *list = json_array();
    int complete = list != NULL;
    for (ptrdiff_t k = 0; k < e->data->clients && complete; k++)
        complete = json_array_append_new(list, client_json(ctx, e, k)) == 0;
    return mfpg_json_if_complete(list, complete);
}

/* ---- quantiles ---- */

/* A column at every level; null if a client has no such number. */
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
    mfpg_experiment_promise(e, &found, words, sizeof words);
    return json_pack("{s:I, s:s, s:s}", "client", (json_int_t)client, "name", e->data->client[client].name,
        "promise", words);
}

static json_t *describe_clients(mfpg_context *ctx, const mfpg_experiment *e) {
    const mfpg_record_field *field = mfpg_client_fields.field, *end = field + mfpg_client_fields.count;
    json_t *object = json_pack("{s:I, s:s, s:s, s:o}", "count", (json_int_t)e->data->clients, "file",
        "clients.csv", "note", "more than 1000 clients: each is in the file; here are quantiles", "level",
        levels_json());
    int complete = object != NULL;
    for (; field < end && complete; field++)
        if (field->places & (MFPG_CLIENT_QUANTILES | other_place(e)))
            complete = json_object_set_new(object, field->name, quantiles_json(ctx, e, field)) == 0;
    complete = complete && add_counts(ctx, e, object) &&
               json_object_set_new(object, "least_protected", extreme_json(ctx, e, 1)) == 0 &&
               json_object_set_new(object, "most_protected", extreme_json(ctx, e, 0)) == 0 &&
               json_object_set_new(object, "names", names_json(e)) == 0;
    return mfpg_json_if_complete(object, complete);
}

json_t *mfpg_clients_json(mfpg_context *ctx, const mfpg_experiment *e) {
    return e->data->clients <= MOST_LISTED ? list_clients(ctx, e) : describe_clients(ctx, e);
}
