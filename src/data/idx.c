/* IDX, the format of MNIST: two zero bytes, a type, the number of dimensions, their sizes as big-endian 32-bit numbers,
 * and the values, first dimension slowest. Plain or compressed by gzip. Each entry of the first dimension is a row. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "bytes.h"
#include "readers.h"

enum { MOST_DIMENSIONS = 8 };

typedef struct idx_file {
    mfpg_bytes bytes; /* first, so that both have one address */
    gzFile file;
    unsigned char type;
    int size; /* bytes a value */
    ptrdiff_t rows, columns;
} idx_file;

static uint32_t big_endian(const unsigned char *bytes, int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; i++) value = value << 8 | bytes[i];
    return value;
}

/* Bytes of a value of that type; 0 for a type that is none. */
static int value_size(unsigned char type) {
    switch (type) {
    case 0x08: /* unsigned byte */
    case 0x09: return 1;
    case 0x0B: return 2;
    case 0x0C:
    case 0x0D: return 4;
    case 0x0E: return 8;
    }
    return 0;
}

static const char *type_word(unsigned char type) {
    switch (type) {
    case 0x08: return "unsigned bytes";
    case 0x09: return "signed bytes";
    case 0x0B: return "16-bit whole numbers";
    case 0x0C: return "32-bit whole numbers";
    case 0x0D: return "32-bit floats";
    }
    return "64-bit floats";
}

static double value_at(unsigned char type, const unsigned char *bytes) {
    uint32_t word = big_endian(bytes, value_size(type) > 4 ? 4 : value_size(type));
    float single;
    double wide;
    uint64_t both;
    switch (type) {
    case 0x08: return (double)word;
    case 0x09: return (double)(int8_t)word;
    case 0x0B: return (double)(int16_t)word;
    case 0x0C: return (double)(int32_t)word;
    case 0x0D: memcpy(&single, &word, sizeof single); return (double)single;
    default:
        both = (uint64_t)word << 32 | big_endian(bytes + 4, 4);
        memcpy(&wide, &both, sizeof wide);
        return wide;
    }
}

/* gzread hands out what there is; whether that was all, or the file ends within its compressed data, it says apart. */
static mfpg_status fill(mfpg_bytes *source, unsigned char *to, size_t room, size_t *got) {
    idx_file *f = (idx_file *)source;
    int count = gzread(f->file, to, (unsigned)room), system_code = errno, code = Z_OK;
    *got = count > 0 ? (size_t)count : 0;
    gzerror(f->file, &code);
    if (*got == room) return MFPG_OK;
    if (code == Z_MEM_ERROR) return mfpg_fail_memory(source->ctx);
    source->at += *got;
    if (code == Z_BUF_ERROR)
        return mfpg_bytes_fail(source, "the file ends too early, within compressed data");
    if (code == Z_ERRNO) return mfpg_file_fail_read(source->ctx, source->where, system_code);
    if (count < 0 || code != Z_OK) return mfpg_bytes_fail(source, "the compressed data are damaged");
    source->at -= *got;
    return MFPG_OK;
}

static mfpg_status read_sizes(idx_file *f, int dimensions, char *about, size_t room) {
    unsigned char bytes[4];
    double values = 1.0;
    f->rows = f->columns = 1;
    for (int i = 0; i < dimensions; i++) {
        mfpg_status status = mfpg_bytes_read(&f->bytes, bytes, 4);
        if (status != MFPG_OK) return status;
        uint32_t size = big_endian(bytes, 4);
        values *= (double)size;
        if (size == 0) return mfpg_bytes_fail(&f->bytes, "a dimension of size 0");
        if (values * f->size > (double)MFPG_MOST_BYTES)
            return mfpg_bytes_fail(&f->bytes, "more than 1 GiB of values");
        if (i == 0)
            f->rows = (ptrdiff_t)size;
        else
            f->columns *= (ptrdiff_t)size;
        size_t used = strlen(about);
        snprintf(about + used, room - used, "%s%u", i ? " x " : ", ", size);
    }
    return f->columns < MFPG_MOST_COLUMNS ? MFPG_OK
                                          : mfpg_bytes_fail(&f->bytes, "more than 65534 numbers a row");
}

