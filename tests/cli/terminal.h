/* Programs at a terminal: what they print there, and what a shell makes of typed lines. */
#ifndef MFPG_TESTS_CLI_TERMINAL_H
#define MFPG_TESTS_CLI_TERMINAL_H

#include "cli/program.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>

enum { TERMINAL_PATIENCE_MS = 30000 }; /* of machines that are busy; a test that passes does not wait */

typedef struct terminal {
    int fd;
    pid_t process;
    char out[OUTPUT_SIZE];
    size_t length;
} terminal;

static terminal screen;

/* Starts a program in the test's folder, at a terminal. PATH finds mfpg first. */
static inline void terminal_open(char *const *argv, const char *kind) {
    struct winsize size = {.ws_row = 50, .ws_col = 200};
    screen.length = 0;
    screen.out[0] = 0;
    screen.process = forkpty(&screen.fd, NULL, NULL, &size);
    assert_true(screen.process >= 0);
    if (screen.process > 0) return;
    char path[4096];
    const char *slash = strrchr(MFPG_PROGRAM, '/');
    snprintf(path, sizeof path, "%.*s:%s", (int)(slash - MFPG_PROGRAM), MFPG_PROGRAM, getenv("PATH"));
    setenv("PATH", path, 1);
    setenv("TERM", kind, 1);
    setenv("PS1", "READY> ", 1);
    if (chdir(folder) == 0) execvp(argv[0], argv);
    _exit(127);
}

/* Reads what comes next; 0 at the end. */
static inline int terminal_read(void) {
    struct pollfd wait = {.fd = screen.fd, .events = POLLIN};
    if (poll(&wait, 1, TERMINAL_PATIENCE_MS) <= 0) return 0;
    ssize_t got = read(screen.fd, screen.out + screen.length, OUTPUT_SIZE - 1 - screen.length);
    if (got <= 0) return 0;
    screen.length += (size_t)got;
    screen.out[screen.length] = 0;
    return 1;
}

/* Reads until there are so many prompts. */
static inline void terminal_await(int prompts) {
    for (;;) {
        int seen = 0;
        for (const char *at = screen.out; (at = strstr(at, "READY> ")); at++) seen++;
        if (seen >= prompts) return;
        if (!terminal_read()) fail_msg("no prompt after %d: %s", seen, screen.out);
    }
}

static inline void terminal_type(const char *keys) {
    assert_int_equal(write(screen.fd, keys, strlen(keys)), strlen(keys));
}

/* Reads what is left; the exit code. */
static inline int terminal_close(void) {
    int status;
    while (terminal_read()) {
    }
    close(screen.fd);
    kill(screen.process, SIGHUP); /* one that would wait for more */
    assert_int_equal(waitpid(screen.process, &status, 0), screen.process);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

#endif
