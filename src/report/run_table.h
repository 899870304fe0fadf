/* A CSV file of a run folder, read back. */
#ifndef MFPG_REPORT_RUN_TABLE_H
#define MFPG_REPORT_RUN_TABLE_H

#include <stddef.h>

#include "data/table.h"
#include "mfpg/fields.h"

typedef struct run_table {
    mfpg_table cells; /* texts, each with a 0 behind it */
    ptrdiff_t rows;
    double *number; /* rows x columns; NAN: empty, or a text */
} run_table;

/* Reads what src/base/fields.c writes: a header with all columns that the fields have in those places (others may be there too),
 * then rows of as many cells. Cells of a field that is a number must be empty, finite or inf; all other columns are text.
 * MFPG_ERR_INPUT with file and line for anything else: half a row, a NaN, a foreign file. Free with run_table_clear. */
mfpg_status run_table_read(mfpg_context *ctx, const char *folder, const char *file, const mfpg_fields *fields,
    int places, run_table *out);
void run_table_clear(run_table *table);

/* The number of a column, or -1. */
ptrdiff_t run_table_column(const run_table *table, const char *name);

/* A cell of a column of the header: its text, its number. */
const char *run_table_text(const run_table *table, ptrdiff_t row, ptrdiff_t column);
double run_table_number(const run_table *table, ptrdiff_t row, ptrdiff_t column);

/* MFPG_ERR_INPUT where the column does not count from first upwards. */
mfpg_status run_table_check_count(
    mfpg_context *ctx, const run_table *table, const char *column, ptrdiff_t first);

#endif
