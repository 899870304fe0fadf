#include "run_group.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit_record.h"
#include "experiment/config/settings.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

enum { MOST_SEEDS = 4096 };

void run_set_clear(run_set *set) {
    for (ptrdiff_t i = 0; i < set->count; i++) run_record_clear(&set->run[i]);
    free(set->run);
    free(set->label);
    json_decref(set->audit);
    *set = (run_set){0};
}

/* ---- the folders of a sweep ---- */

/* The N of "seed-N", or -1. */
static int64_t seed_of(const char *name) {
    const char *digits = name + 5;
    if (strncmp(name, "seed-", 5) != 0 || !*digits || digits[strspn(digits, "0123456789")]) return -1;
    return strlen(digits) <= 16 ? strtoll(digits, NULL, 10) : -1;
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The seeds with a folder, ascending (free them); none where the folder cannot be read as one. */
static mfpg_status find_seeds(mfpg_context *ctx, const char *folder, int64_t **seeds, ptrdiff_t *count) {
    DIR *directory = opendir(folder);
    *count = 0;
    *seeds = mfpg_alloc(MOST_SEEDS, sizeof **seeds);
    mfpg_status status = *seeds ? MFPG_OK : mfpg_fail_memory(ctx);
    for (struct dirent *item; status == MFPG_OK && directory && (item = readdir(directory));) {
        int64_t seed = seed_of(item->d_name);
        if (seed < 0) continue;
        if (*count == MOST_SEEDS)
            status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: more than %d seeds", folder, (int)MOST_SEEDS);
        else
            (*seeds)[(*count)++] = seed;
    }
    if (directory) closedir(directory);
    if (*count > 0) qsort(*seeds, (size_t)*count, sizeof **seeds, by_number);
    return status;
}

/* What runs of one sweep have in common; values that are filled in may follow from data that are drawn anew. */
static mfpg_status check_alike(mfpg_context *ctx, const run_record *first, const run_record *other) {
    static const char *const keys[] = {"method", "task.model", "data.format", "privacy.unit",
        "privacy.adjacency", "privacy.view", "privacy.delta", "train.rounds"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        ptrdiff_t key = mfpg_config_key_find(keys[i]);
        char *own = mfpg_config_value(first->config, key), *theirs = mfpg_config_value(other->config, key);
        mfpg_status status = own && theirs ? MFPG_OK : mfpg_fail_memory(ctx);
        if (status == MFPG_OK && strcmp(own, theirs) != 0)
            status = mfpg_fail(ctx, MFPG_ERR_INPUT,
                "%s: %.100s in %s, %.100s in %s; runs of a sweep differ in the seed alone", keys[i], own,
                first->folder, theirs, other->folder);
        free(own);
        free(theirs);
        if (status != MFPG_OK) return status;
    }
    if (first->clients.rows == other->clients.rows) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%td clients in %s, %td in %s; runs of a sweep differ in the seed alone", first->clients.rows,
        first->folder, other->clients.rows, other->folder);
}

static mfpg_status read_sweep(
    mfpg_context *ctx, const char *folder, const int64_t *seeds, ptrdiff_t count, run_set *set) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK; i++) {
        char name[32];
        snprintf(name, sizeof name, "seed-%lld", (long long)seeds[i]);
        char *path = mfpg_path_join(folder, name);
        status = path ? run_record_read(ctx, path, &set->run[i]) : mfpg_fail_memory(ctx);
        free(path);
        if (status == MFPG_OK) set->count++;
        if (status == MFPG_OK && i > 0) status = check_alike(ctx, &set->run[0], &set->run[i]);
    }
    return status;
}

static mfpg_status read_audit(mfpg_context *ctx, const char *folder, run_set *set) {
    const run_record *first = &set->run[0];
    mfpg_status status = audit_record_read(ctx, folder, first, &set->audit);
    if (status != MFPG_OK || set->audit || !set->sweep) return status;
    return audit_record_read(ctx, first->folder, first, &set->audit);
}

