#include "testing.h"

#include "base/streams.h"
#include "mfpg/random.h"

static mfpg_stream stream_of(uint64_t seed, mfpg_purpose purpose, uint64_t round, uint64_t client) {
    mfpg_key key = mfpg_key_from_seed(seed);
    return mfpg_stream_open(&key, purpose, round, client);
}

/* The definition in double precision with the C library's functions. */
static void exact_pair(uint32_t word, uint64_t further, uint32_t angle, double draws[2], double *radius) {
    double logarithm;
    if (word < MFPG_RARE_RADIUS)
        logarithm = log((word * 0x1p64 + (double)further + 0.5) * 0x1p-96);
    else if (word < 0x80000000u)
        logarithm = log((word + 0.5) * 0x1p-32);
    else
        logarithm = log1p(-(~word + 0.5) * 0x1p-32);
    int32_t s = (int32_t)(angle << 2) / 4;
    double theta = acos(0.0) * ((angle >> 30) + (s + 0.5) * 0x1p-30);
    *radius = sqrt(-2.0 * logarithm);
    draws[0] = *radius * cos(theta);
    draws[1] = *radius * sin(theta);
}

static void test_pairs_match_the_double_precision_transform(void **state) {
    (void)state;
    mfpg_stream stream = stream_of(testing_seed(), MFPG_PURPOSE_TEST, 0, 0);
    for (uint64_t i = 0; i < 200000; i++) {
        uint32_t word = (uint32_t)mfpg_stream_below(&stream, 4 * i, (uint64_t)1 << 32);
        uint32_t angle = (uint32_t)mfpg_stream_below(&stream, 4 * i + 1, (uint64_t)1 << 32);
        uint64_t further = mfpg_stream_below(&stream, 4 * i + 2, UINT64_MAX);
        if (i % 3 == 1) word >>= i % 32;                /* both ends of the radius, */
        if (i % 3 == 2) word = ~(word >> (i / 3 % 32)); /* down to single steps */
        float draws[2];
        double expected[2], radius;
        mfpg_box_muller_pair(word, further, angle, draws);
        exact_pair(word, further, angle, expected, &radius);
        /* 2.5e-7 of the radius is the worst in 3e7 pairs: some four roundings of 6e-8; smallest radii included */
        check_near((double)draws[0], expected[0], 0, 3e-7 * radius, "cosine draw");
        check_near((double)draws[1], expected[1], 0, 3e-7 * radius, "sine draw");
    }
}

static void test_radius_falls_with_its_word_across_the_refined_part(void **state) {
    (void)state;
    assert_true(mfpg_box_muller_radius(0, 0) > 11.5f);                /* sqrt(2 * 97 log 2) = 11.596 */
    assert_true(mfpg_box_muller_radius(0, (uint64_t)1 << 49) > 8.0f); /* u near 2^-47 */
    assert_true(mfpg_box_muller_radius(0, UINT64_MAX) > 6.66f);
    assert_true(
        isfinite(mfpg_box_muller_radius(UINT32_MAX, 0)) && mfpg_box_muller_radius(UINT32_MAX, 0) > 0.0f);
    float last = mfpg_box_muller_radius(0, 0);
    for (int bit = 0; bit < 64; bit++) {
        float next = mfpg_box_muller_radius(0, (uint64_t)1 << bit);
        assert_true(next < last);
        last = next;
    }
    for (uint32_t word = 1; word < 2048; word++) {
        float high = mfpg_box_muller_radius(word, 0), low = mfpg_box_muller_radius(word, UINT64_MAX);
        if (word < MFPG_RARE_RADIUS)
            assert_true(high <= last && low < high); /* equal at a shared edge, to the last bit */
        else
            assert_true(high < last && low == high);
        last = low;
    }
}

/* Blocks of the stream (seed 1, test, round 0) with a radius word below 2^9, found by search. */
static void test_rare_radii_are_refined_in_both_layouts(void **state) {
    (void)state;
    const struct {
        uint64_t client, block;
        int word;
        uint32_t value;
    } rare[] = {{4, 70113, 10, 214}, {9, 43354, 0, 329}, {20, 70793, 4, 3}};
    for (size_t i = 0; i < sizeof rare / sizeof rare[0]; i++) {
        mfpg_stream stream = stream_of(1, MFPG_PURPOSE_TEST, 0, rare[i].client);
        uint64_t block = rare[i].block, further[8];
        int w = rare[i].word;
        uint32_t words[16];
        mfpg_stream_bytes(&stream, block, 64, (unsigned char *)words);
        assert_int_equal(words[w], rare[i].value);
        mfpg_stream_bytes(&stream, ((uint64_t)1 << 63) + block, 64, (unsigned char *)further);
        float pair[2], sequential[16], long_vector[1024];
        mfpg_box_muller_pair(words[w], further[w / 2], words[w + 1], pair);
        mfpg_stream_gaussian(&stream, block, 16, sequential); /* one block a vector */
        assert_true(sequential[w] == pair[0] && sequential[w + 1] == pair[1]);
        mfpg_stream_gaussian(&stream, block / 64, 1024, long_vector); /* 8 groups of 8 blocks */
        ptrdiff_t place = (ptrdiff_t)(block % 64 / 8 * 128 + 8 * (uint64_t)w + block % 8);
        assert_true(long_vector[place] == pair[0] && long_vector[place + 8] == pair[1]);
    }
}

