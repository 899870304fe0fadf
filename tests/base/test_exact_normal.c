/* Estimates of a normal deviate and comparisons with it against 200 bits, and the float draws with a bound, at all exponents
 * of the radius word, in all quadrants and at their borders. */
#include "testing.h"

#include "base/grid_reference.h"
#include "base/streams.h"

static mfpg_stream stream_of(uint64_t round) {
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    return mfpg_stream_open(&key, MFPG_PURPOSE_TEST, round, 0);
}

static uint32_t word_of(const mfpg_stream *stream, uint64_t i) {
    return (uint32_t)mfpg_stream_below(stream, i, (uint64_t)1 << 32);
}

/* Words of every exponent at both ends, and single steps from 0, 2^32 and the borders of the bounded draws. */
static uint32_t radius_word(const mfpg_stream *stream, uint64_t i) {
    const uint32_t borders[] = {0, UINT32_MAX, MFPG_LEAST_BOUNDED, MFPG_LEAST_BOUNDED + MFPG_BOUNDED_WORDS,
        0x80000000u, 0x00800000u, 0x5a827999u, 0xb504f333u, MFPG_RARE_RADIUS, 0x7fffff80u};
    uint32_t word = word_of(stream, i);
    switch (i % 4) {
    case 0: return word;
    case 1: return word >> (i / 4 % 32);
    case 2: return ~(word >> (i / 4 % 32));
    default: return borders[i / 4 % 10] + (uint32_t)(i / 40 % 17) - 8u;
    }
}

/* All quadrants, words near their borders (0, 2^30, ...), their middles (2^29, ...) among them. */
static uint32_t angle_word(const mfpg_stream *stream, uint64_t i) {
    uint32_t word = word_of(stream, i);
    switch (i % 4) {
    case 0: return word;
    case 1: return (uint32_t)(i / 4 % 8) * 0x20000000u + (uint32_t)(i / 32 % 33) - 16u;
    case 2: return (uint32_t)(i / 4 % 8) * 0x20000000u + (word >> (3 + i / 32 % 29));
    default: return (uint32_t)(i / 4 % 8) * 0x20000000u - (word >> (3 + i / 32 % 29));
    }
}

/* Further bits: random, or all zero, or all one, or few at their end. */
static void further_bits(const mfpg_stream *stream, uint64_t i, uint64_t *further) {
    for (uint64_t w = 0; w < 4; w++) {
        further[w] = mfpg_stream_below(stream, 4 * i + w, UINT64_MAX);
        if (i % 5 == 1) further[w] = 0;
        if (i % 5 == 2) further[w] = UINT64_MAX;
        if (i % 5 == 3 && w == 0) further[w] >>= i / 5 % 64;
        if (i % 5 == 4 && w == 0) further[w] = ~(further[w] >> (i / 5 % 64));
    }
}

static mfpg_normal_bits crafted_bits(uint64_t i) {
    static mfpg_stream stream;
    static int opened;
    if (!opened) stream = stream_of(20), opened = 1;
    mfpg_normal_bits bits = {.radius = radius_word(&stream, i),
        .angle = angle_word(&stream, ((uint64_t)1 << 20) + i * 7),
        .sine = (int)(i / 3 % 2)};
    if (i % 11 == 0) bits.radius = i % 2 ? 0 : UINT32_MAX;
    further_bits(&stream, ((uint64_t)1 << 40) + i, bits.further_radius);
    further_bits(&stream, ((uint64_t)1 << 41) + i * 3, bits.further_angle);
    return bits;
}

