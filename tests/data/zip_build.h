/* Zip archives and NumPy arrays built byte by byte, honest or not. */
#ifndef MFPG_TESTS_DATA_ZIP_BUILD_H
#define MFPG_TESTS_DATA_ZIP_BUILD_H

#include "testing.h"

#include <zlib.h>

enum {
    ZIP_ROOM = 1 << 16,
    ZIP_WIDE = 1,
    ZIP_DESCRIPTOR = 2,
    ZIP_DEFLATE = 4,
    ZIP_UNSIGNED = 8,
    ZIP_WIDE_END = 16
};

/* An archive that grows member by member. */
typedef struct zip_build {
    unsigned char bytes[ZIP_ROOM], directory[ZIP_ROOM];
    size_t length, directory_length;
    unsigned members;
} zip_build;

static inline void put_field(unsigned char *bytes, size_t *at, uint64_t value, int size) {
    for (int i = 0; i < size; i++) bytes[(*at)++] = (unsigned char)(value >> 8 * i);
}

/* The NumPy array into bytes; its length. */
static inline size_t npy_build(
    unsigned char *bytes, const char *type, const char *shape, const void *values, size_t length) {
    char header[256];
    int size = snprintf(
        header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    while ((size + 11) % 64) header[size++] = ' '; /* as numpy pads it */
    header[size++] = '\n';
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = (unsigned char)size;
    bytes[9] = (unsigned char)(size >> 8);
    memcpy(bytes + 10, header, (size_t)size);
    if (length > 0) memcpy(bytes + 10 + size, values, length);
    return 10 + (size_t)size + length;
}

static inline size_t zip_pack(
    unsigned char *to, size_t room, const void *bytes, size_t length, int deflated) {
    if (!deflated) {
        memcpy(to, bytes, length);
        return length;
    }
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)bytes,
        .avail_in = (uInt)length,
        .next_out = to,
        .avail_out = (uInt)room};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t packed = z.total_out;
    deflateEnd(&z);
    return packed;
}

/* Adds a member the way that flags say. numpy.savez writes ZIP_WIDE: 64-bit sizes in the local header. */
static inline void zip_add(zip_build *zip, const char *name, const void *bytes, size_t length, int flags) {
    unsigned char *packed = malloc(length + 1024);
    size_t at = zip->length,
           packed_length = zip_pack(packed, length + 1024, bytes, length, flags & ZIP_DEFLATE);
    int wide = flags & ZIP_WIDE, later = flags & ZIP_DESCRIPTOR;
    unsigned method = flags & ZIP_DEFLATE ? 8 : 0, bits = later ? 8 : 0;
    uint64_t crc = crc32(0, bytes, (uInt)length), header = at;
    assert_true(at + packed_length + 512 < ZIP_ROOM);
    put_field(zip->bytes, &at, 0x04034b50, 4);
    put_field(zip->bytes, &at, wide ? 45 : 20, 2);
    put_field(zip->bytes, &at, bits, 2);
    put_field(zip->bytes, &at, method, 2);
    put_field(zip->bytes, &at, 0, 4); /* time and date */
    put_field(zip->bytes, &at, later ? 0 : crc, 4);
    put_field(zip->bytes, &at, wide ? UINT32_MAX : later ? 0 : packed_length, 4);
    put_field(zip->bytes, &at, wide ? UINT32_MAX : later ? 0 : length, 4);
    put_field(zip->bytes, &at, strlen(name), 2);
    put_field(zip->bytes, &at, wide ? 20 : 0, 2);
    memcpy(zip->bytes + at, name, strlen(name));
    at += strlen(name);
    if (wide) {
        put_field(zip->bytes, &at, 1, 2);
        put_field(zip->bytes, &at, 16, 2);
        put_field(zip->bytes, &at, later ? 0 : length, 8);
        put_field(zip->bytes, &at, later ? 0 : packed_length, 8);
    }
    memcpy(zip->bytes + at, packed, packed_length);
    at += packed_length;
    if (later) {
        if (!(flags & ZIP_UNSIGNED)) put_field(zip->bytes, &at, 0x08074b50, 4);
        put_field(zip->bytes, &at, crc, 4);
        put_field(zip->bytes, &at, packed_length, wide ? 8 : 4);
        put_field(zip->bytes, &at, length, wide ? 8 : 4);
    }
    zip->length = at;
    at = zip->directory_length;
    put_field(zip->directory, &at, 0x02014b50, 4);
    put_field(zip->directory, &at, 0x0314 + (wide ? 25 : 0), 2);
    put_field(zip->directory, &at, wide ? 45 : 20, 2);
    put_field(zip->directory, &at, bits, 2);
    put_field(zip->directory, &at, method, 2);
    put_field(zip->directory, &at, 0, 4);
    put_field(zip->directory, &at, crc, 4);
    put_field(zip->directory, &at, packed_length, 4);
    put_field(zip->directory, &at, length, 4);
    put_field(zip->directory, &at, strlen(name), 2);
    put_field(zip->directory, &at, 0, 8); /* no extra field, no comment, first part */
    put_field(zip->directory, &at, 0, 4); /* attributes */
    put_field(zip->directory, &at, header, 4);
    memcpy(zip->directory + at, name, strlen(name));
    zip->directory_length = at + strlen(name);
    zip->members++;
    free(packed);
}

/* Adds an array. */
static inline void zip_add_array(zip_build *zip, const char *name, const char *type, const char *shape,
    const void *values, size_t length, int flags) {
    unsigned char bytes[8192];
    assert_true(length < sizeof bytes - 512);
    zip_add(zip, name, bytes, npy_build(bytes, type, shape, values, length), flags);
}

/* Puts directory and end after the members; the length of the archive. ZIP_WIDE_END: sizes in the 64-bit record. */
static inline size_t zip_finish(zip_build *zip, int flags) {
    size_t begin = zip->length, at = begin + zip->directory_length, end64 = at;
    int wide = flags & ZIP_WIDE_END;
    assert_true(at + 256 < ZIP_ROOM);
    memcpy(zip->bytes + begin, zip->directory, zip->directory_length);
    if (wide) {
        put_field(zip->bytes, &at, 0x06064b50, 4);
        put_field(zip->bytes, &at, 44, 8);
        put_field(zip->bytes, &at, 45, 2);
        put_field(zip->bytes, &at, 45, 2);
        put_field(zip->bytes, &at, 0, 8); /* parts */
        put_field(zip->bytes, &at, zip->members, 8);
        put_field(zip->bytes, &at, zip->members, 8);
        put_field(zip->bytes, &at, zip->directory_length, 8);
        put_field(zip->bytes, &at, begin, 8);
        put_field(zip->bytes, &at, 0x07064b50, 4);
        put_field(zip->bytes, &at, 0, 4);
        put_field(zip->bytes, &at, end64, 8);
        put_field(zip->bytes, &at, 1, 4);
    }
    put_field(zip->bytes, &at, 0x06054b50, 4);
    put_field(zip->bytes, &at, 0, 4);
    put_field(zip->bytes, &at, wide ? UINT16_MAX : zip->members, 2);
    put_field(zip->bytes, &at, wide ? UINT16_MAX : zip->members, 2);
    put_field(zip->bytes, &at, wide ? UINT32_MAX : zip->directory_length, 4);
    put_field(zip->bytes, &at, wide ? UINT32_MAX : begin, 4);
    put_field(zip->bytes, &at, 0, 2);
    return at;
}

#endif
