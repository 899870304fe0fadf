#include "testing.h"

#include <sodium.h>

#include "mfpg/random.h"
#include "secure_sum/agreement.h"

/* Keys, shares and masks, each against another way to compute it. */

static void from_hex(unsigned char *out, size_t size, const char *digits) {
    size_t got = 0;
    assert_int_equal(sodium_hex2bin(out, size, digits, strlen(digits), NULL, &got, NULL), 0);
    assert_int_equal(got, size);
}

static void test_x25519_gives_the_published_values(void **state) {
    (void)state;
    static const char *const vectors[][3] = {/* source: RFC 7748, section 5.2 */
        {"a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"},
        {"4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"}};
    unsigned char scalar[32], point[32], expected[32], out[32], k[32] = {9}, u[32] = {9};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        from_hex(scalar, 32, vectors[i][0]);
        from_hex(point, 32, vectors[i][1]);
        from_hex(expected, 32, vectors[i][2]);
        assert_int_equal(crypto_scalarmult(out, scalar, point), 0);
        assert_memory_equal(out, expected, 32);
    }
    for (int i = 0; i < 1000; i++) { /* the iteration of the same section */
        assert_int_equal(crypto_scalarmult(out, k, u), 0);
        memcpy(u, k, 32);
        memcpy(k, out, 32);
    }
    from_hex(expected, 32, "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51");
    assert_memory_equal(k, expected, 32);
}

static void test_ed25519_gives_the_published_signatures(void **state) {
    (void)state;
    static const struct {
        const char *seed, *public_key, *signature;
        unsigned char message[1];
        size_t size;
    } vectors[] = {/* source: RFC 8032, section 7.1, tests 1 and 2 */
        {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
            "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
            {0}, 0},
        {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
            {0x72}, 1}};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        unsigned char seed[32], public_key[32], expected[64], own[32], secret[64], signature[64];
        from_hex(seed, 32, vectors[i].seed);
        from_hex(public_key, 32, vectors[i].public_key);
        from_hex(expected, 64, vectors[i].signature);
        crypto_sign_seed_keypair(own, secret, seed);
        assert_memory_equal(own, public_key, 32);
        crypto_sign_detached(signature, NULL, vectors[i].message, vectors[i].size, secret);
        assert_memory_equal(signature, expected, 64);
        assert_int_equal(crypto_sign_verify_detached(signature, vectors[i].message, vectors[i].size, own), 0);
    }
}

static void test_both_sides_agree_on_a_key_of_its_own_for_everything(void **state) {
    (void)state;
    unsigned char secret[2][32] = {{1, 2, 3}, {4, 5, 6}}, open[2][32], context[2][32] = {{7}, {8}},
                  zero[32] = {0};
    unsigned char key[32], seen[12][32];
    int count = 0;
    for (int i = 0; i < 2; i++) crypto_scalarmult_base(open[i], secret[i]);
    for (int use = MFPG_SUM_FOR_MASK; use <= MFPG_SUM_FOR_SEAL; use++)
        for (int c = 0; c < 2; c++)
            for (int other = 9; other <= MFPG_SUM_SERVER; other += MFPG_SUM_SERVER - 9) {
                const mfpg_sum_party a = {4, open[0]}, b = {other, open[1]};
                assert_int_equal(mfpg_sum_agree((mfpg_sum_use)use, context[c], secret[0], a, b, key), 1);
                assert_int_equal(
                    mfpg_sum_agree((mfpg_sum_use)use, context[c], secret[1], b, a, seen[count]), 1);
                assert_memory_equal(key, seen[count], 32);
                for (int k = 0; k < count; k++) assert_memory_not_equal(seen[k], key, 32);
                count++;
            }
    assert_int_equal(count, 12);
    assert_int_equal(mfpg_sum_agree(MFPG_SUM_FOR_MASK, context[0], secret[0], (mfpg_sum_party){0, open[0]},
                         (mfpg_sum_party){1, zero}, key),
        0);
}

/* ---- shares, by long multiplication and powers ---- */

static unsigned char slow_product(unsigned a, unsigned b) {
    unsigned long_product = 0;
    for (int bit = 0; bit < 8; bit++)
        if (b >> bit & 1) long_product ^= a << bit;
    for (int bit = 15; bit >= 8; bit--)
        if (long_product >> bit & 1) long_product ^= 0x11bu << (bit - 8);
    return (unsigned char)long_product;
}

