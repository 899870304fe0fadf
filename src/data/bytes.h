/* A source of bytes (a file or a member of a zip archive), and numbers read from it. */
#ifndef MFPG_DATA_BYTES_H
#define MFPG_DATA_BYTES_H

#include <zlib.h>

#include "table.h"

typedef struct mfpg_byte_source mfpg_byte_source;
struct mfpg_byte_source {
    mfpg_context *ctx;
    const char *where; /* name for messages: a file, or a file and its member */
    uint64_t at;       /* bytes handed out */

    /* Writes the next bytes: `room` of them, or fewer at the end. Fails if the source is damaged. */
    mfpg_status (*fill)(mfpg_byte_source *source, unsigned char *to, size_t room, size_t *got);
};

/* Fails with MFPG_ERR_INPUT and a message that begins "WHERE: byte AT: ". Returns the status. */
mfpg_status mfpg_bytes_fail(const mfpg_byte_source *source, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Exactly length bytes. */
mfpg_status mfpg_bytes_read(mfpg_byte_source *source, unsigned char *to, size_t length);

/* How a number is written in binary. */
typedef struct mfpg_binary {
    char kind; /* f: IEEE, i: two's complement, u: unsigned, b: 0 or 1; 0: not a number */
    int size;  /* bytes: 4 or 8 of f, 1 of b, else 1, 2, 4 or 8 */
    int big;   /* 1: the highest byte comes first */
} mfpg_binary;

/* Reads the rest of the source, which must be count >= 1 numbers, into *numbers: NULL on entry, freed by the
 * caller, also after a failure. Memory is allocated as the bytes arrive, so a header cannot make it allocate
 * more than the source contains. count x size is at most MFPG_MOST_BYTES. */
mfpg_status mfpg_bytes_read_numbers(
    mfpg_byte_source *source, ptrdiff_t count, const mfpg_binary *binary, float **numbers);

/* A file, plain or compressed by gzip. */
typedef struct mfpg_file_bytes {
    mfpg_byte_source bytes; /* first, so that both have one address */
    gzFile file;
} mfpg_file_bytes;

/* Close it after success. path is borrowed. */
mfpg_status mfpg_file_bytes_open(mfpg_context *ctx, const char *path, mfpg_file_bytes *source);
void mfpg_file_bytes_close(mfpg_file_bytes *source);

/* ---- zip archives: members stored or deflated, sizes of 32 or 64 bits (APPNOTE.TXT 6.3.10 of PKWARE) ---- */

typedef struct mfpg_zip_member {
    mfpg_slice name; /* in the archive */
    unsigned flags, method;
    uint32_t crc;
    uint64_t packed, size; /* bytes in the archive, and unpacked */
    uint64_t header;       /* offset of the local header */
} mfpg_zip_member;

typedef struct mfpg_zip {
    mfpg_context *ctx;
    const char *path;    /* borrowed */
    unsigned char *file; /* the whole archive */
    uint64_t length;     /* of the file */
    uint64_t directory;  /* offset of the central directory, before which all members end */
    mfpg_zip_member *member;
    ptrdiff_t members;
} mfpg_zip;

enum { MFPG_ZIP_MOST_MEMBERS = 4096 };

/* Reads an archive and its central directory, which is the authority: local headers, data descriptors, sizes and checksums
 * must agree with it. zip is all zero on entry; close it, also after a failure. MFPG_ERR_INPUT with the offset of what is
 * wrong: not an archive, one of several parts, one of more than MFPG_ZIP_MOST_MEMBERS members, a directory that does not
 * fit, a name that occurs twice. */
mfpg_status mfpg_zip_open(mfpg_context *ctx, const char *path, mfpg_zip *zip);
void mfpg_zip_close(mfpg_zip *zip);

/* The bytes of a member, unpacked as they are asked for. At its end the checksum and the sizes are checked. */
typedef struct mfpg_zip_bytes {
    mfpg_byte_source bytes; /* first, so that both have one address */
    const mfpg_zip *zip;
    const mfpg_zip_member *member;
    char where[1024];
    z_stream stream;
    int opened, ended;
    uint64_t given;
    uint32_t crc;
} mfpg_zip_bytes;

/* MFPG_ERR_INPUT if the member is encrypted, packed by another method, or its local header contradicts the directory. Close
 * it, also after a failure. */
mfpg_status mfpg_zip_bytes_open(const mfpg_zip *zip, ptrdiff_t index, mfpg_zip_bytes *source);
void mfpg_zip_bytes_close(mfpg_zip_bytes *source);

#endif
