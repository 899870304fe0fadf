#include "progress.h"

#include <stdio.h>
#include <time.h>

#include "colour.h"

enum { BAR = 24 };

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

progress progress_start(void) {
    return (progress){.begun = seconds_now(), .terminal = cli_terminal(stderr)};
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

static void show_bar(const progress *bar, int64_t done, int64_t total, const char *text) {
    char filled[BAR + 1], left[32];
    int64_t full = total > 0 ? done * BAR / total : BAR;
    for (int i = 0; i < BAR; i++) filled[i] = i < full ? '#' : '.';
    filled[BAR] = 0;
    double spent = seconds_now() - bar->begun;
    print_duration(done > 0 ? spent * (double)(total - done) / (double)done : 0.0, left, sizeof left);
    fprintf(
        stderr, "\r\033[K[%s] %lld/%lld  %s left  %s", filled, (long long)done, (long long)total, left, text);
}

void progress_show(progress *bar, int64_t done, int64_t total, const char *text, int line) {
    if (bar->terminal) {
        show_bar(bar, done, total, text);
        bar->shown = 1;
    } else if (line) {
        fprintf(stderr, "%lld/%lld  %s\n", (long long)done, (long long)total, text);
    }
    fflush(stderr);
}

void progress_end(progress *bar) {
    if (bar->shown) fputc('\n', stderr);
    bar->shown = 0;
}
