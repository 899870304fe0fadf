#include "ledger_summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 1 << 30 }; /* of a summary; a million clients take less */

static char *joined(const char *folder, size_t length, const char *name) {
    size_t size = length + strlen(name) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%.*s/%s", (int)length, folder, name);
    return path;
}

char *ledger_path(const char *named) {
    struct stat info;
    size_t length = strlen(named);
    if (stat(named, &info) != 0 || !S_ISDIR(info.st_mode)) return strdup(named);
    while (length > 1 && named[length - 1] == '/') length--;
    return joined(named, length, "ledger");
}

static FILE *open_summary(const char *ledger) {
    const char *slash = strrchr(ledger, '/');
    char *path = slash ? joined(ledger, (size_t)(slash - ledger), "summary.json") : strdup("summary.json");
    struct stat info;
    FILE *file = path && stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= MOST_BYTES
                     ? fopen(path, "r")
                     : NULL;
    free(path);
    return file;
}

ledger_summary ledger_summary_read(const char *path) {
    ledger_summary beside = {0};
    FILE *file = open_summary(path);
    if (!file) return beside;
    beside.summary = json_loadf(file, JSON_REJECT_DUPLICATES, NULL);
    fclose(file);
    return beside;
}

void ledger_summary_clear(ledger_summary *beside) {
    json_decref(beside->summary);
    beside->summary = NULL;
}

const char *ledger_summary_name(const ledger_summary *beside, int64_t client) {
    const json_t *clients = json_object_get(beside->summary, "clients");
    if (json_is_object(clients)) /* of a large federation */
        return json_string_value(json_array_get(json_object_get(clients, "names"), (size_t)client));
    const json_t *row = json_array_get(clients, (size_t)client);
    const json_t *number = json_object_get(row, "client");
    if (!json_is_integer(number) || json_integer_value(number) != client) return NULL;
    return json_string_value(json_object_get(row, "name"));
}

ledger_verdict ledger_summary_compare(
    const ledger_summary *beside, const mfpg_ledger_end *end, int64_t *recorded) {
    const json_t *ledger = json_object_get(beside->summary, "ledger");
    const char *chain = json_string_value(json_object_get(ledger, "chain"));
    const json_t *lines = json_object_get(ledger, "lines");
    *recorded = 0;
    if (!chain || !json_is_integer(lines)) return LEDGER_ALONE;
    *recorded = json_integer_value(lines);
    if (end->lines < *recorded) return LEDGER_SHORTER;
    if (end->lines > *recorded) return LEDGER_LONGER;
    return strcmp(chain, end->chain) == 0 ? LEDGER_AGREES : LEDGER_REWRITTEN;
}
