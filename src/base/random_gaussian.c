#include "random_gaussian.h"

#include <endian.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "mfpg/random.h"
#include "wide.h"

#if defined(__FAST_MATH__) || FLT_EVAL_METHOD != 0
#error "noise must have the same bits everywhere: plain float arithmetic, without -ffast-math"
#endif

enum {
    BLOCK_BYTES = 64,
    BLOCK_WORDS = 16,
    BLOCK_PAIRS = 8,
    GROUP_BLOCKS = 8,
    GROUP_DRAWS = GROUP_BLOCKS * BLOCK_WORDS,
    PIECE_BLOCKS = 128, /* made at once: 8 KiB of key stream, 2048 draws */
    PIECE_DRAWS = PIECE_BLOCKS * BLOCK_WORDS,
    LONGEST_SEQUENTIAL = 512, /* draws of the longest vector in the sequential layout */
    LANES = 8                 /* pairs transformed side by side, in either layout */
};

typedef enum layout { SEQUENTIAL, WORD_MAJOR } layout;

static const uint64_t RARE_BLOCK = (uint64_t)1 << 63; /* block b's rare radii are refined by block 2^63 + b */

static inline uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* yes where the mask has all bits set, no where it has none; written without a branch, or gcc leaves the loops scalar. */
static inline float choose(uint32_t mask, float yes, float no) {
    return float_of((bits_of(yes) & mask) | (bits_of(no) & ~mask));
}

/* sqrt(-2 log x) for x in [2^-97, 1); beyond is 1 - x, given apart because near 1 it holds digits that x has lost.
 * x = 2^e m with m in [sqrt 1/2, sqrt 2), f = m - 1, and -2 log(1 + f) = -2 f + f^2 + f^3 Q(f), where Q is the minimax
 * polynomial of degree 6 (relative error of the logarithm 3.2e-8). */
static inline __attribute__((always_inline)) float radius_of(float x, float beyond) {
    const uint32_t root_half = 0x3f3504f3u; /* sqrt(1/2) as a float */
    uint32_t over = bits_of(x) - root_half;
    int32_t e = (int32_t)over >> 23;
    float m = float_of((over & 0x007fffffu) + root_half);
    float f = choose(0u - (e == 0), -beyond, m - 1.0f);
    float q = -0.17400914f;
    q = q * f + 0.28535012f;
    q = q * f + -0.29829539f;
    q = q * f + 0.33155165f;
    q = q * f + -0.39926127f;
    q = q * f + 0.50002674f;
    q = q * f + -0.66667821f;
    float s = f * (f * (f * q + 1.0f) - 2.0f);
    return sqrtf(s + (float)e * -1.3862944f);
}

/* The radius of a word that is not rare. Words of the upper half count down from 1, so that a float holds their
 * distance from it: then also the smallest radii are right to a float's precision. */
static inline __attribute__((always_inline)) float common_radius(uint32_t word) {
    uint32_t upper = (uint32_t)((int32_t)word >> 31); /* all bits set in the upper half */
    float distance = ((float)(int32_t)(word ^ upper) + 0.5f) * 0x1p-32f;
    return radius_of(choose(upper, 1.0f - distance, distance), distance);
}

/* A rare radius has u < 2^-23, so a float holds (word 2^64 + further + 1/2) / 2^96 down to its end, 2^-97. */
static float rare_radius(uint32_t word, uint64_t further) {
    float u = ((float)word * 0x1p64f + ((float)further + 0.5f)) * 0x1p-96f;
    return radius_of(u, 1.0f - u);
}

/* Cosine and sine of pi/2 (q + p): q the word's two top bits, p = (s + 1/2) / 2^30 in (-1/2, 1/2) with s its other 30
 * bits as a signed number. Minimax polynomials in p^2, relative errors 3.9e-8 and 3.3e-9; the quadrant swaps the two
 * and turns their signs. */
