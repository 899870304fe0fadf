/* IDX, the format of MNIST: two zero bytes, a type, the number of dimensions, their sizes as big-endian 32-bit numbers,
 * and the values, first dimension slowest. Plain or compressed by gzip. Each entry of the first dimension is a row. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "mfpg/context.h"
#include "readers.h"

enum { MOST_DIMENSIONS = 8, PIECE = 1 << 20 };
static const double MOST_BYTES = 1 << 30;

typedef struct idx_file {
    mfpg_context *ctx;
    const char *path;
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

static mfpg_status fail_at(const idx_file *f, const char *what) {
    return mfpg_fail(f->ctx, MFPG_ERR_INPUT, "%s: byte %lld: %s", f->path, (long long)gztell(f->file), what);
}

/* Exactly length bytes, or an error that tells where the file ends. */
static mfpg_status read_bytes(idx_file *f, unsigned char *bytes, int length) {
    int got = gzread(f->file, bytes, (unsigned)length);
    if (got == length) return MFPG_OK;
    return fail_at(f, got < 0 ? "the compressed data are damaged" : "the file ends too early");
}

static mfpg_status read_sizes(idx_file *f, int dimensions) {
    unsigned char bytes[4];
    double values = 1.0;
    f->rows = f->columns = 1;
    for (int i = 0; i < dimensions; i++) {
        mfpg_status status = read_bytes(f, bytes, 4);
        if (status != MFPG_OK) return status;
        uint32_t size = big_endian(bytes, 4);
        values *= (double)size;
        if (size == 0) return fail_at(f, "a dimension of size 0");
        if (values * f->size > MOST_BYTES) return fail_at(f, "more than 1 GiB of values");
        if (i == 0)
            f->rows = (ptrdiff_t)size;
        else
            f->columns *= (ptrdiff_t)size;
    }
    return f->columns < MFPG_MOST_COLUMNS ? MFPG_OK : fail_at(f, "more than 65534 numbers a row");
}

static mfpg_status read_head(idx_file *f) {
    unsigned char head[4];
    mfpg_status status = read_bytes(f, head, 4);
    if (status != MFPG_OK) return status;
    f->type = head[2];
    f->size = value_size(f->type);
    if (head[0] != 0 || head[1] != 0 || f->size == 0) return fail_at(f, "this is no IDX file");
    if (head[3] < 1 || head[3] > MOST_DIMENSIONS) return fail_at(f, "an IDX file has 1 to 8 dimensions");
    return read_sizes(f, head[3]);
}

/* The values, a piece at a time: memory is asked for only as far as the file has filled it. */
static mfpg_status read_values(idx_file *f, float **numbers) {
    ptrdiff_t count = f->rows * f->columns, done = 0, room = 0;
    unsigned char *piece = mfpg_alloc(PIECE, 1);
    mfpg_status status = piece ? MFPG_OK : mfpg_fail_memory(f->ctx);
    while (status == MFPG_OK && done < count) {
        ptrdiff_t take = count - done < PIECE / f->size ? count - done : PIECE / f->size;
        status = read_bytes(f, piece, (int)take * f->size);
        if (status == MFPG_OK && done + take > room) {
            room = done + take > 2 * room ? done + take : 2 * room;
            float *larger = mfpg_resize(*numbers, room < count ? room : count, sizeof *larger);
            if (larger) *numbers = larger;
            if (!larger) status = mfpg_fail_memory(f->ctx);
        }
        for (ptrdiff_t i = 0; i < take && status == MFPG_OK; i++)
            (*numbers)[done + i] = (float)value_at(f->type, piece + i * f->size);
        done += take;
    }
    if (status == MFPG_OK && gzread(f->file, piece, 1) != 0)
        status = fail_at(f, "the file goes on behind its values");
    free(piece);
    return status;
}

static mfpg_status name_columns(idx_file *f, mfpg_table *table) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t j = 0; j < f->columns && status == MFPG_OK; j++)
        status = mfpg_table_name_column(f->ctx, table, 0, (mfpg_slice){"", 0}); /* c1, c2, ... */
    table->rows = f->rows;
    table->columns = f->columns;
    table->label = f->columns - 1;
    if (f->type == 0x08) table->high = UCHAR_MAX;
    return status;
}

static mfpg_status read_idx(
    mfpg_context *ctx, const char *path, const mfpg_data_options *options, mfpg_table *table) {
    (void)options;
    idx_file f = {.ctx = ctx, .path = path, .file = gzopen(path, "rb")};
    table->path = mfpg_text_copy(path, strlen(path));
    if (!table->path || !f.file) {
        if (f.file) gzclose(f.file);
        return table->path ? mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: cannot be opened", path)
                           : mfpg_fail_memory(ctx);
    }
    mfpg_status status = read_head(&f);
    if (status == MFPG_OK) status = read_values(&f, &table->numbers);
    if (status == MFPG_OK) status = name_columns(&f, table);
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
    .sniff = sniff_idx,
    .read = read_idx,
};
