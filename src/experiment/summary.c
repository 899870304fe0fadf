/* summary.json: a run in one object. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "federation/run_folder.h"
#include "internal.h"

static json_t *metrics_json(const mfpg_metrics *m) {
    return json_pack("{s:o, s:o, s:o, s:o, s:I}", "loss", mfpg_json_number(m->loss), "accuracy",
        mfpg_json_number(m->accuracy), "auc", mfpg_json_number(m->auc), "majority_rate",
        mfpg_json_number(m->majority_rate), "rows", (json_int_t)m->rows);
}

static json_t *promise_json(const mfpg_experiment *e) {
    const mfpg_promise *p = &e->options.promise;
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:s}", "particles",
        mfpg_particles_name(mfpg_config_particles(e->config)), "unit", mfpg_unit_name(p->unit), "adjacency",
        mfpg_adjacency_name(p->adjacency), "view", mfpg_view_name(p->view), "delta",
        mfpg_json_number(e->options.delta), "accountant", e->options.accountant);
}

static json_t *client_json(mfpg_context *ctx, const mfpg_experiment *e, ptrdiff_t k) {
    mfpg_client_report c;
    mfpg_metrics m;
    char words[MFPG_MESSAGE_SIZE];
    if (mfpg_federation_client(ctx, e->federation, k, &c) != MFPG_OK) return NULL;
    if (mfpg_federation_metrics(ctx, e->federation, k, &m) != MFPG_OK) return NULL;
    mfpg_promise_text(&e->options, mfpg_config_particles(e->config), &c, words, sizeof words);
    int replace = e->options.promise.adjacency == MFPG_ADJACENCY_REPLACE;
    json_t *client = json_pack(
        "{s:I, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:I, s:b, s:s}", "client",
        (json_int_t)k, "name", e->data->client[k].name, "rows", (json_int_t)e->data->client[k].train.rows,
        "preference", mfpg_json_number(e->preference ? e->preference[k] : (double)NAN), "action",
        mfpg_json_number(c.action_value), "mu", mfpg_json_number(c.mu), "epsilon",
        mfpg_json_number(c.epsilon), replace ? "epsilon_zero_out" : "epsilon_replace",
        mfpg_json_number(c.epsilon_other), "noise_multiplier", mfpg_json_number(c.noise_multiplier), "rounds",
        (json_int_t)c.rounds, "steps", (json_int_t)c.steps, "sampling_rate",
        mfpg_json_number(c.sampling_rate), "weight", mfpg_json_number(c.weight), "nonfinite_gradients",
        (json_int_t)c.nonfinite, "stopped", c.stopped, "promise", words);
    if (client && e->options.evaluate != MFPG_EVALUATE_NONE)
        json_object_set_new(client, "metrics", metrics_json(&m));
    return client;
}

static json_t *clients_json(mfpg_context *ctx, const mfpg_experiment *e) {
    json_t *list = json_array();
    for (ptrdiff_t k = 0; k < e->data->clients; k++) {
        json_t *client = client_json(ctx, e, k);
        if (json_array_append_new(list, client) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *game_json(const mfpg_experiment *e) {
    const mfpg_equilibrium *q = &e->equilibrium;
    if (!q->action) return json_null();
    return json_pack("{s:s, s:s, s:o, s:{s:o, s:o}, s:o, s:o, s:o, s:o, s:b, s:i, s:o}", "players",
        mfpg_players_name(e->method.players), "cost", mfpg_config_cost(e->config), "mean_action",
        mfpg_json_number(q->mean_action), "exploitability", "max", mfpg_json_number(q->exploitability_max),
        "mean", mfpg_json_number(q->exploitability_mean), "consistency_gap",
        mfpg_json_number(q->consistency_gap), "preference_factor", mfpg_json_number(e->preference_factor),
        "social_mean_action", mfpg_json_number(q->social_mean), "price_of_anarchy",
        mfpg_json_number(q->price_of_anarchy), "converged", q->converged, "iterations", q->iterations,
        "residual", mfpg_json_number(q->residual));
}

static json_t *data_json(const mfpg_experiment *e) {
    return json_pack("{s:I, s:I, s:I, s:s}", "clients", (json_int_t)e->data->clients, "features",
        (json_int_t)e->data->features, "dropped_rows", (json_int_t)e->data->dropped_rows, "fingerprint",
        e->data->fingerprint);
}

static json_t *assumptions_json(const mfpg_experiment *e) {
    json_t *list = json_array();
    for (ptrdiff_t i = 0; i < e->assumptions.count; i++)
        json_array_append_new(list, json_string(e->assumptions.text[i]));
    return list;
}

static json_t *pool_json(mfpg_context *ctx, const mfpg_experiment *e) {
    mfpg_metrics m;
    if (e->options.evaluate == MFPG_EVALUATE_NONE) return json_null();
    if (mfpg_federation_metrics(ctx, e->federation, -1, &m) != MFPG_OK) return NULL;
    json_t *metrics = metrics_json(&m);
    json_object_set_new(metrics, "note", json_string(MFPG_METRICS_NOTE));
    return metrics;
}

json_t *mfpg_summary_json(mfpg_context *ctx, const mfpg_experiment *e) {
    const char *name = mfpg_config_text(e->config, "name");
    return json_pack("{s:s, s:s?, s:s, s:{s:s, s:s, s:s}, s:b, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}",
        "mfpg", mfpg_version(), "name", name, "status", e->interrupted ? "interrupted" : "complete", "method",
        "name", e->method.name, "mechanism", e->method.mechanism, "players",
        mfpg_players_name(e->method.players), "seeded", e->key.seeded, "rounds", (json_int_t)e->round_count,
        "rounds_planned", (json_int_t)e->options.rounds, "promise", promise_json(e), "clients",
        clients_json(ctx, e), "metrics", pool_json(ctx, e), "game", game_json(e), "data", data_json(e),
        "assumptions", assumptions_json(e));
}

mfpg_status mfpg_experiment_summary(mfpg_context *ctx, const mfpg_experiment *experiment, char **json) {
    json_t *summary = mfpg_summary_json(ctx, experiment);
    char *text = summary ? json_dumps(summary, JSON_INDENT(2)) : NULL;
    json_decref(summary);
    if (!text) return mfpg_fail_memory(ctx);
    *json = text;
    return MFPG_OK;
}
