/* Runs of mfpg-mpi that are killed, one process of them or the launcher, that are told to stop and whose disk is full; and that
 * go on with another number of processes and threads to the bytes of `mfpg run`. */
#include "cli/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

enum { MOST_RANKS = 4, PATIENCE = 60 /* seconds, for what takes one */ };

#define CLINICS "seed: 8\ndata: {format: synthetic, kind: clinics}\n"

static const struct {
    const char *name, *text;
} kinds[] = {
    {"drawn cohorts",
        "method: dp-sgd\n" CLINICS "train: {rounds: 30, clients_per_round: 3, checkpoint: 2}\n"},
    {"batches and a budget",
        "method: dp-sgd\n" CLINICS "privacy: {unit: example, stop_at_epsilon: 9}\nnoise: {multiplier: 4}\n"
        "train: {rounds: 30, batch: {rate: 0.2}, checkpoint: 1}\n"},
    {"the game", "method: mfpg\n" CLINICS
                 "game: {actions: [0.5, 1], curvature: 1}\ntrain: {rounds: 30, checkpoint: 7}\n"},
    {"choices each round",
        "method: mfpg\n" CLINICS "privacy: {unit: example, stop_at_epsilon: 30}\ngame: {cost: paper, update: "
        "each-round, loss_noise: 90, gradient_noise: 90}\ntrain: {rounds: 15, checkpoint: 3}\n"},
    {"noised records", "method: {mechanism: input, players: none}\n" CLINICS
                       "train: {rounds: 30, clients_per_round: 2, checkpoint: 5}\n"},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static const char *in_folder(const char *name) {
    static char path[4][256];
    static int next;
    char *out = path[next++ % 4];
    snprintf(out, sizeof path[0], "%s/%s", folder, name);
    return out;
}

static int exists(const char *name) {
    return access(in_folder(name), F_OK) == 0;
}

static void shell(const char *command) {
    char all[1024];
    snprintf(all, sizeof all, "cd %s && %s", folder, command);
    if (system(all) != 0) fail_msg("%s", all);
}

/* ---- a launcher and its processes ---- */

typedef struct launch {
    pid_t mpirun;
    int ranks, threads;
} launch;

static int pid_of(int rank) {
    char name[32], text[32] = "";
    snprintf(name, sizeof name, "pid.%d", rank);
    FILE *file = fopen(in_folder(name), "r");
    if (!file) return 0;
    if (!fgets(text, sizeof text, file)) text[0] = 0;
    fclose(file);
    return strchr(text, '\n') ? atoi(text) : 0;
}

/* A process that nobody has waited for yet is gone too. */
static int is_gone(int pid) {
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file) return 1;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    const char *name_end = strrchr(text, ')');
    return !name_end || name_end[1] == 0 || strchr("ZX", name_end[2]) != NULL;
}

/* 1 where the launcher is done, but not waited for. */
static int has_ended(const launch *l) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)l->mpirun, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

