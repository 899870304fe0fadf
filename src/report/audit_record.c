#include "audit_record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fields.h"
#include "base/file.h"
#include "inversion_record.h"
#include "base/json_file.h"
#include "mfpg/audit.h"
#include "mfpg/run_fields.h"

static const size_t LARGEST_AUDIT = (size_t)1 << 28;

const audit_pair audit_pairs[AUDIT_PAIRS] = {{"mu", "mu_lower"}, {"epsilon", "epsilon_lower_direct"},
    {"distance", "tv_lower"}, {"auc_cap", "auc_lower"}, {"round_mu", "round_mu_lower"},
    {"mu", "input_mu_lower"}};

double audit_number(const json_t *client, const char *key) {
    return json_file_number(json_object_get(client, key));
}

/* NAN compares as false: what is not promised, or was not attacked, breaks nothing. */
int audit_pair_broken(const json_t *client, const audit_pair *pair) {
    return audit_number(client, pair->proved) > audit_number(client, pair->promised);
}

/* ---- what an audit writes ---- */

/* Of a client, or of all of them together: every field is what it must be, and nothing proved exceeds a promise that is said to
 * hold. */
static mfpg_status check_entry(mfpg_context *ctx, const char *folder, const json_t *client, size_t index) {
    char where[MFPG_MESSAGE_SIZE];
    snprintf(where, sizeof where, "%s/audit.json: clients: entry %zu: ", folder, index);
    mfpg_status status = mfpg_fields_check(ctx, &mfpg_audit_fields, MFPG_FIELD_JSON, client, where);
    for (int i = 0; i < AUDIT_PAIRS && status == MFPG_OK; i++)
        if (json_is_true(json_object_get(client, "stands")) && audit_pair_broken(client, &audit_pairs[i]))
            status =
                mfpg_fail(ctx, MFPG_ERR_INPUT, "%ssaid to stand, but %s %g exceeds %s %g; no audit says so",
                    where, audit_pairs[i].proved, audit_number(client, audit_pairs[i].proved),
                    audit_pairs[i].promised, audit_number(client, audit_pairs[i].promised));
    return status;
}

static mfpg_status check_client(
    mfpg_context *ctx, const char *folder, const run_record *run, const json_t *client, size_t index) {
    char number[32];
    mfpg_status status = check_entry(ctx, folder, client, index);
    if (status != MFPG_OK) return status;
    const char *name = json_string_value(json_object_get(client, "client")),
               *expected = run_client_name(run, (ptrdiff_t)index, number);
    if (strcmp(name, expected) != 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s/audit.json: client %zu is '%.60s', of the run '%.60s': the audit is not one of this run",
            folder, index, name, expected);
    return MFPG_OK;
}

/* ---- whether it is of this run ---- */

static mfpg_status check_promise(
    mfpg_context *ctx, const char *folder, const run_record *run, const json_t *audit) {
    const json_t *attacked = json_object_get(audit, "promise"), *made = run_value(run, "promise");
    const mfpg_record_field *end = mfpg_promise_fields.field + mfpg_promise_fields.count;
    char where[MFPG_MESSAGE_SIZE];
    snprintf(where, sizeof where, "%s/audit.json: promise.", folder);
    mfpg_status status = mfpg_fields_check(ctx, &mfpg_promise_fields, MFPG_FIELD_JSON, attacked, where);
    if (status != MFPG_OK) return status;
    for (const mfpg_record_field *f = mfpg_promise_fields.field; f < end; f++) {
        if (!(f->places & MFPG_FIELD_JSON) || f->kind != MFPG_FIELD_TEXT) continue;
        const json_t *is = json_object_get(attacked, f->name);
        if (json_equal(is, json_object_get(made, f->name))) continue;
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s/audit.json attacks a promise of %s %.40s, the run made one of %s %.40s: the audit is not one "
            "of this run; mfpg audit %s makes one",
            folder, f->name, json_string_value(is), f->name,
            made ? json_string_value(json_object_get(made, f->name)) : "none", folder);
    }
    double delta = audit_number(attacked, "delta");
    if (delta == json_file_number(json_object_get(made, "delta"))) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s/audit.json: promise.delta %g: missing, or not the run's: the audit is not one of this run",
        folder, delta);
}

