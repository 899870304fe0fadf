/* A data file as its reader returns it: named columns, rows that know their line, cells that are text or
 * numbers. */
#ifndef MFPG_DATA_TABLE_H
#define MFPG_DATA_TABLE_H

#include "mfpg/dataset.h"

#include "base/number.h"

/* ---- slices of text that is owned elsewhere ---- */

typedef struct mfpg_slice {
    const char *at;
    size_t length;
} mfpg_slice;

mfpg_slice mfpg_slice_of(const char *text);

/* Returns the slice without blanks, tabs and line ends at both ends. */
mfpg_slice mfpg_slice_trim(mfpg_slice slice);

/* 1 if both hold the same bytes. */
int mfpg_slice_equal(mfpg_slice a, mfpg_slice b);

/* Replaces control bytes of a text by blanks, because a name must be one line. */
void mfpg_text_flatten(char *text, size_t length);

enum { MFPG_SHOWN_SIZE = 64 };

/* Returns the slice in the form for messages: quoted, on one line, cut with "..." if it is long. Returns
 * buffer. */
const char *mfpg_slice_show(mfpg_slice slice, char buffer[MFPG_SHOWN_SIZE]);

/* Returns the block with room for one more than count things, possibly moved; room doubles. NULL if memory
 * runs out; the old block is then unchanged. */
void *mfpg_grow(void *block, ptrdiff_t count, ptrdiff_t *room, size_t size);

/* Numbers texts in order of first appearance, in constant time. All zero is an empty lookup. */
typedef struct mfpg_lookup {
    char **keys; /* count texts, owned */
    ptrdiff_t count;
    ptrdiff_t key_room, slot_room;
    size_t *lengths;
    uint32_t *slots; /* 0: free; otherwise the number of a key plus 1 */
} mfpg_lookup;

/* The text's number, or -1. */
ptrdiff_t mfpg_lookup_find(const mfpg_lookup *lookup, mfpg_slice text);

/* Returns the text's number, a new one for a new text; -1 if memory runs out. */
ptrdiff_t mfpg_lookup_add(mfpg_lookup *lookup, mfpg_slice text);

void mfpg_lookup_clear(mfpg_lookup *lookup);

/* ---- tables ---- */

enum { MFPG_MOST_COLUMNS = 65535 };

/* The maximum size in bytes of a file and of its values. */
#define MFPG_MOST_BYTES ((uint64_t)1 << 30)

typedef struct mfpg_cell {
    uint32_t start, length; /* bytes of the table's text */
} mfpg_cell;

/* What is unusual about a file; its reader counts this, and `mfpg data check` reports it. */
typedef enum mfpg_note_kind {
    MFPG_NOTE_BYTE_ORDER_MARK = 0,
    MFPG_NOTE_CR_LF,
    MFPG_NOTE_CR_ALONE,
    MFPG_NOTE_NO_LAST_LINE_END,
    MFPG_NOTE_BLANK_LINE,
    MFPG_NOTE_COMMENT_LINE,
    MFPG_NOTE_BLANKS_AT_SEPARATOR,
    MFPG_NOTE_TRAILING_BLANKS,
    MFPG_NOTE_EXPLICIT_ZERO,
    MFPG_NOTE_GZIP,
    MFPG_NOTE_BIG_ENDIAN,
    MFPG_NOTE_COLUMNS_FIRST, /* an array with its first index fastest */
    MFPG_NOTE_LAST_IS_LABEL, /* a file of numbers without labels: the last column is used as the label */
    MFPG_NOTES
} mfpg_note_kind;

typedef struct mfpg_notes {
    struct {
        int64_t count;
        uint32_t line; /* the first; 0: the whole file */
    } of[MFPG_NOTES];
    char separator;  /* of a text file */
    char about[240]; /* what a binary file says of itself */
} mfpg_notes;

static inline void mfpg_notes_add(mfpg_notes *notes, mfpg_note_kind kind, uint32_t line) {
    if (notes->of[kind].count++ == 0) notes->of[kind].line = line;
}

/* What a reader should take from a file that may hold both features and labels (npz). */
typedef enum mfpg_part { MFPG_PART_BOTH = 0, MFPG_PART_FEATURES, MFPG_PART_LABELS } mfpg_part;

/* All zero is an empty table. It holds either text and cells (a text format) or numbers (a numeric format). */
typedef struct mfpg_table {
    mfpg_part part; /* set before reading */
    int test;       /* set before reading: 1 if test arrays are wanted of a file that has both */
    char *path;     /* for messages */
    ptrdiff_t rows, columns;
    mfpg_lookup names; /* columns different names */
    uint32_t *lines;   /* one per row: the line where it starts, from 1; NULL: use the row's number, from 1 */
    char *text;        /* the file; quotes are resolved in place */
    mfpg_cell *cells;  /* rows x columns */
    float *numbers;    /* rows x columns; NAN is a missing value */
    ptrdiff_t label;   /* the column that holds the label if the options do not name one */
    /* public bounds of every number in a format that has them (bytes: 0, 255), otherwise 0 */
    double low, high;
    int sparse; /* 1: a column that this file lacks and another file has is 0 in all rows */
    mfpg_notes notes;
} mfpg_table;

void mfpg_table_clear(mfpg_table *table);

/* The line of a row, for messages. */
uint32_t mfpg_table_line(const mfpg_table *table, ptrdiff_t row);

/* Returns the text of a cell; a number is written into buffer. */
mfpg_slice mfpg_table_text(
    const mfpg_table *table, ptrdiff_t row, ptrdiff_t column, char buffer[MFPG_NUMBER_SIZE]);

/* Sets *value and returns 1 if the cell, trimmed, is a finite number. */
int mfpg_table_number(const mfpg_table *table, ptrdiff_t row, ptrdiff_t column, double *value);

/* Adds a column name; an empty one becomes c1, c2, ... by its place. MFPG_ERR_INPUT, naming both places, if the name is
 * taken. line is that of the header, or 0. */
mfpg_status mfpg_table_name_column(mfpg_context *ctx, mfpg_table *table, uint32_t line, mfpg_slice name);

/* Gives a table of numbers its shape and the names c1, c2, ...; the last column is the label. */
mfpg_status mfpg_table_shape(mfpg_context *ctx, mfpg_table *table, ptrdiff_t rows, ptrdiff_t columns);

/* Adds the one column of another numeric table as the column "label" of a numeric table, which it labels.
 * MFPG_ERR_INPUT if the numbers of rows differ, or one of the two is not a table of numbers. */
mfpg_status mfpg_table_add_label(mfpg_context *ctx, mfpg_table *table, const mfpg_table *labels);

/* Returns 1 if the bytes contain no control characters except tabs and line ends. */
int mfpg_is_text(const unsigned char *bytes, size_t length);

/* Returns 1 if the text is a number with a decimal comma ("12,5"), which no reader accepts. */
int mfpg_is_decimal_comma(mfpg_slice text);

/* Returns 1 if the text, trimmed, is empty or one of the options' missing marks. */
int mfpg_text_is_missing(const mfpg_data_options *options, mfpg_slice text);

#endif
