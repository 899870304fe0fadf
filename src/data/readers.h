/* A reader turns one data file into a table. A new one needs one file and one line in readers.def. */
#ifndef MFPG_DATA_READERS_H
#define MFPG_DATA_READERS_H

#include "mfpg/dataset.h"

#include "table.h"

enum { MFPG_SNIFF_SIZE = 4096 };

typedef struct mfpg_reader_ops {
    const char *name;
    const char *help; /* one line */
    int arrays;       /* 1: files of numbers only, whose labels may be in a separate file */

    int infers_features; /* as MFPG_READER_INFERS_FEATURES and MFPG_READER_PICTURES */
    int pictures;
    int unpacks; /* 1: a file may be compressed by gzip */
    int splits;  /* 1: one file can hold training and test rows, so that data.test_files may name it again */

    /* Returns 1 if a file that begins with these bytes (at most MFPG_SNIFF_SIZE) can have this format. */
    int (*sniff)(const unsigned char *head, size_t length);

    /* Reads the whole file into a table of at least one row and one column. The table is empty on entry except for part
     * and test; the caller clears it, also after a failure. Errors name file and line, or byte. Threads: several files
     * at once. */
    mfpg_status (*read)(
        mfpg_context *ctx, const char *path, const mfpg_data_options *options, mfpg_table *table);
} mfpg_reader_ops;

/* Reads CSV as its reader does, but requires so many rows after the header. */
mfpg_status mfpg_csv_read(mfpg_context *ctx, const char *path, const mfpg_data_options *options,
    ptrdiff_t least, mfpg_table *table);

/* Returns the reader of that name; MFPG_ERR_INPUT with the nearest name if there is none. */
mfpg_status mfpg_reader_find(mfpg_context *ctx, const char *name, const mfpg_reader_ops **out);

/* Returns the first reader of readers.def that can read a file with such a beginning, or NULL. */
const mfpg_reader_ops *mfpg_reader_recognise(const unsigned char *head, size_t length);

/* Reads the beginning of a file, at most MFPG_SNIFF_SIZE bytes; nothing is read from a pipe. MFPG_ERR_INPUT
 * if the file cannot be opened. */
mfpg_status mfpg_reader_head(
    mfpg_context *ctx, const char *path, unsigned char head[MFPG_SNIFF_SIZE], size_t *length);

/* Reads a file with that reader (labels with the reader of their own format, if both are of arrays). Refuses formats that
 * no reader takes, with a way out; if the reader refuses the file, the message ends in the format that it seems to have. */
mfpg_status mfpg_reader_read(mfpg_context *ctx, const mfpg_reader_ops *reader, const char *path,
    const mfpg_data_options *options, mfpg_table *table);

/* A format that no reader takes. */
typedef struct mfpg_unsupported {
    const char *name;   /* "a MATLAB file" */
    const char *advice; /* how to convert it */
} mfpg_unsupported;

/* Returns the unsupported format of a file that begins with these bytes, or NULL. */
const mfpg_unsupported *mfpg_unsupported_recognise(const unsigned char *head, size_t length);

/* MFPG_ERR_INPUT with name and advice. */
mfpg_status mfpg_unsupported_fail(mfpg_context *ctx, const char *path, const mfpg_unsupported *format);

#endif
