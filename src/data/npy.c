/* NumPy files: one array of one or more dimensions, the first of which counts the rows, or the vector of a model. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "npy_array.h"
#include "readers.h"

typedef struct file_bytes {
    mfpg_bytes bytes; /* first, so that both have one address */
    FILE *file;
} file_bytes;

static mfpg_status fill(mfpg_bytes *source, unsigned char *to, size_t room, size_t *got) {
    FILE *file = ((file_bytes *)source)->file;
    *got = fread(to, 1, room, file);
    if (*got < room && ferror(file)) return mfpg_file_fail_read(source->ctx, source->where, errno);
    return MFPG_OK;
}

static void take_notes(const mfpg_npy_array *array, mfpg_notes *notes) {
    mfpg_npy_show(array, notes->about);
    if (array->columns_first) mfpg_notes_add(notes, MFPG_NOTE_COLUMNS_FIRST, 0);
    if (array->columns > 1) mfpg_notes_add(notes, MFPG_NOTE_LAST_IS_LABEL, 0);
}

/* The header of an array that numbers can be read from. */
static mfpg_status read_header(file_bytes *f, mfpg_npy_array *array) {
    mfpg_status status = mfpg_npy_read_header(&f->bytes, array);
    return status == MFPG_OK ? mfpg_npy_check(&f->bytes, array) : status;
}

static mfpg_status read_npy(
    mfpg_context *ctx, const char *path, const mfpg_data_options *options, mfpg_table *table) {
    (void)options;
    file_bytes f = {.bytes = {.ctx = ctx, .where = path, .fill = fill}};
    mfpg_npy_array array = {0};
    table->path = mfpg_text_copy(path, strlen(path));
    if (!table->path) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_file_open(ctx, path, &f.file);
    if (status != MFPG_OK) return status;
    status = read_header(&f, &array);
    if (status == MFPG_OK) status = mfpg_npy_read_values(&f.bytes, &array, &table->numbers);
    if (status == MFPG_OK) status = mfpg_npy_describe_table(ctx, &array, table);
    if (status == MFPG_OK) take_notes(&array, &table->notes);
    fclose(f.file);
    return status;
}

mfpg_status mfpg_npy_read_vector(mfpg_context *ctx, const char *path, ptrdiff_t count, float **w) {
    file_bytes f = {.bytes = {.ctx = ctx, .where = path, .fill = fill}};
    mfpg_npy_array array = {0};
    char shown[MFPG_NPY_SHOWN];
    float *values = NULL;
    mfpg_status status = mfpg_file_open(ctx, path, &f.file);
    if (status != MFPG_OK) return status;
    status = read_header(&f, &array);
    int fits = array.kind == 'f' && array.size == 4 && array.dimensions == 1 && array.rows == count;
    if (status == MFPG_OK && !fits)
        status = mfpg_bytes_fail(&f.bytes, "found an array of %s", mfpg_npy_show(&array, shown));
    if (status == MFPG_OK) status = mfpg_npy_read_values(&f.bytes, &array, &values);
    fclose(f.file);
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK; i++)
        if (!isfinite(values[i]))
            status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: entry %td is not finite", path, i);
    if (status == MFPG_ERR_INPUT)
        mfpg_fail_behind(ctx, status, "; expected: one float32 vector of %td entries", count);
    if (status == MFPG_OK)
        *w = values;
    else
        free(values);
    return status;
}

static int sniff_npy(const unsigned char *head, size_t length) {
    return length >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

const mfpg_reader_ops mfpg_reader_npy = {
    .name = "npy",
    .help =
        "NumPy array, one row for each entry of its first dimension; the label is the last column, or in a "
        "file of its own (data.labels)",
    .arrays = 1,
    .sniff = sniff_npy,
    .read = read_npy,
};
