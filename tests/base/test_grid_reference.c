/* The integers of the library against those of 200 bits without a fast path. */
#include "testing.h"

#include "base/grid_noise.h"
#include "base/grid_reference.h"
#include "base/streams.h"

enum { MOST = 4200 };

typedef struct run {
    double x[MOST], k[MOST];
} run;

static void give(ptrdiff_t first, ptrdiff_t n, double *x, void *arg) {
    const run *all = arg;
    memcpy(x, all->x + first, (size_t)n * sizeof *x);
}

static void take(ptrdiff_t first, ptrdiff_t n, const double *k, void *arg) {
    run *all = arg;
    memcpy(all->k + first, k, (size_t)n * sizeof *k);
}

static mfpg_stream stream_of(uint64_t round, uint64_t client) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    return mfpg_stream_open(&key, MFPG_PURPOSE_TEST, round, client);
}

static double uniform(const mfpg_stream *stream, uint64_t i) {
    double u;
    mfpg_stream_uniform(stream, i, 1, &u);
    return u;
}

static void compare_one(
    const mfpg_stream *stream, uint64_t vector, ptrdiff_t n, ptrdiff_t j, double ratio, double x, double k) {
    mfpg_normal_bits bits = reference_bits(stream, vector, n, j);
    mpfr_t z;
    mpfr_init2(z, REFERENCE_BITS);
    reference_normal(z, &bits);
    double expected = reference_rounded(z, ratio, x);
    mpfr_clear(z);
    if (k == expected) return;
    print_error("ratio %a, x %a, draw %td of %td of vector %ju: %.17g, 200 bits say %.17g (seed %ju)\n",
        ratio, x, j, n, (uintmax_t)vector, k, expected, (uintmax_t)testing_seed());
    fail();
}

/* Ratios from 1 to 2^45, not powers of two alone, and both layouts; entries of every size up to 2^49. */
static void test_integers_are_those_of_200_bits(void **state) {
    (void)state;
    static run all;
    const ptrdiff_t lengths[] = {1, 17, 503, 512, 513, 2048, 2051};
    const int at_once = 200; /* draws of each vector that are compared */
    int vectors =
        testing_repeats(150); /* times 200: 6e5 at MFPG_TEST_SCALE 20, and as many for small ratios */
    for (int v = 0; v < 2 * vectors; v++) {
        mfpg_stream stream = stream_of(10, (uint64_t)v), choice = stream_of(11, (uint64_t)v);
        ptrdiff_t n = lengths[v % 7];
        double scale = v < vectors ? 45.0 : 10.0; /* a second share in which the float draws decide */
        double ratio = exp2(scale * uniform(&choice, 0));
        if (v % 5 == 0) ratio = exp2(floor(log2(ratio)));
        double size = exp2(49.0 * uniform(&choice, 1));
        for (ptrdiff_t i = 0; i < n; i++) all.x[i] = size * (2.0 * uniform(&choice, 2 + (uint64_t)i) - 1.0);
        for (ptrdiff_t i = 0; i < n; i += 5)
            all.x[i] = floor(all.x[i] * 2.0) * 0.5; /* half-integers among them */
        mfpg_grid_noise_visit(mfpg_widest_registers(), &stream, (uint64_t)v, n, ratio, give, take, &all);
        for (int i = 0; i < at_once && i < n; i++) {
            ptrdiff_t j =
                n <= at_once ? i : (ptrdiff_t)mfpg_stream_below(&choice, 5000 + (uint64_t)i, (uint64_t)n);
            compare_one(&stream, (uint64_t)v, n, j, ratio, all.x[j], all.k[j]);
        }
    }
    mpfr_free_cache();
}

/* The distance 2^-`bits` of y = x + ratio Z from the half-integer below it. */
static double distance_bits(mpfr_srcptr z, double ratio, double x) {
    mpfr_t y, floor_of;
    mpfr_inits2(REFERENCE_BITS, y, floor_of, (mpfr_ptr)0);
    mpfr_mul_d(y, z, ratio, MPFR_RNDN);
    mpfr_add_d(y, y, x, MPFR_RNDN);
    mpfr_sub_d(y, y, 0.5, MPFR_RNDN);
    mpfr_rint(floor_of, y, MPFR_RNDN);
    mpfr_sub(y, y, floor_of, MPFR_RNDN);
    double bits = mpfr_zero_p(y) ? 1000.0 : -(double)mpfr_get_exp(y);
    mpfr_clears(y, floor_of, (mpfr_ptr)0);
    return bits;
}

/* x is crafted from Z so that y lies next to a half-integer: first the ratio is moved until ratio Z does to some 50 bits, then
 * x is the rest, a double of its own exponent, so that about 100 bits of Z are needed to see on which side y lies; and the
 * doubles next to it. */
