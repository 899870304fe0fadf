#include "streams.h"

#include <endian.h>
#include <string.h>

enum { WORDS = MFPG_CHACHA20_WORDS, BLOCKS = MFPG_CHACHA20_BLOCKS, LANES = 8, BLOCK_BYTES = 64 };
typedef uint32_t lanes __attribute__((vector_size(LANES * sizeof(uint32_t))));
typedef uint32_t broad_lanes __attribute__((vector_size(BLOCKS * sizeof(uint32_t))));

#define ROTATE(x, by) ((x) << (by) | (x) >> (32 - (by)))
#define QUARTER_ROUND(a, b, c, d)                                                                            \
    a += b, d = ROTATE(d ^ a, 16), c += d, b = ROTATE(b ^ c, 12), a += b, d = ROTATE(d ^ a, 8), c += d,      \
            b = ROTATE(b ^ c, 7)

/* Processes columns and then diagonals; x is an array of 16 words, each a register of lanes. */
#define DOUBLE_ROUND(x)                                                                                      \
    QUARTER_ROUND(x[0], x[4], x[8], x[12]);                                                                  \
    QUARTER_ROUND(x[1], x[5], x[9], x[13]);                                                                  \
    QUARTER_ROUND(x[2], x[6], x[10], x[14]);                                                                 \
    QUARTER_ROUND(x[3], x[7], x[11], x[15]);                                                                 \
    QUARTER_ROUND(x[0], x[5], x[10], x[15]);                                                                 \
    QUARTER_ROUND(x[1], x[6], x[11], x[12]);                                                                 \
    QUARTER_ROUND(x[2], x[7], x[8], x[13]);                                                                  \
    QUARTER_ROUND(x[3], x[4], x[9], x[14])

enum { DOUBLE_ROUNDS = 10, COUNTER = 12, NONCE = 14 };

/* The state before the first round, without counters: Bernstein's constants, key, nonce. */
static void start_words(const mfpg_stream *stream, uint32_t start[WORDS]) {
    const uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}; /* "expand 32-byte k" */
    memcpy(start, constants, sizeof constants);
    memcpy(start + 4, stream->key, sizeof stream->key);
    for (int w = 4; w < 12; w++) start[w] = le32toh(start[w]);
    start[COUNTER] = start[COUNTER + 1] = 0;
    start[NONCE] = (uint32_t)stream->client;
    start[NONCE + 1] = (uint32_t)(stream->client >> 32);
}

static void counters(uint64_t block, uint32_t low[BLOCKS], uint32_t high[BLOCKS]) {
    for (uint64_t b = 0; b < BLOCKS; b++) {
        low[b] = (uint32_t)(block + b);
        high[b] = (uint32_t)((block + b) >> 32);
    }
}

MFPG_FOR_AVX512 static void make_broad(
    const uint32_t start[WORDS], const uint32_t *low, const uint32_t *high, mfpg_chacha20 *out) {
    broad_lanes x[WORDS], first[WORDS];
    MFPG_UNROLL
    for (int w = 0; w < WORDS; w++) first[w] = (broad_lanes){0} + start[w];
    memcpy(&first[COUNTER], low, sizeof x[0]);
    memcpy(&first[COUNTER + 1], high, sizeof x[0]);
    MFPG_UNROLL
    for (int w = 0; w < WORDS; w++) x[w] = first[w];
    for (int i = 0; i < DOUBLE_ROUNDS; i++) {
        DOUBLE_ROUND(x);
    }
    MFPG_UNROLL
    for (int w = 0; w < WORDS; w++) {
        x[w] += first[w];
        memcpy(out->word[w], &x[w], sizeof x[w]);
    }
}

