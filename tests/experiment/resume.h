/* Runs in processes of their own, which can be killed, and what they leave. */
#ifndef MFPG_TESTS_EXPERIMENT_RESUME_H
#define MFPG_TESTS_EXPERIMENT_RESUME_H

#include "fixture.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "mfpg/experiment.h"

static char base[64]; /* everything that a program writes stands below it */

/* Memory where there is some: a disk is not what is tested. */
static inline void open_base(void) {
    strcpy(base, access("/dev/shm", W_OK) == 0 ? "/dev/shm/mfpg-test-XXXXXX" : "/tmp/mfpg-test-XXXXXX");
    assert_non_null(mkdtemp(base));
}

static inline const char *below(const char *folder, const char *name) {
    static char path[4][640];
    static int next;
    char *out = path[next++ % 4];
    snprintf(out, sizeof path[0], "%.63s/%.255s%s%.255s", base, folder, name[0] ? "/" : "", name);
    return out;
}

static inline int exists(const char *folder, const char *name) {
    return access(below(folder, name), F_OK) == 0;
}

static inline void remove_run(const char *folder) {
    struct dirent *item;
    DIR *directory = opendir(below(folder, ""));
    if (!directory) return;
    while ((item = readdir(directory)))
        if (item->d_name[0] != '.') remove(below(folder, item->d_name));
    closedir(directory);
    assert_int_equal(rmdir(below(folder, "")), 0);
}

static inline void close_base(void) {
    rmdir(base); /* fails where a test left something behind */
}

/* The bytes of a file (free them) and their number; NULL where there is none. */
static inline char *bytes_of(const char *folder, const char *name, size_t *size) {
    FILE *file = fopen(below(folder, name), "rb");
    if (!file) return NULL;
    char *bytes = malloc(1 << 22);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 22, file);
    fclose(file);
    return bytes;
}

static inline void put_bytes(const char *folder, const char *name, const char *bytes, size_t size) {
    FILE *file = fopen(below(folder, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Every file of a complete run but timings.csv is the same in both folders, and there is no other. */
static inline void check_same_run(const char *one, const char *other, const char *what) {
    static const char *const names[] = {"ledger", "config.yaml", "rounds.csv", "clients.csv", "model.npy",
        "summary.json", "free_energy.csv", "transport.csv"};
    int files = 0, expected_files = 1; /* timings.csv */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t size = 0, expected = 0;
        if (i >= 6 && !exists(other, names[i])) continue; /* not of every mechanism */
        expected_files++;
        char *a = bytes_of(one, names[i], &size), *b = bytes_of(other, names[i], &expected);
        if (!a || !b || size != expected || memcmp(a, b, size) != 0)
            fail_msg("%s: %s differs, in %s", what, names[i], base);
        free(a);
        free(b);
    }
    DIR *directory = opendir(below(one, ""));
    assert_non_null(directory);
    for (struct dirent *item; (item = readdir(directory));) files += item->d_name[0] != '.';
    closedir(directory);
    if (files != expected_files) fail_msg("%s: %d files in %s/%s", what, files, base, one);
}

/* ---- a run in a process of its own ---- */

typedef struct run_plan {
    const char *text; /* of the configuration */
    const char *folder;
    int resume, threads;
    int64_t exit_after; /* the process is gone at once after this round; 0: never */
    int64_t stop_after; /* a signal comes in this round; 0: never */
} run_plan;

static volatile int stop_requested;

static void watch_round(void *user, const mfpg_round_report *report, int64_t rounds) {
    const run_plan *plan = user;
    (void)rounds;
    if (report->round == plan->exit_after) _exit(77);
    if (report->round == plan->stop_after) stop_requested = 1;
}

/* Its status; the message is printed where it fails by anything but a stop. Leaves the context's message. */
static inline mfpg_status run_here(mfpg_context *own, const run_plan *plan) {
    mfpg_config *config = NULL;
    mfpg_experiment *experiment = NULL;
    const char *path = below(plan->folder, "");
    stop_requested = 0;
    mfpg_run_options options = {.folder = path,
        .stop = &stop_requested,
        .progress = watch_round,
        .progress_user = (void *)(uintptr_t)plan};
    mfpg_status status = mfpg_config_load_text(own, plan->text, strlen(plan->text), "c.yaml", base, &config);
    if (status == MFPG_OK)
        status = plan->resume ? mfpg_experiment_resume(own, path, config, &experiment)
                              : mfpg_experiment_create(own, config, &experiment);
    if (status == MFPG_OK) status = mfpg_experiment_run(own, experiment, &options);
    mfpg_experiment_destroy(experiment);
    mfpg_config_destroy(config);
    return status;
}

static inline pid_t start_run(const run_plan *plan) {
    pid_t process = fork();
    assert_true(process >= 0);
    if (process > 0) return process;
    mfpg_context *own = NULL;
    mfpg_context_options options = mfpg_context_options_default();
    options.threads = plan->threads;
    if (mfpg_context_create(&options, &own) != MFPG_OK) _exit(99);
    mfpg_status status = run_here(own, plan);
    if (status != MFPG_OK && status != MFPG_ERR_INTERRUPTED)
        fprintf(stderr, "%s: %s\n", plan->resume ? "resumed" : "new", mfpg_context_message(own));
    mfpg_context_destroy(own);
    _exit((int)status);
}

/* The status that the process ended with, 77 where it was gone after a round, 1000 where it was killed. */
static inline int end_run(pid_t process) {
    int code;
    assert_int_equal(waitpid(process, &code, 0), process);
    return WIFEXITED(code) ? WEXITSTATUS(code) : 1000;
}

static inline int run_apart(const run_plan *plan) {
    return end_run(start_run(plan));
}

#endif
