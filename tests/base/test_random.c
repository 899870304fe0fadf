#include "testing.h"

#include "base/streams.h"
#include "mfpg/random.h"

/* Keys, streams and uniform numbers. The Gaussian draws have a program of their own. */

static mfpg_stream stream_of(uint64_t seed, mfpg_purpose purpose, uint64_t round, uint64_t client) {
    mfpg_key key = mfpg_key_from_seed(seed);
    return mfpg_stream_open(&key, purpose, round, client);
}

static void check_hex(const unsigned char *bytes, size_t n, const char *expected) {
    char text[2 * 64 + 1] = "";
    assert_true(n <= 64);
    for (size_t i = 0; i < n; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    assert_string_equal(text, expected);
}

/* ChaCha20 with a 64-bit nonce and a 64-bit counter, written down from its definition: the second route. */
static uint32_t rotated(uint32_t x, int by) {
    return x << by | x >> (32 - by);
}

static void quarter_round(uint32_t x[16], int a, int b, int c, int d) {
    x[a] += x[b], x[d] = rotated(x[d] ^ x[a], 16);
    x[c] += x[d], x[b] = rotated(x[b] ^ x[c], 12);
    x[a] += x[b], x[d] = rotated(x[d] ^ x[a], 8);
    x[c] += x[d], x[b] = rotated(x[b] ^ x[c], 7);
}

static void plain_chacha20_block(const mfpg_stream *stream, uint64_t counter, unsigned char out[64]) {
    uint32_t start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, x[16];
    memcpy(start + 4, stream->key, 32);
    memcpy(start + 12, &counter, 8);
    memcpy(start + 14, &stream->client, 8);
    memcpy(x, start, sizeof x);
    for (int i = 0; i < 10; i++) {
        for (int c = 0; c < 4; c++) quarter_round(x, c, 4 + c, 8 + c, 12 + c);
        for (int c = 0; c < 4; c++) quarter_round(x, c, 4 + (c + 1) % 4, 8 + (c + 2) % 4, 12 + (c + 3) % 4);
    }
    for (int i = 0; i < 16; i++) x[i] += start[i];
    memcpy(out, x, 64);
}

static void test_zero_key_gives_the_published_key_stream(void **state) {
    (void)state;
    const mfpg_stream zero = {.client = 0};
    unsigned char bytes[64];
    mfpg_stream_bytes(&zero, 0, 64, bytes); /* source: RFC 8439 A.1, vectors 1 and 2; there too nonce 0 */
    check_hex(bytes, 64,
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
    mfpg_stream_bytes(&zero, 1, 64, bytes);
    check_hex(bytes, 64,
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f");
}

static void test_key_stream_is_plain_chacha20_word_for_word(void **state) {
    (void)state;
    const uint64_t clients[] = {0, 1, 0x0123456789abcdefu, UINT64_MAX};
    const uint64_t blocks[] = {0, 5, UINT32_MAX - 3u, (uint64_t)1 << 32, ((uint64_t)1 << 63) - 4,
        (uint64_t)1 << 63, UINT64_MAX - 20};
    for (size_t c = 0; c < sizeof clients / sizeof clients[0]; c++) {
        mfpg_stream stream = stream_of(7, MFPG_PURPOSE_TEST, 3, clients[c]);
        for (size_t b = 0; b < sizeof blocks / sizeof blocks[0]; b++) {
            unsigned char got[12 * 64], expected[64];
            mfpg_stream_bytes(&stream, blocks[b], sizeof got, got);
            for (int i = 0; i < 12; i++) {
                plain_chacha20_block(&stream, blocks[b] + (uint64_t)i, expected);
                assert_memory_equal(got + 64 * i, expected, 64);
            }
        }
    }
}

/* source: hashlib.blake2b of Python and a ChaCha20 written in Python. Pins the derivation of keys for all time. */
static void test_seed_one_has_its_known_keys_and_bits(void **state) {
    (void)state;
    mfpg_key key = mfpg_key_from_seed(1);
    check_hex(key.bytes, 32, "3caafe7b387c984183d94bb98b248be3dfb900f338bb602296b53cb3f00d34fd");
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_NOISE, 0, 0);
    check_hex(stream.key, 32, "f40001ab3330bd65b6c8a427a2d9b886075fa2c81581651799b50e4df6d4ef15");
    unsigned char bytes[64];
    mfpg_stream_bytes(&stream, 0, 64, bytes);
    check_hex(bytes, 64,
        "50932f303be860f4d7c48e19c0c25f726b6447de615996834b4cc6aa565031d4"
        "750bef6e820a7f323a8deaf4737acf3f546bcf40d13abd1a292777fa61a0b390");
    const ptrdiff_t order_of_8[] = {6, 5, 0, 3, 7, 2, 4, 1};
    const uint64_t below_1000[] = {954, 446, 514, 828, 197, 249, 104, 565};
    double uniform[2];
    ptrdiff_t order[8];
    mfpg_stream_uniform(&stream, 0, 2, uniform);
    assert_true(uniform[0] == 0.9546036858084207 && uniform[1] == 0.44677369298875214);
    mfpg_stream_permutation(&stream, 8, order);
    assert_memory_equal(order, order_of_8, sizeof order);
    for (uint64_t i = 0; i < 8; i++) assert_int_equal(mfpg_stream_below(&stream, i, 1000), below_1000[i]);
}

static void test_any_part_of_a_stream_equals_the_whole(void **state) {
    (void)state;
    enum { BYTES = 100 * 1024, NUMBERS = 1500 };
    mfpg_stream stream = stream_of(testing_seed(), MFPG_PURPOSE_TEST, 0, 9);
    unsigned char *whole = malloc(BYTES), part[20000];
    assert_non_null(whole);
    mfpg_stream_bytes(&stream, 0, BYTES, whole);
    for (uint64_t block = 0; block < 1200; block += 171) {
        ptrdiff_t n = 1 + (ptrdiff_t)mfpg_stream_below(&stream, block, sizeof part);
        mfpg_stream_bytes(&stream, block, n, part);
        assert_memory_equal(part, whole + 64 * block, (size_t)n);
    }
    double numbers[NUMBERS], some[600];
    mfpg_stream_uniform(&stream, 0, NUMBERS, numbers);
    for (uint64_t first = 0; first < 800; first += 37) {
        mfpg_stream_uniform(&stream, first, 600, some);
        assert_memory_equal(some, numbers + first, sizeof some);
        assert_true(mfpg_stream_below(&stream, first, 1u << 20) == (uint64_t)(numbers[first] * 0x1p20));
    }
    free(whole);
}

static void test_system_keys_differ_and_only_seeds_are_marked(void **state) {
    (void)state;
    mfpg_key first, second, seeded = mfpg_key_from_seed(0), again = mfpg_key_from_seed(0);
    assert_int_equal(mfpg_key_from_system(&first), MFPG_OK);
    assert_int_equal(mfpg_key_from_system(&second), MFPG_OK);
    assert_memory_not_equal(first.bytes, second.bytes, 32);
    assert_false(first.seeded);
    assert_true(seeded.seeded);
    assert_memory_equal(seeded.bytes, again.bytes, 32);
    mfpg_key other = mfpg_key_from_seed(1);
    assert_memory_not_equal(seeded.bytes, other.bytes, 32);
}

/* A generator that folds its key into one word (flower#7522: 32 bytes XOR-folded to 32 bits) gives two keys of equal fold
 * the same stream. Here each byte counts, in whatever place and with whatever else makes up for it in a fold. */
static void test_every_byte_of_a_key_counts(void **state) {
    (void)state;
    enum { BYTES = 64 };
    unsigned char first[BYTES], other[BYTES];
    const mfpg_key key = mfpg_key_from_seed(testing_seed());
    const mfpg_stream plain = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 1, 0);
    mfpg_stream_bytes(&plain, 0, BYTES, first);
    for (int byte = 0; byte < 32; byte++) {
        mfpg_key changed = key;
        changed.bytes[byte] ^= 0x5a;
        changed.bytes[(byte + 4) % 32] ^= 0x5a; /* the fold of 32-bit words stays the same */
        const mfpg_stream stream = mfpg_stream_open(&changed, MFPG_PURPOSE_TEST, 1, 0);
        mfpg_stream_bytes(&stream, 0, BYTES, other);
        int same = 0;
        for (int i = 0; i < BYTES; i++) same += first[i] == other[i];
        assert_true(same < 8); /* by chance 64/256; eight or more in one of 32 keys: 1e-9 */
    }
}

static void test_uniforms_stay_inside_zero_and_one_and_have_its_moments(void **state) {
    (void)state;
    enum { N = 1 << 20 };
    mfpg_stream stream = stream_of(testing_seed(), MFPG_PURPOSE_TEST, 1, 0);
    double *u = malloc(N * sizeof *u), sum = 0, squares = 0;
    assert_non_null(u);
    mfpg_stream_uniform(&stream, 3, N, u);
    for (int i = 0; i < N; i++) {
        assert_true(u[i] > 0 && u[i] < 1);
        sum += u[i] - 0.5;
        squares += (u[i] - 0.5) * (u[i] - 0.5);
    }
    free(u);
    /* 4.5 standard errors: 1/sqrt(12 N) for the mean, 1/sqrt(180 N) for the variance */
    check_near(sum / N, 0, 0, 4.5 / sqrt(12.0 * N), "mean of uniforms");
    check_near(squares / N, 1.0 / 12, 0, 4.5 / sqrt(180.0 * N), "variance of uniforms");
}

static void check_chi_square(const int *counts, int cells, double expected, const char *what) {
    double chi = 0;
    for (int i = 0; i < cells; i++) chi += (counts[i] - expected) * (counts[i] - expected) / expected;
    /* mean cells-1, variance 2(cells-1): five standard deviations, and three below */
    double spread = sqrt(2.0 * (cells - 1));
    if (chi > cells - 1 + 5 * spread || chi < cells - 1 - 3 * spread) {
        print_error("%s: chi square %.1f with %d cells (seed %llu)\n", what, chi, cells,
            (unsigned long long)testing_seed());
        fail();
    }
}

static void test_below_is_uniform_also_for_odd_bounds(void **state) {
    (void)state;
    mfpg_stream stream = stream_of(testing_seed(), MFPG_PURPOSE_TEST, 2, 0);
    const int bounds[] = {2, 7, 101};
    for (int k = 0; k < 3; k++) {
        int counts[101] = {0};
        for (uint64_t i = 0; i < 50000; i++)
            counts[mfpg_stream_below(&stream, i + 50000 * (uint64_t)k, (uint64_t)bounds[k])]++;
        check_chi_square(counts, bounds[k], 50000.0 / bounds[k], "below");
    }
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(mfpg_stream_below(&stream, i, 1), 0);
        assert_true(mfpg_stream_below(&stream, i, UINT64_MAX) < UINT64_MAX);
    }
}

