#include "streams.h"

#include <endian.h>
#include <float.h>
#include <math.h>
#include <string.h>

#if defined(__FAST_MATH__) || FLT_EVAL_METHOD != 0
#error "noise must have the same bits everywhere: plain float arithmetic, without -ffast-math"
#endif

enum {
    BLOCK_BYTES = 64,
    BLOCK_WORDS = 16,
    BLOCK_PAIRS = 8,
    GROUP_BLOCKS = 8,
    GROUP_DRAWS = GROUP_BLOCKS * BLOCK_WORDS,
    PIECE_BLOCKS = 128, /* blocks made at once: 8 KiB of key stream, 2048 draws */
    PIECE_DRAWS = PIECE_BLOCKS * BLOCK_WORDS,
    LONGEST_SEQUENTIAL = 512, /* draws of the longest vector in the sequential layout */
    LANES = GROUP_BLOCKS,     /* pairs transformed side by side */
    BROAD = MFPG_CHACHA20_BLOCKS
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

/* Selects yes if the mask has all bits set, no if it has none; without a branch, because gcc would otherwise
 * not vectorise the loops. */
static inline float choose(uint32_t mask, float yes, float no) {
    return float_of((bits_of(yes) & mask) | (bits_of(no) & ~mask));
}

/* a b + c; fused only for draws whose bits may differ from processor to processor. */
static inline __attribute__((always_inline)) float add_product(int fused, float a, float b, float c) {
    return fused ? __builtin_fmaf(a, b, c) : a * b + c;
}

/* sqrt(-2 log x) for x in [2^-97, 1); beyond is 1 - x, given apart because near 1 it holds digits that x has lost.
 * x = 2^e m with m in [sqrt 1/2, sqrt 2), f = m - 1, and -2 log(1 + f) = -2 f + f^2 + f^3 Q(f), where Q is the minimax
 * polynomial of degree 6 (relative error of the logarithm 3.2e-8). */
static inline __attribute__((always_inline)) float radius_of(int fused, float x, float beyond) {
    const uint32_t root_half = 0x3f3504f3u; /* sqrt(1/2) as a float */
    uint32_t over = bits_of(x) - root_half;
    int32_t e = (int32_t)over >> 23;
    float m = float_of((over & 0x007fffffu) + root_half);
    float f = choose(0u - (e == 0), -beyond, m - 1.0f);
    float q = -0.17400914f;
    q = add_product(fused, q, f, 0.28535012f);
    q = add_product(fused, q, f, -0.29829539f);
    q = add_product(fused, q, f, 0.33155165f);
    q = add_product(fused, q, f, -0.39926127f);
    q = add_product(fused, q, f, 0.50002674f);
    q = add_product(fused, q, f, -0.66667821f);
    float s = f * add_product(fused, f, add_product(fused, f, q, 1.0f), -2.0f);
    return sqrtf(add_product(fused, (float)e, -1.3862944f, s));
}

/* Computes the radius of a word that is not rare. Words of the upper half are represented by their distance
 * from 1, which a float holds exactly enough that the smallest radii have full precision too. */
static inline __attribute__((always_inline)) float common_radius(int fused, uint32_t word) {
    uint32_t upper = (uint32_t)((int32_t)word >> 31); /* all bits set in the upper half */
    float distance = ((float)(int32_t)(word ^ upper) + 0.5f) * 0x1p-32f;
    return radius_of(fused, choose(upper, 1.0f - distance, distance), distance);
}

/* Cosine and sine of pi/2 (q + p): q the word's two top bits, p = (s + 1/2) / 2^30 in (-1/2, 1/2) with s its other 30
 * bits as a signed number. Minimax polynomials in p^2, relative errors 3.9e-8 and 3.3e-9; the quadrant swaps the two
 * and turns their signs. */
static inline __attribute__((always_inline)) void direction(
    int fused, uint32_t word, float *cosine, float *sine) {
    float p = (float)(int32_t)(word << 2 | 2u) * 0x1p-32f;
    float z = p * p;
    float c = add_product(fused, z, -0.020417283f, 0.25360321f);
    c = add_product(fused, z, c, -1.2336977f);
    c = add_product(fused, z, c, 1.0f);
    float s = add_product(fused, z, -0.0046016579f, 0.079680033f);
    s = add_product(fused, z, s, -0.64596346f);
    s = p * add_product(fused, z, s, 1.5707963f);
    uint32_t odd = (uint32_t)((int32_t)(word << 1) >> 31); /* all bits set in the odd quadrants */
    uint32_t cosine_sign = (word ^ word << 1) & 0x80000000u, sine_sign = word & 0x80000000u;
    *cosine = float_of(bits_of(choose(odd, s, c)) ^ cosine_sign);
    *sine = float_of(bits_of(choose(odd, c, s)) ^ sine_sign);
}

float mfpg_box_muller_radius(uint32_t word, uint64_t further) {
    if (word >= MFPG_RARE_RADIUS) return common_radius(0, word);
    /* u < 2^-23, so a float can represent (word 2^64 + further + 1/2) / 2^96 down to its smallest value,
     * 2^-97 */
    float u = ((float)word * 0x1p64f + ((float)further + 0.5f)) * 0x1p-96f;
    return radius_of(0, u, 1.0f - u);
}

void mfpg_box_muller_pair(uint32_t radius_word, uint64_t further, uint32_t angle_word, float draws[2]) {
    float radius = mfpg_box_muller_radius(radius_word, further), cosine, sine;
    direction(0, angle_word, &cosine, &sine);
    draws[0] = radius * cosine;
    draws[1] = radius * sine;
}

/* How pairs become draws. Either as mfpg_stream_gaussian gives them, with the same bits on every processor;
 * or within an error bound of the normal deviate that their bits mean (NaN if the radius does not allow
 * that), with or without fused multiplications. */
typedef enum draw_form { SAME_BITS, BOUNDED, BOUNDED_FUSED } draw_form;

/* Processes pairs side by side. SAME_BITS: the result is nonzero if a radius is rare and needs its
 * refinement. */
static inline __attribute__((always_inline)) uint32_t transform(int lanes, draw_form form,
    const uint32_t *restrict radius, const uint32_t *restrict angle, float *restrict first,
    float *restrict second) {
    const int fused = form == BOUNDED_FUSED;
    uint32_t rare = 0;
    for (int i = 0; i < lanes; i++) {
        float cosine, sine, r = common_radius(fused, radius[i]);
        if (form != SAME_BITS) {
            uint32_t fits = radius[i] - MFPG_LEAST_BOUNDED < MFPG_BOUNDED_WORDS;
            r = float_of(bits_of(r) | (fits - 1)); /* all bits set is a NaN */
        }
        direction(fused, angle[i], &cosine, &sine);
        first[i] = r * cosine;
        second[i] = r * sine;
        rare |= form == SAME_BITS && radius[i] < MFPG_RARE_RADIUS;
    }
    return rare;
}

static inline __attribute__((always_inline)) uint32_t sequential(
    draw_form form, const uint32_t *words, ptrdiff_t blocks, float *z) {
    uint32_t rare = 0;
    for (ptrdiff_t b = 0; b < blocks; b++, words += BLOCK_WORDS, z += BLOCK_WORDS) {
        uint32_t radius[LANES], angle[LANES];
        float first[LANES], second[LANES];
        for (int i = 0; i < LANES; i++) {
            radius[i] = le32toh(words[2 * i]);
            angle[i] = le32toh(words[2 * i + 1]);
        }
        rare |= transform(LANES, form, radius, angle, first, second);
        for (int i = 0; i < LANES; i++) {
            z[2 * i] = first[i];
            z[2 * i + 1] = second[i];
        }
    }
    return rare;
}

static uint32_t sequential_plain(int bounded, const uint32_t *words, ptrdiff_t blocks, float *z) {
    return bounded ? sequential(BOUNDED, words, blocks, z) : sequential(SAME_BITS, words, blocks, z);
}

/* A block has eight pairs, so half of wider registers would be empty. */
MFPG_FOR_AVX2 static uint32_t sequential_avx2(
    int bounded, const uint32_t *words, ptrdiff_t blocks, float *z) {
    return bounded ? sequential(BOUNDED_FUSED, words, blocks, z) : sequential(SAME_BITS, words, blocks, z);
}

typedef float half_floats __attribute__((vector_size(LANES * sizeof(float))));
typedef float broad_floats __attribute__((vector_size(BROAD * sizeof(float))));

/* The draws of one half of the blocks go to one group and those of the other half to the next, directly from
 * registers. */
static inline __attribute__((always_inline)) void store_halves(const float draws[BROAD], float *to) {
    broad_floats all;
    memcpy(&all, draws, sizeof all);
    half_floats low = __builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7),
                high = __builtin_shufflevector(all, all, 8, 9, 10, 11, 12, 13, 14, 15);
    memcpy(to, &low, sizeof low);
    memcpy(to + GROUP_DRAWS, &high, sizeof high);
}

