/* Run folders for the tests of reports, and pages of them: real ones, in a place that a program makes and
 * removes. */
#ifndef MFPG_TESTS_REPORT_RUNS_H
#define MFPG_TESTS_REPORT_RUNS_H

#include "experiment/fixture.h"

#include <ftw.h>
#include <jansson.h>
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
    /* in memory if possible: pages are many small files, and every one is synced */
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

/* Trains a configuration, with an argument unless it is NULL, into a folder of the place. */
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

/* The text of report.html of runs; free it. */
static inline char *page_of(const char *const *runs, ptrdiff_t count) {
    char *path = NULL;
    CHECK_OK(ctx, mfpg_report_write(ctx, runs, count, in_place("page"), &path));
    assert_string_equal(path, in_place("page/report.html"));
    free(path);
    return read_text("page/report.html");
}

/* The same of a run in the place. */
static inline char *page_of_one(const char *name) {
    char folder[512];
    snprintf(folder, sizeof folder, "%s/%s", place, name);
    const char *run = folder;
    return page_of(&run, 1);
}

/* Cuts a page before its report.json, which is returned; json_decref it. What is left is what a reader
 * without scripts has. */
static inline json_t *cut_report(char *page) {
    static const char begin[] = "<script type=\"application/json\" id=\"report.json\">";
    char *json = strstr(page, begin), *end = json ? strstr(json, "</script>") : NULL;
    assert_true(json && end);
    *json = *end = 0;
    json += strlen(begin);
    if (strpbrk(json, "<>&")) fail_msg("report.json holds markup: %.60s", strpbrk(json, "<>&"));
    for (const char *at = json; *at; at++)
        assert_true((unsigned char)*at >= 0x20 && (unsigned char)*at <= 0x7f);
    json_t *report = json_loads(json, 0, NULL);
    assert_non_null(report);
    return report;
}

/* report.json of a run in the place. */
static inline json_t *report_of(const char *name) {
    char *page = page_of_one(name);
    json_t *report = cut_report(page);
    free(page);
    return report;
}

/* The value at a dotted path, of the first run of a report. */
static inline const json_t *of_run(const json_t *report, const char *path) {
    const json_t *value = json_array_get(json_object_get(report, "runs"), 0);
    for (char key[64]; value && *path; path += strcspn(path, "."), path += *path == '.') {
        snprintf(key, sizeof key, "%.*s", (int)strcspn(path, "."), path);
        value = json_object_get(value, key);
    }
    if (!value) fail_msg("the report has no such key of its first run: %s", path);
    return value;
}

static inline void expect_in(const char *page, const char *part) {
    if (!strstr(page, part)) fail_msg("the page has no '%s'", part);
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