static void test_estimate_is_within_its_error(void **state) {
    (void)state;
    int missing = 0, repeats = testing_repeats(20000);
    double largest = 0.0;
    mpfr_t z, off;
    mpfr_inits2(REFERENCE_BITS, z, off, (mpfr_ptr)0);
    for (int i = 0; i < repeats; i++) {
        mfpg_normal_bits bits = crafted_bits((uint64_t)i);
        double estimate = mfpg_normal_estimate(&bits);
        if (isnan(estimate)) { /* allowed in its one cell alone */
            assert_true(bits.radius == 0 && bits.further_radius[0] < (uint64_t)1 << 52);
            missing++;
            continue;
        }
        /* The estimate reads 64 further bits of each: it must be right for every completion, of which these are the ends. */
        for (int end = 0; end < 3; end++) {
            for (int w = 1; w < 4 && end; w++) {
                bits.further_radius[w] = end == 1 ? 0 : UINT64_MAX;
                bits.further_angle[w] = end == 1 ? UINT64_MAX : 0;
            }
            reference_normal(z, &bits);
            mpfr_sub_d(off, z, estimate, MPFR_RNDN);
            largest = fmax(largest, fabs(mpfr_get_d(off, MPFR_RNDA)));
        }
    }
    mpfr_clears(z, off, (mpfr_ptr)0);
    mpfr_free_cache();
    if (!(largest <= MFPG_NORMAL_ESTIMATE_ERROR)) print_error("largest error of an estimate: %a\n", largest);
    assert_true(largest <= MFPG_NORMAL_ESTIMATE_ERROR);
    assert_true(missing > 0 && missing < repeats / 10);
}

/* x + ratio Z < bound, with bounds next to x + ratio Z, but not for u < 2^-96: then 288 bits leave no 192 that matter, which is
 * part of the probability that the header leaves open. */
static void test_comparisons_are_those_of_200_bits(void **state) {
    (void)state;
    int repeats = testing_repeats(1500), answers[2] = {0};
    mfpg_stream stream = stream_of(21);
    mpfr_t z, y;
    mpfr_inits2(REFERENCE_BITS, z, y, (mpfr_ptr)0);
    for (int i = 0; i < repeats; i++) {
        mfpg_normal_bits bits = crafted_bits((uint64_t)i);
        double u[3];
        if (bits.radius == 0 && bits.further_radius[0] == 0) continue;
        mfpg_stream_uniform(&stream, 3 * (uint64_t)i, 3, u);
        double ratio = exp2(45.0 * u[0]), x = exp2(49.0 * u[1]) * (2.0 * u[2] - 1.0);
        if (i % 3 == 0) x = exp2(-1000.0 * u[1]) * (2.0 * u[2] - 1.0);
        reference_normal(z, &bits);
        mpfr_mul_d(y, z, ratio, MPFR_RNDN);
        mpfr_add_d(y, y, x, MPFR_RNDN);
        double near = mpfr_get_d(y, MPFR_RNDN);
        if (!(fabs(near) < 0x1p50)) continue;
        const double bounds[] = {near, nextafter(near, HUGE_VAL), nextafter(near, -HUGE_VAL),
            rint(near) - 0.5, rint(near) + 0.5, -near, x, 0.0};
        for (int b = 0; b < 8; b++) {
            if (!(fabs(bounds[b]) < 0x1p50)) continue;
            int order = mpfr_cmp_d(y, bounds[b]), below = mfpg_normal_is_below(&bits, ratio, x, bounds[b]);
            if (order == 0) continue;
            if (below != (order < 0))
                print_error("draw %d: ratio %a, x %a, bound %a, y %.17g\n", i, ratio, x, bounds[b], near);
            assert_int_equal(below, order < 0);
            answers[below]++;
        }
    }
    mpfr_clears(z, y, (mpfr_ptr)0);
    mpfr_free_cache();
    assert_true(answers[0] > repeats && answers[1] > repeats);
}

/* sqrt(-2 log u) at u = (word + part)/2^32. Doubles, whose error of 1e-15 is nothing here. */
static double radius_at(uint32_t word, double part) {
    if (word >> 31) return sqrt(-2.0 * log1p(-((double)(UINT32_MAX - word) + (1.0 - part)) * 0x1p-32));
    return sqrt(-2.0 * log(((double)word + part) * 0x1p-32));
}

/* The largest |draw - Z| over the bits that have not been read: at the corners, as Z rises and falls with each uniform within a
 * cell. */