static void test_values_next_to_a_half_integer_are_those_of_200_bits(void **state) {
    (void)state;
    static run all;
    const double ratios[] = {4.0, 16.0, 100.0, 1000.0, 0x1p14, 0x1p20, 0x1p30, 0x1p40};
    const ptrdiff_t lengths[] = {64, 1024};
    int close = 0, sides[2] = {0}, repeats = testing_repeats(60);
    mpfr_t z, rest;
    mpfr_inits2(REFERENCE_BITS, z, rest, (mpfr_ptr)0);
    for (int r = 0; r < 8; r++)
        for (int i = 0; i < repeats; i++) {
            ptrdiff_t n = lengths[i % 2], j = (ptrdiff_t)((37 * i) % n);
            mfpg_stream stream = stream_of(12, (uint64_t)(100000 * r + i));
            mfpg_normal_bits bits = reference_bits(&stream, 3, n, j);
            reference_normal(z, &bits);
            double known = mpfr_get_d(z, MPFR_RNDN);
            double half = floor(ratios[r] * known) + 0.5;
            double ratio = fabs(known) > 0.01 ? half / known : ratios[r];
            if (!(ratio >= 1.0)) ratio = ratios[r];
            mpfr_mul_d(rest, z, ratio, MPFR_RNDN);
            mpfr_d_sub(rest, half, rest, MPFR_RNDN);
            double exact = mpfr_get_d(rest, MPFR_RNDN);
            const double xs[] = {exact, nextafter(exact, 1.0), nextafter(exact, -1.0),
                exact * (1.0 + 0x1p-40), exact * (1.0 - 0x1p-40), -exact};
            for (int t = 0; t < 6; t++) {
                for (ptrdiff_t e = 0; e < n; e++) all.x[e] = 0.25;
                all.x[j] = xs[t];
                close += distance_bits(z, ratio, xs[t]) >= 60.0;
                if (t) {
                    all.k[j] = mfpg_grid_noise_one(&stream, 3, n, j, xs[t], ratio);
                } else {
                    mfpg_grid_noise_visit(mfpg_widest_registers(), &stream, 3, n, ratio, give, take, &all);
                }
                compare_one(&stream, 3, n, j, ratio, xs[t], all.k[j]);
                sides[all.k[j] > half]++;
            }
        }
    mpfr_clears(z, rest, (mpfr_ptr)0);
    mpfr_free_cache();
    assert_true(close > 8 * repeats);
    assert_true(sides[0] > repeats && sides[1] > repeats); /* both sides were met */
}

/* Blocks of the stream (seed 1, test, round 0) with a radius word below 2^9, found by search (test_random_gaussian.c), in both
 * layouts: no float draw exists there, and the value lies beyond five standard deviations. */
static void test_rare_radii_are_those_of_200_bits(void **state) {
    (void)state;
    static run all;
    const struct {
        uint64_t client, block;
        ptrdiff_t word;
    } rare[] = {{4, 70113, 10}, {9, 43354, 0}, {20, 70793, 4}};
    const double ratios[] = {1.0, 16.0, 1000.0, 0x1p30};
    mfpg_key key = mfpg_key_from_seed(1);
    for (size_t i = 0; i < sizeof rare / sizeof rare[0]; i++)
        for (int r = 0; r < 4; r++)
            for (int layout = 0; layout < 2; layout++) {
                mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, rare[i].client);
                ptrdiff_t n = layout ? 1024 : 16, word = rare[i].word;
                uint64_t block = rare[i].block, vector = layout ? block / 64 : block;
                ptrdiff_t place =
                    layout ? (ptrdiff_t)(block % 64 / 8 * 128 + 8 * (uint64_t)word + block % 8) : word;
                for (ptrdiff_t e = 0; e < n; e++) all.x[e] = 0.37;
                mfpg_grid_noise_visit(
                    mfpg_widest_registers(), &stream, vector, n, ratios[r], give, take, &all);
                assert_true(reference_bits(&stream, vector, n, place).radius < MFPG_RARE_RADIUS);
                ptrdiff_t other = place + (layout ? 8 : 1);
                compare_one(&stream, vector, n, place, ratios[r], 0.37, all.k[place]);
                compare_one(&stream, vector, n, other, ratios[r], 0.37, all.k[other]);
                double size = hypot(all.k[place], all.k[other]);
                assert_true(size > 5.0 * ratios[r] - 2.0);
            }
    mpfr_free_cache();
}

/* The cell at u = 0 in which there is no estimate, whose deviates lie beyond 7.8: found without walking there step by step. */
static void test_deviates_without_an_estimate_are_those_of_200_bits(void **state) {
    (void)state;
    const double ratios[] = {1.0, 16.0, 1000.3, 0x1p20, 0x1p45};
    mfpg_stream stream = stream_of(13, 0);
    mpfr_t z;
    mpfr_init2(z, REFERENCE_BITS);
    for (uint64_t i = 0; i < 100; i++) {
        mfpg_normal_bits bits = {.radius = 0, .sine = (int)(i % 2)};
        bits.angle = (uint32_t)mfpg_stream_below(&stream, 10 * i, (uint64_t)1 << 32);
        for (uint64_t w = 0; w < 4; w++) {
            bits.further_radius[w] = mfpg_stream_below(&stream, 10 * i + 1 + w, UINT64_MAX);
            bits.further_angle[w] = mfpg_stream_below(&stream, 10 * i + 5 + w, UINT64_MAX);
        }
        bits.further_radius[0] = bits.further_radius[0] >> 12 >> i / 2;
        assert_true(isnan(mfpg_normal_estimate(&bits)));
        reference_normal(z, &bits);
        for (int r = 0; r < 5; r++)
            assert_true(mfpg_grid_nearest(&bits, ratios[r], -7.3) == reference_rounded(z, ratios[r], -7.3));
    }
    mpfr_clear(z);
    mpfr_free_cache();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers_are_those_of_200_bits),
        cmocka_unit_test(test_values_next_to_a_half_integer_are_those_of_200_bits),
        cmocka_unit_test(test_rare_radii_are_those_of_200_bits),
        cmocka_unit_test(test_deviates_without_an_estimate_are_those_of_200_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
