/* Run folders for the tests of reports: real ones, in a place that a program makes and removes. */
#ifndef MFPG_TESTS_EXPERIMENT_REPORT_H
#define MFPG_TESTS_EXPERIMENT_REPORT_H

#include "experiment/fixture.h"

#include <ftw.h>
#include <sys/stat.h>

#include "mfpg/experiment.h"
#include "mfpg/report.h"

static char place[64]; /* for everything that a program writes */

#define SMALL_RUN                                                                                            \
    "seed: 1\nname: small\nmethod: mfpg\ntrain: {rounds: 3}\nprivacy: {unit: example}\n"                     \
    "data: {format: synthetic, clients: 3, rows: 20, dimension: 2}\ngame: {actions: [0.5, 1, 2], "           \
    "curvature: 1}\n"

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)info, (void)kind, (void)at;
    return remove(path);
}

static inline int open_place(void **state) {
    /* in memory where that can be: pages are many small files, and every one is synced */
    strcpy(place, access("/dev/shm", W_OK) == 0 ? "/dev/shm/mfpg-report-XXXXXX" : "/tmp/mfpg-report-XXXXXX");
    return open_context(state) || !mkdtemp(place);
}

static inline int close_place(void **state) {
    nftw(place, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return close_context(state);
}

/* A path in the place; static storage, for four at once. */
static inline const char *in_place(const char *name) {
    static char path[4][512];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", place, name);
    return path[next];
}

/* Trains a configuration, with an argument where it is not NULL, into a folder of the place. */
static inline void train(const char *text, const char *argument, const char *name) {
    mfpg_config *config = load(text);
    mfpg_experiment *experiment = NULL;
    if (argument) set(config, argument);
    CHECK_OK(ctx, mfpg_experiment_create(ctx, config, &experiment));
    CHECK_OK(ctx, mfpg_experiment_run(ctx, experiment, &(mfpg_run_options){.folder = in_place(name)}));
    mfpg_experiment_destroy(experiment);
    mfpg_config_destroy(config);
}

/* The text of a file of the place; free it. */
static inline char *read_text(const char *name) {
    FILE *file = fopen(in_place(name), "r");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    rewind(file);
    char *text = calloc((size_t)size + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), (size_t)size);
    fclose(file);
    return text;
}

/* The file with the first `from` replaced by `to`. */
static inline void change(const char *name, const char *from, const char *to) {
    char *text = read_text(name), *at = strstr(text, from);
    if (!at) fail_msg("%s has no '%s'", name, from);
    FILE *file = fopen(in_place(name), "w");
    assert_non_null(file);
    fprintf(file, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    assert_int_equal(fclose(file), 0);
    free(text);
}

#endif
