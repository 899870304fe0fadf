/* NumPy files, formats 1.0 to 3.0: magic, version, the length of a header, the header (a Python dictionary that names
 * type, order and shape), and the values in rows. One dimension is one number a row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "readers.h"

static const size_t MOST_BYTES = (size_t)1 << 30;
enum { MOST_HEADER = 1 << 16 };

typedef struct npy_file {
    mfpg_context *ctx;
    const char *path;
    const unsigned char *values;
    size_t length; /* bytes of the values */
    char kind;     /* f, i, u or b */
    int size;      /* bytes a value */
    int big;       /* big-endian */
    ptrdiff_t rows, columns;
} npy_file;

static mfpg_status fail_npy(const npy_file *f, const char *what) {
    return mfpg_fail(f->ctx, MFPG_ERR_INPUT, "%s: %s", f->path, what);
}

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

static mfpg_status parse_type(npy_file *f, const char *header) {
    const char *at = find_key(header, "descr");
    if (!at || *at != '\'' || strlen(at) < 5) return fail_npy(f, "the header has no plain type ('descr')");
    f->big = at[1] == '>';
    f->kind = at[2];
    f->size = at[3] - '0';
    int sizes = f->kind == 'f'   ? f->size == 4 || f->size == 8
                : f->kind == 'b' ? f->size == 1
                                 : f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;
    if (at[1] && strchr("<>|=", at[1]) && at[2] && strchr("fiub", at[2]) && sizes && at[4] == '\'')
        return MFPG_OK;
    return fail_npy(f, "types are f4, f8, i1 to i8, u1 to u8 and b1");
}

/* The next number of a shape; -1 where there is none, or one too large for a file of 1 GiB. */
static ptrdiff_t next_size(const char **at) {
    ptrdiff_t value = 0;
    const char *begin = *at;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        value = 10 * value + (**at - '0');
        if (value > (ptrdiff_t)MOST_BYTES) return -1;
    }
    *at += strspn(*at, " ,");
    return begin == *at || *begin < '0' || *begin > '9' ? -1 : value;
}

static mfpg_status parse_shape(npy_file *f, const char *header) {
    const char *order = find_key(header, "fortran_order"), *at = find_key(header, "shape");
    if (!order || strncmp(order, "False", 5) != 0)
        return fail_npy(f, "values must stand row by row (fortran_order: False)");
    if (!at || *at != '(') return fail_npy(f, "the header has no shape");
    at += 1 + strspn(at + 1, " ");
    f->rows = next_size(&at);
    f->columns = *at == ')' ? 1 : next_size(&at);
    if (f->rows < 1 || f->columns < 1 || *at != ')')
        return fail_npy(f, "one or two dimensions of size 1 or more are read");
    if (f->columns >= MFPG_MOST_COLUMNS) return fail_npy(f, "more than 65534 numbers a row");
    /* both at most 2^30 */
    if ((size_t)f->rows * (size_t)f->columns > MOST_BYTES ||
        f->length != (size_t)f->rows * (size_t)f->columns * (size_t)f->size)
        return mfpg_fail(f->ctx, MFPG_ERR_INPUT,
            "%s: the header promises %td x %td values of %d bytes, but %zu bytes follow", f->path, f->rows,
            f->columns, f->size, f->length);
    return MFPG_OK;
}

/* Finds header and values in the bytes of a file. */
static mfpg_status parse_file(npy_file *f, const unsigned char *bytes, size_t length) {
    if (length < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0 || bytes[6] < 1 || bytes[6] > 3)
        return fail_npy(f, "this is no NumPy file of format 1 to 3");
    size_t head = bytes[6] == 1 ? 10 : 12, size = bytes[8] + ((size_t)bytes[9] << 8);
    if (bytes[6] > 1) size += ((size_t)bytes[10] << 16) + ((size_t)bytes[11] << 24);
    if (size > MOST_HEADER || size > length - head)
        return fail_npy(f, "the header is longer than the file, or than 64 KiB");
    char *header = mfpg_text_copy((const char *)bytes + head, size);
    if (!header) return mfpg_fail_memory(f->ctx);
    f->values = bytes + head + size;
    f->length = length - head - size;
    mfpg_status status = parse_type(f, header);
    if (status == MFPG_OK) status = parse_shape(f, header);
    free(header);
    return status;
}

static double value_at(const npy_file *f, ptrdiff_t index) {
    const unsigned char *bytes = f->values + (size_t)index * (size_t)f->size;
    uint64_t word = 0;
    for (int i = 0; i < f->size; i++) word |= (uint64_t)bytes[f->big ? f->size - 1 - i : i] << 8 * i;
    if (f->kind == 'u' || f->kind == 'b') return (double)word;
    if (f->kind == 'i') {
        int unused = 64 - 8 * f->size;
        return (double)((int64_t)(word << unused) >> unused); /* the sign's bit fills the rest */
    }
    float single;
    double wide;
    uint32_t half = (uint32_t)word;
    memcpy(&single, &half, sizeof single);
    memcpy(&wide, &word, sizeof wide);
    return f->size == 4 ? (double)single : wide;
}

static mfpg_status fill_table(const npy_file *f, mfpg_table *table) {
    mfpg_status status = MFPG_OK;
    table->numbers =
        mfpg_alloc(f->rows * f->columns, sizeof *table->numbers); /* the file holds as many values */
    if (!table->numbers) return mfpg_fail_memory(f->ctx);
    for (ptrdiff_t i = 0; i < f->rows * f->columns; i++) table->numbers[i] = (float)value_at(f, i);
    for (ptrdiff_t j = 0; j < f->columns && status == MFPG_OK; j++)
        status = mfpg_table_name_column(f->ctx, table, 0, (mfpg_slice){"", 0}); /* c1, c2, ... */
    table->rows = f->rows;
    table->columns = f->columns;
    table->label = f->columns - 1;
    return status;
}

static mfpg_status read_npy(
    mfpg_context *ctx, const char *path, const mfpg_data_options *options, mfpg_table *table) {
    (void)options;
    char *bytes = NULL;
    size_t length = 0;
    npy_file f = {.ctx = ctx, .path = path};
    table->path = mfpg_text_copy(path, strlen(path));
    if (!table->path) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_file_read(ctx, path, MOST_BYTES, &bytes, &length);
    if (status == MFPG_OK) status = parse_file(&f, (const unsigned char *)bytes, length);
    if (status == MFPG_OK) status = fill_table(&f, table);
    free(bytes);
    return status;
}

static int sniff_npy(const unsigned char *head, size_t length) {
    return length >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

const mfpg_reader_ops mfpg_reader_npy = {
    .name = "npy",
    .help = "NumPy arrays of one or two dimensions; the label is the last column, or in a file of its own "
            "(data.labels)",
    .sniff = sniff_npy,
    .read = read_npy,
};
