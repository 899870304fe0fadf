/* A run folder, read back and checked. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/memory.h"
#include "data/readers.h"
#include "experiment/config/settings.h"
#include "federation/run_folder.h"
#include "mechanisms/mechanism_ops.h"
#include "run_group.h"

static const size_t LARGEST_SUMMARY = (size_t)1 << 30, LARGEST_CONFIG = (size_t)1 << 20;

/* ---- CSV files ---- */

void run_table_clear(run_table *table) {
    mfpg_table_clear(&table->cells);
    free(table->number);
    *table = (run_table){0};
}

/* Returns the index of a cell among all cells; -1 if there is none. */
static ptrdiff_t find_cell(const run_table *table, const char *column, ptrdiff_t row) {
    ptrdiff_t c = mfpg_lookup_find(&table->cells.names, mfpg_slice_of(column));
    return c < 0 || row < 0 || row >= table->rows ? -1 : row * table->cells.columns + c;
}

const char *run_table_text(const run_table *table, const char *column, ptrdiff_t row) {
    ptrdiff_t cell = find_cell(table, column, row);
    return cell < 0 ? NULL : table->cells.text + table->cells.cells[cell].start;
}

double run_table_number(const run_table *table, const char *column, ptrdiff_t row) {
    ptrdiff_t cell = find_cell(table, column, row);
    return cell < 0 ? (double)NAN : table->number[cell];
}

static mfpg_status check_header(
    mfpg_context *ctx, const mfpg_table *table, const mfpg_fields *fields, int places) {
    for (const mfpg_record_field *f = fields->field; f < fields->field + fields->count; f++)
        if ((f->places & places) && !(f->places & MFPG_FIELD_OPTIONAL) &&
            mfpg_lookup_find(&table->names, mfpg_slice_of(f->name)) < 0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:1: there is no column '%s', which a %s has",
                table->path, f->name, fields->record);
    return MFPG_OK;
}

/* The reader of data files accepts what no run writes: other line ends, blank lines, comments, a byte order
 * mark. */
static mfpg_status check_as_written(mfpg_context *ctx, const mfpg_table *table) {
    for (int kind = 0; kind < MFPG_NOTES; kind++)
        if (table->notes.of[kind].count > 0)
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%u: %s", table->path, table->notes.of[kind].line,
                kind == MFPG_NOTE_NO_LAST_LINE_END ? "the line has no end: the file is cut short"
                                                   : "this is not what a run writes");
    return MFPG_OK;
}

static mfpg_status fail_cell(
    mfpg_context *ctx, const run_table *table, const char *column, ptrdiff_t row, const char *allowed) {
    char shown[MFPG_SHOWN_SIZE];
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%u: column %s: found %s; %s", table->cells.path,
        mfpg_table_line(&table->cells, row), column,
        mfpg_slice_show(mfpg_slice_of(run_table_text(table, column, row)), shown), allowed);
}

static mfpg_status take_numbers(mfpg_context *ctx, run_table *table, ptrdiff_t c) {
    const char *column = table->cells.names.keys[c];
    for (ptrdiff_t i = 0; i < table->rows; i++) {
        const char *text = run_table_text(table, column, i);
        double *value = &table->number[i * table->cells.columns + c];
        if (!*text || mfpg_table_number(&table->cells, i, c, value)) continue;
        if (strcmp(text, "inf") != 0)
            return fail_cell(ctx, table, column, i, "allowed: a number, inf, or nothing");
        *value = INFINITY;
    }
    return MFPG_OK;
}

static mfpg_status take_cells(mfpg_context *ctx, run_table *table, const mfpg_fields *fields, int places) {
    const mfpg_table *read = &table->cells;
    table->rows = read->rows;
    table->number = mfpg_alloc(read->rows * read->columns, sizeof *table->number);
    if (!table->number) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < read->rows * read->columns; i++) {
        /* a separator, a quote or a line end follows each cell and is no longer needed */
        read->text[read->cells[i].start + read->cells[i].length] = 0;
        table->number[i] = NAN;
    }
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t c = 0; c < read->columns && status == MFPG_OK; c++) {
        const mfpg_record_field *field = mfpg_fields_find(fields, places, read->names.keys[c]);
        if (field && mfpg_field_is_number(field)) status = take_numbers(ctx, table, c);
    }
    return status;
}