static double largest_error(uint32_t radius, uint32_t angle, double cosine_draw, double sine_draw) {
    double largest = 0.0, offset = (double)((int32_t)(angle << 2) >> 2);
    for (int corner = 0; corner < 4; corner++) {
        double r = radius_at(radius, corner % 2),
               turn = 2.0 * acos(0.0) / 2.0 * ((double)(angle >> 30) + (offset + corner / 2) * 0x1p-30);
        largest = fmax(largest, fmax(fabs(cosine_draw - r * cos(turn)), fabs(sine_draw - r * sin(turn))));
    }
    return largest;
}

static void test_bounded_draws_are_within_their_error(void **state) {
    (void)state;
    mfpg_stream stream = stream_of(22);
    int groups = testing_repeats(12000);
    double largest = 0.0;
    for (int g = 0; g < groups; g++) {
        mfpg_chacha20 words = {{{0}}}; /* the first pair of each of 16 blocks */
        uint32_t *radius = words.word[0], *angle = words.word[1];
        for (uint64_t i = 0; i < 16; i++) {
            uint64_t number = 16 * (uint64_t)g + i;
            radius[i] = radius_word(&stream, number + number / 64);
            angle[i] = angle_word(&stream, ((uint64_t)1 << 40) + number * 5 + number / 640);
        }
        for (int r = MFPG_REGISTERS_PLAIN; r <= (int)mfpg_widest_registers(); r++) {
            float z[256];
            mfpg_gaussian_groups(1, (mfpg_registers)r, &words, z);
            for (int i = 0; i < 16; i++) {
                float cosine = z[i / 8 * 128 + i % 8], sine = z[i / 8 * 128 + 8 + i % 8];
                int bounded =
                    radius[i] >= MFPG_LEAST_BOUNDED && radius[i] < MFPG_LEAST_BOUNDED + MFPG_BOUNDED_WORDS;
                assert_int_equal(!isnan(cosine), bounded);
                assert_int_equal(!isnan(sine), bounded);
                if (!bounded) continue;
                double error = largest_error(radius[i], angle[i], (double)cosine, (double)sine);
                largest = fmax(largest, error);
                if (!(error <= MFPG_BOUNDED_ERROR))
                    print_error("words %08x %08x, registers %d: error %a\n", radius[i], angle[i], r, error);
                assert_true(error <= MFPG_BOUNDED_ERROR);
            }
        }
    }
    assert_true(largest > 0x1p-24); /* what is compared is not the same thing twice */
}

typedef struct draws {
    float z[9000];
} draws;

static void keep(ptrdiff_t first, ptrdiff_t n, const float *z, void *arg) {
    draws *all = arg;
    memcpy(all->z + first, z, (size_t)n * sizeof *z);
}

/* Vectors: a draw is within its error of the deviate that the text of random.h gives for its place. */
static void test_bounded_vectors_are_those_of_their_words(void **state) {
    (void)state;
    static draws all;
    const ptrdiff_t lengths[] = {1, 22, 512, 513, 2049, 9000};
    mfpg_stream stream = stream_of(23);
    for (int k = 0; k < 6; k++)
        for (int r = MFPG_REGISTERS_PLAIN; r <= (int)mfpg_widest_registers(); r++) {
            ptrdiff_t n = lengths[k];
            mfpg_stream_bounded_gaussian_visit((mfpg_registers)r, &stream, 5, n, keep, &all);
            for (ptrdiff_t j = 0; j < n; j += 1 + n / 500) {
                mfpg_normal_bits bits = reference_bits(&stream, 5, n, j);
                if (isnan(all.z[j])) {
                    assert_true(bits.radius - MFPG_LEAST_BOUNDED >= MFPG_BOUNDED_WORDS);
                    continue;
                }
                check_near((double)all.z[j], mfpg_normal_estimate(&bits), 0,
                    MFPG_BOUNDED_ERROR + MFPG_NORMAL_ESTIMATE_ERROR, "bounded draw");
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_estimate_is_within_its_error),
        cmocka_unit_test(test_comparisons_are_those_of_200_bits),
        cmocka_unit_test(test_bounded_draws_are_within_their_error),
        cmocka_unit_test(test_bounded_vectors_are_those_of_their_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
