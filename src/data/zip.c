/* Zip archives: the directory, and the bytes of one member. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "bytes.h"

/* Sizes of records, in bytes. */
enum {
    END_SIZE = 22,
    LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    MOST_COMMENT = 65535,
    MOST_DIRECTORY = 1 << 24
};
enum { STORED = 0, DEFLATED = 8 };
enum { FLAG_ENCRYPTED = 1 << 0, FLAG_DESCRIPTOR = 1 << 3, FLAG_PATCH = 1 << 5, FLAG_STRONG = 1 << 6 };
static const unsigned LOCAL_FLAGS = FLAG_ENCRYPTED | FLAG_DESCRIPTOR | FLAG_STRONG;

/* ---- little-endian fields ---- */

static uint32_t field16(const unsigned char *at) {
    return at[0] | (uint32_t)at[1] << 8;
}

static uint32_t field32(const unsigned char *at) {
    return field16(at) | field16(at + 2) << 16;
}

static uint64_t field64(const unsigned char *at) {
    return field32(at) | (uint64_t)field32(at + 4) << 32;
}

/* Values of 0xFFFFFFFF are stored with 64 bits in an extra field of kind 1, in the given order. Returns 0 if
 * it lacks one of them. */
static int read_extra64(const unsigned char *extra, size_t length, uint64_t **wanted, int count) {
    size_t wide = 0, size = 0;
    for (; length >= 4; extra += 4 + size, length -= 4 + size) {
        size = field16(extra + 2);
        if (size > length - 4) break;
        if (field16(extra) != 1) continue;
        wide = size;
        extra += 4;
        break;
    }
    for (int i = 0; i < count; i++) {
        if (*wanted[i] != UINT32_MAX) continue;
        if (wide < 8) return 0;
        *wanted[i] = field64(extra);
        extra += 8;
        wide -= 8;
    }
    return 1;
}

/* ---- the directory ---- */

/* What the end of the archive says about the directory. */
typedef struct directory_end {
    uint64_t at; /* offset of the record itself */
    uint64_t members, size, begin;
} directory_end;

static mfpg_status fail_at(const mfpg_zip *zip, uint64_t at, const char *what) {
    return mfpg_fail(zip->ctx, MFPG_ERR_INPUT, "%s: byte %llu: %s", zip->path, (unsigned long long)at, what);
}

/* Returns the record at the end of the archive, followed only by the archive's comment; NULL if there is
 * none. */
static const unsigned char *find_end(const mfpg_zip *zip) {
    for (uint64_t after = END_SIZE; after <= zip->length && after <= END_SIZE + MOST_COMMENT; after++) {
        const unsigned char *record = zip->file + zip->length - after;
        if (memcmp(record, "PK\5\6", 4) == 0 && field16(record + 20) == after - END_SIZE) return record;
    }
    return NULL;
}

/* Reads the 64-bit record, to which a locator in front of the end record points. */
static mfpg_status read_end64(const mfpg_zip *zip, directory_end *end) {
    uint64_t place = end->at - LOCATOR_SIZE;
    if (end->at < LOCATOR_SIZE || memcmp(zip->file + place, "PK\6\7", 4) != 0)
        return fail_at(zip, end->at, "no 64-bit directory in front of the end");
    const unsigned char *locator = zip->file + place;
    if (field32(locator + 4) != 0 || field32(locator + 16) > 1)
        return fail_at(zip, place, "an archive of several parts");
    end->at = field64(locator + 8);
    if (end->at > place || place - end->at < END64_SIZE)
        return fail_at(zip, place, "the 64-bit directory does not come before its locator");
    const unsigned char *record = zip->file + end->at;
    if (memcmp(record, "PK\6\6", 4) != 0) return fail_at(zip, end->at, "no 64-bit end of the directory");
    if (field32(record + 16) != 0 || field32(record + 20) != 0 ||
        field64(record + 24) != field64(record + 32))
        return fail_at(zip, end->at, "an archive of several parts");
    end->members = field64(record + 32);
    end->size = field64(record + 40);
    end->begin = field64(record + 48);
    return MFPG_OK;
}