/* Makes half of the blocks; low, high and out point to the beginning of that half. */
MFPG_FOR_AVX2 static void make_half(
    const uint32_t start[WORDS], const uint32_t *low, const uint32_t *high, uint32_t (*out)[BLOCKS]) {
    lanes x[WORDS], of_low, of_high;
    memcpy(&of_low, low, sizeof of_low);
    memcpy(&of_high, high, sizeof of_high);
    MFPG_UNROLL
    for (int w = 0; w < WORDS; w++) x[w] = (lanes){0} + start[w];
    x[COUNTER] = of_low;
    x[COUNTER + 1] = of_high;
    for (int i = 0; i < DOUBLE_ROUNDS; i++) {
        DOUBLE_ROUND(x);
    }
    x[COUNTER] += of_low;
    x[COUNTER + 1] += of_high;
    MFPG_UNROLL
    for (int w = 0; w < WORDS; w++) {
        x[w] += start[w]; /* 0 for the counters */
        memcpy(out[w], &x[w], sizeof x[w]);
    }
}

static void make_by_libsodium(const mfpg_stream *stream, uint64_t block, mfpg_chacha20 *out) {
    uint32_t words[BLOCKS][WORDS];
    mfpg_stream_bytes(stream, block, sizeof words, (unsigned char *)words);
    for (int b = 0; b < BLOCKS; b++)
        for (int w = 0; w < WORDS; w++) out->word[w][b] = le32toh(words[b][w]);
}

void mfpg_chacha20_make(
    mfpg_registers registers, const mfpg_stream *stream, uint64_t block, mfpg_chacha20 *out) {
    uint32_t start[WORDS], low[BLOCKS], high[BLOCKS];
    if (registers == MFPG_REGISTERS_PLAIN) {
        make_by_libsodium(stream, block, out);
        return;
    }
    start_words(stream, start);
    counters(block, low, high);
    if (registers == MFPG_REGISTERS_AVX512) {
        make_broad(start, low, high, out);
        return;
    }
    make_half(start, low, high, out->word);
    make_half(start, low + LANES, high + LANES, (uint32_t(*)[BLOCKS])(out->word[0] + LANES));
}

/* Stores four words of one block, then the same four of the next. */
typedef uint32_t rows __attribute__((vector_size(8 * sizeof(uint32_t))));

#define TURN(x, a, b, c, d) x = __builtin_shufflevector(x, x, a, b, c, d, a + 4, b + 4, c + 4, d + 4)

/* Rows b, c, d turned so that their columns are the diagonals of the state, and back. */
#define ROWS_DOUBLE_ROUND(a, b, c, d)                                                                        \
    QUARTER_ROUND(a, b, c, d);                                                                               \
    TURN(b, 1, 2, 3, 0), TURN(c, 2, 3, 0, 1), TURN(d, 3, 0, 1, 2);                                           \
    QUARTER_ROUND(a, b, c, d);                                                                               \
    TURN(b, 3, 0, 1, 2), TURN(c, 2, 3, 0, 1), TURN(d, 1, 2, 3, 0)

enum { ROW = 4, ROWS = WORDS / ROW };

static inline __attribute__((always_inline)) void start_rows(
    const uint32_t start[WORDS], uint64_t block, rows first[ROWS]) {
    uint32_t words[ROWS][2][ROW];
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < 2; i++) memcpy(words[r][i], start + ROW * r, sizeof words[r][i]);
    for (int i = 0; i < 2; i++) {
        words[ROWS - 1][i][0] = (uint32_t)(block + (uint64_t)i);
        words[ROWS - 1][i][1] = (uint32_t)((block + (uint64_t)i) >> 32);
    }
    memcpy(first, words, sizeof words);
}

static inline __attribute__((always_inline)) void store_rows(
    const rows x[ROWS], const rows first[ROWS], uint32_t (*words)[WORDS]) {
    for (int r = 0; r < ROWS; r++) {
        rows sum = x[r] + first[r];
        memcpy(words[0] + ROW * r, &sum, sizeof sum / 2);
        memcpy(words[1] + ROW * r, (const uint32_t *)&sum + ROW, sizeof sum / 2);
    }
}