/* source: the layout of random.h worked out in Python with mpmath from hashlib's BLAKE2b and a ChaCha20 of its own.
 * These numbers must never change. */
static void test_layouts_have_their_known_draws(void **state) {
    (void)state;
    const double seven[] = {-0.514260696256, -1.75378458065, 0.704626618331, 2.02780167533, -0.529438468582,
        -0.0467355666459, 0.427916664586};
    const double client_5_vector_3[] = {-0.411585598729, -0.390155965179, -1.29152411756, -0.306940313965,
        -0.0280714465478, 0.514316757994, -2.77205312782, 0.0721132615782, -0.372500630619, 0.354913767902,
        -0.491430414114, -0.690120844421, 0.824512149427, 0.578605510899, 0.299173308415, -1.07713616412,
        -0.119294884043, 0.135984040326, -0.54374747856, 0.16972345839, 0.0162717692843, -0.15201610043};
    const double start_of_513[] = {-0.514260696256, -1.12601031667, 1.63092781351, -0.864600652074,
        -0.137534012951, -0.893754995799, -1.09706641867, -0.605597033999, -1.75378458065, 0.721954441332};
    const double end_of_513[] = {0.441245345235, 0.820311829245, 0.196378112046, 0.782085941096,
        -0.777622462692, 1.05180921325, -0.13935853296, -0.83164216497};
    mfpg_stream stream = stream_of(1, MFPG_PURPOSE_NOISE, 0, 0), other = stream;
    other.client = 5;
    float z[513];
    const double tolerance = 2e-6; /* the float transform against mpmath, radius up to 6.7 */
    mfpg_stream_gaussian(&stream, 0, 7, z);
    for (int i = 0; i < 7; i++) check_near((double)z[i], seven[i], 0, tolerance, "n = 7");
    mfpg_stream_gaussian(&other, 3, 22, z);
    for (int i = 0; i < 22; i++) check_near((double)z[i], client_5_vector_3[i], 0, tolerance, "n = 22");
    mfpg_stream_gaussian(&stream, 0, 513, z);
    for (int i = 0; i < 10; i++) check_near((double)z[i], start_of_513[i], 0, tolerance, "start of n = 513");
    for (int i = 0; i < 8; i++) check_near((double)z[505 + i], end_of_513[i], 0, tolerance, "end of n = 513");
}

/* FNV-1a over the draws' bits: the same for every compiler, optimisation and processor. */
static uint64_t fingerprint(const float *z, ptrdiff_t n) {
    uint64_t hash = 14695981039346656037u;
    for (ptrdiff_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, z + i, 4);
        hash = (hash ^ bits) * 1099511628211u;
    }
    return hash;
}

static void test_bits_of_the_draws_never_change(void **state) {
    (void)state;
    enum { N = 109386 };
    mfpg_stream stream = stream_of(1, MFPG_PURPOSE_NOISE, 0, 0);
    float *z = malloc(N * sizeof *z);
    assert_non_null(z);
    mfpg_stream_gaussian(&stream, 0, N, z);
    assert_int_equal(fingerprint(z, N), 0x19ad4b728e0a79du);
    mfpg_stream_gaussian(&stream, 11, 503, z);
    assert_int_equal(fingerprint(z, 503), 0x553601fb9d3b8e9fu);
    free(z);
}

/* The wide code of this processor against pairs made one by one. */
static void test_every_draw_is_its_pair_made_alone(void **state) {
    (void)state;
    const ptrdiff_t lengths[] = {503, 5000};
    for (int k = 0; k < 2; k++) {
        mfpg_stream stream = stream_of(testing_seed(), MFPG_PURPOSE_TEST, 3, 0);
        ptrdiff_t n = lengths[k], blocks = n <= 512 ? (n + 15) / 16 : 8 * ((n + 127) / 128);
        float z[5120], pair[2];
        mfpg_stream_gaussian(&stream, 6, n, z);
        for (ptrdiff_t b = 0; b < blocks; b++) {
            uint32_t words[16];
            mfpg_stream_bytes(&stream, (uint64_t)(6 * blocks + b), 64, (unsigned char *)words);
            for (ptrdiff_t w = 0; w < 16; w++) {
                ptrdiff_t place = n <= 512 ? 16 * b + w : b / 8 * 128 + 8 * w + b % 8;
                if (place >= n || words[w & ~1] < MFPG_RARE_RADIUS) continue;
                mfpg_box_muller_pair(words[w & ~1], 0, words[w | 1], pair);
                assert_true(z[place] == pair[w % 2]);
            }
        }
    }
}

