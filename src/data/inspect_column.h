/* What is gathered about one column, and what is odd about it. */
#ifndef MFPG_DATA_INSPECT_COLUMN_H
#define MFPG_DATA_INSPECT_COLUMN_H

#include "inspect.h"

enum { MFPG_INSPECT_VALUES = 1000 };

/* A value that a column ends in, and the one next to it. */
typedef struct mfpg_extreme {
    double value, next;
    int64_t count;
    ptrdiff_t row; /* the first with it */
} mfpg_extreme;

/* What is gathered about one column. */
typedef struct mfpg_column_facts {
    int64_t numbers, texts, missing;
    int64_t mark[MFPG_INSPECT_MARKS];
    ptrdiff_t mark_row[MFPG_INSPECT_MARKS];
    int64_t zeros, decimal_commas;
    ptrdiff_t zero_row, comma_row, text_row;
    mfpg_extreme low, high;
    double least_positive;
    mfpg_lookup values; /* different texts, up to MFPG_INSPECT_VALUES */
    int64_t *rows;      /* of each value; MFPG_INSPECT_VALUES */
} mfpg_column_facts;

/* What is told of all columns together. */
typedef struct mfpg_shared_facts {
    int64_t text_columns, text_cells, text_line;
    char texts[400]; /* "workclass (8 values), ..." */
    int64_t cells[MFPG_INSPECT_MARKS], columns[MFPG_INSPECT_MARKS];
    int64_t line[MFPG_INSPECT_MARKS];
    char where[MFPG_INSPECT_MARKS][256]; /* "chol 23, fbs 8, ..." */
} mfpg_shared_facts;

/* Adds the oddities of one column, and to all what is told of all columns together. */
mfpg_status mfpg_inspect_column(
    mfpg_inspection *check, ptrdiff_t j, const mfpg_column_facts *facts, mfpg_shared_facts *all);

/* Adds what is told of all columns together. */
mfpg_status mfpg_inspect_shared(mfpg_inspection *check, const mfpg_shared_facts *all);

#endif