static inline __attribute__((always_inline)) void two_blocks(
    const uint32_t start[WORDS], uint64_t block, uint32_t (*words)[WORDS]) {
    rows first[ROWS], a, b, c, d;
    start_rows(start, block, first);
    a = first[0], b = first[1], c = first[2], d = first[3];
    for (int i = 0; i < DOUBLE_ROUNDS; i++) {
        ROWS_DOUBLE_ROUND(a, b, c, d);
    }
    store_rows((const rows[ROWS]){a, b, c, d}, first, words);
}

/* Uses two chains of operations that do not depend on each other. */
static inline __attribute__((always_inline)) void four_blocks(
    const uint32_t start[WORDS], uint64_t block, uint32_t (*words)[WORDS]) {
    rows first[ROWS], second[ROWS], a, b, c, d, e, f, g, h;
    start_rows(start, block, first);
    start_rows(start, block + 2, second);
    a = first[0], b = first[1], c = first[2], d = first[3];
    e = second[0], f = second[1], g = second[2], h = second[3];
    for (int i = 0; i < DOUBLE_ROUNDS; i++) {
        ROWS_DOUBLE_ROUND(a, b, c, d);
        ROWS_DOUBLE_ROUND(e, f, g, h);
    }
    store_rows((const rows[ROWS]){a, b, c, d}, first, words);
    store_rows((const rows[ROWS]){e, f, g, h}, second, words + 2);
}

static inline __attribute__((always_inline)) void few(
    const uint32_t start[WORDS], uint64_t block, ptrdiff_t count, uint32_t (*words)[WORDS]) {
    ptrdiff_t done = 0;
    for (; count - done >= 4; done += 4) four_blocks(start, block + (uint64_t)done, words + done);
    for (; count - done >= 2; done += 2) two_blocks(start, block + (uint64_t)done, words + done);
    if (done == count) return;
    uint32_t last[2][WORDS];
    two_blocks(start, block + (uint64_t)done, last);
    memcpy(words[done], last[0], sizeof last[0]);
}

MFPG_FOR_AVX2 static void few_avx2(
    const uint32_t start[WORDS], uint64_t block, ptrdiff_t count, uint32_t (*words)[WORDS]) {
    few(start, block, count, words);
}

MFPG_FOR_AVX512 static void few_avx512(
    const uint32_t start[WORDS], uint64_t block, ptrdiff_t count, uint32_t (*words)[WORDS]) {
    few(start, block, count, words);
}

void mfpg_chacha20_few(mfpg_registers registers, const mfpg_stream *stream, uint64_t block, ptrdiff_t count,
    uint32_t (*words)[WORDS]) {
    uint32_t start[WORDS];
    start_words(stream, start);
    if (registers == MFPG_REGISTERS_AVX512)
        few_avx512(start, block, count, words);
    else
        few_avx2(start, block, count, words);
}

/* The reference is make_by_libsodium, which works word by word instead of block by block. */
static int few_agree(
    mfpg_registers registers, const mfpg_stream *stream, uint64_t block, const mfpg_chacha20 *reference) {
    enum { COUNT = 7 }; /* one call of four blocks, one of two, and one of a single block */
    uint32_t own[COUNT][WORDS], differ = 0;
    if (registers == MFPG_REGISTERS_PLAIN) return 1;
    mfpg_chacha20_few(registers, stream, block, COUNT, own);
    for (int b = 0; b < COUNT; b++)
        for (int w = 0; w < WORDS; w++) differ |= own[b][w] ^ reference->word[w][b];
    return differ == 0;
}

int mfpg_chacha20_agrees(void) {
    mfpg_stream stream = {.client = 0x0123456789abcdefu};
    mfpg_chacha20 own, reference;
    /* chosen so that the lower half of the counter overflows in both */
    const uint64_t block = UINT32_MAX - 3u;
    for (unsigned char i = 0; i < sizeof stream.key; i++) stream.key[i] = (unsigned char)(7 * i + 1);
    mfpg_chacha20_make(mfpg_widest_registers(), &stream, block, &own);
    make_by_libsodium(&stream, block, &reference);
    return memcmp(&own, &reference, sizeof own) == 0 &&
           few_agree(mfpg_widest_registers(), &stream, block, &reference);
}
