#include "beside.h"

#include <stdio.h>
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

mfpg_status account_read_beside(mfpg_context *ctx, const char *ledger, json_t **out) {
    struct stat info;
    json_error_t error = {0};
    char *path = summary_path(ledger);
    *out = NULL;
    if (!path) return mfpg_fail_memory(ctx);
    int readable = stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= MOST_BYTES;
    FILE *file = readable ? fopen(path, "r") : NULL;
    free(path);
    if (!file) return MFPG_OK;
    *out = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);
    int full = !*out && (json_error_code(&error) == json_error_out_of_memory || !error.text[0]);
    return full ? mfpg_fail_memory(ctx) : MFPG_OK;
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
            "the "
            "end",
            path, found, recorded);
    if (found > recorded)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: has %lld lines, but summary.json beside it counts %lld: it is not the ledger of that run, "
            "or "
            "lines were added",
            path, found, recorded);
    if (strcmp(chain, end->chain) != 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: its last chain value is %s, but summary.json beside it names another: the ledger or the "
            "summary "
            "was rewritten",
            path, end->chain);
    *confirmed = 1;
    return MFPG_OK;
}
