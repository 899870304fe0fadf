/* NumPy files: one array of one or more dimensions, the first of which counts the rows, or the vector of a
 * model. */
#include "npy.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "readers.h"

enum { MOST_HEADER = 1 << 16 };

/* Returns the text after 'key': and its blanks in the header, or NULL. */
static const char *find_key(const char *header, const char *key) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s'", key);
    const char *at = strstr(header, quoted);
    if (!at) return NULL;
    at += strlen(quoted);
    at += strspn(at, " ");
    if (*at != ':') return NULL;
    return at + 1 + strspn(at + 1, " ");
}

static int size_is_read(char kind, int size) {
    switch (kind) {
    case 'f': return size == 4 || size == 8;
    case 'b': return size == 1;
    case 'i':
    case 'u': return size == 1 || size == 2 || size == 4 || size == 8;
    }
    return 0;
}

static mfpg_status parse_type(mfpg_byte_source *source, mfpg_npy_array *array, const char *header) {
    const char *at = find_key(header, "descr");
    if (!at || (*at != '\'' && *at != '['))
        return mfpg_bytes_fail(source, "the header has no type ('descr')");
    size_t length = *at == '[' ? 0 : strcspn(at + 1, "'");
    if (length == 0) { /* a record of several types */
        strcpy(array->type, "record");
        return MFPG_OK;
    }
    snprintf(array->type, sizeof array->type, "%.*s", length < 12 ? (int)length : 12, at + 1);
    mfpg_text_flatten(array->type, strlen(array->type));
    if (length != 3 || !strchr("<>|=", at[1])) return MFPG_OK;
    array->binary = (mfpg_binary){.size = at[3] - '0', .big = at[1] == '>'};
    if (size_is_read(at[2], array->binary.size)) array->binary.kind = at[2];
    return MFPG_OK;
}

/* Returns the next number of a shape; -1 if there is none, or if it is too large for any file. */
static ptrdiff_t next_size(const char **at) {
    ptrdiff_t value = 0;
    const char *begin = *at;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        value = 10 * value + (**at - '0');
        if (value > (ptrdiff_t)MFPG_MOST_BYTES) return -1;
    }
    if (*at == begin) return -1;
    if (**at == 'L') ++*at; /* as Python 2 wrote it */
    *at += strspn(*at, " ,");
    return value;
}

static mfpg_status parse_shape(mfpg_byte_source *source, mfpg_npy_array *array, const char *header) {
    const char *order = find_key(header, "fortran_order"), *at = find_key(header, "shape");
    int row_by_row = order && strncmp(order, "False", 5) == 0;
    array->columns_first = order && strncmp(order, "True", 4) == 0;
    if (!row_by_row && !array->columns_first)
        return mfpg_bytes_fail(source, "the header has no order ('fortran_order')");
    if (!at || *at != '(') return mfpg_bytes_fail(source, "the header has no shape");
    at += 1 + strspn(at + 1, " ");
    array->rows = array->columns = 1;
    while (*at != ')') {
        ptrdiff_t size = next_size(&at);
        if (size < 0 || array->dimensions == MFPG_NPY_DIMENSIONS)
            return mfpg_bytes_fail(
                source, "a shape has at most %d dimensions of sizes up to 2^30", MFPG_NPY_DIMENSIONS);
        array->shape[array->dimensions++] = size;
    }
    for (int i = 0; i < array->dimensions; i++) {
        ptrdiff_t *product = i == 0 ? &array->rows : &array->columns;
        if (array->shape[i] > 0 && *product > (ptrdiff_t)MFPG_MOST_BYTES / array->shape[i])
            return mfpg_bytes_fail(source, "more than 1 GiB of values");
        *product *= array->shape[i];
    }
    return MFPG_OK;
}

mfpg_status mfpg_npy_read_header(mfpg_byte_source *source, mfpg_npy_array *array) {
    unsigned char head[10], more[2] = {0, 0};
    *array = (mfpg_npy_array){0};
    mfpg_status status = mfpg_bytes_read(source, head, sizeof head);
    if (status != MFPG_OK) return status;
    if (memcmp(head, "\x93NUMPY", 6) != 0 || head[6] < 1 || head[6] > 3)
        return mfpg_bytes_fail(source, "not a NumPy array of format 1 to 3");
    if (head[6] > 1) status = mfpg_bytes_read(source, more, sizeof more);
    if (status != MFPG_OK) return status;
    size_t size = head[8] | (size_t)head[9] << 8 | (size_t)more[0] << 16 | (size_t)more[1] << 24;
    if (size > MOST_HEADER) return mfpg_bytes_fail(source, "a header of more than 64 KiB");
    char *header = mfpg_alloc((ptrdiff_t)size + 1, 1);
    if (!header) return mfpg_fail_memory(source->ctx);
    status = mfpg_bytes_read(source, (unsigned char *)header, size);
    if (status == MFPG_OK) status = parse_type(source, array, header);
    if (status == MFPG_OK) status = parse_shape(source, array, header);
    free(header);
    return status;
}