/* Two adjacent groups of eight blocks. */
static inline __attribute__((always_inline)) uint32_t two_groups(
    int lanes, draw_form form, const mfpg_chacha20 *words, float *z) {
    uint32_t rare = 0;
    for (int w = 0; w < BLOCK_WORDS; w += 2) {
        float first[BROAD], second[BROAD], *to = z + LANES * w;
        for (int i = 0; i < BROAD; i += lanes)
            rare |= transform(lanes, form, words->word[w] + i, words->word[w + 1] + i, first + i, second + i);
        store_halves(first, to);
        store_halves(second, to + LANES);
    }
    return rare;
}

static uint32_t two_groups_plain(int bounded, const mfpg_chacha20 *words, float *z) {
    return bounded ? two_groups(LANES, BOUNDED, words, z) : two_groups(LANES, SAME_BITS, words, z);
}

MFPG_FOR_AVX2 static uint32_t two_groups_avx2(int bounded, const mfpg_chacha20 *words, float *z) {
    return bounded ? two_groups(LANES, BOUNDED_FUSED, words, z) : two_groups(LANES, SAME_BITS, words, z);
}

MFPG_FOR_AVX512 static uint32_t two_groups_avx512(int bounded, const mfpg_chacha20 *words, float *z) {
    return bounded ? two_groups(BROAD, BOUNDED_FUSED, words, z) : two_groups(BROAD, SAME_BITS, words, z);
}

