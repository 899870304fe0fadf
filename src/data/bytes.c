#include "bytes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

enum { PIECE = 1 << 18 };

mfpg_status mfpg_bytes_fail(const mfpg_byte_source *source, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return mfpg_fail(source->ctx, MFPG_ERR_INPUT, "%s: byte %llu: %s", source->where,
        (unsigned long long)source->at, text);
}

mfpg_status mfpg_bytes_read(mfpg_byte_source *source, unsigned char *to, size_t length) {
    size_t got = 0;
    mfpg_status status = source->fill(source, to, length, &got);
    source->at += got;
    if (status == MFPG_OK && got < length) status = mfpg_bytes_fail(source, "the file ends too early");
    return status;
}

static mfpg_status expect_end(mfpg_byte_source *source) {
    unsigned char next;
    size_t got = 0;
    mfpg_status status = source->fill(source, &next, 1, &got);
    source->at += got;
    if (status == MFPG_OK && got > 0) status = mfpg_bytes_fail(source, "the file goes on after its values");
    return status;
}

/* ---- numbers ---- */

static double number_at(const mfpg_binary *binary, const unsigned char *bytes) {
    uint64_t word = 0;
    for (int i = 0; i < binary->size; i++)
        word |= (uint64_t)bytes[binary->big ? binary->size - 1 - i : i] << 8 * i;
    if (binary->kind == 'u' || binary->kind == 'b') return (double)word;
    if (binary->kind == 'i') {
        int unused = 64 - 8 * binary->size;
        return (double)((int64_t)(word << unused) >> unused); /* the sign's bit fills the rest */
    }
    float single;
    double wide;
    uint32_t half = (uint32_t)word;
    memcpy(&single, &half, sizeof single);
    memcpy(&wide, &word, sizeof wide);
    return binary->size == 4 ? (double)single : wide;
}

/* Unsigned bytes, the values of pictures, have a faster path. */
static void decode(const mfpg_binary *binary, const unsigned char *bytes, ptrdiff_t count, float *to) {
    if (binary->kind == 'u' && binary->size == 1)
        for (ptrdiff_t i = 0; i < count; i++) to[i] = (float)bytes[i];
    else
        for (ptrdiff_t i = 0; i < count; i++) to[i] = (float)number_at(binary, bytes + i * binary->size);
}

mfpg_status mfpg_bytes_read_numbers(
    mfpg_byte_source *source, ptrdiff_t count, const mfpg_binary *binary, float **numbers) {
    ptrdiff_t done = 0, room = 0;
    unsigned char *piece = mfpg_alloc(PIECE, 1);
    mfpg_status status = piece ? MFPG_OK : mfpg_fail_memory(source->ctx);
    while (status == MFPG_OK && done < count) {
        ptrdiff_t take = count - done < PIECE / binary->size ? count - done : PIECE / binary->size;
        status = mfpg_bytes_read(source, piece, (size_t)(take * binary->size));
        if (status == MFPG_OK && done + take > room) { /* twice as many as before, but never more than all */
            room = 2 * room > done + take ? 2 * room : done + take;
            if (room > count) room = count;
            float *larger = mfpg_resize(*numbers, room, sizeof *larger);
            if (larger)
                *numbers = larger;
            else
                status = mfpg_fail_memory(source->ctx);
        }
        if (status == MFPG_OK) decode(binary, piece, take, *numbers + done);
        done += take;
    }
    if (status == MFPG_OK) status = expect_end(source);
    free(piece);
    return status;
}

/* ---- files ---- */

/* gzread returns the available bytes; gzerror tells whether that was all or the compressed data are
 * truncated. */
static mfpg_status fill_from_file(mfpg_byte_source *source, unsigned char *to, size_t room, size_t *got) {
    gzFile file = ((mfpg_file_bytes *)source)->file;
    int count = gzread(file, to, (unsigned)room), system_code = errno, code = Z_OK;
    *got = count > 0 ? (size_t)count : 0;
    gzerror(file, &code);
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

/* zlib reads plain and compressed files alike. */
mfpg_status mfpg_file_bytes_open(mfpg_context *ctx, const char *path, mfpg_file_bytes *source) {
    FILE *file = NULL;
    *source = (mfpg_file_bytes){.bytes = {.ctx = ctx, .where = path, .fill = fill_from_file}};
    mfpg_status status = mfpg_file_open(ctx, path, &file);
    if (status != MFPG_OK) return status;
    int copy = dup(fileno(file));
    fclose(file);
    if (copy >= 0 && !(source->file = gzdopen(copy, "rb"))) close(copy);
    return source->file ? MFPG_OK : mfpg_fail_memory(ctx);
}

void mfpg_file_bytes_close(mfpg_file_bytes *source) {
    gzclose(source->file);
}
