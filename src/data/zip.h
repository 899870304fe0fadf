/* Zip archives as far as data files need them: members stored or deflated, sizes of 32 or 64 bits (APPNOTE.TXT 6.3.10 of
 * PKWARE). The central directory is the authority; local headers, data descriptors, sizes and checksums must agree with
 * it. */
#ifndef MFPG_DATA_ZIP_H
#define MFPG_DATA_ZIP_H

#include <stdio.h>
#include <zlib.h>

#include "bytes.h"
#include "slice.h"

typedef struct mfpg_zip_member {
    char *name; /* name_length bytes, and a closing 0 */
    size_t name_length;
    unsigned flags, method;
    uint32_t crc;
    uint64_t packed, size; /* bytes in the archive, and unpacked */
    uint64_t header;       /* offset of the local header */
    uint64_t entry;        /* offset of the entry in the central directory, for messages */
} mfpg_zip_member;

typedef struct mfpg_zip {
    mfpg_context *ctx;
    const char *path; /* borrowed */
    FILE *file;
    uint64_t length;    /* of the file */
    uint64_t directory; /* where the central directory begins: members end before it */
    mfpg_zip_member *member;
    ptrdiff_t members, room;
} mfpg_zip;

enum { MFPG_ZIP_MOST_MEMBERS = 4096 };

/* Opens an archive and reads its central directory. zip is all zero on entry; close it, also after a failure.
 * MFPG_ERR_INPUT with the offset of what is wrong: no archive, one of several parts, one of more than
 * MFPG_ZIP_MOST_MEMBERS members, a directory that does not fit, a name that stands twice. */
mfpg_status mfpg_zip_open(mfpg_context *ctx, const char *path, mfpg_zip *zip);
void mfpg_zip_close(mfpg_zip *zip);

/* The bytes of a member, unpacked as they are asked for. At its end the checksum and the sizes are checked. */
typedef struct mfpg_zip_bytes {
    mfpg_bytes bytes; /* first, so that both have one address */
    const mfpg_zip *zip;
    const mfpg_zip_member *member;
    char *where;
    z_stream stream;
    int opened, ended;
    uint64_t packed_left, given;
    uint32_t crc;
    unsigned char buffer[1 << 14];
} mfpg_zip_bytes;

/* Opens a member; one at a time. MFPG_ERR_INPUT where it is encrypted, packed by another method, or its local header
 * contradicts the directory. Close it, also after a failure. */
mfpg_status mfpg_zip_bytes_open(const mfpg_zip *zip, ptrdiff_t index, mfpg_zip_bytes *source);
void mfpg_zip_bytes_close(mfpg_zip_bytes *source);

#endif