static mfpg_status check_whole(mfpg_context *ctx, const char *folder, const json_t *audit) {
    static const char *const shares[] = {"confidence", "client_confidence"};
    const json_t *patterns = json_object_get(audit, "patterns"), *method = json_object_get(audit, "method");
    if (json_integer_value(json_object_get(audit, "runs")) < 1)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "%s/audit.json: runs: missing, or not a whole number from 1", folder);
    if (patterns && json_integer_value(patterns) < 1)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s/audit.json: patterns: not a whole number from 1", folder);
    if (method && !json_is_string(method))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s/audit.json: method: not a text", folder);
    if (!json_is_integer(json_object_get(audit, "seed")))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s/audit.json: seed: missing, or not a whole number", folder);
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        double share = audit_number(audit, shares[i]);
        if (!(share > 0.0 && share < 1.0))
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "%s/audit.json: %s: missing, or not a number between 0 and 1", folder, shares[i]);
    }
    return MFPG_OK;
}

static mfpg_status check_clients(
    mfpg_context *ctx, const char *folder, const run_record *run, const json_t *audit) {
    const json_t *clients = json_object_get(audit, "clients");
    int stands = 1;
    if (!json_is_array(clients) || (ptrdiff_t)json_array_size(clients) != run->clients.rows)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s/audit.json: clients: missing, or not a list of the run's %td clients", folder,
            run->clients.rows);
    for (size_t k = 0; k < json_array_size(clients); k++) {
        const json_t *client = json_array_get(clients, k);
        mfpg_status status = check_client(ctx, folder, run, client, k);
        if (status != MFPG_OK) return status;
        stands = stands && json_is_true(json_object_get(client, "stands"));
    }
    const json_t *all = json_object_get(audit, "stands"), *together = json_object_get(audit, "together");
    if (together) { /* the clients' canaries as one sample: by few runs or one */
        mfpg_status status = check_entry(ctx, folder, together, json_array_size(clients));
        if (status != MFPG_OK) return status;
        stands = stands && json_is_true(json_object_get(together, "stands"));
    }
    if (json_is_boolean(all) && json_is_true(all) == stands) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s/audit.json: stands: missing, or not what its clients say, which is %s", folder,
        stands ? "true" : "false");
}

/* Canaries, gradient inversion, or both. */
static mfpg_status check_audit(
    mfpg_context *ctx, const char *folder, const run_record *run, const json_t *audit) {
    const json_t *inversion = json_object_get(audit, "inversion");
    mfpg_status status = MFPG_OK;
    if (!inversion || json_object_get(audit, "clients")) {
        status = check_promise(ctx, folder, run, audit);
        if (status == MFPG_OK) status = check_whole(ctx, folder, audit);
        if (status == MFPG_OK) status = check_clients(ctx, folder, run, audit);
    }
    if (status == MFPG_OK && inversion) status = inversion_record_check(ctx, folder, run, inversion);
    return status;
}

int audit_record_stands(const json_t *audit) {
    const json_t *inversion = json_object_get(audit, "inversion");
    return !json_is_false(json_object_get(audit, "stands")) &&
           !json_is_false(json_object_get(inversion, "stands"));
}

mfpg_status audit_record_read(mfpg_context *ctx, const char *folder, const run_record *run, json_t **out) {
    char *path = mfpg_path_join(folder, "audit.json");
    json_t *audit = NULL;
    *out = NULL;
    if (!path) return mfpg_fail_memory(ctx);
    int absent = access(path, F_OK) != 0;
    free(path);
    if (absent) return MFPG_OK;
    mfpg_status status = json_file_read(ctx, folder, "audit.json", LARGEST_AUDIT, &audit);
    if (status == MFPG_OK) status = check_audit(ctx, folder, run, audit);
    if (status == MFPG_OK)
        *out = audit;
    else
        json_decref(audit);
    return status;
}
