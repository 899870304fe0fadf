#include "agreement.h"

#include <endian.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { PIECE = sizeof(mfpg_chacha20), PIECE_BLOCKS = MFPG_CHACHA20_BLOCKS };

/* Words of any vector; the key stream is read through them too. */
typedef uint16_t half_word __attribute__((may_alias));
typedef uint32_t word __attribute__((may_alias));
typedef uint64_t long_word __attribute__((may_alias));

mfpg_sum_words mfpg_sum_words_create(int bits, ptrdiff_t count) {
    mfpg_sum_words words = {.bits = bits, .width = bits <= 16 ? 2 : bits <= 32 ? 4 : 8, .count = count};
    words.data = mfpg_alloc((count * words.width + PIECE - 1) / PIECE, PIECE);
    return words;
}

static ptrdiff_t pieces(const mfpg_sum_words *words) {
    return (words->count * words->width + PIECE - 1) / PIECE;
}

void mfpg_sum_words_clear(mfpg_sum_words *words) {
    if (words->data) sodium_memzero(words->data, (size_t)pieces(words) * PIECE);
    free(words->data);
    *words = (mfpg_sum_words){0};
}

/* Adds a piece of the key stream, or its negative: flip is 0 or -1, and x ^ -1 is -x - 1. */
MFPG_WIDE static void add_half_words(
    half_word *restrict sum, const half_word *restrict stream, half_word flip) {
    for (int i = 0; i < PIECE / 2; i++) sum[i] = (half_word)(sum[i] + (stream[i] ^ flip) - flip);
}

MFPG_WIDE static void add_words(word *restrict sum, const word *restrict stream, word flip) {
    for (int i = 0; i < PIECE / 4; i++) sum[i] += (stream[i] ^ flip) - flip;
}

MFPG_WIDE static void add_long_words(
    long_word *restrict sum, const long_word *restrict stream, long_word flip) {
    for (int i = 0; i < PIECE / 8; i++) sum[i] += (stream[i] ^ flip) - flip;
}

void mfpg_sum_masks_add(const mfpg_sum_mask *mask, ptrdiff_t count, mfpg_sum_words *words) {
    const mfpg_registers registers = mfpg_widest_registers();
    mfpg_chacha20 stream;
    for (ptrdiff_t p = 0; p < pieces(words); p++) {
        void *sum = words->data + p * PIECE;
        for (ptrdiff_t k = 0; k < count; k++) {
            const int flip = mask[k].sign < 0 ? -1 : 0;
            mfpg_chacha20_make(registers, &mask[k].stream, (uint64_t)p * PIECE_BLOCKS, &stream);
            if (words->width == 2)
                add_half_words(sum, (const void *)&stream, (half_word)flip);
            else if (words->width == 4)
                add_words(sum, (const void *)&stream, (word)flip);
            else
                add_long_words(sum, (const void *)&stream, (long_word)flip);
        }
    }
    sodium_memzero(&stream, sizeof stream);
}

static inline uint64_t get_word(const mfpg_sum_words *words, ptrdiff_t i) {
    return words->width == 2   ? ((const half_word *)words->data)[i]
           : words->width == 4 ? ((const word *)words->data)[i]
                               : ((const long_word *)words->data)[i];
}

static inline void add_word(mfpg_sum_words *words, ptrdiff_t i, uint64_t value) {
    if (words->width == 2)
        ((half_word *)words->data)[i] = (half_word)(((half_word *)words->data)[i] + value);
    else if (words->width == 4)
        ((word *)words->data)[i] += (word)value;
    else
        ((long_word *)words->data)[i] += value;
}

void mfpg_sum_words_set(mfpg_sum_words *words, const int64_t *vector) {
    memset(words->data, 0, (size_t)pieces(words) * PIECE);
    for (ptrdiff_t i = 0; i < words->count; i++) add_word(words, i, (uint64_t)vector[i]);
}

void mfpg_sum_words_get(const mfpg_sum_words *words, int64_t *vector) {
    const int beyond = 64 - words->bits; /* shifting up and down again repeats the sign */
    for (ptrdiff_t i = 0; i < words->count; i++)
        vector[i] = (int64_t)(get_word(words, i) << beyond) >> beyond;
}

size_t mfpg_sum_packed_size(int bits, ptrdiff_t count) {
    return ((size_t)count * (size_t)bits + 7) / 8;
}

void mfpg_sum_words_pack(const mfpg_sum_words *words, unsigned char *packed) {
    unsigned __int128 waiting = 0;
    int held = 0;
    for (ptrdiff_t i = 0; i < words->count; i++) {
        waiting |= (unsigned __int128)(get_word(words, i) & UINT64_MAX >> (64 - words->bits)) << held;
        held += words->bits;
        for (; held >= 8; held -= 8, waiting >>= 8) *packed++ = (unsigned char)waiting;
    }
    if (held > 0) *packed = (unsigned char)waiting;
}

void mfpg_sum_words_add_packed(mfpg_sum_words *words, const unsigned char *packed) {
    unsigned __int128 waiting = 0;
    int held = 0;
    for (ptrdiff_t i = 0; i < words->count; i++) {
        for (; held < words->bits; held += 8) waiting |= (unsigned __int128)*packed++ << held;
        add_word(words, i, (uint64_t)waiting & UINT64_MAX >> (64 - words->bits));
        waiting >>= words->bits;
        held -= words->bits;
    }
}