mfpg_status run_set_read(mfpg_context *ctx, const char *folder, run_set *out) {
    run_set made = {0};
    int64_t *seeds = NULL;
    ptrdiff_t count = 0;
    struct stat info;
    if (stat(folder, &info) != 0) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %s", folder, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: a file; expected a run folder", folder);
    char *summary = mfpg_path_join(folder, "summary.json");
    if (!summary) return mfpg_fail_memory(ctx);
    int is_run = access(summary, F_OK) == 0;
    free(summary);
    mfpg_status status = is_run ? MFPG_OK : find_seeds(ctx, folder, &seeds, &count);
    made.sweep = count > 0;
    made.run = mfpg_alloc(made.sweep ? count : 1, sizeof *made.run);
    if (status == MFPG_OK && !made.run) status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK && made.sweep) status = read_sweep(ctx, folder, seeds, count, &made);
    if (status == MFPG_OK && !made.sweep) status = run_record_read(ctx, folder, &made.run[0]);
    if (status == MFPG_OK && !made.sweep) made.count = 1;
    if (status == MFPG_OK) status = read_audit(ctx, folder, &made);
    free(seeds);
    if (status == MFPG_OK)
        *out = made;
    else
        run_set_clear(&made);
    return status;
}

/* ---- over the runs ---- */

ptrdiff_t run_set_rounds(const run_set *set) {
    ptrdiff_t most = 0;
    for (ptrdiff_t i = 0; i < set->count; i++)
        if (set->run[i].rounds.rows > most) most = set->run[i].rounds.rows;
    return most;
}

run_band run_set_band(const run_set *set, const char *column, ptrdiff_t round) {
    run_band band = {.mean = NAN};
    double sum = 0.0, low = NAN, high = NAN;
    for (ptrdiff_t i = 0; i < set->count; i++) {
        double value =
            round < set->run[i].rounds.rows ? run_round_number(&set->run[i], column, round) : (double)NAN;
        if (isnan(value)) continue;
        if (!(value >= low)) low = value, band.lowest = i;
        if (!(value <= high)) high = value, band.highest = i;
        sum += value;
        band.runs++;
    }
    if (band.runs > 0) band.mean = sum / (double)band.runs;
    return band;
}

int run_set_has(const run_set *set, const char *column) {
    for (ptrdiff_t i = 0; i < set->count; i++)
        if (run_has_column(&set->run[i], column)) return 1;
    return 0;
}

int run_set_agrees(const run_set *set, const char *column) {
    for (ptrdiff_t i = 1; i < set->count; i++)
        for (ptrdiff_t k = 0; k < set->run[0].clients.rows; k++)
            if (strcmp(run_client_text(&set->run[0], column, k), run_client_text(&set->run[i], column, k)) !=
                0)
                return 0;
    return 1;
}

const char *run_set_attacked(const run_set *set) {
    if (!set->audit) return "none made";
    return audit_record_stands(set->audit) ? "stands" : "BROKEN";
}

/* ---- labels ---- */

/* Without the slashes at its end. */
static size_t folder_length(const char *folder) {
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/') length--;
    return length;
}

/* Of a sweep the folder that the seeds' folders stand in. */
static size_t set_length(const run_set *set) {
    size_t length = folder_length(set->run[0].folder);
    if (set->sweep)
        while (length > 1 && set->run[0].folder[length - 1] != '/') length--;
    while (length > 1 && set->run[0].folder[length - 1] == '/') length--;
    return length;
}

static size_t last_part(const run_set *set, const char **start) {
    size_t length = set_length(set), begin = length;
    const char *folder = set->run[0].folder;
    while (begin > 0 && folder[begin - 1] != '/') begin--;
    *start = folder + begin;
    return length - begin;
}

static int ends_alike(const run_set *a, const run_set *b) {
    const char *end_a, *end_b;
    size_t length_a = last_part(a, &end_a), length_b = last_part(b, &end_b);
    return length_a == length_b && strncmp(end_a, end_b, length_a) == 0;
}

mfpg_status run_sets_label(mfpg_context *ctx, run_set *sets, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; i++) {
        const char *start;
        size_t length = last_part(&sets[i], &start);
        int alone = length > 0 && !(length <= 2 && start[0] == '.');
        for (ptrdiff_t j = 0; j < count && alone; j++) alone = j == i || !ends_alike(&sets[i], &sets[j]);
        free(sets[i].label);
        sets[i].label = alone ? mfpg_text_copy(start, length)
                              : mfpg_text_copy(sets[i].run[0].folder, set_length(&sets[i]));
        if (!sets[i].label) return mfpg_fail_memory(ctx);
    }
    return MFPG_OK;
}
