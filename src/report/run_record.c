#include "run_record.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/config/settings.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/memory.h"
#include "federation/run_folder.h"
#include "base/json_file.h"

static const size_t LARGEST_SUMMARY = (size_t)1 << 30, LARGEST_CONFIG = (size_t)1 << 20;

void run_record_clear(run_record *record) {
    free(record->folder);
    free(record->config_text);
    run_table_clear(&record->rounds);
    run_table_clear(&record->clients);
    json_decref(record->summary);
    mfpg_config_destroy(record->config);
    *record = (run_record){0};
}

/* ---- the summary ---- */

const json_t *run_value(const run_record *record, const char *path) {
    const json_t *at = record->summary;
    while (at && *path) {
        char key[64];
        size_t length = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        at = json_object_get(at, key);
        path += length + (path[length] == '.');
    }
    return json_is_null(at) ? NULL : at;
}

const char *run_text(const run_record *record, const char *path) {
    return json_string_value(run_value(record, path));
}

double run_number(const run_record *record, const char *path) {
    return json_file_number(run_value(record, path));
}

int run_truth(const run_record *record, const char *path) {
    return json_is_true(run_value(record, path));
}

static mfpg_status fail_summary(
    mfpg_context *ctx, const run_record *record, const char *path, const char *want) {
    return mfpg_fail(
        ctx, MFPG_ERR_INPUT, "%s/summary.json: %s: missing, or not %s", record->folder, path, want);
}

static mfpg_status check_texts(mfpg_context *ctx, const run_record *record, const char *path) {
    const json_t *list = run_value(record, path);
    if (!list) return MFPG_OK;
    if (!json_is_array(list)) return fail_summary(ctx, record, path, "a list of texts");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!json_is_string(json_array_get(list, i)))
            return fail_summary(ctx, record, path, "a list of texts");
    return MFPG_OK;
}

/* The list of clients may be missing: clients.csv has them all. */
static mfpg_status check_clients(mfpg_context *ctx, const run_record *record) {
    const json_t *list = run_value(record, "clients");
    if (!json_is_array(list)) return MFPG_OK;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *client = json_array_get(list, i);
        if (json_is_string(json_object_get(client, "name")) &&
            json_is_string(json_object_get(client, "promise")))
            continue;
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s/summary.json: clients: entry %zu has no name or no promise, a text each", record->folder, i);
    }
    if ((ptrdiff_t)json_array_size(list) == record->clients.rows) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: summary.json lists %zu clients and clients.csv %td: the files are not those of one run",
        record->folder, json_array_size(list), record->clients.rows);
}

static mfpg_status check_summary(mfpg_context *ctx, const run_record *record) {
    static const char *const texts[] = {
        "mfpg", "status", "method.name", "method.mechanism", "method.players"};
    char where[MFPG_MESSAGE_SIZE];
    mfpg_status status = MFPG_OK;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!run_text(record, texts[i])) return fail_summary(ctx, record, texts[i], "a text");
    snprintf(where, sizeof where, "%s/summary.json: promise.", record->folder);
    if (run_value(record, "promise"))
        status = mfpg_fields_check(
            ctx, &mfpg_promise_fields, MFPG_FIELD_JSON, run_value(record, "promise"), where);
    if (status != MFPG_OK) return status;
    if (!run_value(record, "promise") && !run_promises_nothing(record))
        return fail_summary(ctx, record, "promise", "an object");
    if (!json_is_integer(run_value(record, "rounds")))
        return fail_summary(ctx, record, "rounds", "a whole number");
    if (run_number(record, "rounds") != (double)record->rounds.rows)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: summary.json counts %g rounds and rounds.csv %td: the files are not those of one run",
            record->folder, run_number(record, "rounds"), record->rounds.rows);
    status = check_clients(ctx, record);
    if (status == MFPG_OK) status = check_texts(ctx, record, "assumptions");
    return status == MFPG_OK ? check_texts(ctx, record, "game.warnings") : status;
}

/* ---- the folder ---- */

static mfpg_status check_folder(mfpg_context *ctx, const char *folder) {
    char *summary = mfpg_path_join(folder, "summary.json"),
         *checkpoint = mfpg_path_join(folder, MFPG_CHECKPOINT);
    mfpg_status status = summary && checkpoint ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status == MFPG_OK && access(folder, X_OK) != 0)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %s", folder, strerror(errno));
    if (status == MFPG_OK && access(summary, F_OK) != 0)
        status =
            access(checkpoint, F_OK) == 0
                ? mfpg_fail(ctx, MFPG_ERR_INPUT,
                      "%s: the run has not ended, there is no summary.json yet; mfpg run --resume %s goes on "
                      "with it",
                      folder, folder)
                : mfpg_fail(ctx, MFPG_ERR_INPUT,
                      "%s: no run folder: there is no summary.json, and no folder seed-N of a sweep", folder);
    free(summary);
    free(checkpoint);
    return status;
}

