/* The own ChaCha20 against libsodium, word for word, with every kind of registers that this processor has. */
#include "testing.h"

#include "base/streams.h"

static mfpg_stream stream_of(uint64_t client) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 5, client);
    return stream;
}

static uint32_t word_of(const unsigned char *block, int w) {
    const unsigned char *b = block + 4 * w;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void check_words(mfpg_registers registers, const mfpg_stream *stream, uint64_t block) {
    unsigned char bytes[MFPG_CHACHA20_BLOCKS * 64];
    mfpg_chacha20 own;
    memset(&own, 0xa5, sizeof own);
    mfpg_chacha20_make(registers, stream, block, &own);
    mfpg_stream_bytes(stream, block, sizeof bytes, bytes);
    for (int b = 0; b < MFPG_CHACHA20_BLOCKS; b++)
        for (int w = 0; w < MFPG_CHACHA20_WORDS; w++)
            if (own.word[w][b] != word_of(bytes + 64 * b, w)) {
                print_error("registers %d, block %llu + %d, word %d (seed %llu)\n", (int)registers,
                    (unsigned long long)block, b, w, (unsigned long long)testing_seed());
                fail();
            }
}

/* Runs of 1 to 9 blocks: all ways to cut one into fours, twos and a single block; nothing is written behind it. */
static void check_few(mfpg_registers registers, const mfpg_stream *stream, uint64_t block) {
    enum { MOST = 9 };
    unsigned char bytes[MOST * 64];
    mfpg_stream_bytes(stream, block, sizeof bytes, bytes);
    for (ptrdiff_t count = 1; count <= MOST && registers != MFPG_REGISTERS_PLAIN; count++) {
        uint32_t own[MOST + 1][MFPG_CHACHA20_WORDS];
        memset(own, 0xa5, sizeof own);
        mfpg_chacha20_few(registers, stream, block, count, own);
        for (ptrdiff_t b = 0; b < count; b++)
            for (int w = 0; w < MFPG_CHACHA20_WORDS; w++)
                assert_int_equal(own[b][w], word_of(bytes + 64 * b, w));
        for (int w = 0; w < MFPG_CHACHA20_WORDS; w++) assert_int_equal(own[count][w], 0xa5a5a5a5u);
    }
}

static void test_words_are_those_of_libsodium_for_all_registers(void **state) {
    (void)state;
    const uint64_t clients[] = {0, 1, 0x0123456789abcdefu, UINT64_MAX};
    const uint64_t blocks[] = {0, 1, 7, 12345, UINT32_MAX - 20u, UINT32_MAX - 15u, UINT32_MAX - 3u,
        UINT32_MAX, (uint64_t)1 << 32, ((uint64_t)1 << 63) - 5, (uint64_t)1 << 63, UINT64_MAX - 15};
    for (int r = MFPG_REGISTERS_PLAIN; r <= (int)mfpg_widest_registers(); r++)
        for (size_t c = 0; c < sizeof clients / sizeof clients[0]; c++) {
            mfpg_stream stream = stream_of(clients[c]);
            for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++) {
                check_words((mfpg_registers)r, &stream, blocks[b]);
                check_few((mfpg_registers)r, &stream, blocks[b]);
            }
        }
}

static void test_words_at_random_places_are_those_of_libsodium(void **state) {
    (void)state;
    mfpg_stream places = stream_of(99);
    for (int i = 0; i < testing_repeats(300); i++) {
        mfpg_stream stream = stream_of(mfpg_stream_below(&places, 2 * (uint64_t)i, UINT64_MAX));
        uint64_t block = mfpg_stream_below(&places, 2 * (uint64_t)i + 1, (uint64_t)1 << (i % 63 + 1));
        for (int r = MFPG_REGISTERS_PLAIN; r <= (int)mfpg_widest_registers(); r++) {
            check_words((mfpg_registers)r, &stream, block);
            check_few((mfpg_registers)r, &stream, block);
        }
    }
}

/* source: RFC 8439 A.1, vectors 1 and 2: key and nonce zero, blocks 0 and 1 */
static void test_first_words_are_the_published_ones(void **state) {
    (void)state;
    const mfpg_stream zero = {.client = 0};
    for (int r = MFPG_REGISTERS_PLAIN; r <= (int)mfpg_widest_registers(); r++) {
        mfpg_chacha20 own;
        mfpg_chacha20_make((mfpg_registers)r, &zero, 0, &own);
        assert_true(own.word[0][0] == 0xade0b876u && own.word[1][0] == 0x903df1a0u);
        assert_true(own.word[0][1] == 0xbee7079fu && own.word[1][1] == 0x7a385155u);
    }
    assert_true(mfpg_chacha20_agrees());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_are_those_of_libsodium_for_all_registers),
        cmocka_unit_test(test_words_at_random_places_are_those_of_libsodium),
        cmocka_unit_test(test_first_words_are_the_published_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
