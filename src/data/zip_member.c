/* The bytes of one member of a zip archive. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "zip.h"
#include "zip_fields.h"

enum { LOCAL_SIZE = 30, STORED = 0, DEFLATED = 8, MOST_EXTRA = 65535 };
enum { FLAG_ENCRYPTED = 1 << 0, FLAG_DESCRIPTOR = 1 << 3, FLAG_PATCH = 1 << 5, FLAG_STRONG = 1 << 6 };

static const char *method_word(unsigned method) {
    switch (method) {
    case 9: return " (Deflate64)";
    case 12: return " (bzip2)";
    case 14: return " (LZMA)";
    case 93: return " (Zstandard)";
    case 95: return " (xz)";
    case 99: return " (encryption)";
    }
    return "";
}

static mfpg_status check_kind(const mfpg_zip_bytes *source) {
    const mfpg_zip_member *member = source->member;
    if (member->flags & (FLAG_ENCRYPTED | FLAG_STRONG))
        return mfpg_bytes_fail(&source->bytes, "is encrypted");
    if (member->flags & FLAG_PATCH) return mfpg_bytes_fail(&source->bytes, "is a patch of another file");
    if (member->method != STORED && member->method != DEFLATED)
        return mfpg_bytes_fail(&source->bytes,
            "packed by method %u%s; read are 0 (stored) and 8 (deflate), which numpy.savez and "
            "numpy.savez_compressed write",
            member->method, method_word(member->method));
    if (member->method == STORED && member->size != member->packed)
        return mfpg_bytes_fail(&source->bytes, "stored, but with two different sizes");
    return MFPG_OK;
}

static mfpg_status read_raw(mfpg_zip_bytes *source, void *to, size_t length) {
    if (fread(to, 1, length, source->zip->file) == length) return MFPG_OK;
    return mfpg_bytes_fail(&source->bytes, "the archive ends too early");
}

/* 1 where the local header's checksum and sizes are those of the directory. Behind a member with a descriptor they may
 * be 0: its writer did not know them yet. */
static int sizes_agree(const mfpg_zip_member *member, const unsigned char *local, const unsigned char *extra,
    size_t extra_length) {
    uint64_t crc = field32(local + 14), packed = field32(local + 18), size = field32(local + 22);
    size_t length = 0;
    const unsigned char *wide = find_extra64(extra, extra_length, &length);
    if (size == UINT32_MAX && length >= 8) size = field64(wide), wide += 8, length -= 8;
    if (packed == UINT32_MAX && length >= 8) packed = field64(wide);
    if (member->flags & FLAG_DESCRIPTOR)
        return (crc == 0 || crc == member->crc) && (packed == 0 || packed == member->packed) &&
               (size == 0 || size == member->size);
    return crc == member->crc && packed == member->packed && size == member->size;
}

/* Reads the local header and leaves the file at the member's first byte. */
static mfpg_status read_local(mfpg_zip_bytes *source) {
    const mfpg_zip_member *member = source->member;
    unsigned char local[LOCAL_SIZE];
    if (fseeko(source->zip->file, (off_t)member->header, SEEK_SET) != 0)
        return mfpg_bytes_fail(&source->bytes, "cannot be read");
    mfpg_status status = read_raw(source, local, sizeof local);
    if (status != MFPG_OK) return status;
    size_t name = field16(local + 26), extra = field16(local + 28);
    unsigned char *rest = mfpg_alloc((ptrdiff_t)(name + extra), 1);
    if (!rest) return mfpg_fail_memory(source->bytes.ctx);
    status = read_raw(source, rest, name + extra);
    uint64_t begin = member->header + LOCAL_SIZE + name + extra;
    if (status == MFPG_OK && (memcmp(local, "PK\3\4", 4) != 0 || field16(local + 8) != member->method ||
                                 (field16(local + 6) & (FLAG_ENCRYPTED | FLAG_DESCRIPTOR | FLAG_STRONG)) !=
                                     (member->flags & (FLAG_ENCRYPTED | FLAG_DESCRIPTOR | FLAG_STRONG)) ||
                                 name != member->name_length || memcmp(rest, member->name, name) != 0 ||
                                 !sizes_agree(member, local, rest + name, extra)))
        status = mfpg_bytes_fail(&source->bytes,
            "its header at byte %llu of the archive contradicts the directory",
            (unsigned long long)member->header);
    if (status == MFPG_OK &&
        (begin > source->zip->directory || member->packed > source->zip->directory - begin))
        status = mfpg_bytes_fail(&source->bytes, "reaches behind the beginning of the directory");
    free(rest);
    return status;
}

/* Behind the data: a signature or none, the checksum, and the sizes in 32 or 64 bits. */
static mfpg_status check_descriptor(mfpg_zip_bytes *source) {
    const mfpg_zip_member *member = source->member;
    unsigned char bytes[24] = {0};
    if (!(member->flags & FLAG_DESCRIPTOR)) return MFPG_OK;
    size_t got = fread(bytes, 1, sizeof bytes, source->zip->file);
    for (size_t signature = 0; signature <= 4; signature += 4) {
        const unsigned char *at = bytes + signature;
        if (signature == 4 && memcmp(bytes, "PK\7\10", 4) != 0) break;
        if (field32(at) != member->crc) continue;
        if (got >= signature + 12 && field32(at + 4) == member->packed && field32(at + 8) == member->size)
            return MFPG_OK;
        if (got >= signature + 20 && field64(at + 4) == member->packed && field64(at + 12) == member->size)
            return MFPG_OK;
    }
    return mfpg_bytes_fail(&source->bytes, "the descriptor behind its data contradicts the directory");
}

