#include "chacha20.h"

#include <endian.h>
#include <string.h>

enum { WORDS = MFPG_CHACHA20_WORDS, BLOCKS = MFPG_CHACHA20_BLOCKS, LANES = 8, BLOCK_BYTES = 64 };
typedef uint32_t lanes __attribute__((vector_size(LANES * sizeof(uint32_t))));
typedef uint32_t broad_lanes __attribute__((vector_size(BLOCKS * sizeof(uint32_t))));

#define ROTATE(x, by) ((x) << (by) | (x) >> (32 - (by)))
#define QUARTER_ROUND(a, b, c, d)                                                                            \
    a += b, d = ROTATE(d ^ a, 16), c += d, b = ROTATE(b ^ c, 12), a += b, d = ROTATE(d ^ a, 8), c += d,      \
            b = ROTATE(b ^ c, 7)

/* Columns, then diagonals; x is an array of 16 words, each a register of lanes. */
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

/* The state before the first round, counters apart: Bernstein's constants, key, nonce. */
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

/* Half of the blocks; low, high and out begin at the half. */
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

int mfpg_chacha20_agrees(void) {
    mfpg_stream stream = {.client = 0x0123456789abcdefu};
    mfpg_chacha20 own, reference;
    const uint64_t block = UINT32_MAX - 7u;
    for (unsigned char i = 0; i < sizeof stream.key; i++) stream.key[i] = (unsigned char)(7 * i + 1);
    mfpg_chacha20_make(mfpg_widest_registers(), &stream, block, &own);
    make_by_libsodium(&stream, block, &reference);
    return memcmp(&own, &reference, sizeof own) == 0;
}
