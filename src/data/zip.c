/* The directory of a zip archive. */
#include "zip.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "zip_fields.h"

enum {
    END_SIZE = 22,
    LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    ENTRY_SIZE = 46,
    MOST_COMMENT = 65535,
    MOST_DIRECTORY = 1 << 24
};

/* What the end of the archive says of the directory. */
typedef struct directory_end {
    uint64_t at; /* offset of the record itself */
    uint64_t members, size, begin;
} directory_end;

static mfpg_status fail_at(const mfpg_zip *zip, uint64_t at, const char *what) {
    return mfpg_fail(zip->ctx, MFPG_ERR_INPUT, "%s: byte %llu: %s", zip->path, (unsigned long long)at, what);
}

static mfpg_status read_at(const mfpg_zip *zip, uint64_t at, void *bytes, size_t length) {
    if (at > zip->length || length > zip->length - at) return fail_at(zip, at, "the archive ends too early");
    if (fseeko(zip->file, (off_t)at, SEEK_SET) != 0 || fread(bytes, 1, length, zip->file) != length)
        return fail_at(zip, at, "cannot be read");
    return MFPG_OK;
}

/* The record at the end of the archive, behind which stands only its comment; sought from the end. */
static mfpg_status find_end(const mfpg_zip *zip, unsigned char record[END_SIZE], uint64_t *at) {
    size_t length = zip->length < END_SIZE + MOST_COMMENT ? (size_t)zip->length : END_SIZE + MOST_COMMENT;
    unsigned char *tail = mfpg_alloc((ptrdiff_t)length, 1);
    if (!tail) return mfpg_fail_memory(zip->ctx);
    mfpg_status status = read_at(zip, zip->length - length, tail, length);
    ptrdiff_t i = (ptrdiff_t)length - END_SIZE;
    for (; status == MFPG_OK && i >= 0; i--)
        if (memcmp(tail + i, "PK\5\6", 4) == 0 && field16(tail + i + 20) == length - (size_t)i - END_SIZE)
            break;
    if (status == MFPG_OK && i < 0)
        status = fail_at(zip, zip->length,
            "the archive's directory is missing at the end of the file: it is cut short, or no zip archive");
    if (status == MFPG_OK) {
        memcpy(record, tail + i, END_SIZE);
        *at = zip->length - length + (uint64_t)i;
    }
    free(tail);
    return status;
}

/* The 64-bit record, which a locator in front of the end record points to. */
static mfpg_status read_end64(const mfpg_zip *zip, directory_end *end) {
    unsigned char locator[LOCATOR_SIZE], record[END64_SIZE];
    if (end->at < LOCATOR_SIZE) return fail_at(zip, end->at, "no 64-bit directory in front of the end");
    uint64_t place = end->at - LOCATOR_SIZE;
    mfpg_status status = read_at(zip, place, locator, sizeof locator);
    if (status != MFPG_OK) return status;
    if (memcmp(locator, "PK\6\7", 4) != 0)
        return fail_at(zip, place, "no 64-bit directory in front of the end");
    end->at = field64(locator + 8);
    if (field32(locator + 4) != 0 || field32(locator + 16) > 1)
        return fail_at(zip, place, "an archive of several parts");
    if (end->at > place) return fail_at(zip, place, "the 64-bit directory stands behind its locator");
    status = read_at(zip, end->at, record, sizeof record);
    if (status != MFPG_OK) return status;
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
    unsigned char record[END_SIZE] = {0}; /* gcc 12 does not see that it is filled */
    mfpg_status status = find_end(zip, record, &end->at);
    if (status != MFPG_OK) return status;
    end->members = field16(record + 10);
    end->size = field32(record + 12);
    end->begin = field32(record + 16);
    int wide = end->members == UINT16_MAX || end->size == UINT32_MAX || end->begin == UINT32_MAX;
    if (!wide &&
        (field16(record + 4) != 0 || field16(record + 6) != 0 || field16(record + 8) != end->members))
        return fail_at(zip, end->at, "an archive of several parts");
    if (wide) status = read_end64(zip, end);
    if (status != MFPG_OK) return status;
    if (end->begin > end->at || end->size > end->at - end->begin)
        return fail_at(zip, end->at, "the directory reaches behind its end");
    if (end->members > MFPG_ZIP_MOST_MEMBERS || end->size > MOST_DIRECTORY)
        return fail_at(zip, end->at, "more than 4096 members, or a directory of more than 16 MiB");
    return MFPG_OK;
}

