/* The parts of mfpg_data_check: each looks at the table from one side and adds to the report. */
#ifndef MFPG_DATA_INSPECT_H
#define MFPG_DATA_INSPECT_H

#include "mfpg/data_check.h"
#include "mfpg/dataset.h"

#include "table.h"

typedef struct mfpg_inspection {
    mfpg_context *ctx;
    const mfpg_data_check_options *options;
    const char *path;
    mfpg_table table;
    ptrdiff_t features; /* columns of the table that stand in the file itself: not a label from elsewhere */
    ptrdiff_t label;    /* the label's column of the table; -1: there is none */
    int32_t *row_class; /* rows: number of the class, -1 for a missing label; NULL without classes */
    mfpg_data_report *report;
    ptrdiff_t oddity_room;
} mfpg_inspection;

typedef enum mfpg_cell_kind {
    MFPG_CELL_NUMBER = 0,
    MFPG_CELL_TEXT,
    MFPG_CELL_MISSING, /* *mark says which */
    MFPG_CELL_DOUBT    /* a mark that may be a value as well, such as none */
} mfpg_cell_kind;

/* What a cell holds: its trimmed text, its value where it is a number (INFINITY of an array is a text). buffer is for
 * numbers of arrays. */
typedef struct mfpg_cell_view {
    mfpg_cell_kind kind;
    int mark; /* number of a missing mark, see mfpg_inspect_mark */
    double value;
    mfpg_slice text;
    char buffer[MFPG_NUMBER_SIZE];
} mfpg_cell_view;

void mfpg_inspect_cell(const mfpg_inspection *check, ptrdiff_t row, ptrdiff_t column, mfpg_cell_view *cell);

/* Marks that people write for a missing value; NULL past the last. */
enum { MFPG_INSPECT_MARKS = 20 };
const char *mfpg_inspect_mark(int index);

/* 1 where the mark is missing without a setting. */
int mfpg_inspect_mark_is_default(int index);

/* 1 where the mark may be a value as well. */
int mfpg_inspect_mark_is_doubtful(int index);

/* Adds an oddity. The text is made UTF-8 without control characters. */
mfpg_status mfpg_inspect_odd(mfpg_inspection *check, const char *kind, const char *setting, int64_t line,
    int64_t count, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* A copy on one line, in UTF-8, without control characters; NULL when memory runs out. */
char *mfpg_inspect_text(mfpg_slice text);

/* "line" for text files, "row" for arrays. */
const char *mfpg_inspect_line_word(const mfpg_inspection *check);

/* Notes of the reader: byte order mark, line ends, blank lines, ... */
mfpg_status mfpg_inspect_notes(mfpg_inspection *check);

/* Columns: kinds, ranges, missing marks, suspicious values. */
mfpg_status mfpg_inspect_columns(mfpg_inspection *check);

/* The label: classes, their balance, variants. */
mfpg_status mfpg_inspect_label(mfpg_inspection *check);

/* Rows: duplicates, missing values, very few. */
mfpg_status mfpg_inspect_rows(mfpg_inspection *check);

/* 1 where more than a third of a feature's values is missing. */
int mfpg_inspect_mostly_missing(const mfpg_inspection *check, ptrdiff_t column);

/* Columns that name a client. */
mfpg_status mfpg_inspect_clients(mfpg_inspection *check);

/* A configuration that reads the file. */
mfpg_status mfpg_inspect_configuration(mfpg_inspection *check);

#endif
