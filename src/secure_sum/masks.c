#include "agreement.h"

#include <endian.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { PIECE = sizeof(mfpg_chacha20), PIECE_BLOCKS = MFPG_CHACHA20_BLOCKS };

/* Words of any vector; the key stream and messages, which may begin anywhere, are read through them too. */
typedef uint16_t half_word __attribute__((may_alias, aligned(1)));
typedef uint32_t word __attribute__((may_alias, aligned(1)));
typedef uint64_t long_word __attribute__((may_alias, aligned(1)));

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

static void add_piece(mfpg_sum_words *words, ptrdiff_t p, const void *piece, int sign) {
    void *sum = words->data + p * PIECE;
    const int flip = sign < 0 ? -1 : 0;
    if (words->width == 2)
        add_half_words(sum, piece, (half_word)flip);
    else if (words->width == 4)
        add_words(sum, piece, (word)flip);
    else
        add_long_words(sum, piece, (long_word)flip);
}

void mfpg_sum_masks_add(const mfpg_sum_mask *mask, ptrdiff_t count, mfpg_sum_words *words) {
    const mfpg_registers registers = mfpg_widest_registers();
    mfpg_chacha20 stream;
    for (ptrdiff_t p = 0; p < pieces(words); p++)
        for (ptrdiff_t k = 0; k < count; k++) {
            mfpg_chacha20_make(registers, &mask[k].stream, (uint64_t)p * PIECE_BLOCKS, &stream);
            add_piece(words, p, &stream, mask[k].sign);
        }
    sodium_memzero(&stream, sizeof stream);
}

/* ---- coordinates ---- */

static inline uint64_t get_word(const void *data, int width, ptrdiff_t i) {
    return width == 2   ? ((const half_word *)data)[i]
           : width == 4 ? ((const word *)data)[i]
                        : ((const long_word *)data)[i];
}

static inline void set_word(void *data, int width, ptrdiff_t i, uint64_t value) {
    if (width == 2)
        ((half_word *)data)[i] = (half_word)value;
    else if (width == 4)
        ((word *)data)[i] = (word)value;
    else
        ((long_word *)data)[i] = value;
}

void mfpg_sum_words_set(mfpg_sum_words *words, const int64_t *vector) {
    for (ptrdiff_t i = 0; i < words->count; i++) set_word(words->data, words->width, i, (uint64_t)vector[i]);
}

/* Shifting up and down again repeats the sign. */
static inline int64_t get_signed(const mfpg_sum_words *words, ptrdiff_t i) {
    const int beyond = 64 - words->bits;
    return (int64_t)(get_word(words->data, words->width, i) << beyond) >> beyond;
}

void mfpg_sum_words_get(const mfpg_sum_words *words, int64_t *vector) {
    for (ptrdiff_t i = 0; i < words->count; i++) vector[i] = get_signed(words, i);
}

double mfpg_sum_words_largest(const mfpg_sum_words *words) {
    int64_t least = 0, most = 0;
    for (ptrdiff_t i = 0; i < words->count; i++) {
        const int64_t value = get_signed(words, i);
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    return fmax(-(double)least, (double)most);
}

size_t mfpg_sum_packed_size(int bits, ptrdiff_t count) {
    return ((size_t)count * (size_t)bits + 7) / 8;
}

static inline uint64_t cut(uint64_t value, int bits) {
    return value & UINT64_MAX >> (64 - bits);
}

void mfpg_sum_words_pack(const mfpg_sum_words *words, unsigned char *packed) {
    const int bits = words->bits;
    uint64_t waiting = 0;
    int held = 0; /* bits that wait, fewer than 64 */
    for (ptrdiff_t i = 0; i < words->count; i++) {
        const uint64_t value = cut(get_word(words->data, words->width, i), bits);
        waiting |= value << held;
        held += bits;
        if (held < 64) continue;
        waiting = htole64(waiting);
        memcpy(packed, &waiting, sizeof waiting);
        packed += sizeof waiting;
        held -= 64;
        waiting = held ? value >> (bits - held) : 0;
    }
    for (; held > 0; held -= 8, waiting >>= 8) *packed++ = (unsigned char)waiting;
}

/* Reads up to 64 bits that begin at any bit. */
static inline uint64_t bits_at(const unsigned char *packed, size_t size, size_t bit, int bits) {
    const size_t at = bit / 8;
    uint64_t low = 0, high = 0;
    if (size - at > sizeof low) {
        memcpy(&low, packed + at, sizeof low);
        high = packed[at + sizeof low];
    } else
        memcpy(&low, packed + at, size - at);
    low = le64toh(low) >> bit % 8;
    return cut(bit % 8 ? low | high << (64 - bit % 8) : low, bits);
}

int mfpg_sum_is_packed(int bits, ptrdiff_t count, const unsigned char *packed) {
    const size_t size = mfpg_sum_packed_size(bits, count);
    const int used = (int)((size_t)count * (size_t)bits % 8);
    return used == 0 || packed[size - 1] >> used == 0;
}

void mfpg_sum_words_add_packed(mfpg_sum_words *words, const unsigned char *packed) {
    const int width = words->width, bits = words->bits;
    const size_t size = mfpg_sum_packed_size(bits, words->count);
    const ptrdiff_t a_piece = PIECE / width;
    const int is_aligned = bits == 8 * width && htole16(1) == 1; /* packed words are words */
    mfpg_chacha20 piece = {0};
    for (ptrdiff_t p = 0, first = 0; first < words->count; p++, first += a_piece) {
        const ptrdiff_t n = words->count - first < a_piece ? words->count - first : a_piece;
        if (is_aligned && n == a_piece) {
            add_piece(words, p, packed + first * width, 1);
            continue;
        }
        for (ptrdiff_t i = 0; i < n; i++)
            set_word(&piece, width, i, bits_at(packed, size, (size_t)(first + i) * (size_t)bits, bits));
        add_piece(words, p, &piece, 1);
    }
}