static unsigned char slow_inverse(unsigned char a) {
    for (int b = 1; b < 256; b++)
        if (slow_product(a, (unsigned)b) == 1) return (unsigned char)b;
    fail();
    return 0;
}

static unsigned char slow_share(
    const unsigned char *coefficient, int threshold, size_t size, size_t byte, unsigned char x) {
    unsigned char sum = 0;
    for (int j = 0; j < threshold; j++) {
        unsigned char power = 1;
        for (int k = 0; k < j; k++) power = slow_product(power, x);
        sum ^= slow_product(coefficient[(size_t)j * size + byte], power);
    }
    return sum;
}

/* Interpolates the value at 0 one byte at a time. */
static unsigned char slow_secret(
    const unsigned char *abscissa, unsigned char (*share)[64], int count, size_t byte) {
    unsigned char sum = 0;
    for (int i = 0; i < count; i++) {
        unsigned char term = share[i][byte];
        for (int j = 0; j < count; j++)
            if (j != i)
                term = slow_product(term, slow_product(abscissa[j], slow_inverse(abscissa[i] ^ abscissa[j])));
        sum ^= term;
    }
    return sum;
}

static void check_shares(const mfpg_stream *stream, uint64_t number, int threshold) {
    enum { SIZE = 64 };
    unsigned char coefficient[255 * SIZE], share[255][SIZE], abscissa[255], weight[255], secret[SIZE] = {0};
    ptrdiff_t order[255];
    mfpg_stream of_order = *stream;
    of_order.client = number;
    mfpg_stream_bytes(stream, number * 512, threshold * SIZE, coefficient);
    mfpg_stream_permutation(&of_order, 255, order);
    for (int i = 0; i < threshold; i++) {
        abscissa[i] = (unsigned char)(order[i] + 1);
        mfpg_shamir_share(coefficient, threshold, SIZE, abscissa[i], share[i]);
        for (size_t byte = 0; byte < SIZE; byte += 7)
            assert_int_equal(share[i][byte], slow_share(coefficient, threshold, SIZE, byte, abscissa[i]));
    }
    mfpg_shamir_weights(abscissa, threshold, weight);
    for (int i = 0; i < threshold; i++) mfpg_shamir_add(weight[i], share[i], SIZE, secret);
    assert_memory_equal(secret, coefficient, SIZE);
    if (threshold <= 16) assert_int_equal(secret[3], slow_secret(abscissa, share, threshold, 3));
    /* One share fewer says something else. */
    memset(secret, 0, sizeof secret);
    if (threshold < 2) return;
    mfpg_shamir_weights(abscissa, threshold - 1, weight);
    for (int i = 0; i < threshold - 1; i++) mfpg_shamir_add(weight[i], share[i], SIZE, secret);
    assert_memory_not_equal(secret, coefficient, SIZE);
}

static void test_shares_are_those_of_the_definition(void **state) {
    (void)state;
    const mfpg_key key = mfpg_key_from_seed(testing_seed());
    const mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0);
    for (int threshold = 1; threshold <= 40; threshold++)
        check_shares(&stream, (uint64_t)threshold, threshold);
    check_shares(&stream, 41, 255);
}

/* With one share of two, every secret is equally likely: over all values of the other coefficient a share takes each value once. */
static void test_a_share_of_two_says_nothing(void **state) {
    (void)state;
    for (int secret = 0; secret < 256; secret += 51) {
        unsigned char seen[256] = {0};
        for (int other = 0; other < 256; other++) {
            unsigned char coefficient[2 * 32] = {0}, share[32];
            coefficient[0] = (unsigned char)secret;
            coefficient[32] = (unsigned char)other;
            mfpg_shamir_share(coefficient, 2, 32, 93, share);
            seen[share[0]]++;
        }
        for (int v = 0; v < 256; v++) assert_int_equal(seen[v], 1);
    }
}

/* ---- masks ---- */

/* Coordinate i of a mask, from libsodium's key stream and the order that agreement.h states. */
static uint64_t slow_mask(const mfpg_stream *stream, int width, ptrdiff_t i) {
    unsigned char piece[1024], turned[1024];
    uint64_t value = 0;
    mfpg_stream_bytes(stream, (uint64_t)(i * width / 1024) * 16, 1024, piece);
    for (int word = 0; word < 16; word++)
        for (int block = 0; block < 16; block++)
            memcpy(turned + 4 * (16 * word + block), piece + 64 * block + 4 * word, 4);
    for (int byte = width - 1; byte >= 0; byte--) value = value << 8 | turned[i * width % 1024 + byte];
    return value;
}

