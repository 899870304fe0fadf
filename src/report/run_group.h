/* Finished runs, read back from their folders, which may come from anybody: the data of mfpg report and mfpg
 * compare. */
#ifndef MFPG_REPORT_RUN_GROUP_H
#define MFPG_REPORT_RUN_GROUP_H

#include <jansson.h>

#include "mfpg/config.h"
#include "mfpg/fields.h"

#include "data/table.h"

/* ---- a CSV file ---- */

typedef struct run_table {
    mfpg_table cells; /* texts, each with a closing 0 */
    ptrdiff_t rows;
    double *number; /* rows x columns; NAN if the cell is empty or a text */
} run_table;

/* Reads what src/base/fields.c writes: a header with all columns that the fields have in those places (others
 * may be there too), then rows of as many cells, whose first field counts from first upwards. Cells of a
 * field that is a number must be empty, finite or inf; all other columns are text. MFPG_ERR_INPUT with file
 * and line for anything else: half a row, a NaN, a foreign file. Free with run_table_clear. */
mfpg_status run_table_read(mfpg_context *ctx, const char *folder, const char *file, const mfpg_fields *fields,
    int places, ptrdiff_t first, run_table *out);
void run_table_clear(run_table *table);

/* Returns a cell as it is in the file, and its number; NULL and NAN if there is no such column or row. */
const char *run_table_text(const run_table *table, const char *column, ptrdiff_t row);
double run_table_number(const run_table *table, const char *column, ptrdiff_t row);

/* ---- a run ---- */

typedef struct run_record {
    char *folder;
    run_table rounds, clients; /* rounds.csv, clients.csv */
    json_t *summary;           /* summary.json, an object */
    mfpg_config *config;       /* config.yaml, and its text */
    char *config_text;
} run_record;

/* Reads a run folder; MFPG_ERR_INPUT with file and line for what no run has written, and if the files are not
 * those of one run. out is all zero before; release it with run_record_clear, also after a failure. */
mfpg_status run_record_read(mfpg_context *ctx, const char *folder, run_record *out);
void run_record_clear(run_record *record);

/* The value at a dotted path of an object; NULL if there is none, or null. Its text, or NULL; its number
 * ("inf" is infinity), or NAN. */
const json_t *run_value(const json_t *object, const char *path);
const char *run_text(const json_t *object, const char *path);
double run_number(const json_t *object, const char *path);

/* Returns the client's entry in the summary; NULL if the summary does not list clients. */
const json_t *run_client(const run_record *record, ptrdiff_t client);

/* Returns the client's name or, if it has none, its number in buffer. */
const char *run_client_name(const run_record *record, ptrdiff_t client, char buffer[32]);

/* Returns the client with the smallest or the largest epsilon; -1 without clients. */
ptrdiff_t run_client_extreme(const run_record *record, int largest);

/* Returns 1 if the method adds no noise and promises nothing. */
int run_promises_nothing(const run_record *record);

/* ---- the meaning of one name on the command line: a run, or a sweep, which is the folder of the same run
 * with several seeds ---- */

typedef struct run_group {
    char *label;     /* for tables and legends */
    run_record *run; /* count, by seed */
    ptrdiff_t count;
    int sweep;     /* 1: the folder of a sweep, even if it has only one seed */
    json_t *audit; /* attack on the first run, as audit_read has checked it; NULL: none was made */
} run_group;

/* Mean and range over the runs of a group that have a number at that place. */
typedef struct run_band {
    ptrdiff_t runs; /* number of runs that have one; if 0, the rest is NAN */
    double mean;
    ptrdiff_t lowest, highest; /* the runs with the smallest and the largest */
} run_band;

/* Reads the folders and gives each a label of its own: the last part of its path, or the whole path if
 * several end alike. A folder is that of a run, or holds the folders seed-N of a sweep, whose runs must
 * differ in the seed alone; the audit.json of a sweep is in its folder, or in that of its first run. Fails as
 * run_record_read does. groups: count, all zero; release with run_groups_clear, also after a failure. */
mfpg_status run_groups_read(
    mfpg_context *ctx, const char *const *folders, ptrdiff_t count, run_group *groups);
void run_groups_clear(run_group *groups, ptrdiff_t count);

/* Returns the largest number of rounds of any run. */
ptrdiff_t run_group_rounds(const run_group *group);

/* A column of the rounds. */
run_band run_group_band(const run_group *group, const char *column, ptrdiff_t round);

/* Returns 1 if all runs of the group have the same texts in a column of clients.csv. */
int run_group_agrees(const run_group *group, const char *column);

/* Returns the last round in which a run of the group has a number in the column, or -1. */
ptrdiff_t run_group_last(const run_group *group, const char *column);

/* ---- what an attack on a run proved ---- */

/* Reads FOLDER/audit.json, which is to be of the run: the same promise to the same clients, in the order of
 * the run's. *out is NULL if there is none, else free it with json_decref. It holds then what docs/audit.md
 * says: "clients" and what belongs to them, "inversion", or both; "together", "method", "patterns", pictures
 * and numbers of clients may be missing, and keys that are not known here may be anything. Pictures are the
 * base64 texts of PNG files of 8-bit grey and the stated size. MFPG_ERR_INPUT for what no audit has written,
 * such as a promise that is said to stand though more was proved than promised. */
mfpg_status audit_read(mfpg_context *ctx, const char *folder, const run_record *run, json_t **out);

/* Returns 0 if a promise of any kind is broken. */
int audit_stands(const json_t *audit);

/* Returns the smallest share of a client's promise that the attack has not reached; negative if a promise is
 * broken. */
double audit_margin(const json_t *client);

#endif