const char *mfpg_npy_fault(const mfpg_npy_array *array) {
    if (!array->binary.kind) return "types are f4, f8, i1 to i8, u1 to u8 and b1";
    if (array->dimensions == 0) return "a single value has no rows";
    if (array->rows == 0 || array->columns == 0) return "a dimension of size 0";
    if (array->columns >= MFPG_MOST_COLUMNS) return "more than 65534 numbers a row";
    /* both at most 2^30 */
    if ((uint64_t)array->rows * (uint64_t)array->columns * (uint64_t)array->binary.size > MFPG_MOST_BYTES)
        return "more than 1 GiB of values";
    return NULL;
}

/* The place of a value among values with the first index fastest, from its place row by row. */
static ptrdiff_t place_first_fastest(const mfpg_npy_array *array, ptrdiff_t place) {
    ptrdiff_t index[MFPG_NPY_DIMENSIONS], found = 0;
    for (int i = array->dimensions - 1; i >= 0; i--) {
        index[i] = place % array->shape[i];
        place /= array->shape[i];
    }
    for (int i = array->dimensions - 1; i >= 0; i--) found = found * array->shape[i] + index[i];
    return found;
}

static mfpg_status turn(mfpg_context *ctx, const mfpg_npy_array *array, float **numbers) {
    ptrdiff_t count = array->rows * array->columns;
    float *turned = mfpg_alloc(count, sizeof *turned);
    if (!turned) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < count; i++) turned[i] = (*numbers)[place_first_fastest(array, i)];
    free(*numbers);
    *numbers = turned;
    return MFPG_OK;
}

/* The values that a header promises. */
static mfpg_status read_values(mfpg_byte_source *source, const mfpg_npy_array *array, float **numbers) {
    char shown[MFPG_NPY_SHOWN];
    const char *fault = mfpg_npy_fault(array);
    if (fault) return mfpg_bytes_fail(source, "type '%s': %s", array->type, fault);
    mfpg_status status =
        mfpg_bytes_read_numbers(source, array->rows * array->columns, &array->binary, numbers);
    if (status == MFPG_ERR_INPUT)
        mfpg_fail_behind(source->ctx, status, "; the header promises %s", mfpg_npy_show(array, shown));
    if (status == MFPG_OK && array->columns_first && array->dimensions > 1)
        status = turn(source->ctx, array, numbers);
    return status;
}

mfpg_status mfpg_npy_read_table(mfpg_byte_source *source, mfpg_npy_array *array, mfpg_table *table) {
    mfpg_status status = mfpg_npy_read_header(source, array);
    if (status == MFPG_OK) status = read_values(source, array, &table->numbers);
    if (status == MFPG_OK) status = mfpg_table_shape(source->ctx, table, array->rows, array->columns);
    if (status != MFPG_OK) return status;
    if (array->binary.kind == 'u' && array->binary.size == 1 && array->dimensions > 2)
        table->high = UCHAR_MAX;
    if (array->columns_first) mfpg_notes_add(&table->notes, MFPG_NOTE_COLUMNS_FIRST, 0);
    return MFPG_OK;
}

const char *mfpg_npy_show(const mfpg_npy_array *array, char buffer[MFPG_NPY_SHOWN]) {
    size_t used = (size_t)snprintf(buffer, MFPG_NPY_SHOWN, "type %s, ", array->type);
    if (array->dimensions == 0) strcpy(buffer + used, "a single value");
    for (int i = 0; i < array->dimensions; i++)
        used +=
            (size_t)snprintf(buffer + used, MFPG_NPY_SHOWN - used, "%s%td", i ? " x " : "", array->shape[i]);
    return buffer;
}

static mfpg_status read_npy(
    mfpg_context *ctx, const char *path, const mfpg_data_options *options, mfpg_table *table) {
    (void)options;
    mfpg_file_bytes f;
    mfpg_npy_array array;
    table->path = mfpg_text_copy(path, strlen(path));
    if (!table->path) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_file_bytes_open(ctx, path, &f);
    if (status != MFPG_OK) return status;
    status = mfpg_npy_read_table(&f.bytes, &array, table);
    if (!gzdirect(f.file)) mfpg_notes_add(&table->notes, MFPG_NOTE_GZIP, 0);
    mfpg_file_bytes_close(&f);
    if (status != MFPG_OK) return status;
    mfpg_npy_show(&array, table->notes.about);
    if (array.columns > 1) mfpg_notes_add(&table->notes, MFPG_NOTE_LAST_IS_LABEL, 0);
    return MFPG_OK;
}

mfpg_status mfpg_npy_read_vector(mfpg_context *ctx, const char *path, ptrdiff_t count, float **w) {
    mfpg_file_bytes f;
    mfpg_npy_array array;
    char shown[MFPG_NPY_SHOWN];
    float *values = NULL;
    mfpg_status status = mfpg_file_bytes_open(ctx, path, &f);
    if (status != MFPG_OK) return status;
    status = mfpg_npy_read_header(&f.bytes, &array);
    int fits =
        array.binary.kind == 'f' && array.binary.size == 4 && array.dimensions == 1 && array.rows == count;
    if (status == MFPG_OK && !fits)
        status = mfpg_bytes_fail(&f.bytes, "found an array of %s", mfpg_npy_show(&array, shown));
    if (status == MFPG_OK) status = read_values(&f.bytes, &array, &values);
    mfpg_file_bytes_close(&f);
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
    .help = "NumPy array, one row for each entry of its first dimension; the label is the last column, or in "
            "a file of its own (data.labels)",
    .arrays = 1,
    .unpacks = 1,
    .sniff = sniff_npy,
    .read = read_npy,
};
