/* Attacks on what a configuration trains (an audit and gradient inversion), and their report audit.json. */
#include "mfpg/experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/inversion.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/memory.h"
#include "federation/run_folder.h"
#include "base/release_parts.h"
#include "internal.h"

/* ---- audit.json, which has both ---- */

/* Sets *out to NULL if the file does not exist yet. */
static mfpg_status read_audit(mfpg_context *ctx, const char *folder, json_t **out) {
    const size_t largest = (size_t)1 << 28;
    char *path = mfpg_path_join(folder, "audit.json");
    *out = NULL;
    if (!path) return mfpg_fail_memory(ctx);
    int absent = access(path, F_OK) != 0;
    free(path);
    return absent ? MFPG_OK : json_file_read(ctx, folder, "audit.json", largest, out);
}

/* Returns a new reference to the value of "inversion" in FOLDER/audit.json, or NULL. */
static mfpg_status read_inversion(mfpg_context *ctx, const char *folder, json_t **out) {
    json_t *audit = NULL;
    mfpg_status status = read_audit(ctx, folder, &audit);
    if (status == MFPG_OK) *out = json_incref(json_object_get(audit, "inversion"));
    json_decref(audit);
    return status;
}

/* ---- the audit ---- */

mfpg_status mfpg_experiment_audit(mfpg_context *ctx, const mfpg_experiment *e,
    const mfpg_audit_options *options, mfpg_audit_client *client, mfpg_audit_plan *plan) {
    mfpg_status status = mfpg_experiment_check_solved(ctx, e, "there is no profile to audit");
    if (status != MFPG_OK) return status;
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
    mfpg_status status = mfpg_json_text(ctx, object, json);
    json_decref(object);
    return status;
}

mfpg_status mfpg_experiment_write_audit(mfpg_context *ctx, const mfpg_experiment *e,
    const mfpg_audit_options *options, const mfpg_audit_client *client, const mfpg_audit_plan *plan,
    const char *folder) {
    json_t *object = audit_json(e, options, client, plan), *inversion = NULL;
    if (!object) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_folder_create(ctx, folder);
    if (status == MFPG_OK) status = read_inversion(ctx, folder, &inversion);
    if (status == MFPG_OK && inversion && json_object_set(object, "inversion", inversion) != 0)
        status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = mfpg_run_write_json(ctx, folder, "audit.json", object);
    json_decref(inversion);
    json_decref(object);
    return status;
}

/* ---- gradient inversion ---- */

/* Files of the MNIST format hold square pictures. */
static ptrdiff_t width_of(const mfpg_experiment *e) {
    ptrdiff_t side = (ptrdiff_t)lround(sqrt((double)e->data->features));
    int pictures = mfpg_reader_facts(e->config->set.data.format) & MFPG_READER_PICTURES;
    return pictures && side * side == e->data->features ? side : 0;
}

mfpg_status mfpg_experiment_invert(mfpg_context *ctx, const mfpg_experiment *e,
    const mfpg_inversion_options *options, mfpg_inversion **out) {
    mfpg_inversion_options own = *options;
    ptrdiff_t count;
    mfpg_status status = mfpg_experiment_check_solved(ctx, e, "there is no profile to attack");
    if (status != MFPG_OK) return status;
    if (own.width == 0) own.width = width_of(e);
    return mfpg_inversion_create(ctx, &own, e->data, e->model, e->mechanisms.of_client, e->action,
        mfpg_experiment_model(e, &count), out);
}

static json_t *range_json(mfpg_extent r) {
    return json_pack("{s:o, s:o, s:o}", "median", mfpg_json_number(r.median), "least",
        mfpg_json_number(r.least), "most", mfpg_json_number(r.most));
}

static json_t *likeness_json(const mfpg_likeness_pair *l) {
    return json_pack("{s:{s:o, s:o}, s:{s:o, s:o}, s:{s:o, s:o}}", "psnr", "median",
        mfpg_json_number(l->median.psnr), "best", mfpg_json_number(l->best.psnr), "ssim", "median",
        mfpg_json_number(l->median.ssim), "best", mfpg_json_number(l->best.ssim), "pearson", "median",
        mfpg_json_number(l->median.pearson), "best", mfpg_json_number(l->best.pearson));
}

