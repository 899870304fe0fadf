/* An audit of a configuration, and its report audit.json. */
#include "mfpg/experiment.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/memory.h"
#include "federation/run_folder.h"
#include "internal.h"
#include "inversion_json.h"

mfpg_status mfpg_experiment_audit(mfpg_context *ctx, const mfpg_experiment *e,
    const mfpg_audit_options *options, mfpg_audit_client *client, mfpg_audit_plan *plan) {
    if (e->equilibrium.action && !e->equilibrium.converged)
        return mfpg_fail(ctx, MFPG_ERR_NUMERIC,
            "the game was not solved: residual %.3g after %d iterations; there is no profile to audit",
            e->equilibrium.residual, e->equilibrium.iterations);
    return mfpg_audit_federation(
        ctx, options, &e->options, e->data, e->model, e->mechanisms.of_client, e->action, client, plan);
}

static json_t *client_json(const mfpg_experiment *e, const char *name, const mfpg_audit_client *client) {
    const mfpg_audit_record record = mfpg_audit_record_of(name, e->options.delta, client);
    return mfpg_fields_json(&mfpg_audit_fields, MFPG_FIELD_JSON, &record);
}

static json_t *promise_of(const mfpg_experiment *e) {
    const mfpg_promise_record record =
        mfpg_promise_record_of(&e->options, e->config->set.mechanism.particles);
    return mfpg_fields_json(&mfpg_promise_fields, MFPG_FIELD_JSON, &record);
}

static json_t *audit_json(const mfpg_experiment *e, const mfpg_audit_options *options,
    const mfpg_audit_client *client, const mfpg_audit_plan *plan) {
    json_t *clients = json_array(), *object = NULL;
    int stands = 1, failed = !clients;
    for (ptrdiff_t k = 0; k < e->data->clients && !failed; k++) {
        failed = json_array_append_new(clients, client_json(e, e->data->client[k].name, &client[k])) != 0;
        stands = stands && client[k].stands;
    }
    stands = stands && (!plan->pooled || plan->together.stands);
    if (!failed)
        object = json_pack("{s:s, s:O, s:o*, s:b, s:o, s:o, s:o, s:I, s:b, s:i, s:I, s:I, s:s}", "method",
            mfpg_audit_method_name(plan->method), "clients", clients, "together",
            plan->pooled ? client_json(e, "together", &plan->together) : NULL, "stands", stands, "promise",
            promise_of(e), "confidence", mfpg_json_number(options->confidence), "client_confidence",
            mfpg_json_number(plan->client_confidence), "runs", (json_int_t)plan->runs, "stopped",
            plan->stopped, "patterns", plan->patterns, "pairs", (json_int_t)plan->pairs, "seed",
            (json_int_t)options->seed, "note",
            "mu_estimate is a fit, no proof; everything that ends in _lower holds for all clients "
            "together with the confidence");
    json_decref(clients);
    return object;
}

mfpg_status mfpg_experiment_audit_json(mfpg_context *ctx, const mfpg_experiment *e,
    const mfpg_audit_options *options, const mfpg_audit_client *client, const mfpg_audit_plan *plan,
    char **json) {
    json_t *object = audit_json(e, options, client, plan);
    char *text = object ? json_dumps(object, JSON_INDENT(2)) : NULL;
    json_decref(object);
    if (!text) return mfpg_fail_memory(ctx);
    *json = text;
    return MFPG_OK;
}

mfpg_status mfpg_experiment_write_audit(mfpg_context *ctx, const mfpg_experiment *e,
    const mfpg_audit_options *options, const mfpg_audit_client *client, const mfpg_audit_plan *plan,
    const char *folder) {
    json_t *object = audit_json(e, options, client, plan), *inversion = NULL;
    if (!object) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_folder_create(ctx, folder);
    if (status == MFPG_OK) status = mfpg_inversion_told(ctx, folder, &inversion);
    if (status == MFPG_OK && inversion && json_object_set(object, "inversion", inversion) != 0)
        status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = mfpg_run_write_json(ctx, folder, "audit.json", object);
    json_decref(inversion);
    json_decref(object);
    return status;
}
