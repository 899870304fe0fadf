#include "bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

enum { PIECE = 1 << 18 };

mfpg_status mfpg_bytes_fail(const mfpg_bytes *source, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return mfpg_fail(source->ctx, MFPG_ERR_INPUT, "%s: byte %llu: %s", source->where,
        (unsigned long long)source->at, text);
}

mfpg_status mfpg_bytes_read(mfpg_bytes *source, unsigned char *to, size_t length) {
    size_t got = 0;
    mfpg_status status = source->fill(source, to, length, &got);
    source->at += got;
    if (status == MFPG_OK && got < length) status = mfpg_bytes_fail(source, "the file ends too early");
    return status;
}

static mfpg_status expect_end(mfpg_bytes *source) {
    unsigned char next;
    size_t got = 0;
    mfpg_status status = source->fill(source, &next, 1, &got);
    source->at += got;
    if (status == MFPG_OK && got > 0) status = mfpg_bytes_fail(source, "the file goes on behind its values");
    return status;
}

/* Room for needed numbers: twice as many as before, but never more than all. */
static mfpg_status make_room(
    mfpg_bytes *source, ptrdiff_t needed, ptrdiff_t all, ptrdiff_t *room, float **numbers) {
    if (needed <= *room) return MFPG_OK;
    ptrdiff_t larger = 2 * *room > needed ? 2 * *room : needed;
    if (larger > all) larger = all;
    float *moved = mfpg_resize(*numbers, larger, sizeof *moved);
    if (!moved) return mfpg_fail_memory(source->ctx);
    *numbers = moved;
    *room = larger;
    return MFPG_OK;
}

mfpg_status mfpg_bytes_read_values(
    mfpg_bytes *source, ptrdiff_t count, int size, mfpg_decode *decode, const void *format, float **numbers) {
    ptrdiff_t done = 0, room = 0;
    unsigned char *piece = mfpg_alloc(PIECE, 1);
    mfpg_status status = piece ? MFPG_OK : mfpg_fail_memory(source->ctx);
    while (status == MFPG_OK && done < count) {
        ptrdiff_t take = count - done < PIECE / size ? count - done : PIECE / size;
        status = mfpg_bytes_read(source, piece, (size_t)(take * size));
        if (status == MFPG_OK) status = make_room(source, done + take, count, &room, numbers);
        if (status == MFPG_OK) decode(format, piece, take, *numbers + done);
        done += take;
    }
    if (status == MFPG_OK) status = expect_end(source);
    free(piece);
    return status;
}
