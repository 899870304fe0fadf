/** A description of a data file before training: format, rows, columns, label, and everything unusual about it. */
#ifndef MFPG_DATA_CHECK_H
#define MFPG_DATA_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"

/** All zero: the labels are in the file, in its last column. Pointers are borrowed for the call. */
typedef struct mfpg_data_check_options {
    const char *labels;       /* file of labels, for formats that may have a separate one; NULL: none */
    const char *label_column; /* NULL: the last column of a table, the label of a format that has one */
} mfpg_data_check_options;

typedef enum mfpg_column_kind {
    MFPG_COLUMN_NUMBER = 0, /* numbers, and perhaps missing values */
    MFPG_COLUMN_TEXT,       /* texts, or texts among numbers */
    MFPG_COLUMN_CONSTANT,   /* one value in every row that has one */
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
    ptrdiff_t values;                /* different values, counted up to 1000; 0: not counted */
    ptrdiff_t marks;
    mfpg_value_count *mark; /* missing marks; the empty cell is "" */
    ptrdiff_t listed;       /* of a text column: its values, the commonest first, at most 50 of them */
    mfpg_value_count *value;
} mfpg_column_report;

/** Something unusual that training can handle, perhaps after a setting. */
typedef struct mfpg_oddity {
    const char *kind;    /* a word for scripts, such as "missing-mark" */
    const char *setting; /* key of the configuration that handles it, or NULL if nothing has to be done */
    char *text;          /* one sentence, which names the setting */
    int64_t count;       /* cells, lines, rows or columns concerned */
    int64_t line;        /* the first line of a text file (row of an array, from 1); 0: the whole file */
} mfpg_oddity;

/** A column that seems to say to whom a row belongs, by its name. */
typedef struct mfpg_client_column {
    char *column;
    ptrdiff_t clients;
    int64_t smallest, largest; /* rows of a client */
    ptrdiff_t one_class;       /* clients whose rows all have one label; 0 without classes */
} mfpg_client_column;

typedef struct mfpg_data_report {
    const char *format; /* name of its reader */
    char *about;        /* the header of a file of arrays, in words; "" for text */
    char separator;     /* of a text in columns, a blank for runs of blanks; 0 for other files */
    int header;         /* csv: 1 if the first line seems to name the columns */
    int64_t rows;
    ptrdiff_t columns; /* of the file itself: without a label from a file or array of its own */
    mfpg_column_report *column;
    char *label;                  /* name of the label column, or NULL */
    int label_guessed;            /* 1: the last column is taken for the label */
    ptrdiff_t classes;            /* different labels; 0: numbers with fractions, or more than 100 labels */
    mfpg_value_count *class_rows; /* classes, in rising order */
    double majority_rate;         /* share of the commonest class; NAN without classes */
    ptrdiff_t oddities;
    mfpg_oddity *oddity;
    ptrdiff_t client_columns;
    mfpg_client_column *client_column;
    char *configuration; /* YAML that reads the file: the keys data and task */
} mfpg_data_report;

/** Recognises the format of a file by its content, reads all of it and describes its content.
 *  @param[in]  options  NULL: all zero
 *  @param[out] out      free with mfpg_data_report_destroy; set only on success. All texts are UTF-8 on one line
 *                       (configuration: several), without control characters.
 *  @return MFPG_OK even if much is odd, if any settings can read the file; else MFPG_ERR_INPUT with line or byte or, for
 *  another format, its name and how to convert it; MFPG_ERR_MEMORY; MFPG_ERR_IO.
 *  Limits: those of mfpg_federated_data_create. A pipe is refused: the file is read more than once. */
mfpg_status mfpg_data_check(
    mfpg_context *ctx, const char *path, const mfpg_data_check_options *options, mfpg_data_report **out);

/** Frees the report; NULL is fine. */
void mfpg_data_report_destroy(mfpg_data_report *report);

#endif