typedef struct collected {
    float z[9000];
    ptrdiff_t next; /* where the next piece must begin */
} collected;

static void collect(ptrdiff_t first, ptrdiff_t n, const float *z, void *arg) {
    collected *all = arg;
    assert_int_equal(first, all->next);
    assert_int_equal(first % 128, 0);
    memcpy(all->z + first, z, (size_t)n * sizeof *z);
    all->next = first + n;
}

/* Pieces with every kind of registers that this processor has; among them draws of a refined radius (block 70113 of
 * client 4, see above). */
static void test_pieces_and_registers_do_not_change_a_bit(void **state) {
    (void)state;
    const ptrdiff_t lengths[] = {0, 1, 512, 513, 640, 1024, 2048, 2049, 2300, 9000};
    mfpg_stream stream = stream_of(1, MFPG_PURPOSE_TEST, 0, 4);
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        static float whole[9000];
        static collected all;
        ptrdiff_t n = lengths[k];
        const uint64_t vector = n == 1024 ? 70113 / 64 : 3;
        mfpg_stream_gaussian(&stream, vector, n, whole);
        for (int r = MFPG_REGISTERS_PLAIN; r <= (int)mfpg_widest_registers(); r++) {
            all.next = 0;
            mfpg_stream_gaussian_visit((mfpg_registers)r, &stream, vector, n, collect, &all);
            assert_int_equal(all.next, n);
            assert_memory_equal(all.z, whole, (size_t)n * sizeof *whole);
        }
    }
}

static void test_vectors_can_be_read_in_any_order_and_added(void **state) {
    (void)state;
    mfpg_stream stream = stream_of(testing_seed(), MFPG_PURPOSE_TEST, 0, 1);
    const ptrdiff_t lengths[] = {1, 2, 15, 16, 17, 22, 511, 512, 513, 640, 641, 4096, 4097, 9000};
    float whole[9000], again[9000], sum[9000];
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        ptrdiff_t n = lengths[k];
        for (int i = 0; i < n; i++) sum[i] = 0.25f;
        mfpg_stream_gaussian(&stream, 5, n, whole);
        mfpg_stream_gaussian(&stream, 4, n, again);
        assert_memory_not_equal(whole, again, (size_t)n * 4);
        mfpg_stream_gaussian(&stream, 5, n, again);
        assert_memory_equal(whole, again, (size_t)n * 4);
        mfpg_stream_gaussian_add(&stream, 5, n, 0.7f, sum);
        for (int i = 0; i < n; i++) {
            volatile float term = 0.7f * whole[i]; /* rounded before it is added */
            assert_true(sum[i] == 0.25f + term);
        }
    }
    mfpg_stream_gaussian(&stream, 0, 0, whole); /* nothing */
}

static void test_short_vectors_follow_each_other_without_overlap(void **state) {
    (void)state;
    mfpg_stream stream = stream_of(testing_seed(), MFPG_PURPOSE_TEST, 0, 2);
    float joined[480], part[48];
    mfpg_stream_gaussian(&stream, 0, 480, joined); /* 30 blocks; vectors of 48 have three each */
    for (uint64_t t = 0; t < 10; t++) {
        mfpg_stream_gaussian(&stream, t, 48, part);
        assert_memory_equal(part, joined + 48 * t, sizeof part);
    }
}

static void check_moments(ptrdiff_t n, ptrdiff_t vectors, uint64_t client) {
    mfpg_stream stream = stream_of(testing_seed(), MFPG_PURPOSE_TEST, 1, client);
    float *z = malloc((size_t)n * sizeof *z);
    assert_non_null(z);
    double total = (double)n * (double)vectors, sum = 0, squares = 0, cubes = 0, fourths = 0, beyond[3] = {0};
    for (ptrdiff_t t = 0; t < vectors; t++) {
        mfpg_stream_gaussian(&stream, (uint64_t)t, n, z);
        for (ptrdiff_t i = 0; i < n; i++) {
            double x = (double)z[i], square = x * x;
            sum += x, squares += square, cubes += square * x, fourths += square * square;
            for (int k = 0; k < 3; k++) beyond[k] += square > (2.0 + k) * (2.0 + k);
        }
    }
    free(z);
    /* 4.5 standard errors; variances of z, z^2, z^3, z^4: 1, 2, 15, 96 */
    check_near(sum / total, 0, 0, 4.5 / sqrt(total), "mean");
    check_near(squares / total, 1, 0, 4.5 * sqrt(2 / total), "variance");
    check_near(cubes / total, 0, 0, 4.5 * sqrt(15 / total), "third moment");
    check_near(fourths / total, 3, 0, 4.5 * sqrt(96 / total), "fourth moment");
    for (int k = 0; k < 3; k++) {
        double expected = total * erfc((2.0 + k) / sqrt(2.0));
        check_near(beyond[k], expected, 0, 4.5 * sqrt(expected), "draws beyond 2, 3, 4");
    }
}

