/* Finds runs and sweeps by the names of their folders. */
#include "run_group.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "experiment/config/settings.h"

enum { MOST_SEEDS = 4096 };

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

/* Returns the seeds that have a folder, ascending (free them); none if the folder is not that of a sweep. */
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

/* Runs of one sweep agree in all other keys; resolved values may differ because they can depend on data that
 * each seed draws. */
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
    mfpg_context *ctx, const char *folder, const int64_t *seeds, ptrdiff_t count, run_group *group) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK; i++) {
        char name[32];
        snprintf(name, sizeof name, "seed-%lld", (long long)seeds[i]);
        char *path = mfpg_path_join(folder, name);
        group->run[group->count++] = (run_record){0};
        status = path ? run_record_read(ctx, path, &group->run[i]) : mfpg_fail_memory(ctx);
        free(path);
        if (status == MFPG_OK && i > 0) status = check_alike(ctx, &group->run[0], &group->run[i]);
    }
    return status;
}

static mfpg_status read_runs(mfpg_context *ctx, const char *folder, run_group *group) {
    int64_t *seeds = NULL;
    ptrdiff_t count = 0;
    char *summary = mfpg_path_join(folder, "summary.json");
    mfpg_status status = summary ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status == MFPG_OK && access(summary, F_OK) != 0) status = find_seeds(ctx, folder, &seeds, &count);
    group->sweep = count > 0;
    group->run = mfpg_alloc(group->sweep ? count : 1, sizeof *group->run);
    if (status == MFPG_OK && !group->run) status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK && group->sweep) {
        status = read_sweep(ctx, folder, seeds, count, group);
    } else if (status == MFPG_OK) {
        group->run[group->count++] = (run_record){0};
        status = run_record_read(ctx, folder, &group->run[0]);
    }
    free(seeds);
    free(summary);
    return status;
}

static mfpg_status read_group(mfpg_context *ctx, const char *folder, run_group *group) {
    struct stat info;
    if (stat(folder, &info) != 0) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %s", folder, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: a file; expected a run folder", folder);
    mfpg_status status = read_runs(ctx, folder, group);
    if (status == MFPG_OK) status = audit_read(ctx, folder, &group->run[0], &group->audit);
    if (status == MFPG_OK && !group->audit && group->sweep)
        status = audit_read(ctx, group->run[0].folder, &group->run[0], &group->audit);
    return status;
}

/* ---- labels ---- */

/* The last part of the group's folder, which is the one that holds the seeds of a sweep, without slashes.
 * Returns its length; *end: that of the whole folder. */
static size_t last_part(const run_group *group, const char **start, size_t *end) {
    const char *folder = group->run[0].folder;
    size_t length = strlen(folder);
    for (int up = group->sweep; up >= 0; up--) {
        while (length > 1 && folder[length - 1] == '/') length--;
        while (up > 0 && length > 1 && folder[length - 1] != '/') length--;
    }
    size_t begin = length;
    while (begin > 0 && folder[begin - 1] != '/') begin--;
    *start = folder + begin;
    *end = length;
    return length - begin;
}

static int end_alike(const run_group *a, const run_group *b) {
    const char *end_a, *end_b;
    size_t whole, length_a = last_part(a, &end_a, &whole), length_b = last_part(b, &end_b, &whole);
    return length_a == length_b && strncmp(end_a, end_b, length_a) == 0;
}

static mfpg_status label_groups(mfpg_context *ctx, run_group *groups, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; i++) {
        const char *start;
        size_t whole, length = last_part(&groups[i], &start, &whole);
        int own = length > 0 && !(length <= 2 && start[0] == '.');
        for (ptrdiff_t j = 0; j < count && own; j++) own = j == i || !end_alike(&groups[i], &groups[j]);
        groups[i].label =
            own ? mfpg_text_copy(start, length) : mfpg_text_copy(groups[i].run[0].folder, whole);
        if (!groups[i].label) return mfpg_fail_memory(ctx);
    }
    return MFPG_OK;
}

mfpg_status run_groups_read(
    mfpg_context *ctx, const char *const *folders, ptrdiff_t count, run_group *groups) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK; i++)
        status = read_group(ctx, folders[i], &groups[i]);
    return status == MFPG_OK ? label_groups(ctx, groups, count) : status;
}

void run_groups_clear(run_group *groups, ptrdiff_t count) {
    for (run_group *group = groups; group < groups + count; group++) {
        for (ptrdiff_t i = 0; i < group->count; i++) run_record_clear(&group->run[i]);
        free(group->run);
        free(group->label);
        json_decref(group->audit);
        *group = (run_group){0};
    }
}

/* ---- over the runs ---- */

ptrdiff_t run_group_rounds(const run_group *group) {
    ptrdiff_t most = 0;
    for (ptrdiff_t i = 0; i < group->count; i++)
        if (group->run[i].rounds.rows > most) most = group->run[i].rounds.rows;
    return most;
}

run_band run_group_band(const run_group *group, const char *column, ptrdiff_t round) {
    run_band band = {.mean = NAN};
    double sum = 0.0, low = NAN, high = NAN;
    for (ptrdiff_t i = 0; i < group->count; i++) {
        double value = run_table_number(&group->run[i].rounds, column, round);
        if (isnan(value)) continue;
        if (!(value >= low)) low = value, band.lowest = i;
        if (!(value <= high)) high = value, band.highest = i;
        sum += value;
        band.runs++;
    }
    if (band.runs > 0) band.mean = sum / (double)band.runs;
    return band;
}

ptrdiff_t run_group_last(const run_group *group, const char *column) {
    ptrdiff_t round = run_group_rounds(group) - 1;
    while (round >= 0 && run_group_band(group, column, round).runs == 0) round--;
    return round;
}

int run_group_agrees(const run_group *group, const char *column) {
    for (ptrdiff_t i = 1; i < group->count; i++)
        for (ptrdiff_t k = 0; k < group->run[0].clients.rows; k++)
            if (strcmp(run_table_text(&group->run[0].clients, column, k),
                    run_table_text(&group->run[i].clients, column, k)) != 0)
                return 0;
    return 1;
}