static mfpg_status read_head(idx_file *f, char *about, size_t room) {
    unsigned char head[4];
    mfpg_status status = mfpg_bytes_read(&f->bytes, head, 4);
    if (status != MFPG_OK) return status;
    f->type = head[2];
    f->size = value_size(f->type);
    if (head[0] != 0 || head[1] != 0 || f->size == 0)
        return mfpg_bytes_fail(&f->bytes, "this is no IDX file: it begins with two zero bytes and a type");
    if (head[3] < 1 || head[3] > MOST_DIMENSIONS)
        return mfpg_bytes_fail(&f->bytes, "an IDX file has 1 to 8 dimensions");
    snprintf(about, room, "%s", type_word(f->type));
    return read_sizes(f, head[3], about, room);
}

static void decode(const void *format, const unsigned char *bytes, ptrdiff_t count, float *to) {
    const idx_file *f = format;
    for (ptrdiff_t i = 0; i < count; i++) to[i] = (float)value_at(f->type, bytes + i * f->size);
}

static mfpg_status name_columns(idx_file *f, mfpg_table *table) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t j = 0; j < f->columns && status == MFPG_OK; j++)
        status = mfpg_table_name_column(f->bytes.ctx, table, 0, (mfpg_slice){"", 0}); /* c1, c2, ... */
    table->rows = f->rows;
    table->columns = f->columns;
    table->label = f->columns - 1;
    if (f->type == 0x08) table->high = UCHAR_MAX;
    return status;
}

/* zlib reads plain and compressed files alike. */
static mfpg_status open_idx(idx_file *f, const char *path) {
    FILE *file = NULL;
    mfpg_status status = mfpg_file_open(f->bytes.ctx, path, &file);
    if (status != MFPG_OK) return status;
    int copy = dup(fileno(file));
    fclose(file);
    if (copy >= 0 && !(f->file = gzdopen(copy, "rb"))) close(copy);
    return f->file ? MFPG_OK : mfpg_fail_memory(f->bytes.ctx);
}

static mfpg_status read_idx(
    mfpg_context *ctx, const char *path, const mfpg_data_options *options, mfpg_table *table) {
    (void)options;
    mfpg_notes *notes = &table->notes;
    idx_file f = {.bytes = {.ctx = ctx, .where = path, .fill = fill}};
    table->path = mfpg_text_copy(path, strlen(path));
    if (!table->path) return mfpg_fail_memory(ctx);
    mfpg_status status = open_idx(&f, path);
    if (status != MFPG_OK) return status;
    status = read_head(&f, notes->about, sizeof notes->about);
    if (status == MFPG_OK)
        status = mfpg_bytes_read_values(&f.bytes, f.rows * f.columns, f.size, decode, &f, &table->numbers);
    if (status == MFPG_OK) status = name_columns(&f, table);
    mfpg_notes_add(notes, MFPG_NOTE_BIG_ENDIAN, 0);
    if (!gzdirect(f.file)) mfpg_notes_add(notes, MFPG_NOTE_GZIP, 0);
    if (f.columns > 1) mfpg_notes_add(notes, MFPG_NOTE_LAST_IS_LABEL, 0);
    gzclose(f.file);
    return status;
}

/* The magic of an IDX file, or that of gzip, which no other reader here knows. */
static int sniff_idx(const unsigned char *head, size_t length) {
    if (length >= 2 && head[0] == 0x1F && head[1] == 0x8B) return 1;
    return length >= 8 && head[0] == 0 && head[1] == 0 && value_size(head[2]) > 0 && head[3] >= 1 &&
           head[3] <= MOST_DIMENSIONS;
}

const mfpg_reader_ops mfpg_reader_idx = {
    .name = "idx",
    .help = "the format of MNIST, plain or gzip; labels in files of their own (data.labels)",
    .arrays = 1,
    .pictures = 1,
    .sniff = sniff_idx,
    .read = read_idx,
};