uint32_t mfpg_gaussian_groups(int bounded, mfpg_registers registers, const mfpg_chacha20 *words, float *z) {
    static uint32_t (*const MAKERS[])(int bounded, const mfpg_chacha20 *words, float *z) = {
        two_groups_plain, two_groups_avx2, two_groups_avx512};
    return MAKERS[registers](bounded, words, z);
}

/* Returns the place of word w of block b among the draws, both counted from the start of the vector. */
static ptrdiff_t place_of(layout order, ptrdiff_t b, int w) {
    if (order == SEQUENTIAL) return BLOCK_WORDS * b + w;
    return b / GROUP_BLOCKS * GROUP_DRAWS + LANES * w + b % GROUP_BLOCKS;
}

/* Recomputes the pairs with a rare radius, with eight further bytes for each pair of the block. */
static void refine(
    const mfpg_stream *stream, uint64_t first_block, layout order, ptrdiff_t blocks, float *z) {
    for (ptrdiff_t b = 0; b < blocks; b++) {
        uint32_t words[BLOCK_WORDS];
        mfpg_stream_bytes(stream, first_block + (uint64_t)b, sizeof words, (unsigned char *)words);
        for (int w = 0; w < BLOCK_WORDS; w += 2) {
            uint32_t radius = le32toh(words[w]), angle = le32toh(words[w + 1]);
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

static void make_sequential(int bounded, mfpg_registers registers, const mfpg_stream *stream,
    uint64_t first_block, ptrdiff_t blocks, float *z) {
    uint32_t words[LONGEST_SEQUENTIAL / BLOCK_WORDS][BLOCK_WORDS], rare;
    if (registers == MFPG_REGISTERS_PLAIN) {
        mfpg_stream_bytes(stream, first_block, BLOCK_BYTES * blocks, (unsigned char *)words);
        rare = sequential_plain(bounded, words[0], blocks, z);
    } else {
        mfpg_chacha20_few(registers, stream, first_block, blocks, words);
        rare = sequential_avx2(bounded, words[0], blocks, z);
    }
    if (rare && !bounded) refine(stream, first_block, SEQUENTIAL, blocks, z);
}

/* Computes the draws of `blocks` blocks, in whole groups, from number first_block on; there must be room for
 * an even number of groups. */
static void make_word_major(int bounded, mfpg_registers registers, const mfpg_stream *stream,
    uint64_t first_block, ptrdiff_t blocks, float *z) {
    uint32_t rare = 0;
    for (ptrdiff_t b = 0; b < blocks; b += BROAD) {
        mfpg_chacha20 words;
        mfpg_chacha20_make(registers, stream, first_block + (uint64_t)b, &words);
        rare |= mfpg_gaussian_groups(bounded, registers, &words, z + BLOCK_WORDS * b);
    }
    if (rare && !bounded) refine(stream, first_block, WORD_MAJOR, blocks, z);
}

static ptrdiff_t blocks_a_vector(ptrdiff_t n) {
    if (n <= LONGEST_SEQUENTIAL) return (n + BLOCK_WORDS - 1) / BLOCK_WORDS;
    return ((n - 1) / GROUP_DRAWS + 1) * GROUP_BLOCKS;
}

static void visit_pieces(int bounded, mfpg_registers registers, const mfpg_stream *stream, uint64_t vector,
    ptrdiff_t n, mfpg_gaussian_visitor visit, void *arg) {
    float z[PIECE_DRAWS] __attribute__((aligned(64)));
    ptrdiff_t left = blocks_a_vector(n);
    uint64_t block = vector * (uint64_t)left;
    if (n > 0 && n <= LONGEST_SEQUENTIAL) {
        make_sequential(bounded, registers, stream, block, left, z);
        visit(0, n, z, arg);
        return;
    }
    for (ptrdiff_t first = 0; first < n; first += PIECE_DRAWS, left -= PIECE_BLOCKS, block += PIECE_BLOCKS) {
        make_word_major(bounded, registers, stream, block, left < PIECE_BLOCKS ? left : PIECE_BLOCKS, z);
        visit(first, n - first < PIECE_DRAWS ? n - first : PIECE_DRAWS, z, arg);
    }
}

void mfpg_stream_gaussian_visit(mfpg_registers registers, const mfpg_stream *stream, uint64_t vector,
    ptrdiff_t n, mfpg_gaussian_visitor visit, void *arg) {
    visit_pieces(0, registers, stream, vector, n, visit, arg);
}

void mfpg_stream_bounded_gaussian_visit(mfpg_registers registers, const mfpg_stream *stream, uint64_t vector,
    ptrdiff_t n, mfpg_gaussian_visitor visit, void *arg) {
    visit_pieces(1, registers, stream, vector, n, visit, arg);
}

mfpg_pair_place mfpg_stream_pair_place(uint64_t vector, ptrdiff_t n, ptrdiff_t j) {
    uint64_t first = vector * (uint64_t)blocks_a_vector(n);
    int word;
    if (n <= LONGEST_SEQUENTIAL) {
        word = (int)(j % BLOCK_WORDS);
        first += (uint64_t)(j / BLOCK_WORDS);
    } else {
        ptrdiff_t in_group = j % GROUP_DRAWS;
        word = (int)(in_group / LANES);
        first += (uint64_t)(j / GROUP_DRAWS * GROUP_BLOCKS + in_group % LANES);
    }
    return (mfpg_pair_place){.block = first, .pair = word / 2, .sine = word % 2};
}

typedef struct output {
    float *at, scale;
} output;

static void copy_piece(ptrdiff_t first, ptrdiff_t n, const float *z, void *arg) {
    output *out = arg;
    memcpy(out->at + first, z, (size_t)n * sizeof *z);
}

MFPG_WIDE static void add_draws(ptrdiff_t n, float scale, const float *restrict z, float *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] += scale * z[i];
}

static void add_piece(ptrdiff_t first, ptrdiff_t n, const float *z, void *arg) {
    output *out = arg;
    add_draws(n, out->scale, z, out->at + first);
}

void mfpg_stream_gaussian(const mfpg_stream *stream, uint64_t vector, ptrdiff_t n, float *out) {
    output to = {.at = out};
    mfpg_stream_gaussian_visit(mfpg_widest_registers(), stream, vector, n, copy_piece, &to);
}

void mfpg_stream_gaussian_add(
    const mfpg_stream *stream, uint64_t vector, ptrdiff_t n, float scale, float *inout) {
    output to = {.at = inout, .scale = scale};
    mfpg_stream_gaussian_visit(mfpg_widest_registers(), stream, vector, n, add_piece, &to);
}