static void test_moments_and_tails_are_those_of_the_normal_law(void **state) {
    (void)state;
    int repeats = testing_repeats(1);
    check_moments(22, 60000 * (ptrdiff_t)repeats, 0);
    check_moments(100001, 20 * (ptrdiff_t)repeats, 1);
}

static void test_distribution_function_is_normal_in_sixty_four_cells(void **state) {
    (void)state;
    enum { N = 200000, CELLS = 64 };
    mfpg_stream stream = stream_of(testing_seed(), MFPG_PURPOSE_TEST, 2, 0);
    float *z = malloc(N * sizeof *z);
    assert_non_null(z);
    int counts[CELLS] = {0};
    mfpg_stream_gaussian(&stream, 0, N, z);
    for (int i = 0; i < N; i++) {
        int cell = (int)(CELLS * 0.5 * erfc(-(double)z[i] / sqrt(2.0)));
        counts[cell < CELLS ? cell : CELLS - 1]++;
    }
    free(z);
    double chi = 0, expected = (double)N / CELLS;
    for (int i = 0; i < CELLS; i++) chi += (counts[i] - expected) * (counts[i] - expected) / expected;
    check_near(chi, CELLS - 1, 0, 5 * sqrt(2.0 * (CELLS - 1)), "chi square"); /* five standard deviations */
}

static double correlation(const float *a, const float *b, ptrdiff_t n) {
    double ab = 0, aa = 0, bb = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        ab += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return ab / sqrt(aa * bb);
}

/* Field failure F28: one key reused for several tensors. 0.02 is six standard errors at 1e5 draws. */
static void test_streams_of_other_purpose_round_client_or_vector_are_uncorrelated(void **state) {
    (void)state;
    enum { N = 100000 };
    uint64_t seed = testing_seed();
    float *base = malloc(N * sizeof *base), *other = malloc(N * sizeof *other);
    assert_true(base && other);
    mfpg_stream stream = stream_of(seed, MFPG_PURPOSE_NOISE, 4, 7);
    mfpg_stream_gaussian(&stream, 2, N, base);
    const struct {
        mfpg_stream stream;
        uint64_t vector;
    } others[] = {{stream_of(seed + 1, MFPG_PURPOSE_NOISE, 4, 7), 2},
        {stream_of(seed, MFPG_PURPOSE_BATCH, 4, 7), 2}, {stream_of(seed, MFPG_PURPOSE_NOISE, 5, 7), 2},
        {stream_of(seed, MFPG_PURPOSE_NOISE, 7, 4), 2}, {stream_of(seed, MFPG_PURPOSE_NOISE, 4, 8), 2},
        {stream, 3}, {stream, 1}};
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
        mfpg_stream_gaussian(&others[k].stream, others[k].vector, N, other);
        check_near(correlation(base, other, N), 0, 0, 0.02, "correlation of streams");
    }
    for (ptrdiff_t lag = 1; lag <= 128; lag *= 2)
        check_near(correlation(base, base + lag, N - lag), 0, 0, 0.02, "correlation at a lag");
    free(base);
    free(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_match_the_double_precision_transform),
        cmocka_unit_test(test_radius_falls_with_its_word_across_the_refined_part),
        cmocka_unit_test(test_rare_radii_are_refined_in_both_layouts),
        cmocka_unit_test(test_layouts_have_their_known_draws),
        cmocka_unit_test(test_bits_of_the_draws_never_change),
        cmocka_unit_test(test_every_draw_is_its_pair_made_alone),
        cmocka_unit_test(test_pieces_and_registers_do_not_change_a_bit),
        cmocka_unit_test(test_vectors_can_be_read_in_any_order_and_added),
        cmocka_unit_test(test_short_vectors_follow_each_other_without_overlap),
        cmocka_unit_test(test_moments_and_tails_are_those_of_the_normal_law),
        cmocka_unit_test(test_distribution_function_is_normal_in_sixty_four_cells),
        cmocka_unit_test(test_streams_of_other_purpose_round_client_or_vector_are_uncorrelated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
