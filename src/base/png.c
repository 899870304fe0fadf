/* Grey pictures as PNG files: eight bits a pixel, no filter, one block of data. */
#include "file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "error.h"
#include "memory.h"

static const unsigned char SIGNATURE[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

enum { MOST_SIDE = 1 << 15, HEADER = 13, AROUND = 12 }; /* AROUND: length, name and checksum of a chunk */

static void put_number(unsigned char *at, uint32_t value) {
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* Completes the chunk whose data are already at at + 8; returns the byte after it. */
static unsigned char *close_chunk(unsigned char *at, const char *name, uint32_t length) {
    put_number(at, length);
    memcpy(at + 4, name, 4);
    put_number(at + 8 + length, (uint32_t)crc32(0, at + 4, length + 4));
    return at + AROUND + length;
}

mfpg_status mfpg_png_grey(mfpg_context *ctx, ptrdiff_t width, ptrdiff_t height, const unsigned char *pixel,
    unsigned char **bytes, size_t *size) {
    if (width < 1 || height < 1 || width > MOST_SIDE || height > MOST_SIDE)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "a picture of %td x %td pixels; sides are from 1 to %d", width,
            height, (int)MOST_SIDE);
    uLong plain = (uLong)(height * (width + 1)), packed = compressBound(plain);
    unsigned char *rows = mfpg_alloc((ptrdiff_t)plain, 1);
    unsigned char *file = mfpg_alloc((ptrdiff_t)(sizeof SIGNATURE + HEADER + 3 * AROUND + packed), 1),
                  *at = file;
    mfpg_status status = MFPG_OK;
    if (!rows || !file) {
        status = mfpg_fail_memory(ctx);
        goto done;
    }
    for (ptrdiff_t r = 0; r < height; r++) /* each row begins with the number of its filter: 0, none */
        memcpy(rows + r * (width + 1) + 1, pixel + r * width, (size_t)width);
    memcpy(at, SIGNATURE, sizeof SIGNATURE);
    at += sizeof SIGNATURE;
    put_number(at + 8, (uint32_t)width);
    put_number(at + 12, (uint32_t)height);
    /* eight bits per pixel; then colour type 0 (grey), and 0 for compression, filters and interlacing */
    at[16] = 8;
    at = close_chunk(at, "IHDR", HEADER);
    if (compress2(at + 8, &packed, rows, plain, 9) != Z_OK) {
        status = mfpg_fail_memory(ctx); /* the only possible failure, because the memory is large enough */
        goto done;
    }
    at = close_chunk(at, "IDAT", (uint32_t)packed);
    at = close_chunk(at, "IEND", 0);
    *bytes = file;
    *size = (size_t)(at - file);
done:
    free(rows);
    if (status != MFPG_OK) free(file);
    return status;
}
