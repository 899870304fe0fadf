/* Bytes that arrive one after the other, from a file, a gzip file or a member of an archive, and values made of them. */
#ifndef MFPG_DATA_BYTES_H
#define MFPG_DATA_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/context.h"

typedef struct mfpg_bytes mfpg_bytes;
struct mfpg_bytes {
    mfpg_context *ctx;
    const char *where; /* for messages: a file, or a file and its member */
    uint64_t at;       /* bytes handed out */

    /* Writes the next bytes, room of them or, at the end only, fewer. Fails where the source is damaged. */
    mfpg_status (*fill)(mfpg_bytes *source, unsigned char *to, size_t room, size_t *got);
};

/* No file holds more values than this many bytes. */
#define MFPG_MOST_BYTES ((uint64_t)1 << 30)

/* MFPG_ERR_INPUT with "WHERE: byte AT: " in front. Returns the status. */
mfpg_status mfpg_bytes_fail(const mfpg_bytes *source, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Exactly length bytes. */
mfpg_status mfpg_bytes_read(mfpg_bytes *source, unsigned char *to, size_t length);

/* Turns count values into numbers; format says what the bytes are. */
typedef void mfpg_decode(const void *format, const unsigned char *bytes, ptrdiff_t count, float *to);

/* The rest of the source, which is count >= 1 values of size bytes, into *numbers: NULL on entry, the caller's to free,
 * also after a failure. Memory is asked for as the bytes arrive, so that a header cannot ask for more than the source
 * can fill. count x size is at most MFPG_MOST_BYTES. */
mfpg_status mfpg_bytes_read_values(
    mfpg_bytes *source, ptrdiff_t count, int size, mfpg_decode *decode, const void *format, float **numbers);

#endif
