#include "ledger_summary.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

enum { MOST_BYTES = 1 << 30 }; /* of a summary; a million clients take less */

char *account_ledger_path(const char *named) {
    struct stat info;
    int folder = stat(named, &info) == 0 && S_ISDIR(info.st_mode);
    return folder ? mfpg_path_join(named, "ledger") : mfpg_text_copy(named, strlen(named));
}

static char *summary_path(const char *ledger) {
    const char *slash = strrchr(ledger, '/');
    char *folder = mfpg_text_copy(ledger, slash ? (size_t)(slash - ledger) + (slash == ledger) : 0);
    char *path = folder ? mfpg_path_join(folder, "summary.json") : NULL;
    free(folder);
    return path;
}

/* 1 if a summary says nothing of the ledger's end, or says it as a run does. */
static int names_end_of_ledger(const json_t *summary) {
    const json_t *ledger = json_object_get(summary, "ledger");
    return !ledger || json_is_null(ledger) ||
           (json_is_string(json_object_get(ledger, "chain")) &&
               json_is_integer(json_object_get(ledger, "lines")));
}

static mfpg_status read_summary(mfpg_context *ctx, const char *path, json_t **out) {
    char *text = NULL;
    size_t length = 0;
    json_error_t error = {.line = 0};
    mfpg_status status = mfpg_file_read(ctx, path, MOST_BYTES, &text, &length);
    if (status != MFPG_OK) return status;
    json_t *summary = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    free(text);
    if (!summary && (json_error_code(&error) == json_error_out_of_memory || !error.text[0]))
        return mfpg_fail_memory(ctx);
    if (json_is_object(summary) && names_end_of_ledger(summary)) {
        *out = summary;
        return MFPG_OK;
    }
    status = mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s:%d: %s; a broken summary confirms nothing: restore it, or remove it to read the ledger alone",
        path, error.line > 0 ? error.line : 1,
        !summary                  ? error.text
        : json_is_object(summary) ? "ledger: needs a text 'chain' and a whole number 'lines'"
                                  : "not a JSON object");
    json_decref(summary);
    return status;
}

mfpg_status account_read_beside(mfpg_context *ctx, const char *ledger, json_t **out) {
    struct stat info;
    char *path = summary_path(ledger);
    *out = NULL;
    if (!path) return mfpg_fail_memory(ctx);
    int missing = stat(path, &info) != 0; /* a folder that is closed keeps its ledger to itself as well */
    mfpg_status status = missing ? MFPG_OK : read_summary(ctx, path, out);
    free(path);
    return status;
}

const char *account_name_beside(const json_t *beside, int64_t client) {
    const json_t *clients = json_object_get(beside, "clients");
    if (json_is_object(clients)) /* of a large federation */
        return json_string_value(json_array_get(json_object_get(clients, "names"), (size_t)client));
    const json_t *row = json_array_get(clients, (size_t)client);
    const json_t *number = json_object_get(row, "client");
    if (!json_is_integer(number) || json_integer_value(number) != client) return NULL;
    return json_string_value(json_object_get(row, "name"));
}

mfpg_status account_check_end(
    mfpg_context *ctx, const char *path, const json_t *beside, const mfpg_ledger_end *end, int *confirmed) {
    const json_t *ledger = json_object_get(beside, "ledger"), *lines = json_object_get(ledger, "lines");
    const char *chain = json_string_value(json_object_get(ledger, "chain"));
    *confirmed = 0;
    if (!chain || !json_is_integer(lines)) return MFPG_OK;
    long long found = (long long)end->lines, recorded = (long long)json_integer_value(lines);
    if (found < recorded)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: ends after line %lld, but summary.json beside it counts %lld lines: releases are missing at "
            "the end",
            path, found, recorded);
    if (found > recorded)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: has %lld lines, but summary.json beside it counts %lld: it is not the ledger of that run, "
            "or lines were added",
            path, found, recorded);
    if (strcmp(chain, end->chain) != 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: its last chain value is %s, but summary.json beside it names another: the ledger or the "
            "summary was rewritten",
            path, end->chain);
    *confirmed = 1;
    return MFPG_OK;
}