static void test_permutations_are_permutations_and_all_orders_occur_alike(void **state) {
    (void)state;
    mfpg_stream stream = stream_of(testing_seed(), MFPG_PURPOSE_TEST, 3, 0);
    ptrdiff_t order[2000];
    char seen[2000] = {0};
    mfpg_stream_permutation(&stream, 0, order);
    mfpg_stream_permutation(&stream, 2000, order);
    for (int i = 0; i < 2000; i++) {
        assert_true(order[i] >= 0 && order[i] < 2000 && !seen[order[i]]);
        seen[order[i]] = 1;
    }
    int counts[24] = {0};
    for (uint64_t client = 0; client < 24000; client++) {
        stream.client = client;
        mfpg_stream_permutation(&stream, 4, order);
        int rank = 0; /* number of the order among the 24 */
        for (int i = 0; i < 4; i++) {
            int smaller = 0;
            for (int j = i + 1; j < 4; j++) smaller += order[j] < order[i];
            rank = rank * (4 - i) + smaller;
        }
        counts[rank]++;
    }
    check_chi_square(counts, 24, 1000, "permutation of 4");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zero_key_gives_the_published_key_stream),
        cmocka_unit_test(test_key_stream_is_plain_chacha20_word_for_word),
        cmocka_unit_test(test_seed_one_has_its_known_keys_and_bits),
        cmocka_unit_test(test_any_part_of_a_stream_equals_the_whole),
        cmocka_unit_test(test_system_keys_differ_and_only_seeds_are_marked),
        cmocka_unit_test(test_every_byte_of_a_key_counts),
        cmocka_unit_test(test_uniforms_stay_inside_zero_and_one_and_have_its_moments),
        cmocka_unit_test(test_below_is_uniform_also_for_odd_bounds),
        cmocka_unit_test(test_permutations_are_permutations_and_all_orders_occur_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