static mfpg_status read_end(const mfpg_zip *zip, directory_end *end) {
    const unsigned char *record = find_end(zip);
    if (!record)
        return fail_at(zip, zip->length,
            "the archive's directory is missing at the end of the file: it is cut short, or not a zip "
            "archive");
    *end = (directory_end){
        (uint64_t)(record - zip->file), field16(record + 10), field32(record + 12), field32(record + 16)};
    int wide = end->members == UINT16_MAX || end->size == UINT32_MAX || end->begin == UINT32_MAX;
    if (!wide &&
        (field16(record + 4) != 0 || field16(record + 6) != 0 || field16(record + 8) != end->members))
        return fail_at(zip, end->at, "an archive of several parts");
    mfpg_status status = wide ? read_end64(zip, end) : MFPG_OK;
    if (status != MFPG_OK) return status;
    if (end->begin > end->at || end->size > end->at - end->begin)
        return fail_at(zip, end->at, "the directory goes past its end");
    if (end->members > MFPG_ZIP_MOST_MEMBERS || end->size > MOST_DIRECTORY)
        return fail_at(zip, end->at, "more than 4096 members, or a directory of more than 16 MiB");
    return MFPG_OK;
}

/* Reads the entry at *at, and moves *at past it. */
static mfpg_status read_entry(mfpg_zip *zip, uint64_t *at, uint64_t end) {
    const unsigned char *entry = zip->file + *at;
    if (end - *at < ENTRY_SIZE || memcmp(entry, "PK\1\2", 4) != 0)
        return fail_at(zip, *at, "no entry of the directory, although the end of the archive promises one");
    size_t name = field16(entry + 28), extra = field16(entry + 30), comment = field16(entry + 32);
    if (name + extra + comment > end - *at - ENTRY_SIZE)
        return fail_at(zip, *at, "an entry goes past the end of the directory");
    mfpg_zip_member member = {.name = {(const char *)entry + ENTRY_SIZE, name},
        .flags = field16(entry + 8),
        .method = field16(entry + 10),
        .crc = field32(entry + 16),
        .packed = field32(entry + 20),
        .size = field32(entry + 24),
        .header = field32(entry + 42)};
    if (!read_extra64(entry + ENTRY_SIZE + name, extra,
            (uint64_t *[]){&member.size, &member.packed, &member.header}, 3))
        return fail_at(zip, *at, "an entry without its 64-bit sizes");
    unsigned disk = field16(entry + 34);
    if (disk != 0 && disk != UINT16_MAX) return fail_at(zip, *at, "an archive of several parts");
    if (member.header > zip->directory || member.packed > zip->directory - member.header)
        return fail_at(zip, *at, "a member goes past the beginning of the directory");
    for (ptrdiff_t i = 0; i < zip->members; i++)
        if (mfpg_slice_equal(zip->member[i].name, member.name))
            return fail_at(zip, *at, "a name that occurs twice in the archive");
    zip->member[zip->members++] = member;
    *at += ENTRY_SIZE + name + extra + comment;
    return MFPG_OK;
}

mfpg_status mfpg_zip_open(mfpg_context *ctx, const char *path, mfpg_zip *zip) {
    char *text = NULL;
    size_t length = 0;
    directory_end end = {0};
    zip->ctx = ctx;
    zip->path = path;
    mfpg_status status = mfpg_file_read(ctx, path, MFPG_MOST_BYTES, &text, &length);
    zip->file = (unsigned char *)text;
    zip->length = length;
    if (status == MFPG_OK) status = read_end(zip, &end);
    if (status != MFPG_OK) return status;
    uint64_t at = zip->directory = end.begin;
    zip->member = mfpg_alloc((ptrdiff_t)end.members, sizeof *zip->member);
    if (!zip->member) return mfpg_fail_memory(ctx);
    for (uint64_t i = 0; i < end.members && status == MFPG_OK; i++)
        status = read_entry(zip, &at, end.begin + end.size);
    if (status == MFPG_OK && at != end.begin + end.size)
        status = fail_at(zip, at, "the directory goes on after its last member");
    return status;
}

void mfpg_zip_close(mfpg_zip *zip) {
    free(zip->member);
    free(zip->file);
    *zip = (mfpg_zip){0};
}

