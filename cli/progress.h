/* How long work shows itself: a bar with the time left on a terminal, one quiet line a step elsewhere. Standard error
 * only. */
#ifndef MFPG_CLI_PROGRESS_H
#define MFPG_CLI_PROGRESS_H

#include <stdint.h>

typedef struct progress {
    double begun; /* seconds of a monotonic clock */
    int terminal; /* standard error is one */
    int shown;    /* a bar stands on the last line */
} progress;

progress progress_start(void);

/* Shows that done of total steps are over, with a text beside. Off a terminal the line is printed where line is 1. */
void progress_show(progress *bar, int64_t done, int64_t total, const char *text, int line);

/* Ends the line of the bar, so that other messages start on one of their own. */
void progress_end(progress *bar);

#endif