static inline __attribute__((always_inline)) void direction(uint32_t word, float *cosine, float *sine) {
    float p = (float)(int32_t)(word << 2 | 2u) * 0x1p-32f;
    float z = p * p;
    float c = 1.0f + z * (-1.2336977f + z * (0.25360321f + z * -0.020417283f));
    float s = p * (1.5707963f + z * (-0.64596346f + z * (0.079680033f + z * -0.0046016579f)));
    uint32_t odd = (uint32_t)((int32_t)(word << 1) >> 31); /* all bits set in the odd quadrants */
    uint32_t cosine_sign = (word ^ word << 1) & 0x80000000u, sine_sign = word & 0x80000000u;
    *cosine = float_of(bits_of(choose(odd, s, c)) ^ cosine_sign);
    *sine = float_of(bits_of(choose(odd, c, s)) ^ sine_sign);
}

float mfpg_box_muller_radius(uint32_t word, uint64_t further) {
    return word < MFPG_RARE_RADIUS ? rare_radius(word, further) : common_radius(word);
}

void mfpg_box_muller_pair(uint32_t radius_word, uint64_t further, uint32_t angle_word, float draws[2]) {
    float radius = mfpg_box_muller_radius(radius_word, further), cosine, sine;
    direction(angle_word, &cosine, &sine);
    draws[0] = radius * cosine;
    draws[1] = radius * sine;
}

/* LANES pairs; the result is nonzero where a radius is rare and waits for its refinement. */
static inline __attribute__((always_inline)) uint32_t transform(const uint32_t *restrict radius,
    const uint32_t *restrict angle, float *restrict first, float *restrict second) {
    uint32_t rare = 0;
    for (int i = 0; i < LANES; i++) {
        float cosine, sine, r = common_radius(radius[i]);
        direction(angle[i], &cosine, &sine);
        first[i] = r * cosine;
        second[i] = r * sine;
        rare |= radius[i] < MFPG_RARE_RADIUS;
    }
    return rare;
}

static inline __attribute__((always_inline)) uint32_t sequential_blocks(
    const uint32_t *words, ptrdiff_t blocks, float *z) {
    uint32_t rare = 0;
    for (ptrdiff_t b = 0; b < blocks; b++, words += BLOCK_WORDS, z += BLOCK_WORDS) {
        uint32_t radius[LANES], angle[LANES];
        float first[LANES], second[LANES];
        for (int i = 0; i < LANES; i++) {
            radius[i] = le32toh(words[2 * i]);
            angle[i] = le32toh(words[2 * i + 1]);
        }
        rare |= transform(radius, angle, first, second);
        for (int i = 0; i < LANES; i++) {
            z[2 * i] = first[i];
            z[2 * i + 1] = second[i];
        }
    }
    return rare;
}

static inline __attribute__((always_inline)) uint32_t word_major_blocks(
    const uint32_t *words, ptrdiff_t blocks, float *z) {
    uint32_t rare = 0;
    for (ptrdiff_t b = 0; b < blocks; b += GROUP_BLOCKS, words += GROUP_DRAWS, z += GROUP_DRAWS) {
        uint32_t by_word[BLOCK_WORDS][LANES];
        for (int lane = 0; lane < LANES; lane++)
            for (int w = 0; w < BLOCK_WORDS; w++) by_word[w][lane] = le32toh(words[BLOCK_WORDS * lane + w]);
        for (int w = 0; w < BLOCK_WORDS; w += 2)
            rare |= transform(by_word[w], by_word[w + 1], z + LANES * w, z + LANES * (w + 1));
    }
    return rare;
}

MFPG_WIDE static uint32_t transform_blocks(layout order, const uint32_t *words, ptrdiff_t blocks, float *z) {
    return order == SEQUENTIAL ? sequential_blocks(words, blocks, z) : word_major_blocks(words, blocks, z);
}