/* ---- the bytes of a member ---- */

static mfpg_status check_kind(const mfpg_zip_bytes *source) {
    static const char *const methods[] = {[9] = " (Deflate64)",
        [12] = " (bzip2)",
        [14] = " (LZMA)",
        [93] = " (Zstandard)",
        [95] = " (xz)",
        [99] = " (encryption)"};
    const mfpg_zip_member *member = source->member;
    if (member->flags & (FLAG_ENCRYPTED | FLAG_STRONG))
        return mfpg_bytes_fail(&source->bytes, "is encrypted");
    if (member->flags & FLAG_PATCH) return mfpg_bytes_fail(&source->bytes, "is a patch of another file");
    if (member->method == STORED && member->size != member->packed)
        return mfpg_bytes_fail(&source->bytes, "stored, but with two different sizes");
    if (member->method == STORED || member->method == DEFLATED) return MFPG_OK;
    const char *word = member->method < sizeof methods / sizeof methods[0] ? methods[member->method] : NULL;
    return mfpg_bytes_fail(&source->bytes,
        "packed by method %u%s; read are 0 (stored) and 8 (deflate), which numpy.savez and "
        "numpy.savez_compressed write",
        member->method, word ? word : "");
}

/* 1 if the local header's checksum and sizes are those of the directory. If a descriptor follows the member they may be 0:
 * its writer did not know them yet. */
static int sizes_agree(const mfpg_zip_member *member, const unsigned char *local, const unsigned char *extra,
    size_t extra_length) {
    uint64_t crc = field32(local + 14), packed = field32(local + 18), size = field32(local + 22);
    read_extra64(extra, extra_length, (uint64_t *[]){&size, &packed}, 2);
    int later = (member->flags & FLAG_DESCRIPTOR) != 0;
    return (crc == member->crc || (later && crc == 0)) &&
           (packed == member->packed || (later && packed == 0)) &&
           (size == member->size || (later && size == 0));
}

/* Checks the local header, and points the stream to the packed bytes, which come after it. */
static mfpg_status read_local(mfpg_zip_bytes *source) {
    const mfpg_zip *zip = source->zip;
    const mfpg_zip_member *member = source->member;
    const unsigned char *local = zip->file + member->header;
    uint64_t begin = member->header + LOCAL_SIZE;
    if (begin > zip->length) return mfpg_bytes_fail(&source->bytes, "the archive ends too early");
    size_t name = field16(local + 26), extra = field16(local + 28);
    begin += name + extra;
    if (begin > zip->length) return mfpg_bytes_fail(&source->bytes, "the archive ends too early");
    mfpg_slice own_name = {(const char *)local + LOCAL_SIZE, name};
    if (memcmp(local, "PK\3\4", 4) != 0 || field16(local + 8) != member->method ||
        (field16(local + 6) & LOCAL_FLAGS) != (member->flags & LOCAL_FLAGS) ||
        !mfpg_slice_equal(own_name, member->name) ||
        !sizes_agree(member, local, local + LOCAL_SIZE + name, extra))
        return mfpg_bytes_fail(&source->bytes,
            "its header at byte %llu of the archive contradicts the directory",
            (unsigned long long)member->header);
    if (begin > zip->directory || member->packed > zip->directory - begin)
        return mfpg_bytes_fail(&source->bytes, "goes past the beginning of the directory");
    source->stream.next_in = zip->file + begin;
    source->stream.avail_in = (uInt)member->packed;
    return MFPG_OK;
}

/* Checks what follows the data: a signature or none, the checksum, and the sizes in 32 or 64 bits. */
static mfpg_status check_descriptor(const mfpg_zip_bytes *source) {
    const mfpg_zip_member *member = source->member;
    unsigned char bytes[24] = {0};
    const unsigned char *from = source->stream.next_in;
    size_t got = source->zip->length - (uint64_t)(from - source->zip->file);
    if (!(member->flags & FLAG_DESCRIPTOR)) return MFPG_OK;
    if (got > sizeof bytes) got = sizeof bytes;
    memcpy(bytes, from, got);
    for (size_t signature = 0; signature <= 4; signature += 4) {
        const unsigned char *at = bytes + signature;
        if (signature == 4 && memcmp(bytes, "PK\7\10", 4) != 0) break;
        if (field32(at) != member->crc) continue;
        if (got >= signature + 12 && field32(at + 4) == member->packed && field32(at + 8) == member->size)
            return MFPG_OK;
        if (got >= signature + 20 && field64(at + 4) == member->packed && field64(at + 12) == member->size)
            return MFPG_OK;
    }
    return mfpg_bytes_fail(&source->bytes, "the descriptor after its data contradicts the directory");
}