/* Sizes and offset that do not fit into 32 bits stand in an extra field of kind 1, in this order. */
static int read_extra64(const unsigned char *extra, size_t length, mfpg_zip_member *member) {
    uint64_t *wanted[] = {&member->size, &member->packed, &member->header};
    size_t field_length = 0;
    const unsigned char *field = find_extra64(extra, length, &field_length);
    for (size_t i = 0; i < 3; i++) {
        if (*wanted[i] != UINT32_MAX) continue;
        if (field_length < 8) return 0;
        *wanted[i] = field64(field);
        field += 8;
        field_length -= 8;
    }
    return 1;
}

static mfpg_status push_member(mfpg_zip *zip, const mfpg_zip_member *member) {
    for (ptrdiff_t i = 0; i < zip->members; i++)
        if (zip->member[i].name_length == member->name_length &&
            memcmp(zip->member[i].name, member->name, member->name_length) == 0)
            return fail_at(zip, member->entry, "a name that stands twice in the archive");
    if (zip->members == zip->room) {
        ptrdiff_t room = zip->room ? 2 * zip->room : 16;
        mfpg_zip_member *larger = mfpg_resize(zip->member, room, sizeof *larger);
        if (!larger) return mfpg_fail_memory(zip->ctx);
        zip->member = larger;
        zip->room = room;
    }
    zip->member[zip->members++] = *member;
    return MFPG_OK;
}

/* One entry at the beginning of length bytes; *used becomes its own length. */
static mfpg_status read_entry(
    mfpg_zip *zip, uint64_t at, const unsigned char *entry, size_t length, size_t *used) {
    if (length < ENTRY_SIZE || memcmp(entry, "PK\1\2", 4) != 0)
        return fail_at(zip, at, "no entry of the directory, where the end of the archive promises one");
    size_t name = field16(entry + 28), extra = field16(entry + 30), comment = field16(entry + 32);
    if (name + extra + comment > length - ENTRY_SIZE)
        return fail_at(zip, at, "an entry reaches behind the end of the directory");
    mfpg_zip_member member = {.flags = field16(entry + 8),
        .method = field16(entry + 10),
        .crc = field32(entry + 16),
        .packed = field32(entry + 20),
        .size = field32(entry + 24),
        .header = field32(entry + 42),
        .name_length = name,
        .entry = at};
    if (!read_extra64(entry + ENTRY_SIZE + name, extra, &member))
        return fail_at(zip, at, "an entry without its 64-bit sizes");
    unsigned disk = field16(entry + 34);
    if (disk != 0 && disk != UINT16_MAX) return fail_at(zip, at, "an archive of several parts");
    if (member.header > zip->directory || member.packed > zip->directory - member.header)
        return fail_at(zip, at, "a member reaches behind the beginning of the directory");
    member.name = mfpg_text_copy((const char *)entry + ENTRY_SIZE, name);
    if (!member.name) return mfpg_fail_memory(zip->ctx);
    mfpg_status status = push_member(zip, &member);
    if (status != MFPG_OK) free(member.name);
    *used = ENTRY_SIZE + name + extra + comment;
    return status;
}

static mfpg_status read_directory(mfpg_zip *zip) {
    directory_end end = {0};
    mfpg_status status = read_end(zip, &end);
    if (status != MFPG_OK) return status;
    unsigned char *bytes = mfpg_alloc((ptrdiff_t)end.size, 1); /* the file holds as many */
    if (!bytes) return mfpg_fail_memory(zip->ctx);
    status = read_at(zip, end.begin, bytes, (size_t)end.size);
    zip->directory = end.begin;
    size_t at = 0, used = 0;
    for (uint64_t i = 0; i < end.members && status == MFPG_OK; i++, at += used)
        status = read_entry(zip, end.begin + at, bytes + at, (size_t)end.size - at, &used);
    if (status == MFPG_OK && at != end.size)
        status = fail_at(zip, end.begin + at, "the directory goes on behind its last member");
    free(bytes);
    return status;
}

mfpg_status mfpg_zip_open(mfpg_context *ctx, const char *path, mfpg_zip *zip) {
    zip->ctx = ctx;
    zip->path = path;
    mfpg_status status = mfpg_file_open(ctx, path, &zip->file);
    if (status != MFPG_OK) return status;
    off_t length = fseeko(zip->file, 0, SEEK_END) == 0 ? ftello(zip->file) : -1;
    if (length < 0) return fail_at(zip, 0, "an archive cannot be read from a pipe");
    zip->length = (uint64_t)length;
    return read_directory(zip);
}

void mfpg_zip_close(mfpg_zip *zip) {
    for (ptrdiff_t i = 0; i < zip->members; i++) free(zip->member[i].name);
    free(zip->member);
    if (zip->file) fclose(zip->file);
    *zip = (mfpg_zip){0};
}
