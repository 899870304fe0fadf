/* mfpg run seed=A..B: what its runs are worth together. */
#ifndef MFPG_CLI_RUN_SWEEP_H
#define MFPG_CLI_RUN_SWEEP_H

#include <stddef.h>
#include <stdint.h>

/* One finished run. */
typedef struct outcome {
    int64_t seed;
    double loss, accuracy, epsilon;
} outcome;

/* The table of count >= 1 runs with mean and standard error, as CSV for people or one JSON object; folder holds them all. */
void run_print_sweep(const outcome *results, ptrdiff_t count, const char *folder, int json);

#endif
