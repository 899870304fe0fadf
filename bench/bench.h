/* Timing for the benchmark programs: a work and its floor, interleaved in one process, in CPU seconds of the calling
 * thread, so that idle threads of a BLAS that wait in a loop do not count. */
#ifndef MFPG_BENCH_H
#define MFPG_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { BENCH_ROUNDS = 21 };

typedef void (*bench_run)(void *arg);

/* n floats from the start of a cache line on, not filled, or NULL. */
static inline float *bench_floats(size_t n) {
    return aligned_alloc(64, (n * sizeof(float) / 64 + 1) * 64);
}

static inline double bench_cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double bench_once(bench_run run, void *arg, int repeats) {
    double start = bench_cpu_seconds();
    for (int i = 0; i < repeats; i++) run(arg);
    return (bench_cpu_seconds() - start) / repeats;
}

/* Repeats that fill about 5 ms, which also warms up. */
static inline int bench_repeats(bench_run run, void *arg) {
    double once = bench_once(run, arg, 1);
    return once > 5e-3 ? 1 : (int)(5e-3 / (once + 1e-8)) + 1;
}

static inline int bench_order(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Measures the work beside its floor (NULL: none) and prints the work's line. units > 0: how many things the work makes
 * at once; the line then also says what one costs, and how many a second of one core makes. */
static inline void bench_work(
    const char *work, bench_run run, bench_run floor, void *arg, double units, const char *unit) {
    double times[BENCH_ROUNDS], floors[BENCH_ROUNDS] = {0};
    int repeats = bench_repeats(run, arg), floor_repeats = floor ? bench_repeats(floor, arg) : 0;
    for (int i = 0; i < BENCH_ROUNDS; i++) {
        times[i] = bench_once(run, arg, repeats);
        if (floor) floors[i] = bench_once(floor, arg, floor_repeats);
    }
    qsort(times, BENCH_ROUNDS, sizeof *times, bench_order);
    qsort(floors, BENCH_ROUNDS, sizeof *floors, bench_order);
    double median = times[BENCH_ROUNDS / 2], floor_median = floors[BENCH_ROUNDS / 2];
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"work\": \"%s\", \"cpu_s\": %.6g", work, median);
    if (floor) printf(", \"floor_s\": %.6g, \"share_of_floor\": %.4g", floor_median, floor_median / median);
    printf(", \"peak_rss_mib\": %.1f", (double)usage.ru_maxrss / 1024);
    if (units > 0)
        printf(
            ", \"ns_per_%s\": %.4g, \"%ss_per_s\": %.4g", unit, 1e9 * median / units, unit, units / median);
    printf("}\n");
}

#endif
