/* What the system refuses: folders without permission, full disks, signals. Every command says which file and why, ends
 * with the right exit code, and leaves nothing half-written under a final name. */
#include "cli/program.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#define TINY                                                                                                 \
    "seed: 1\nmethod: dp-sgd\ndata: {format: synthetic, clients: 2, rows: 20, dimension: 2}\n"               \
    "train: {rounds: 2}\n"

typedef struct fault {
    const char *arguments;
    int code;
    const char *part; /* of the message */
    const char *left; /* the file that must not be there, or NULL */
} fault;

/* ---- the program as a child whose messages come through a pipe ---- */

typedef struct child {
    pid_t pid;
    int messages;
} child;

/* before: words of the shell in front of the program, such as a limit. */
static child start(const char *before, const char *arguments) {
    char command[2048];
    int ends[2];
    int size = snprintf(command, sizeof command, "cd %s && %s '%s' %s </dev/null >/dev/null", folder, before,
        MFPG_PROGRAM, arguments);
    assert_true(size > 0 && size < (int)sizeof command);
    assert_int_equal(pipe(ends), 0);
    child made = {.pid = fork(), .messages = ends[0]};
    assert_true(made.pid >= 0);
    if (made.pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    return made;
}

static void finish(child started) {
    size_t length = 0;
    ssize_t got;
    while ((got = read(started.messages, ran.err + length, OUTPUT_SIZE - 1 - length)) > 0)
        length += (size_t)got;
    ran.err[length] = 0;
    close(started.messages);
    int status = 0;
    assert_int_equal(waitpid(started.pid, &status, 0), started.pid);
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void check_outcome(const fault *row) {
    char path[512];
    if (ran.code != row->code || !strstr(ran.err, row->part))
        fail_msg("mfpg %s: exit code %d, expected %d and '%s': %s", row->arguments, ran.code, row->code,
            row->part, ran.err);
    if (!row->left) return;
    snprintf(path, sizeof path, "%s/%s", folder, row->left);
    if (access(path, F_OK) == 0) fail_msg("mfpg %s left %s", row->arguments, row->left);
}

static void check_faults(const char *before, const fault *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        finish(start(before, rows[i].arguments));
        check_outcome(&rows[i]);
    }
}
#define CHECK_FAULTS(before, rows) check_faults(before, rows, sizeof(rows) / sizeof(rows)[0])

/* ---- a folder with a finished run and with closed doors ---- */

static void set_mode(const char *name, mode_t mode) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(chmod(path, mode), 0);
}

static void make_folder(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0755), 0);
}

static int open_doors(void **state) {
    if (open_folder(state) != 0) return -1;
    write_in_folder("c.yaml", TINY);
    write_in_folder("secret.yaml", TINY);
    write_in_folder("secret.csv", "x,label\n1,0\n");
    expect("run c.yaml --out done", 0);
    return 0;
}

