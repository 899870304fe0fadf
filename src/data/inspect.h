/* The parts of mfpg_data_check: each examines one aspect of the table and adds to the report. */
#ifndef MFPG_DATA_INSPECT_H
#define MFPG_DATA_INSPECT_H

#include "mfpg/data_check.h"

#include "base/memory.h"
#include "table.h"

typedef struct mfpg_owned_report {
    mfpg_data_report report; /* first, so that both have one address */
    mfpg_pool pool;          /* what the report points to, but for the list of oddities */
} mfpg_owned_report;

typedef struct mfpg_inspection {
    mfpg_context *ctx;
    mfpg_status status; /* status of the first failure, after which nothing is added to the report */
    const mfpg_data_check_options *options;
    const char *path;
    mfpg_table table;
    ptrdiff_t features; /* number of columns that are in the file itself: without a label from elsewhere */
    ptrdiff_t label;    /* column of the label; -1: there is none */
    int32_t *row_class; /* one per row: number of the class, -1 for a missing label; NULL without classes */
    mfpg_data_report *report;
    mfpg_pool *pool; /* of the report */
    ptrdiff_t oddity_room;
} mfpg_inspection;

/* Returns zeroed memory; NULL if it runs out, which also sets the status. */
void *mfpg_inspect_alloc(mfpg_inspection *check, ptrdiff_t count, size_t size);

/* The same for memory that belongs to the report. */
void *mfpg_inspect_report(mfpg_inspection *check, ptrdiff_t count, size_t size);

/* Returns a copy of the text, which belongs to the report, on one line, in UTF-8, without control characters; NULL and the
 * status as above. */
char *mfpg_inspect_text(mfpg_inspection *check, mfpg_slice text);

/* Adds an oddity, with its text converted to UTF-8 without control characters. */
void mfpg_inspect_odd(mfpg_inspection *check, const char *kind, const char *setting, int64_t line,
    int64_t count, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Appends an entry to a text "a, b, ..." that names the first twelve; count: number of entries before this
 * one. */
void mfpg_inspect_list(char *list, size_t size, int64_t count, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Ends the word for count things. */
static inline const char *mfpg_plural(int64_t count) {
    return count == 1 ? "" : "s";
}

/* ---- cells ---- */

/* Marks that people write for a missing value: first those that need no setting, then others without another
 * meaning, then those that may be a value, such as none. */
enum { MFPG_MARKS = 20, MFPG_DEFAULT_MARKS = 5, MFPG_CERTAIN_MARKS = 12 };
extern const char *const mfpg_missing_marks[MFPG_MARKS];

typedef enum mfpg_cell_kind {
    MFPG_CELL_NUMBER = 0,
    MFPG_CELL_TEXT,
    MFPG_CELL_MISSING, /* mark says which */
    MFPG_CELL_DOUBT    /* a mark that may be a value */
} mfpg_cell_kind;

/* What a cell contains. An INFINITY in an array counts as a text. */
typedef struct mfpg_cell_view {
    mfpg_cell_kind kind;
    int mark;        /* number of a missing mark */
    double value;    /* of a number */
    mfpg_slice text; /* trimmed */
} mfpg_cell_view;

mfpg_cell_view mfpg_inspect_cell(const mfpg_inspection *check, ptrdiff_t row, ptrdiff_t column);

/* ---- the parts ---- */

/* Columns: kinds, ranges, missing marks, suspicious values. */
void mfpg_inspect_columns(mfpg_inspection *check);

/* Each examines one aspect: the label's classes and their balance; duplicates and missing values of rows;
 * columns that name a client. */
void mfpg_inspect_rows(mfpg_inspection *check);

/* Returns 1 if more than a third of a feature's values are missing. */
int mfpg_inspect_mostly_missing(const mfpg_inspection *check, ptrdiff_t column);

/* A configuration that reads the file. */
void mfpg_inspect_configuration(mfpg_inspection *check);

#endif