static mfpg_status check_count(
    mfpg_context *ctx, const run_table *table, const char *column, ptrdiff_t first) {
    char expected[64];
    for (ptrdiff_t i = 0; i < table->rows; i++) {
        if (run_table_number(table, column, i) == (double)(first + i)) continue;
        snprintf(expected, sizeof expected, "expected %td, one row after the other", first + i);
        return fail_cell(ctx, table, column, i, expected);
    }
    return MFPG_OK;
}

mfpg_status run_table_read(mfpg_context *ctx, const char *folder, const char *file, const mfpg_fields *fields,
    int places, ptrdiff_t first, run_table *out) {
    mfpg_data_options options = mfpg_data_options_default();
    options.separator = ',';
    run_table made = {0};
    char *path = mfpg_path_join(folder, file);
    mfpg_status status = path ? mfpg_csv_read(ctx, path, &options, 0, &made.cells) : mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = check_header(ctx, &made.cells, fields, places);
    if (status == MFPG_OK) status = check_as_written(ctx, &made.cells);
    if (status == MFPG_OK) status = take_cells(ctx, &made, fields, places);
    if (status == MFPG_OK) status = check_count(ctx, &made, fields->field[0].name, first);
    free(path);
    if (status == MFPG_OK)
        *out = made;
    else
        run_table_clear(&made);
    return status;
}

/* ---- the summary ---- */

const json_t *run_value(const json_t *object, const char *path) {
    while (object && *path) {
        char key[64];
        size_t length = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        object = json_object_get(object, key);
        path += length + (path[length] == '.');
    }
    return json_is_null(object) ? NULL : object;
}

const char *run_text(const json_t *object, const char *path) {
    return json_string_value(run_value(object, path));
}

double run_number(const json_t *object, const char *path) {
    return json_file_number(run_value(object, path));
}

static mfpg_status fail_summary(
    mfpg_context *ctx, const run_record *record, const char *path, const char *want) {
    return mfpg_fail(
        ctx, MFPG_ERR_INPUT, "%s/summary.json: %s: missing, or not %s", record->folder, path, want);
}

static mfpg_status check_texts(mfpg_context *ctx, const run_record *record, const char *path) {
    const json_t *list = run_value(record->summary, path), *text;
    size_t i;
    if (list && !json_is_array(list)) return fail_summary(ctx, record, path, "a list of texts");
    json_array_foreach(list, i, text) if (!json_is_string(text)) return fail_summary(
        ctx, record, path, "a list of texts");
    return MFPG_OK;
}

/* The list of clients may be missing, because clients.csv has them all. */
static mfpg_status check_clients(mfpg_context *ctx, const run_record *record) {
    const json_t *list = run_value(record->summary, "clients"), *client;
    size_t i;
    if (!json_is_array(list)) return MFPG_OK;
    json_array_foreach(
        list, i, client) if (!run_text(client, "name") || !run_text(client, "promise")) return mfpg_fail(ctx,
        MFPG_ERR_INPUT, "%s/summary.json: clients: entry %zu has no name or no promise, a text each",
        record->folder, i);
    if ((ptrdiff_t)json_array_size(list) == record->clients.rows) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: summary.json lists %zu clients and clients.csv %td: the files are not those of one run",
        record->folder, json_array_size(list), record->clients.rows);
}

static mfpg_status check_summary(mfpg_context *ctx, const run_record *record) {
    static const char *const texts[] = {
        "mfpg", "status", "method.name", "method.mechanism", "method.players"};
    const json_t *summary = record->summary, *promise = run_value(summary, "promise");
    char where[MFPG_MESSAGE_SIZE];
    mfpg_status status = MFPG_OK;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!run_text(summary, texts[i])) return fail_summary(ctx, record, texts[i], "a text");
    snprintf(where, sizeof where, "%s/summary.json: promise.", record->folder);
    if (promise) status = mfpg_fields_check(ctx, &mfpg_promise_fields, MFPG_FIELD_JSON, promise, where);
    if (status != MFPG_OK) return status;
    if (!promise && !run_promises_nothing(record)) return fail_summary(ctx, record, "promise", "an object");
    if (!json_is_integer(run_value(summary, "rounds")))
        return fail_summary(ctx, record, "rounds", "a whole number");
    if (run_number(summary, "rounds") != (double)record->rounds.rows)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: summary.json counts %g rounds and rounds.csv %td: the files are not those of one run",
            record->folder, run_number(summary, "rounds"), record->rounds.rows);
    status = check_clients(ctx, record);
    if (status == MFPG_OK) status = check_texts(ctx, record, "assumptions");
    return status == MFPG_OK ? check_texts(ctx, record, "game.warnings") : status;
}