static int close_doors(void **state) {
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+rwx %s && rm -r %s/*", folder, folder);
    return system(command) || close_folder(state);
}

/* Nobody's rights where the tests run as root, whom nothing stops; NULL where there is no such user to be. */
static const char *as_nobody(void) {
    static const char words[] = "exec setpriv --reuid=65534 --regid=65534 --clear-groups";
    char command[512];
    if (geteuid() != 0) return "exec";
    snprintf(
        command, sizeof command, "cd %s && (%s '%s' --version) >/dev/null 2>&1", folder, words, MFPG_PROGRAM);
    return system(command) == 0 ? words : NULL;
}

static void test_closed_doors_are_named(void **state) {
    (void)state;
    static const fault rows[] = {
        {"run c.yaml --out closed/r", 2, "closed/r: Permission denied", NULL},
        {"run secret.yaml", 2, "secret.yaml: Permission denied", NULL},
        {"run c.yaml data.format=csv data.files=[secret.csv]", 2, "secret.csv: Permission denied", NULL},
        {"data check secret.csv", 2, "secret.csv: Permission denied", NULL},
        {"init closed/c.yaml", 1, "closed/c.yaml: cannot write: Permission denied", NULL},
        {"solve c.yaml method=mfpg game.curvature=1 --out closed/a.csv", 1,
            "closed/a.csv: cannot write: Permission denied", NULL},
        {"bench --suite paper --task quadratic --seeds 1 --out closed", 1,
            "closed/full_benchmark.csv: cannot write: Permission denied", NULL},
        {"audit c.yaml --runs 20 --out closed", 2, "closed: cannot write into it: Permission denied", NULL},
        {"audit c.yaml --runs 20 --out closed/below", 2, "Permission denied", NULL},
        {"report done --out closed/p", 1, "closed/p: cannot make the folder: Permission denied", NULL},
        {"report closed", 2, "closed: Permission denied", NULL},
        {"compare done closed", 2, "closed: Permission denied", NULL},
        {"run --resume ./closed", 2, "closed: Permission denied", NULL},
        {"eval closed c.yaml", 2, "closed/config.yaml: Permission denied", NULL},
        {"account --ledger closed", 2, "closed/ledger: Permission denied", NULL},
    };
    set_mode(".", 0755);
    const char *nobody = as_nobody();
    if (!nobody) {
        print_message("SKIPPED: root cannot give up its rights by setpriv (Debian: util-linux)\n");
        skip();
    }
    make_folder("closed");
    set_mode("closed", 0000);
    set_mode("secret.yaml", 0000);
    set_mode("secret.csv", 0000);
    CHECK_FAULTS(nobody, rows);
}

/* A limit of two blocks on the size of files is a disk that fills up: the write fails behind the first 1024 bytes, which is
 * what clang's OpenMP runtime needs for a file of its own. */
static void test_full_disks_leave_nothing_half_written(void **state) {
    (void)state;
    if (TESTING_SANITIZED) skip(); /* the thread sanitizer's own files hit the limit first */
    static const fault rows[] = {
        {"run c.yaml --out full", 1, "full/config.yaml: cannot write: File too large", "full/config.yaml"},
        {"init full.yaml", 1, "full.yaml: cannot write: File too large", "full.yaml"},
        {"bench --suite paper --task quadratic --seeds 5 --out b", 1,
            "b/full_benchmark.csv: cannot write: File too large", "b/full_benchmark.csv"},
        {"audit c.yaml --runs 20 --out au", 1, "au/audit.json: cannot write: File too large",
            "au/audit.json"},
        {"solve --cost entropic --beta 0.5:1.5 --population 100 --out s.csv", 1,
            "s.csv: cannot write: File too large", "s.csv"},
        {"report done --out p", 1, "cannot write: File too large", "p/report.html"},
    };
    CHECK_FAULTS("ulimit -f 2; exec", rows);
}

/* Each command is in the middle of its work, and ends at once. */
static void test_signals_interrupt(void **state) {
    (void)state;
    static const struct {
        fault expected;
        int signal;
    } rows[] = {
        {{"bench --suite frontier --seeds 1000 --out b", 130, "mfpg bench: interrupted",
             "b/full_benchmark.csv"},
            SIGINT},
        {{"bench --suite frontier --seeds 1000 --out b", 130, "no table was printed and no file written",
             "b/full_benchmark.csv"},
            SIGHUP},
        {{"audit c.yaml --runs 2000000 --out au", 130, "mfpg audit: interrupted after", "au/audit.json"},
            SIGTERM},
        {{"audit c.yaml --runs 2000000 --out au", 130, "mfpg audit: interrupted after", "au/audit.json"},
            SIGHUP},
        {{"run c.yaml train.rounds=10000000 --out long", 130, "to go on: mfpg run --resume long", NULL},
            SIGHUP},
    };
    const struct timespec moment = {.tv_nsec = 200000000};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        child started = start("exec", rows[i].expected.arguments);
        nanosleep(&moment, NULL);
        assert_int_equal(kill(started.pid, rows[i].signal), 0);
        finish(started);
        check_outcome(&rows[i].expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_closed_doors_are_named, open_doors, close_doors),
        cmocka_unit_test_setup_teardown(test_full_disks_leave_nothing_half_written, open_doors, close_doors),
        cmocka_unit_test_setup_teardown(test_signals_interrupt, open_doors, close_doors),
    };
    signal(SIGHUP, SIG_DFL); /* a test that was started behind nohup would have the program ignore it */
    signal(SIGINT, SIG_DFL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