static mfpg_status read_config(mfpg_context *ctx, run_record *record) {
    size_t length = 0;
    char *path = mfpg_path_join(record->folder, "config.yaml");
    mfpg_status status = path ? mfpg_file_read(ctx, path, LARGEST_CONFIG, &record->config_text, &length)
                              : mfpg_fail_memory(ctx);
    if (status == MFPG_OK)
        status =
            mfpg_config_load_text(ctx, record->config_text, length, path, record->folder, &record->config);
    free(path);
    return status;
}

static mfpg_status check_config(mfpg_context *ctx, const run_record *record) {
    const char *configured = record->config->method.name, *run = run_text(record, "method.name");
    if (configured && strcmp(configured, run) == 0) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: summary.json is of method %.60s and config.yaml of %s: the files are not those of one run",
        record->folder, run, configured ? configured : "none");
}

mfpg_status run_record_read(mfpg_context *ctx, const char *folder, run_record *out) {
    run_record made = {.folder = mfpg_text_copy(folder, strlen(folder))};
    mfpg_status status = made.folder ? check_folder(ctx, folder) : mfpg_fail_memory(ctx);
    if (status == MFPG_OK)
        status = run_table_read(ctx, folder, "rounds.csv", &mfpg_round_fields, MFPG_ROUND_CSV, &made.rounds);
    if (status == MFPG_OK) status = run_table_check_count(ctx, &made.rounds, "round", 1);
    if (status == MFPG_OK)
        status =
            run_table_read(ctx, folder, "clients.csv", &mfpg_client_fields, MFPG_CLIENT_CSV, &made.clients);
    if (status == MFPG_OK) status = run_table_check_count(ctx, &made.clients, "client", 0);
    if (status == MFPG_OK)
        status = json_file_read(ctx, folder, "summary.json", LARGEST_SUMMARY, &made.summary);
    if (status == MFPG_OK) status = check_summary(ctx, &made);
    if (status == MFPG_OK) status = read_config(ctx, &made);
    if (status == MFPG_OK) status = check_config(ctx, &made);
    if (status == MFPG_OK)
        *out = made;
    else
        run_record_clear(&made);
    return status;
}

/* ---- rounds ---- */

const char *run_round_text(const run_record *record, const char *column, ptrdiff_t round) {
    return run_table_text(&record->rounds, round, run_table_column(&record->rounds, column));
}

double run_round_number(const run_record *record, const char *column, ptrdiff_t round) {
    return run_table_number(&record->rounds, round, run_table_column(&record->rounds, column));
}

int run_has_column(const run_record *record, const char *column) {
    for (ptrdiff_t i = 0; i < record->rounds.rows; i++)
        if (!isnan(run_round_number(record, column, i))) return 1;
    return 0;
}

/* ---- clients ---- */

const json_t *run_client(const run_record *record, ptrdiff_t client) {
    return json_array_get(run_value(record, "clients"), (size_t)client);
}

const char *run_client_name(const run_record *record, ptrdiff_t client, char buffer[32]) {
    const char *name = json_string_value(json_object_get(run_client(record, client), "name"));
    ptrdiff_t column = run_table_column(&record->clients, "name");
    if (!name) /* a large federation is not listed */
        name = json_string_value(json_array_get(run_value(record, "clients.names"), (size_t)client));
    if (!name && column >= 0) name = run_table_text(&record->clients, client, column);
    if (name && *name) return name;
    snprintf(buffer, 32, "%td", client);
    return buffer;
}

const char *run_client_text(const run_record *record, const char *column, ptrdiff_t client) {
    return run_table_text(&record->clients, client, run_table_column(&record->clients, column));
}

double run_client_number(const run_record *record, const char *column, ptrdiff_t client) {
    return run_table_number(&record->clients, client, run_table_column(&record->clients, column));
}

ptrdiff_t run_client_extreme(const run_record *record, const char *column, int largest) {
    ptrdiff_t found = -1, c = run_table_column(&record->clients, column);
    for (ptrdiff_t k = 0; k < record->clients.rows; k++) {
        double here = run_table_number(&record->clients, k, c);
        double best = found < 0 ? (double)NAN : run_table_number(&record->clients, found, c);
        if (found < 0 || (largest ? here > best : here < best)) found = k;
    }
    return found;
}

int run_promises_nothing(const run_record *record) {
    const char *mechanism = run_text(record, "method.mechanism");
    return mechanism && mfpg_mechanism_kind_of(mechanism).control == MFPG_CONTROL_NONE;
}
