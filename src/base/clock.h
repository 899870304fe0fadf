/* A clock that never goes backwards, for durations; no result depends on it. */
#ifndef MFPG_BASE_CLOCK_H
#define MFPG_BASE_CLOCK_H

#include <time.h>

static inline double mfpg_clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* CPU seconds of the calling thread. */
static inline double mfpg_clock_cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