static mfpg_status check_end(mfpg_zip_bytes *source) {
    const mfpg_zip_member *member = source->member;
    source->ended = 1;
    if (source->given != member->size)
        return mfpg_bytes_fail(&source->bytes, "unpacks to %llu bytes; the directory promises %llu",
            (unsigned long long)source->given, (unsigned long long)member->size);
    if (source->packed_left > 0 || source->stream.avail_in > 0)
        return mfpg_bytes_fail(&source->bytes, "its packed data end before the directory says");
    if (source->crc != member->crc)
        return mfpg_bytes_fail(&source->bytes, "its checksum is %08lx; the directory promises %08lx",
            (unsigned long)source->crc, (unsigned long)member->crc);
    return check_descriptor(source);
}

/* The next packed bytes into the buffer. */
static mfpg_status refill(mfpg_zip_bytes *source) {
    size_t length = sizeof source->buffer;
    if (source->packed_left < length) length = (size_t)source->packed_left;
    mfpg_status status = read_raw(source, source->buffer, length);
    source->stream.next_in = source->buffer;
    source->stream.avail_in = status == MFPG_OK ? (uInt)length : 0;
    source->packed_left -= length;
    return status;
}

static mfpg_status unpack(mfpg_zip_bytes *source, unsigned char *to, size_t room, size_t *got, int *last) {
    z_stream *z = &source->stream;
    z->next_out = to;
    z->avail_out = (uInt)room;
    mfpg_status status = MFPG_OK;
    int answer = Z_OK;
    while (status == MFPG_OK && z->avail_out > 0 && answer == Z_OK) {
        if (z->avail_in == 0 && source->packed_left > 0) status = refill(source);
        if (status == MFPG_OK) answer = inflate(z, Z_NO_FLUSH);
    }
    *got = room - z->avail_out;
    *last = answer == Z_STREAM_END;
    if (status != MFPG_OK || answer == Z_OK || answer == Z_STREAM_END) return status;
    if (answer == Z_MEM_ERROR) return mfpg_fail_memory(source->bytes.ctx);
    return mfpg_bytes_fail(&source->bytes,
        answer == Z_BUF_ERROR ? "its packed data end too early" : "its packed data are damaged");
}

static mfpg_status copy(mfpg_zip_bytes *source, unsigned char *to, size_t room, size_t *got, int *last) {
    *got = source->packed_left < room ? (size_t)source->packed_left : room;
    mfpg_status status = read_raw(source, to, *got);
    source->packed_left -= *got;
    *last = *got < room;
    return status;
}

static mfpg_status fill(mfpg_bytes *bytes, unsigned char *to, size_t room, size_t *got) {
    mfpg_zip_bytes *source = (mfpg_zip_bytes *)bytes;
    int last = 0;
    *got = 0;
    if (source->ended || room == 0) return MFPG_OK;
    mfpg_status status = source->member->method == DEFLATED ? unpack(source, to, room, got, &last)
                                                            : copy(source, to, room, got, &last);
    if (status != MFPG_OK) return status;
    source->given += *got;
    source->crc = (uint32_t)crc32(source->crc, to, (uInt)*got);
    if (source->given > source->member->size)
        return mfpg_bytes_fail(bytes, "unpacks to more than the %llu bytes that the directory promises",
            (unsigned long long)source->member->size);
    return last ? check_end(source) : MFPG_OK;
}

static char *member_place(const mfpg_zip *zip, const mfpg_zip_member *member) {
    char shown[MFPG_SHOWN_SIZE];
    mfpg_slice_show((mfpg_slice){member->name, member->name_length}, shown);
    size_t room = strlen(zip->path) + sizeof shown + 16;
    char *place = mfpg_alloc((ptrdiff_t)room, 1);
    if (place) snprintf(place, room, "%s: member %s", zip->path, shown);
    return place;
}

mfpg_status mfpg_zip_bytes_open(const mfpg_zip *zip, ptrdiff_t index, mfpg_zip_bytes *source) {
    const mfpg_zip_member *member = &zip->member[index];
    *source = (mfpg_zip_bytes){.bytes = {.ctx = zip->ctx, .fill = fill},
        .zip = zip,
        .member = member,
        .packed_left = member->packed,
        .where = member_place(zip, member)};
    if (!source->where) return mfpg_fail_memory(zip->ctx);
    source->bytes.where = source->where;
    mfpg_status status = check_kind(source);
    if (status == MFPG_OK) status = read_local(source);
    if (status != MFPG_OK) return status;
    source->opened = inflateInit2(&source->stream, -MAX_WBITS) == Z_OK; /* raw: no zlib header in a zip */
    return source->opened ? MFPG_OK : mfpg_fail_memory(zip->ctx);
}

void mfpg_zip_bytes_close(mfpg_zip_bytes *source) {
    if (source->opened) inflateEnd(&source->stream);
    free(source->where);
    source->opened = 0;
    source->where = NULL;
}
