/* A finished run, read back from its folder: what mfpg report and mfpg compare know of it. */
#ifndef MFPG_REPORT_RUN_RECORD_H
#define MFPG_REPORT_RUN_RECORD_H

#include <jansson.h>

#include "mfpg/config.h"

#include "run_table.h"

typedef struct run_record {
    char *folder;
    run_table rounds, clients; /* rounds.csv, clients.csv */
    json_t *summary;           /* summary.json, an object */
    mfpg_config *config;       /* config.yaml, and its text */
    char *config_text;
} run_record;

/* Reads a run folder that somebody may have changed: MFPG_ERR_INPUT with file and line for what no run has written, and
 * where the files are not those of one run. Free with run_record_clear. */
mfpg_status run_record_read(mfpg_context *ctx, const char *folder, run_record *out);
void run_record_clear(run_record *record);

/* ---- the summary, by dotted paths ---- */

const json_t *run_value(const run_record *record, const char *path); /* NULL: not there, or null */
const char *run_text(const run_record *record, const char *path);    /* NULL: no text there */
double run_number(const run_record *record, const char *path); /* NAN: no number there; "inf" is infinity */
int run_truth(const run_record *record, const char *path);

/* ---- rounds, by the column's name: the text of the file, and the number (NAN: empty) ---- */

const char *run_round_text(const run_record *record, const char *column, ptrdiff_t round);
double run_round_number(const run_record *record, const char *column, ptrdiff_t round);

/* 1 where the column has a number in any round. */
int run_has_column(const run_record *record, const char *column);

/* ---- clients ---- */

/* The client's name, or where it has none its number, in buffer. */
const char *run_client_name(const run_record *record, ptrdiff_t client, char buffer[32]);

/* The client's entry in the summary, or NULL where the summary does not list clients. */
const json_t *run_client(const run_record *record, ptrdiff_t client);

const char *run_client_text(const run_record *record, const char *column, ptrdiff_t client);
double run_client_number(const run_record *record, const char *column, ptrdiff_t client);

/* The client with the smallest or the largest number in a column; -1 without clients. */
ptrdiff_t run_client_extreme(const run_record *record, const char *column, int largest);

/* Nothing was noised, and nothing promised. */
int run_promises_nothing(const run_record *record);

#endif