static mfpg_status check_end(mfpg_zip_bytes *source) {
    const mfpg_zip_member *member = source->member;
    source->ended = 1;
    if (source->given != member->size)
        return mfpg_bytes_fail(&source->bytes, "unpacks to %llu bytes; the directory promises %llu",
            (unsigned long long)source->given, (unsigned long long)member->size);
    if (source->stream.avail_in > 0)
        return mfpg_bytes_fail(&source->bytes, "its packed data end before the directory says");
    if (source->crc != member->crc)
        return mfpg_bytes_fail(&source->bytes, "its checksum is %08lx; the directory promises %08lx",
            (unsigned long)source->crc, (unsigned long)member->crc);
    return check_descriptor(source);
}

/* Unpacks up to room bytes; *last becomes 1 at the member's end. */
static mfpg_status unpack(mfpg_zip_bytes *source, unsigned char *to, size_t room, size_t *got, int *last) {
    z_stream *z = &source->stream;
    if (source->member->method == STORED) {
        *got = z->avail_in < room ? z->avail_in : room;
        memcpy(to, z->next_in, *got);
        z->next_in += *got;
        z->avail_in -= (uInt)*got;
        *last = *got < room;
        return MFPG_OK;
    }
    z->next_out = to;
    z->avail_out = (uInt)room;
    int answer = Z_OK;
    while (z->avail_out > 0 && answer == Z_OK) answer = inflate(z, Z_NO_FLUSH);
    *got = room - z->avail_out;
    *last = answer == Z_STREAM_END;
    if (answer == Z_OK || answer == Z_STREAM_END) return MFPG_OK;
    if (answer == Z_MEM_ERROR) return mfpg_fail_memory(source->bytes.ctx);
    return mfpg_bytes_fail(&source->bytes,
        answer == Z_BUF_ERROR ? "its packed data end too early" : "its packed data are damaged");
}

static mfpg_status fill(mfpg_byte_source *bytes, unsigned char *to, size_t room, size_t *got) {
    mfpg_zip_bytes *source = (mfpg_zip_bytes *)bytes;
    int last = 0;
    *got = 0;
    if (source->ended || room == 0) return MFPG_OK;
    mfpg_status status = unpack(source, to, room, got, &last);
    if (status != MFPG_OK) return status;
    source->given += *got;
    source->crc = (uint32_t)crc32(source->crc, to, (uInt)*got);
    if (source->given > source->member->size)
        return mfpg_bytes_fail(bytes, "unpacks to more than the %llu bytes that the directory promises",
            (unsigned long long)source->member->size);
    return last ? check_end(source) : MFPG_OK;
}

mfpg_status mfpg_zip_bytes_open(const mfpg_zip *zip, ptrdiff_t index, mfpg_zip_bytes *source) {
    char shown[MFPG_SHOWN_SIZE];
    *source =
        (mfpg_zip_bytes){.bytes = {.ctx = zip->ctx, .fill = fill}, .zip = zip, .member = &zip->member[index]};
    source->bytes.where = source->where;
    snprintf(source->where, sizeof source->where, "%s: member %s", zip->path,
        mfpg_slice_show(source->member->name, shown));
    mfpg_status status = check_kind(source);
    if (status == MFPG_OK) status = read_local(source);
    if (status != MFPG_OK) return status;
    source->opened = inflateInit2(&source->stream, -MAX_WBITS) == Z_OK; /* raw: no zlib header in a zip */
    return source->opened ? MFPG_OK : mfpg_fail_memory(zip->ctx);
}

void mfpg_zip_bytes_close(mfpg_zip_bytes *source) {
    if (source->opened) inflateEnd(&source->stream);
    source->opened = 0;
}
