/* Floats as whole numbers in the same order, for sorting digit by digit. */
#ifndef MFPG_NUMERICS_FLOAT_KEY_H
#define MFPG_NUMERICS_FLOAT_KEY_H

#include <stdint.h>
#include <string.h>

enum { MFPG_KEY_DIGITS = 3, MFPG_KEY_BITS = 11, MFPG_KEY_BINS = 1 << MFPG_KEY_BITS };

/* The sign's bit is turned, and where it was set all others too; -0 comes just before 0. */
static inline uint32_t mfpg_float_key(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits ^ (bits >> 31 ? UINT32_MAX : UINT32_C(0x80000000));
}

static inline uint32_t mfpg_key_digit(uint32_t key, int digit) {
    return (key >> (MFPG_KEY_BITS * digit)) & (MFPG_KEY_BINS - 1);
}

#endif