static void check_masks(const mfpg_key *key, int bits, ptrdiff_t count) {
    mfpg_sum_mask mask[3] = {0};
    mfpg_sum_words words = mfpg_sum_words_create(bits, count);
    int64_t *vector = malloc((size_t)count * sizeof *vector), *out = malloc((size_t)count * sizeof *out);
    assert_true(words.data && vector && out);
    for (ptrdiff_t i = 0; i < count; i++) vector[i] = (int64_t)((uint64_t)(i - 5) * 0x123456789abcdef);
    for (int k = 0; k < 3; k++)
        mask[k] = (mfpg_sum_mask){mfpg_stream_open(key, MFPG_PURPOSE_TEST, (uint64_t)k, 0), k == 1 ? -1 : 1};
    mfpg_sum_words_set(&words, vector);
    mfpg_sum_masks_add(mask, 3, &words);
    mfpg_sum_words_get(&words, out);
    for (ptrdiff_t i = 0; i < count; i += 1 + count / 97) {
        uint64_t sum = (uint64_t)vector[i];
        for (int k = 0; k < 3; k++)
            sum += (uint64_t)mask[k].sign * slow_mask(&mask[k].stream, words.width, i);
        assert_int_equal(out[i], (int64_t)(sum << (64 - bits)) >> (64 - bits));
    }
    mfpg_sum_words_clear(&words);
    free(vector);
    free(out);
}

static void test_masks_are_the_key_stream_in_the_stated_order(void **state) {
    (void)state;
    const mfpg_key key = mfpg_key_from_seed(4);
    static const int bits[] = {2, 15, 16, 17, 32, 33, 64};
    static const ptrdiff_t counts[] = {1, 127, 512, 513, 5000};
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) check_masks(&key, bits[b], counts[c]);
}

/* ---- packed vectors, bit by bit ---- */

static void check_packed(int bits, ptrdiff_t count) {
    const size_t size = mfpg_sum_packed_size(bits, count);
    const mfpg_key key = mfpg_key_from_seed((uint64_t)bits);
    const mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0);
    mfpg_sum_words words = mfpg_sum_words_create(bits, count);
    int64_t *vector = malloc((size_t)count * sizeof *vector), *out = malloc((size_t)count * sizeof *out);
    unsigned char *packed = malloc(size + 1), *moved = malloc(size + 1);
    assert_true(words.data && vector && out && packed && moved);
    mfpg_stream_bytes(&stream, 0, count * (ptrdiff_t)sizeof *vector, (unsigned char *)vector);
    mfpg_sum_words_set(&words, vector);
    packed[size] = 0xa5;
    mfpg_sum_words_pack(&words, packed);
    assert_int_equal(packed[size], 0xa5);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        const ptrdiff_t i = (ptrdiff_t)(bit / (size_t)bits);
        const int expected = i < count ? (int)((uint64_t)vector[i] >> bit % (size_t)bits & 1) : 0;
        assert_int_equal(packed[bit / 8] >> bit % 8 & 1, expected);
    }
    memcpy(moved + 1, packed, size); /* from any address */
    mfpg_sum_words_add_packed(&words, moved + 1);
    mfpg_sum_words_get(&words, out);
    for (ptrdiff_t i = 0; i < count; i++)
        assert_int_equal(out[i], (int64_t)((uint64_t)vector[i] * 2 << (64 - bits)) >> (64 - bits));
    assert_int_equal(mfpg_sum_is_packed(bits, count, packed), 1);
    packed[size - 1] |= 0x80;
    assert_int_equal(mfpg_sum_is_packed(bits, count, packed), count * bits % 8 == 0);
    mfpg_sum_words_clear(&words);
    free(vector);
    free(out);
    free(packed);
    free(moved);
}

static void test_packed_vectors_are_their_bits(void **state) {
    (void)state;
    for (int bits = 2; bits <= 64; bits++)
        for (ptrdiff_t count = 1; count < 1500; count = 3 * count + 2) check_packed(bits, count);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_x25519_gives_the_published_values),
        cmocka_unit_test(test_ed25519_gives_the_published_signatures),
        cmocka_unit_test(test_both_sides_agree_on_a_key_of_its_own_for_everything),
        cmocka_unit_test(test_shares_are_those_of_the_definition),
        cmocka_unit_test(test_a_share_of_two_says_nothing),
        cmocka_unit_test(test_masks_are_the_key_stream_in_the_stated_order),
        cmocka_unit_test(test_packed_vectors_are_their_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
