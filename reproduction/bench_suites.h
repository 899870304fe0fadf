/** The benchmark suites: the four cells side by side, many seeds, standard errors. */
#ifndef MFPG_REPRODUCTION_BENCH_SUITES_H
#define MFPG_REPRODUCTION_BENCH_SUITES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "mfpg/context.h"

typedef struct mfpg_bench_options {
    const char *suites; /* names of suites.def, separated by commas */
    /* quadratic, logistic, images, separated by commas; NULL: the tasks that each suite runs by default */
    const char *tasks;
    const char *images; /* folder of the image task, in the format of MNIST; NULL: Debian's Fashion-MNIST */
    int64_t seeds;      /* draws of every cell; 0: each suite's own number */
    int64_t runs;       /* suite attack: runs of each pattern, even, from 20; 0: the suite's own number */
    const char *folder; /* folder for full_benchmark.csv, created if needed. NULL: nothing is written */
    const volatile int *stop; /* if it is not 0, no further cell is begun. NULL: never checked */
    void (*progress)(
        /* called after each cell, by one thread at a time; may be NULL */
        void *user, int64_t done, int64_t total);
    void *progress_user;
} mfpg_bench_options;

/** paper,frontier; every task; 0 seeds; nothing written. */
mfpg_bench_options mfpg_bench_options_default(void);

/** Runs the suites on all threads of the context and prints their tables (Markdown) to out. The same numbers for any
 *  number of threads. MFPG_ERR_INPUT names an unknown suite or task and the nearest known one. MFPG_ERR_INTERRUPTED:
 *  nothing was written. */
mfpg_status mfpg_bench_run(mfpg_context *ctx, const mfpg_bench_options *options, FILE *out);

const char *mfpg_suite_name(ptrdiff_t index); /* suites.def; NULL past the end */
const char *mfpg_suite_help(ptrdiff_t index);

#endif
