/* A data file as a reader hands it on: named columns, rows that know their line, cells that are text or numbers. */
#ifndef MFPG_DATA_TABLE_H
#define MFPG_DATA_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/context.h"

#include "base/number.h"
#include "lookup.h"
#include "notes.h"
#include "slice.h"

enum { MFPG_MOST_COLUMNS = 65535 };

typedef struct mfpg_cell {
    uint32_t start, length; /* bytes of the table's text; files are at most 1 GiB */
} mfpg_cell;

/* What a reader is to take from a file that may hold features and labels side by side (npz). */
typedef enum mfpg_part { MFPG_PART_BOTH = 0, MFPG_PART_FEATURES, MFPG_PART_LABELS } mfpg_part;

/* All zero is an empty table. Either text and cells (a text format) or numbers (a numeric one) are there. */
typedef struct mfpg_table {
    mfpg_part part; /* set before reading */
    int test;       /* set before reading: 1 where test arrays are wanted of a file that has both */
    char *path;     /* for messages */
    ptrdiff_t rows, columns;
    mfpg_lookup names; /* columns different names */
    uint32_t *lines;   /* rows: the line where each starts, from 1; NULL: the row's number, from 1 */
    char *text;        /* the file; quotes are resolved in place */
    mfpg_cell *cells;  /* rows x columns */
    float *numbers;    /* rows x columns; NAN is a missing value */
    ptrdiff_t label;   /* the column that holds the label where the options name none */
    double low,
        high;   /* public bounds of every number in a format that has them (bytes: 0 and 255), else both 0 */
    int sparse; /* 1: a column that another file has and this one lacks is 0 throughout */
    mfpg_notes notes;
} mfpg_table;

void mfpg_table_clear(mfpg_table *table);

/* The line of a row, for messages. */
uint32_t mfpg_table_line(const mfpg_table *table, ptrdiff_t row);

/* The text of a cell; a number is written into buffer. */
mfpg_slice mfpg_table_text(
    const mfpg_table *table, ptrdiff_t row, ptrdiff_t column, char buffer[MFPG_NUMBER_SIZE]);

/* Sets *value and returns 1 where the cell is a finite number, blanks around it aside. */
int mfpg_table_number(const mfpg_table *table, ptrdiff_t row, ptrdiff_t column, double *value);

/* Adds a column name; an empty one becomes c1, c2, ... by its place. MFPG_ERR_INPUT, naming both places, where the
 * name is taken. line is that of the header, or 0. */
mfpg_status mfpg_table_name_column(mfpg_context *ctx, mfpg_table *table, uint32_t line, mfpg_slice name);

/* Adds the one column of another numeric table as the column "label" of a numeric table, which it labels.
 * MFPG_ERR_INPUT where the rows are not as many, or one of the two is no table of numbers. */
mfpg_status mfpg_table_add_label(mfpg_context *ctx, mfpg_table *table, const mfpg_table *labels);

#endif