/* Place of word w of block b among the draws, both counted from the start of the vector. */
static ptrdiff_t place_of(layout order, ptrdiff_t b, int w) {
    if (order == SEQUENTIAL) return BLOCK_WORDS * b + w;
    return b / GROUP_BLOCKS * GROUP_DRAWS + LANES * w + b % GROUP_BLOCKS;
}

/* Makes the pairs with a rare radius anew, eight bytes of a block of their own for each pair of the block. */
static void refine(const mfpg_stream *stream, uint64_t first_block, layout order, const uint32_t *words,
    ptrdiff_t blocks, float *z) {
    for (ptrdiff_t b = 0; b < blocks; b++) {
        for (int w = 0; w < BLOCK_WORDS; w += 2) {
            uint32_t radius = le32toh(words[BLOCK_WORDS * b + w]);
            uint32_t angle = le32toh(words[BLOCK_WORDS * b + w + 1]);
            if (radius >= MFPG_RARE_RADIUS) continue;
            uint64_t further[BLOCK_PAIRS];
            float draws[2];
            mfpg_stream_bytes(
                stream, RARE_BLOCK + first_block + (uint64_t)b, BLOCK_BYTES, (unsigned char *)further);
            mfpg_box_muller_pair(radius, le64toh(further[w / 2]), angle, draws);
            z[place_of(order, b, w)] = draws[0];
            z[place_of(order, b, w + 1)] = draws[1];
        }
    }
}

/* Draws of `blocks` blocks from number first_block on; a piece starts at a group's start. */
static void make_piece(
    const mfpg_stream *stream, uint64_t first_block, layout order, ptrdiff_t blocks, float *z) {
    _Alignas(64) uint32_t words[PIECE_DRAWS];
    mfpg_stream_bytes(stream, first_block, BLOCK_BYTES * blocks, (unsigned char *)words);
    if (transform_blocks(order, words, blocks, z)) refine(stream, first_block, order, words, blocks, z);
}

static ptrdiff_t blocks_a_vector(ptrdiff_t n) {
    if (n <= LONGEST_SEQUENTIAL) return (n + BLOCK_WORDS - 1) / BLOCK_WORDS;
    return ((n - 1) / GROUP_DRAWS + 1) * GROUP_BLOCKS;
}

typedef void (*piece_user)(ptrdiff_t n, const float *z, float scale, float *out);

static void copy_piece(ptrdiff_t n, const float *z, float scale, float *out) {
    (void)scale;
    memcpy(out, z, (size_t)n * sizeof *z);
}

static void add_piece(ptrdiff_t n, const float *z, float scale, float *out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] += scale * z[i];
}

static void walk(
    const mfpg_stream *stream, uint64_t vector, ptrdiff_t n, piece_user use, float scale, float *out) {
    _Alignas(64) float z[PIECE_DRAWS];
    layout order = n <= LONGEST_SEQUENTIAL ? SEQUENTIAL : WORD_MAJOR;
    ptrdiff_t left = blocks_a_vector(n);
    uint64_t block = vector * (uint64_t)left;
    while (n > 0) {
        ptrdiff_t blocks = left < PIECE_BLOCKS ? left : PIECE_BLOCKS;
        ptrdiff_t draws = n < BLOCK_WORDS * blocks ? n : BLOCK_WORDS * blocks;
        make_piece(stream, block, order, blocks, z);
        use(draws, z, scale, out);
        block += (uint64_t)blocks;
        left -= blocks;
        out += draws;
        n -= draws;
    }
}

void mfpg_stream_gaussian(const mfpg_stream *stream, uint64_t vector, ptrdiff_t n, float *out) {
    walk(stream, vector, n, copy_piece, 1.0f, out);
}

void mfpg_stream_gaussian_add(
    const mfpg_stream *stream, uint64_t vector, ptrdiff_t n, float scale, float *inout) {
    walk(stream, vector, n, add_piece, scale, inout);
}