static json_t *level_json(const mfpg_inversion_level *l, int64_t trials) {
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:{s:I, s:I, s:o, s:o, s:o, s:o, s:b}}", "mu",
        mfpg_json_number(l->mu), "mu_replace", mfpg_json_number(2.0 * l->mu), "noise_sd",
        mfpg_json_number(l->noise_sd), "clip", mfpg_json_number(l->clip), "configured", l->configured,
        "closed_form", likeness_json(&l->closed_form), "optimisation", likeness_json(&l->optimisation),
        "identification", "correct", (json_int_t)l->correct, "trials", (json_int_t)trials, "rate",
        mfpg_json_number(l->rate), "lower", mfpg_json_number(l->lower), "cap", mfpg_json_number(l->cap),
        "median_rank", mfpg_json_number(l->median_rank), "stands", l->stands);
}

static json_t *levels_json(const mfpg_inversion *inversion, const mfpg_inversion_summary *s) {
    json_t *levels = json_array();
    for (int l = 0; l < s->levels && levels; l++) {
        const mfpg_inversion_level level = mfpg_inversion_at(inversion, l);
        if (json_array_append_new(levels, level_json(&level, s->trials)) == 0) continue;
        json_decref(levels);
        levels = NULL;
    }
    return levels;
}

/* Takes the pictures. */
static json_t *study_json(const mfpg_experiment *e, const mfpg_inversion_options *o,
    const mfpg_inversion *inversion, json_t *pictures) {
    const mfpg_inversion_summary s = mfpg_inversion_summarise(inversion);
    const mfpg_promise *promise = &e->options.promise;
    return json_pack(
        "{s:s, s:b, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:b, s:o, s:I, s:[o, o], s:o, s:o, s:I, "
        "s:o, s:{s:o, s:o}, s:o, s:o}",
        "note", MFPG_METRICS_NOTE, "stands", s.stands, "client", e->data->client[s.client].name, "unit",
        mfpg_unit_name(promise->unit), "adjacency", mfpg_adjacency_name(promise->adjacency), "model",
        mfpg_model_name(e->model), "method", e->config->method.name, "examples", (json_int_t)s.examples,
        "batch", (json_int_t)s.batch, "candidates", (json_int_t)s.candidates, "trials", (json_int_t)s.trials,
        "labels_known", s.labels_known, "confidence", mfpg_json_number(o->confidence), "seed",
        (json_int_t)o->seed, "box", mfpg_json_number(s.low), mfpg_json_number(s.high), "gradient_norm",
        range_json(s.gradient_norm), "clip_factor", range_json(s.clip_factor), "rows", (json_int_t)s.rows,
        "exclusive_rows", range_json(s.exclusive_rows), "chance", "mean", likeness_json(&s.mean), "other",
        likeness_json(&s.other), "levels", levels_json(inversion, &s), "pictures", pictures);
}

static mfpg_status report_json(mfpg_context *ctx, const mfpg_experiment *e,
    const mfpg_inversion_options *options, const mfpg_inversion *inversion, json_t **out) {
    json_t *pictures = NULL;
    mfpg_status status = mfpg_inversion_pictures_json(ctx, inversion, &pictures);
    if (status != MFPG_OK) return status;
    *out = study_json(e, options, inversion, pictures);
    return *out ? MFPG_OK : mfpg_fail_memory(ctx);
}

mfpg_status mfpg_experiment_inversion_json(mfpg_context *ctx, const mfpg_experiment *e,
    const mfpg_inversion_options *options, const mfpg_inversion *inversion, char **json) {
    json_t *study = NULL;
    mfpg_status status = report_json(ctx, e, options, inversion, &study);
    if (status != MFPG_OK) return status;
    json_t *object = json_pack("{s:o}", "inversion", study);
    status = mfpg_json_text(ctx, object, json);
    json_decref(object);
    return status;
}

mfpg_status mfpg_experiment_write_inversion(mfpg_context *ctx, const mfpg_experiment *e,
    const mfpg_inversion_options *options, const mfpg_inversion *inversion, const char *folder,
    int *pictures) {
    json_t *audit = NULL, *study = NULL;
    mfpg_status status = mfpg_folder_create(ctx, folder);
    if (status == MFPG_OK) status = read_audit(ctx, folder, &audit);
    if (status == MFPG_OK) status = report_json(ctx, e, options, inversion, &study);
    if (status == MFPG_OK && !audit && !(audit = json_object())) status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK && json_object_set(audit, "inversion", study) != 0) status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = mfpg_inversion_write_grid(ctx, inversion, folder, pictures);
    if (status == MFPG_OK) status = mfpg_run_write_json(ctx, folder, "audit.json", audit);
    json_decref(audit);
    json_decref(study);
    return status;
}
