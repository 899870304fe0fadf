/* How long work shows its progress, and the signals that request its end. */
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

/* ---- progress ---- */

enum { BAR = 24 };

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

cli_progress cli_progress_start(void) {
    return (cli_progress){.begun = seconds_now(), .terminal = cli_terminal(stderr)};
}

/* "42 s", "3 min 10 s", "2 h 5 min" */
static void print_duration(double seconds, char *out, size_t size) {
    long whole = (long)(seconds + 0.5);
    if (whole < 60)
        snprintf(out, size, "%ld s", whole);
    else if (whole < 3600)
        snprintf(out, size, "%ld min %ld s", whole / 60, whole % 60);
    else
        snprintf(out, size, "%ld h %ld min", whole / 3600, whole / 60 % 60);
}

static void show_bar(const cli_progress *bar, int64_t done, int64_t total, const char *text) {
    char filled[BAR + 1], left[32];
    int64_t full = total > 0 ? done * BAR / total : BAR;
    for (int i = 0; i < BAR; i++) filled[i] = i < full ? '#' : '.';
    filled[BAR] = 0;
    double spent = seconds_now() - bar->begun;
    print_duration(done > 0 ? spent * (double)(total - done) / (double)done : 0.0, left, sizeof left);
    fprintf(
        stderr, "\r\033[K[%s] %lld/%lld  %s left  %s", filled, (long long)done, (long long)total, left, text);
}

void cli_progress_show(cli_progress *bar, int64_t done, int64_t total, const char *text, int line) {
    if (bar->terminal) {
        show_bar(bar, done, total, text);
        bar->shown = 1;
    } else if (line) {
        fprintf(stderr, "%lld/%lld  %s\n", (long long)done, (long long)total, text);
    }
    fflush(stderr);
}

void cli_progress_end(cli_progress *bar) {
    if (bar->shown) fputc('\n', stderr);
    bar->shown = 0;
}

/* ---- signals ---- */

/* A signal handler can only use variables of the file. */
static volatile int requested;
static char last_words[128];
static size_t last_length;

static void request(int signal_number) {
    (void)signal_number;
    requested = 1;
}

/* Nothing but what a handler may call. */
static void end(int signal_number) {
    (void)signal_number;
    ssize_t written = write(STDERR_FILENO, last_words, last_length);
    (void)written;
    _exit(CLI_INTERRUPTED);
}

/* Closing the terminal ends the program as Ctrl-C does, but a run under nohup continues: ignored signals
 * remain ignored. */
static void handle(int number, const struct sigaction *action) {
    struct sigaction before;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, action, NULL);
}

void cli_interrupt_ends(const char *title) {
    const struct sigaction action = {.sa_handler = end};
    snprintf(last_words, sizeof last_words, "%.64s: interrupted; files written so far are whole\n", title);
    last_length = strlen(last_words);
    handle(SIGINT, &action);
    handle(SIGTERM, &action);
    handle(SIGHUP, &action);
}

const volatile int *cli_interrupt_watch(void) {
    struct sigaction action = {.sa_handler = request, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    handle(SIGHUP, &action);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    return &requested;
}