/* "mpirun -n RANKS start.sh mfpg-mpi run ARGUMENT... --threads N": start.sh writes down who is who. */
static launch begin(int ranks, int threads, const char *first, const char *second, const char *third) {
    launch l = {.ranks = ranks, .threads = threads};
    char ranks_text[16], threads_text[16];
    snprintf(ranks_text, sizeof ranks_text, "%d", ranks);
    snprintf(threads_text, sizeof threads_text, "%d", threads);
    shell("rm -f pid.*");
    l.mpirun = fork();
    assert_true(l.mpirun >= 0);
    if (l.mpirun > 0) return l;
    if (chdir(folder) != 0) _exit(99);
    int nothing = open("/dev/null", O_RDONLY), said = open("said", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(nothing, 0);
    dup2(said, 1);
    dup2(said, 2);
    setenv("OMP_WAIT_POLICY", "passive", 1); /* more threads than cores */
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    execlp("mpirun", "mpirun", "--oversubscribe", "-n", ranks_text, "./start.sh", MFPG_MPI_PROGRAM, "run",
        "--threads", threads_text, first, second, third, (char *)NULL);
    _exit(98);
}

static launch begin_run(int ranks, int threads, int resume) {
    return resume ? begin(ranks, threads, "--resume", "a", NULL)
                  : begin(ranks, threads, "run.yaml", "--out", "a");
}

static int all_gone(const launch *l) {
    for (int r = 0; r < l->ranks; r++) {
        int pid = pid_of(r);
        if (pid == 0 || !is_gone(pid)) return 0;
    }
    return 1;
}

/* A launcher may miss that its last process was killed and wait for ever: it is ended once all of them have been gone for as long as
 * patience lasts. */
static int wait_for_launcher(const launch *l) {
    double gone_since = -1.0;
    int status = 0;
    for (pid_t ended = 0; ended != l->mpirun; usleep(5000)) {
        ended = waitpid(l->mpirun, &status, WNOHANG);
        assert_true(ended == 0 || ended == l->mpirun);
        if (ended != 0) break;
        if (!all_gone(l))
            gone_since = -1.0;
        else if (gone_since < 0.0)
            gone_since = now();
        else if (now() - gone_since > PATIENCE)
            kill(l->mpirun, SIGKILL);
    }
    return status;
}

/* The launcher's exit code, or 1000 + signal, when all of its processes are gone. */
static int end(const launch *l) {
    int status = wait_for_launcher(l);
    double begun = now();
    for (int r = 0; r < l->ranks; r++) {
        int pid = pid_of(r);
        while (pid > 0 && !is_gone(pid)) {
            usleep(5000);
            if (now() - begun > PATIENCE) fail_msg("rank %d outlives its launcher", r);
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static const char *words(void) {
    static char text[1 << 16];
    FILE *file = fopen(in_folder("said"), "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = 0;
    if (file) fclose(file);
    return text;
}

static int said(const char *part) {
    char command[512];
    snprintf(command, sizeof command, "cd %s && grep -q -e '%s' said", folder, part);
    return system(command) == 0;
}

/* ---- killed ---- */

static int draw(int below) {
    return (int)(lrand48() % below);
}

/* One of the processes, or the launcher. 0 where they are not there yet. */
static int strike(const launch *l) {
    int who = draw(l->ranks + 1), pid = who < l->ranks ? pid_of(who) : l->mpirun;
    return pid > 0 && kill(pid, SIGKILL) == 0;
}

static int is_complete(void) {
    return exists("a/summary.json") && !exists("a/checkpoint");
}

/* A run is killed again and again, each time with other numbers of processes and threads, until it is through. */
static int kill_until_through(const char *name, double patience) {
    for (int kills = 0;; patience *= 1.15) {
        if (!exists("a/checkpoint")) shell("rm -rf a"); /* killed before it was there: nothing was released */
        launch l = begin_run(1 << draw(3), 1 << draw(3), exists("a/checkpoint"));
        double until = now() + drand48() * patience;
        while (now() < until && !has_ended(&l)) usleep(2000);
        int struck = strike(&l), code = end(&l);
        if (is_complete()) return kills + struck;
        if (!struck || code == 0 || said("mfpg run: "))
            fail_msg("%s, seed %llu: %d kills, exit code %d, %s", name, (unsigned long long)testing_seed(),
                kills, code, words());
        kills++;
    }
}

static void test_kills_at_random_moments_change_no_byte(void **state) {
    (void)state;
    int wanted = testing_repeats(1) > 1 ? 60 : 8, kills = 0;
    srand48((long)testing_seed());
    print_message("seed %llu\n", (unsigned long long)testing_seed());
    for (int i = 0; kills < wanted; i = (i + 1) % KINDS) {
        write_in_folder("run.yaml", kinds[i].text);
        expect("run run.yaml --out reference --threads 2", 0);
        double begun = now();
        launch whole = begin_run(2, 1, 0);
        if (end(&whole) != 0) fail_msg("%s: %s", kinds[i].name, words());
        double seconds = now() - begun;
        shell("diff -r -x timings.csv reference a && rm -r a");
        kills += kill_until_through(kinds[i].name, seconds);
        shell("diff -r -x timings.csv reference a && rm -r a reference");
    }
    print_message("%d kills\n", kills);
}

/* ---- told to stop ---- */

static long size_of(const char *name) {
    struct stat info;
    return stat(in_folder(name), &info) == 0 ? (long)info.st_size : 0;
}

/* Waits until the run has got somewhere. */
static void wait_for_rounds(const launch *l) {
    double begun = now();
    while (size_of("a/ledger") < 2000) {
        usleep(1000);
        if (now() - begun > PATIENCE || has_ended(l)) fail_msg("no rounds: %s", words());
    }
}

static void expect_rest(int ranks, int threads) {
    launch l = begin_run(ranks, threads, 1);
    if (end(&l) != 0) fail_msg("%s", words());
    shell("diff -r -x timings.csv reference a && rm -r a");
}

#define LONG "method: dp-sgd\n" CLINICS "noise: {multiplier: 90}\ntrain: {rounds: 300}\n"

/* SIGUSR1 is handed on, and the launcher waits. After SIGTERM it waits a second, which a busy machine may need for less than
 * a round: whatever it came to goes on. */
static void test_a_signal_to_the_launcher_stops_all_after_the_same_round(void **state) {
    (void)state;
    write_in_folder("run.yaml", LONG);
    expect("run run.yaml --out reference --threads 2", 0);
    launch l = begin_run(2, 1, 0);
    wait_for_rounds(&l);
    assert_int_equal(kill(l.mpirun, SIGUSR1), 0);
    int code = end(&l);
    if (code != 130 || !said("interrupted; completed: ") || !said("to go on: mfpg run --resume a"))
        fail_msg("exit code %d, %s", code, words());
    assert_true(exists("a/checkpoint") && exists("a/summary.json"));
    l = begin_run(4, 1, 1);
    wait_for_rounds(&l);
    assert_int_equal(kill(l.mpirun, SIGTERM), 0);
    end(&l);
    if (exists("a/checkpoint"))
        expect_rest(1, 2);
    else
        shell("diff -r -x timings.csv reference a && rm -r a");
    shell("rm -r reference");
}

/* ---- a full disk ---- */

#define WIDE                                                                                                 \
    "seed: 1\nmethod: dp-sgd\ndata: {format: synthetic, clients: 3, rows: 12, dimension: 1000}\n"            \
    "train: {rounds: 300, checkpoint: 1}\n"

/* Files of the first process may not grow any more: the checkpoint, which is the largest, cannot be written. */
static void test_a_full_disk_ends_all_and_leaves_the_last_checkpoint(void **state) {
    (void)state;
    write_in_folder("run.yaml", WIDE);
    expect("run run.yaml --out reference --threads 2", 0);
    launch l = begin_run(2, 1, 0);
    wait_for_rounds(&l);
    struct rlimit limit = {.rlim_cur = 20000, .rlim_max = RLIM_INFINITY};
    assert_int_equal(prlimit(pid_of(0), RLIMIT_FSIZE, &limit, NULL), 0);
    int code = end(&l);
    if (code != 1 || !said("File too large") || !said("to go on: mfpg run --resume a"))
        fail_msg("exit code %d, %s", code, words());
    assert_true(exists("a/checkpoint") && !exists("a/checkpoint.part"));
    expect_rest(4, 1);
    shell("rm -r reference");
}

static int open_with_script(void **state) {
    int failed = open_folder(state);
    write_in_folder("start.sh", "#!/bin/sh\necho $$ >pid.$OMPI_COMM_WORLD_RANK\nexec \"$@\"\n");
    return failed || chmod(in_folder("start.sh"), 0755) != 0;
}

static int close_with_script(void **state) {
    shell("rm -f start.sh run.yaml said pid.*");
    return close_folder(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_kills_at_random_moments_change_no_byte, open_with_script, close_with_script),
        cmocka_unit_test_setup_teardown(test_a_signal_to_the_launcher_stops_all_after_the_same_round,
            open_with_script, close_with_script),
        cmocka_unit_test_setup_teardown(
            test_a_full_disk_ends_all_and_leaves_the_last_checkpoint, open_with_script, close_with_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
