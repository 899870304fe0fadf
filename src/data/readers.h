/* A reader turns one data file into a table. Adding one is one file and one line in readers.def. */
#ifndef MFPG_DATA_READERS_H
#define MFPG_DATA_READERS_H

#include <stddef.h>

#include "mfpg/context.h"
#include "mfpg/dataset.h"

#include "table.h"

enum { MFPG_SNIFF_SIZE = 4096 };

typedef struct mfpg_reader_ops {
    const char *name;
    const char *help; /* one line */
    int arrays;       /* 1: files of numbers alone, whose labels may stand in a file of their own */

    int infers_features; /* as MFPG_READER_INFERS_FEATURES and MFPG_READER_PICTURES */
    int pictures;
    int splits; /* 1: one file can hold training and test rows apart, so that data.test_files may name it again */

    /* 1 where a file that begins with these bytes (at most MFPG_SNIFF_SIZE) can be of this format. */
    int (*sniff)(const unsigned char *head, size_t length);

    /* Reads the whole file into a table of at least one row and one column. The table is empty on entry but for part
     * and test, and is the caller's to clear, also after a failure. Errors name file and line, or byte. Threads: several
     * files at once. */
    mfpg_status (*read)(
        mfpg_context *ctx, const char *path, const mfpg_data_options *options, mfpg_table *table);
} mfpg_reader_ops;

/* What the reader of CSV does, of a file that must have at least so many rows behind its header. */
mfpg_status mfpg_csv_read(mfpg_context *ctx, const char *path, const mfpg_data_options *options,
    ptrdiff_t least, mfpg_table *table);

/* The reader of that name; MFPG_ERR_INPUT, naming the nearest, where there is none. */
mfpg_status mfpg_reader_find(mfpg_context *ctx, const char *name, const mfpg_reader_ops **out);

/* The first reader of readers.def that can read a file with such a beginning, or NULL. */
const mfpg_reader_ops *mfpg_reader_recognise(const unsigned char *head, size_t length);

/* The beginning of a file, at most MFPG_SNIFF_SIZE bytes; none of a pipe. MFPG_ERR_INPUT where it cannot be opened. */
mfpg_status mfpg_reader_head(
    mfpg_context *ctx, const char *path, unsigned char head[MFPG_SNIFF_SIZE], size_t *length);

/* The reader of a file of labels that go with files of another reader: where both are of arrays, the file's own. */
mfpg_status mfpg_reader_of_labels(
    mfpg_context *ctx, const char *path, const mfpg_reader_ops *of_files, const mfpg_reader_ops **out);

/* MFPG_ERR_INPUT, with a way out, for a file of a format that no reader takes. */
mfpg_status mfpg_reader_refuse_foreign(mfpg_context *ctx, const char *path);

/* Behind the message of a reader that has refused a file: the format that it seems to have, where that is another. */
void mfpg_reader_explain(mfpg_context *ctx, const char *path, const mfpg_reader_ops *reader);

#endif
