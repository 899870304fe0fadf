/* What one name on the command line stands for: a run, or a sweep, the folder of the same run with several seeds. */
#ifndef MFPG_REPORT_RUN_GROUP_H
#define MFPG_REPORT_RUN_GROUP_H

#include <stdint.h>

#include "run_record.h"

typedef struct run_set {
    char *label;     /* for tables and legends */
    run_record *run; /* count, by seed */
    ptrdiff_t count;
    int sweep;     /* 1: the folder of a sweep, be it of one seed */
    json_t *audit; /* attack on the first run, as audit_record_read checks it; NULL: none was made */
} run_set;

/* Mean and range over the runs of a set that have a number there. */
typedef struct run_band {
    ptrdiff_t runs; /* that have one; 0: the rest is NAN */
    double mean;
    ptrdiff_t lowest, highest; /* the runs with the smallest and the largest */
} run_band;

/* Reads a run folder, or the folders seed-N in it. The runs of a sweep must differ in the seed alone; its audit.json stands in the
 * sweep's folder, or in the first run's. Free with run_set_clear. */
mfpg_status run_set_read(mfpg_context *ctx, const char *folder, run_set *out);
void run_set_clear(run_set *set);

/* The largest number of rounds of a run. */
ptrdiff_t run_set_rounds(const run_set *set);

/* A column of the rounds. */
run_band run_set_band(const run_set *set, const char *column, ptrdiff_t round);
int run_set_has(const run_set *set, const char *column);

/* 1 where all runs of the set have the same texts in a column of clients.csv. */
int run_set_agrees(const run_set *set, const char *column);

/* What came of the attack on the set: "stands", "BROKEN", or "none made". */
const char *run_set_attacked(const run_set *set);

/* A name of its own for each set: the last part of its folder, or the folder where several end alike. */
mfpg_status run_sets_label(mfpg_context *ctx, run_set *sets, ptrdiff_t count);

#endif
