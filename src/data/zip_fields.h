/* Little-endian fields of zip records. */
#ifndef MFPG_DATA_ZIP_FIELDS_H
#define MFPG_DATA_ZIP_FIELDS_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t field16(const unsigned char *at) {
    return at[0] | (uint32_t)at[1] << 8;
}

static inline uint32_t field32(const unsigned char *at) {
    return field16(at) | field16(at + 2) << 16;
}

static inline uint64_t field64(const unsigned char *at) {
    return field32(at) | (uint64_t)field32(at + 4) << 32;
}

/* The extra field of kind 1 (64-bit sizes) among length bytes of extra fields, and its own length; NULL and 0 where there
 * is none. */
static inline const unsigned char *find_extra64(
    const unsigned char *extra, size_t length, size_t *field_length) {
    *field_length = 0;
    while (length >= 4) {
        size_t size = field16(extra + 2);
        if (size > length - 4) break;
        if (field16(extra) == 1) {
            *field_length = size;
            return extra + 4;
        }
        extra += 4 + size;
        length -= 4 + size;
    }
    return NULL;
}

#endif