/* ---- the folder ---- */

static mfpg_status check_folder(mfpg_context *ctx, const char *folder) {
    char *summary = mfpg_path_join(folder, "summary.json"),
         *checkpoint = mfpg_path_join(folder, MFPG_CHECKPOINT);
    mfpg_status status = MFPG_OK;
    if (!summary || !checkpoint)
        status = mfpg_fail_memory(ctx);
    else if (access(folder, X_OK) != 0)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %s", folder, strerror(errno));
    else if (access(summary, F_OK) != 0 && access(checkpoint, F_OK) == 0)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: the run has not ended, there is no summary.json yet; mfpg run --resume %s goes on with it",
            folder, folder);
    else if (access(summary, F_OK) != 0)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: not a run folder: there is no summary.json, and no folder seed-N of a sweep", folder);
    free(summary);
    free(checkpoint);
    return status;
}

static mfpg_status read_config(mfpg_context *ctx, run_record *record) {
    const char *run = run_text(record->summary, "method.name"), *configured;
    size_t length = 0;
    char *path = mfpg_path_join(record->folder, "config.yaml");
    mfpg_status status = path ? mfpg_file_read(ctx, path, LARGEST_CONFIG, &record->config_text, &length)
                              : mfpg_fail_memory(ctx);
    if (status == MFPG_OK)
        status =
            mfpg_config_load_text(ctx, record->config_text, length, path, record->folder, &record->config);
    free(path);
    if (status != MFPG_OK) return status;
    configured = record->config->method.name;
    if (configured && strcmp(configured, run) == 0) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: summary.json is of method %.60s and config.yaml of %s: the files are not those of one run",
        record->folder, run, configured ? configured : "none");
}

mfpg_status run_record_read(mfpg_context *ctx, const char *folder, run_record *out) {
    mfpg_status status = check_folder(ctx, folder);
    out->folder = mfpg_text_copy(folder, strlen(folder));
    if (status == MFPG_OK && !out->folder) status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK)
        status =
            run_table_read(ctx, folder, "rounds.csv", &mfpg_round_fields, MFPG_ROUND_CSV, 1, &out->rounds);
    if (status == MFPG_OK)
        status = run_table_read(
            ctx, folder, "clients.csv", &mfpg_client_fields, MFPG_CLIENT_CSV, 0, &out->clients);
    if (status == MFPG_OK)
        status = json_file_read(ctx, folder, "summary.json", LARGEST_SUMMARY, &out->summary);
    if (status == MFPG_OK) status = check_summary(ctx, out);
    return status == MFPG_OK ? read_config(ctx, out) : status;
}

void run_record_clear(run_record *record) {
    free(record->folder);
    free(record->config_text);
    run_table_clear(&record->rounds);
    run_table_clear(&record->clients);
    json_decref(record->summary);
    mfpg_config_destroy(record->config);
    *record = (run_record){0};
}

/* ---- clients ---- */

const json_t *run_client(const run_record *record, ptrdiff_t client) {
    return json_array_get(run_value(record->summary, "clients"), (size_t)client);
}

const char *run_client_name(const run_record *record, ptrdiff_t client, char buffer[32]) {
    const char *name = run_text(run_client(record, client), "name");
    if (!name) /* a large federation is not listed */
        name = json_string_value(json_array_get(run_value(record->summary, "clients.names"), (size_t)client));
    if (!name) name = run_table_text(&record->clients, "name", client);
    if (name && *name) return name;
    snprintf(buffer, 32, "%td", client);
    return buffer;
}

ptrdiff_t run_client_extreme(const run_record *record, int largest) {
    ptrdiff_t found = -1;
    double best = NAN;
    for (ptrdiff_t k = 0; k < record->clients.rows; k++) {
        double here = run_table_number(&record->clients, "epsilon", k);
        if (found >= 0 && !(largest ? here > best : here < best)) continue;
        found = k;
        best = here;
    }
    return found;
}

int run_promises_nothing(const run_record *record) {
    const char *mechanism = run_text(record->summary, "method.mechanism");
    return mechanism && mfpg_mechanism_kind_of(mechanism).control == MFPG_CONTROL_NONE;
}
