#include "npy_array.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { MOST_HEADER = 1 << 16 };

/* The text behind 'key': in the header, blanks skipped, or NULL. */
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

static mfpg_status parse_type(mfpg_bytes *source, mfpg_npy_array *array, const char *header) {
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
    array->big = at[1] == '>';
    array->size = at[3] - '0';
    if (size_is_read(at[2], array->size)) array->kind = at[2];
    return MFPG_OK;
}

/* The next number of a shape; -1 where there is none, or one too large for any file. */
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

static mfpg_status parse_shape(mfpg_bytes *source, mfpg_npy_array *array, const char *header) {
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

mfpg_status mfpg_npy_read_header(mfpg_bytes *source, mfpg_npy_array *array) {
    unsigned char head[10], more[2] = {0, 0};
    *array = (mfpg_npy_array){0};
    mfpg_status status = mfpg_bytes_read(source, head, sizeof head);
    if (status != MFPG_OK) return status;
    if (memcmp(head, "\x93NUMPY", 6) != 0 || head[6] < 1 || head[6] > 3)
        return mfpg_bytes_fail(source, "this is no NumPy array of format 1 to 3");
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
    if (!array->kind) return "types are f4, f8, i1 to i8, u1 to u8 and b1";
    if (array->dimensions == 0) return "a single value has no rows";
    if (array->rows == 0 || array->columns == 0) return "a dimension of size 0";
    if (array->columns >= MFPG_MOST_COLUMNS) return "more than 65534 numbers a row";
    /* both at most 2^30 */
    if ((uint64_t)array->rows * (uint64_t)array->columns * (uint64_t)array->size > MFPG_MOST_BYTES)
        return "more than 1 GiB of values";
    return NULL;
}

mfpg_status mfpg_npy_check(const mfpg_bytes *source, const mfpg_npy_array *array) {
    const char *fault = mfpg_npy_fault(array);
    return fault ? mfpg_bytes_fail(source, "type '%s': %s", array->type, fault) : MFPG_OK;
}

static double value_at(const mfpg_npy_array *array, const unsigned char *bytes) {
    uint64_t word = 0;
    for (int i = 0; i < array->size; i++)
        word |= (uint64_t)bytes[array->big ? array->size - 1 - i : i] << 8 * i;
    if (array->kind == 'u' || array->kind == 'b') return (double)word;
    if (array->kind == 'i') {
        int unused = 64 - 8 * array->size;
        return (double)((int64_t)(word << unused) >> unused); /* the sign's bit fills the rest */
    }
    float single;
    double wide;
    uint32_t half = (uint32_t)word;
    memcpy(&single, &half, sizeof single);
    memcpy(&wide, &word, sizeof wide);
    return array->size == 4 ? (double)single : wide;
}

static void decode(const void *format, const unsigned char *bytes, ptrdiff_t count, float *to) {
    const mfpg_npy_array *array = format;
    for (ptrdiff_t i = 0; i < count; i++) to[i] = (float)value_at(array, bytes + i * array->size);
}

/* Where the value at that place of the rows stands among values with the first index fastest. */
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

mfpg_status mfpg_npy_read_values(mfpg_bytes *source, const mfpg_npy_array *array, float **numbers) {
    mfpg_status status =
        mfpg_bytes_read_values(source, array->rows * array->columns, array->size, decode, array, numbers);
    if (status == MFPG_ERR_INPUT) {
        char shown[MFPG_NPY_SHOWN];
        mfpg_fail_behind(source->ctx, status, "; the header promises %s", mfpg_npy_show(array, shown));
    }
    if (status == MFPG_OK && array->columns_first && array->dimensions > 1)
        status = turn(source->ctx, array, numbers);
    return status;
}

mfpg_status mfpg_npy_describe_table(mfpg_context *ctx, const mfpg_npy_array *array, mfpg_table *table) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t j = 0; j < array->columns && status == MFPG_OK; j++)
        status = mfpg_table_name_column(ctx, table, 0, (mfpg_slice){"", 0}); /* c1, c2, ... */
    table->rows = array->rows;
    table->columns = array->columns;
    table->label = array->columns - 1;
    if (array->kind == 'u' && array->size == 1 && array->dimensions > 2) table->high = UCHAR_MAX;
    return status;
}

const char *mfpg_npy_show(const mfpg_npy_array *array, char buffer[MFPG_NPY_SHOWN]) {
    size_t used = (size_t)snprintf(buffer, MFPG_NPY_SHOWN, "type %s, ", array->type);
    if (array->dimensions == 0) strcpy(buffer + used, "a single value");
    for (int i = 0; i < array->dimensions; i++)
        used +=
            (size_t)snprintf(buffer + used, MFPG_NPY_SHOWN - used, "%s%td", i ? " x " : "", array->shape[i]);
    return buffer;
}
