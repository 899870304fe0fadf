/* Runs that are interrupted, and what they leave: in this process, by ranks that are its threads, and in processes of their
 * own, which can be killed. */
#ifndef MFPG_TESTS_EXPERIMENT_RESUME_H
#define MFPG_TESTS_EXPERIMENT_RESUME_H

#include "fixture.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "mfpg/experiment.h"
#include "thread_ranks.h"

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

/* ---- what a process that is gone leaves behind ---- */

static const char *const remains[] = {"checkpoint", "config.yaml", "ledger"};
enum { LEFT = sizeof remains / sizeof remains[0], MOST_ROUNDS = 16 };

typedef struct snapshot {
    char *bytes[LEFT];
    size_t size[LEFT];
} snapshot;

/* The files of the folder as they are now. */
static inline void take(const char *folder, snapshot *s) {
    for (int i = 0; i < LEFT; i++) s->bytes[i] = bytes_of(folder, remains[i], &s->size[i]);
}

static inline void lay_out(const snapshot *s, const char *folder) {
    remove_run(folder);
    assert_int_equal(mkdir(below(folder, ""), 0777), 0);
    for (int i = 0; i < LEFT; i++)
        if (s->bytes[i]) put_bytes(folder, remains[i], s->bytes[i], s->size[i]);
}

static inline void forget(snapshot *s) {
    for (int i = 0; i < LEFT; i++) free(s->bytes[i]);
    *s = (snapshot){{0}, {0}};
}

/* ---- a run ---- */

typedef struct run_plan {
    const char *text;       /* of the configuration */
    const char *other_text; /* of the last rank, where that is not the same; else NULL */
    const char *folder;
    int resume, threads, ranks; /* ranks: 0 is 1 */
    ptrdiff_t most;             /* numbers a message of the ranks; 0: any number */
    int64_t exit_after;         /* the process is gone at once after this round; 0: never */
    int64_t stop_after;         /* a signal comes in this round, to the last rank; 0: never */
    snapshot *after;            /* MOST_ROUNDS: what would be left after round i + 1; or NULL */
} run_plan;

/* One rank of a run. */
typedef struct run_part {
    const run_plan *plan;
    char path[256];
    mfpg_context *ctx;
    int rank;
    volatile int stop;
    mfpg_status status;
} run_part;

static void watch_round(void *user, const mfpg_round_report *report, int64_t rounds) {
    run_part *part = user;
    const run_plan *plan = part->plan;
    (void)rounds;
    if (report->round == plan->exit_after) _exit(77);
    if (report->round == plan->stop_after && part->rank == (plan->ranks > 1 ? plan->ranks - 1 : 0))
        part->stop = 1;
    if (plan->after && part->rank == 0) take(plan->folder, &plan->after[report->round - 1]);
}

/* Leaves the status, and the message in the part's context. */
static inline void run_part_here(run_part *part) {
    const run_plan *plan = part->plan;
    mfpg_config *config = NULL;
    mfpg_experiment *experiment = NULL;
    const char *text = plan->other_text && part->rank == plan->ranks - 1 ? plan->other_text : plan->text;
    mfpg_run_options options = {
        .folder = part->path, .stop = &part->stop, .progress = watch_round, .progress_user = part};
    mfpg_status status = mfpg_config_load_text(part->ctx, text, strlen(text), "c.yaml", base, &config);
    if (status == MFPG_OK)
        status = plan->resume ? mfpg_experiment_resume(part->ctx, part->path, config, &experiment)
                              : mfpg_experiment_create(part->ctx, config, &experiment);
    if (status == MFPG_OK) status = mfpg_experiment_run(part->ctx, experiment, &options);
    mfpg_experiment_destroy(experiment);
    mfpg_config_destroy(config);
    part->status = status;
}

static inline mfpg_status run_here(mfpg_context *own, const run_plan *plan) {
    run_part part = {.plan = plan, .ctx = own};
    snprintf(part.path, sizeof part.path, "%s", below(plan->folder, ""));
    run_part_here(&part);
    return part.status;
}

/* ---- ranks that are threads of this process ---- */

static void *run_rank(void *part) {
    run_part_here(part);
    return NULL;
}

enum { MOST_RANKS = 8 };
static char said[1024];   /* by the first rank of run_together */
static int times_reached; /* calls of sum there */

/* The run by plan->ranks ranks, which have to agree on the status and on what they say. */
static inline mfpg_status run_together(const run_plan *plan) {
    int ranks = plan->ranks > 1 ? plan->ranks : 1;
    meeting at;
    mfpg_group group[MOST_RANKS];
    seat seats[MOST_RANKS];
    run_part part[MOST_RANKS];
    pthread_t thread[MOST_RANKS];
    meeting_open(&at, ranks, plan->most > 0 ? plan->most : 1 << 16);
    for (int r = 0; r < ranks; r++) {
        mfpg_context_options options = mfpg_context_options_default();
        seats[r] = (seat){&at, r};
        group[r] =
            (mfpg_group){.rank = r, .size = ranks, .user = &seats[r], .sum = sum_at, .most = plan->most};
        part[r] = (run_part){.plan = plan, .rank = r};
        snprintf(part[r].path, sizeof part[r].path, "%s", r ? "/nowhere" : below(plan->folder, ""));
        options.threads = plan->threads;
        options.group = &group[r];
        assert_int_equal(mfpg_context_create(&options, &part[r].ctx), MFPG_OK);
    }
    for (int r = 1; r < ranks; r++) assert_int_equal(pthread_create(&thread[r], NULL, run_rank, &part[r]), 0);
    run_part_here(&part[0]);
    for (int r = 1; r < ranks; r++) assert_int_equal(pthread_join(thread[r], NULL), 0);
    snprintf(said, sizeof said, "%s", mfpg_context_message(part[0].ctx));
    for (int r = 0; r < ranks; r++) {
        if (part[r].status != part[0].status)
            fail_msg("rank %d of %d: status %d, %s; the first %d, %s", r, ranks, (int)part[r].status,
                mfpg_context_message(part[r].ctx), (int)part[0].status, said);
        mfpg_context_destroy(part[r].ctx);
    }
    meeting_close(&at);
    times_reached = at.calls;
    return part[0].status;
}

/* ---- a run in a process of its own ---- */

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
