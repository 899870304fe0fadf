/** Describes a data file before training: its format, rows, columns and label, and everything unusual about
 *  it. */
#ifndef MFPG_DATA_CHECK_H
#define MFPG_DATA_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"

/** If all fields are zero, the labels are in the last column of the file. Pointers are borrowed for the call. */
typedef struct mfpg_data_check_options {
    /* file of labels, for formats that may keep them in a separate file; NULL: none */
    const char *labels;
    const char *label_column; /* NULL: the last column of a table, or the label of a format that has one */
} mfpg_data_check_options;

typedef enum mfpg_column_kind {
    MFPG_COLUMN_NUMBER = 0, /* numbers, and perhaps missing values */
    MFPG_COLUMN_TEXT,       /* texts, or texts among numbers */
    MFPG_COLUMN_CONSTANT,   /* every value that is not missing is the same */
    MFPG_COLUMN_EMPTY       /* missing values only */
} mfpg_column_kind;

typedef struct mfpg_value_count {
    char *text;
    int64_t rows; /* >= 1 */
} mfpg_value_count;

typedef struct mfpg_column_report {
    char *name;
    mfpg_column_kind kind;
    int64_t numbers, texts, missing; /* cells; together the rows */
    double low, high;                /* of the numbers; NAN without */
    ptrdiff_t values;                /* number of different values, counted up to 1000; 0: not counted */
    ptrdiff_t marks;
    mfpg_value_count *mark; /* missing marks; the empty cell is "" */
    ptrdiff_t listed;       /* text column: number of values listed, at most 50, the most frequent first */
    mfpg_value_count *value;
} mfpg_column_report;

/** Something unusual that training can handle, perhaps after a setting. */
typedef struct mfpg_oddity {
    const char *kind;    /* a word for scripts, such as "missing-mark" */
    const char *setting; /* configuration key that handles it, or NULL if no action is needed */
    char *text;          /* one sentence, which names the setting */
    int64_t count;       /* cells, lines, rows or columns concerned */
    /* first line of a text file that has it (for an array, the row, from 1); 0: the whole file */
    int64_t line;
} mfpg_oddity;

/** A column whose name suggests that it tells which client a row belongs to. */
typedef struct mfpg_client_column {
    char *column;
    ptrdiff_t clients;
    int64_t smallest, largest; /* rows of a client */
    ptrdiff_t one_class;       /* number of clients whose rows all have one label; 0 without classes */
} mfpg_client_column;

typedef struct mfpg_data_report {
    const char *format; /* name of its reader */
    char *about;        /* header of an array file, in words; "" for text */
    /* separator of a text with columns (a blank means runs of blanks); 0 for other files */
    char separator;
    int header; /* csv: 1 if the first line seems to name the columns */
    int64_t rows;
    /* columns of the file itself, without a label that comes from a separate file or array */
    ptrdiff_t columns;
    mfpg_column_report *column;
    char *label;       /* name of the label column, or NULL */
    int label_guessed; /* 1: the last column was assumed to be the label */
    /* number of different labels; 0 for numbers with fractions or more than 100 labels */
    ptrdiff_t classes;
    mfpg_value_count *class_rows; /* classes, in rising order */
    double majority_rate;         /* share of the most frequent class; NAN without classes */
    ptrdiff_t oddities;
    mfpg_oddity *oddity;
    ptrdiff_t client_columns;
    mfpg_client_column *client_column;
    char *configuration; /* YAML with the keys data and task that reads the file */
} mfpg_data_report;

/** Recognises the format of a file by its content, reads all of it and describes it.
 *  @param[in]  options  NULL: all zero
 *  @param[out] out      free with mfpg_data_report_destroy; set only on success. All texts are UTF-8 on one
 *  line
 *  (configuration: several lines), without control characters.
 *  @return MFPG_OK if some settings can read the file, however unusual it is; otherwise MFPG_ERR_INPUT with
 *  line or byte or, for an unsupported format, its name and how to convert it; MFPG_ERR_MEMORY; MFPG_ERR_IO.
 *  Limits: those of mfpg_federated_data_create. A pipe is refused, because the file is read more than once. */
mfpg_status mfpg_data_check(
    mfpg_context *ctx, const char *path, const mfpg_data_check_options *options, mfpg_data_report **out);

/** Frees the report; NULL is fine. */
void mfpg_data_report_destroy(mfpg_data_report *report);

#endif
