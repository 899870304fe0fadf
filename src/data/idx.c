/* IDX, the format of MNIST: two zero bytes, a type, the number of dimensions, their sizes as big-endian 32-bit numbers,
 * and the values, first dimension slowest. Plain or compressed by gzip. Each entry of the first dimension is a row. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "bytes.h"
#include "readers.h"

enum { BYTES = 0x08, MOST_TYPE = 0x0E, MOST_DIMENSIONS = 8 };

static const struct {
    mfpg_binary binary;
    const char *words;
} types[MOST_TYPE + 1] = {
    [BYTES] = {{'u', 1, 1}, "unsigned bytes"},
    [0x09] = {{'i', 1, 1}, "signed bytes"},
    [0x0B] = {{'i', 2, 1}, "16-bit whole numbers"},
    [0x0C] = {{'i', 4, 1}, "32-bit whole numbers"},
    [0x0D] = {{'f', 4, 1}, "32-bit floats"},
    [MOST_TYPE] = {{'f', 8, 1}, "64-bit floats"},
};

typedef struct shape {
    unsigned char type;
    ptrdiff_t rows, columns;
} shape;

static int is_type(unsigned char type) {
    return type <= MOST_TYPE && types[type].words;
}

static mfpg_status read_sizes(
    mfpg_byte_source *source, int dimensions, shape *out, char *about, size_t room) {
    unsigned char bytes[4];
    double values = 1.0;
    out->rows = out->columns = 1;
    for (int i = 0; i < dimensions; i++) {
        mfpg_status status = mfpg_bytes_read(source, bytes, 4);
        if (status != MFPG_OK) return status;
        uint32_t size =
            (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
        values *= (double)size;
        if (size == 0) return mfpg_bytes_fail(source, "a dimension of size 0");
        if (values * types[out->type].binary.size > (double)MFPG_MOST_BYTES)
            return mfpg_bytes_fail(source, "more than 1 GiB of values");
        *(i == 0 ? &out->rows : &out->columns) *= (ptrdiff_t)size;
        size_t used = strlen(about);
        snprintf(about + used, room - used, "%s%u", i ? " x " : ", ", size);
    }
    if (out->columns < MFPG_MOST_COLUMNS) return MFPG_OK;
    return mfpg_bytes_fail(source, "more than 65534 numbers a row");
}

static mfpg_status read_head(mfpg_byte_source *source, shape *out, char *about, size_t room) {
    unsigned char head[4];
    mfpg_status status = mfpg_bytes_read(source, head, 4);
    if (status != MFPG_OK) return status;
    out->type = head[2];
    if (head[0] != 0 || head[1] != 0 || !is_type(head[2]))
        return mfpg_bytes_fail(source, "not an IDX file, which begins with two zero bytes and a type");
    if (head[3] < 1 || head[3] > MOST_DIMENSIONS)
        return mfpg_bytes_fail(source, "an IDX file has 1 to 8 dimensions");
    snprintf(about, room, "%s", types[out->type].words);
    return read_sizes(source, head[3], out, about, room);
}

static mfpg_status read_idx(
    mfpg_context *ctx, const char *path, const mfpg_data_options *options, mfpg_table *table) {
    (void)options;
    mfpg_notes *notes = &table->notes;
    mfpg_file_bytes f;
    shape s = {0};
    table->path = mfpg_text_copy(path, strlen(path));
    if (!table->path) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_file_bytes_open(ctx, path, &f);
    if (status != MFPG_OK) return status;
    status = read_head(&f.bytes, &s, notes->about, sizeof notes->about);
    if (status == MFPG_OK)
        status =
            mfpg_bytes_read_numbers(&f.bytes, s.rows * s.columns, &types[s.type].binary, &table->numbers);
    if (status == MFPG_OK) status = mfpg_table_shape(ctx, table, s.rows, s.columns);
    if (s.type == BYTES) table->high = UCHAR_MAX;
    mfpg_notes_add(notes, MFPG_NOTE_BIG_ENDIAN, 0);
    if (!gzdirect(f.file)) mfpg_notes_add(notes, MFPG_NOTE_GZIP, 0);
    if (s.columns > 1) mfpg_notes_add(notes, MFPG_NOTE_LAST_IS_LABEL, 0);
    mfpg_file_bytes_close(&f);
    return status;
}

/* Recognises an IDX file by its magic, or gzip by its magic, which no other reader here supports. */
static int sniff_idx(const unsigned char *head, size_t length) {
    if (length >= 2 && head[0] == 0x1F && head[1] == 0x8B) return 1;
    return length >= 8 && head[0] == 0 && head[1] == 0 && is_type(head[2]) && head[3] >= 1 &&
           head[3] <= MOST_DIMENSIONS;
}

const mfpg_reader_ops mfpg_reader_idx = {
    .name = "idx",
    .help = "the format of MNIST, plain or gzip; labels in files of their own (data.labels)",
    .arrays = 1,
    .pictures = 1,
    .unpacks = 1,
    .sniff = sniff_idx,
    .read = read_idx,
};
