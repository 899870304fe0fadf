#include "fixture.h"

#include "secure_sum/messages.h"

/* Terms: what is refused, how many bits the sum needs, and which noise counts. */

static void refuse(sum_fixture *f, const char *why) {
    mfpg_sum_server *server = NULL;
    assert_int_equal(mfpg_sum_check(f->ctx, &f->roster, &f->terms), MFPG_ERR_INPUT);
    if (!strstr(mfpg_context_message(f->ctx), why))
        print_error("%s: %s\n", why, mfpg_context_message(f->ctx));
    assert_non_null(strstr(mfpg_context_message(f->ctx), why));
    assert_int_equal(mfpg_sum_server_create(f->ctx, &f->roster, &f->terms, &server), MFPG_ERR_INPUT);
    assert_null(server);
}

/* Sets one term, expects that it is refused, and sets it back. */
#define REFUSE(f, place, value, why)                                                                         \
    do {                                                                                                     \
        const __typeof__(place) kept_ = (place);                                                             \
        (place) = (value);                                                                                   \
        refuse(f, why);                                                                                      \
        (place) = kept_;                                                                                     \
    } while (0)

static void test_terms_out_of_range_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    begin_sum(&f, ctx, 6, 4, 1, 16, 10);
    CHECK_OK(ctx, mfpg_sum_check(ctx, &f.roster, &f.terms));
    REFUSE(&f, f.terms.round, 0, "from 1");
    REFUSE(&f, f.terms.attempt, -1, "from 1");
    REFUSE(&f, f.terms.bits, 1, "from 2 to 64");
    REFUSE(&f, f.terms.bits, 65, "from 2 to 64");
    REFUSE(&f, f.terms.dimension, 0, "2^31 - 1");
    REFUSE(&f, f.terms.dimension, (ptrdiff_t)1 << 31, "2^31 - 1");
    REFUSE(&f, f.terms.grid, 0.3, "power of two");
    REFUSE(&f, f.terms.grid, 0.0, "power of two");
    REFUSE(&f, f.terms.grid, -0.5, "power of two");
    REFUSE(&f, f.terms.grid, (double)INFINITY, "power of two");
    REFUSE(&f, f.terms.grid, (double)NAN, "power of two");
    REFUSE(&f, f.share[3].weight, -0.1, "weight of 'site-3'");
    REFUSE(&f, f.share[3].weight, 1.1, "weight of 'site-3'");
    REFUSE(&f, f.share[3].weight, (double)NAN, "weight of 'site-3'");
    REFUSE(&f, f.share[3].noise_sd, -1.0, "noise of 'site-3'");
    REFUSE(&f, f.share[3].noise_sd, (double)NAN, "noise of 'site-3'");
    REFUSE(&f, f.share[3].noise_sd, (double)INFINITY, "noise of 'site-3'");
    REFUSE(&f, f.share[3].clip, 0.0, "clip of 'site-3'");
    REFUSE(&f, f.share[3].clip, (double)NAN, "clip of 'site-3'");
    REFUSE(&f, f.terms.colluders, -1, "colluders must be from 0 to 5");
    REFUSE(&f, f.terms.colluders, 6, "colluders must be from 0 to 5");
    REFUSE(&f, f.terms.threshold, 7, "threshold must be from 4 to 6");
    REFUSE(&f, f.terms.threshold, 3, "threshold must be from 4 to 6");
    const mfpg_sum_share kept = f.share[5];
    f.share[5] = (mfpg_sum_share){0}; /* who does not take part has no numbers */
    f.terms.threshold = 4;
    CHECK_OK(ctx, mfpg_sum_check(ctx, &f.roster, &f.terms));
    REFUSE(&f, f.share[5].clip, (double)NAN, "clip of 'site-5'");
    REFUSE(&f, f.share[5].clip, -1.0, "clip of 'site-5'");
    REFUSE(&f, f.share[5].noise_sd, (double)NAN, "noise of 'site-5'");
    f.share[5] = kept;
    f.share[0].weight = f.share[1].weight = f.share[2].weight = f.share[3].weight = 0.0;
    refuse(&f, "at least 3 clients");
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

/* t > (n + c)/2 for all small n and c, and nothing else. */
static void test_the_threshold_is_more_than_half_of_clients_and_colluders(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (int n = 3; n <= 9; n++) {
        sum_fixture f;
        begin_sum(&f, ctx, n, 1, 0, 16, 1);
        for (f.terms.colluders = 0; f.terms.colluders < n; f.terms.colluders++)
            for (f.terms.threshold = 0; f.terms.threshold <= n + 1; f.terms.threshold++)
                assert_int_equal(mfpg_sum_check(ctx, &f.roster, &f.terms) == MFPG_OK,
                    2 * f.terms.threshold > n + f.terms.colluders && f.terms.threshold <= n);
        end_sum(&f);
    }
    mfpg_context_destroy(ctx);
}

static void test_bits_are_the_fewest_that_hold_the_sum(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const mfpg_key key = mfpg_key_from_seed(testing_seed());
    const mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0);
    sum_fixture f;
    begin_sum(&f, ctx, 7, 4, 0, 16, 1);
    for (int k = 0; k < 2000; k++) {
        double u[22], clips = 0.0, variance = 0.0, n = 0.0;
        mfpg_stream_uniform(&stream, (uint64_t)k * 24, 22, u);
        for (int i = 0; i < 7; i++) {
            f.share[i] = (mfpg_sum_share){
                u[3 * i] < 0.2 ? 0.0 : u[3 * i], 30.0 * u[3 * i + 1], exp(20.0 * u[3 * i + 2])};
            if (f.share[i].weight == 0.0) continue;
            n += 1.0;
            clips += f.share[i].weight * f.share[i].clip;
            variance += pow(f.share[i].weight * f.share[i].noise_sd, 2.0);
        }
        f.terms.grid = ldexp(1.0, (int)(80.0 * u[21]) - 50);
        const double reach = (clips + 9.0 * sqrt(variance)) / f.terms.grid + n;
        const int bits = mfpg_sum_bits(&f.roster, &f.terms);
        if (bits == 0) assert_true(reach * (1.0 + 1e-9) >= ldexp(1.0, 63));
        if (bits > 0) assert_true(ldexp(1.0, bits - 1) > reach);
        if (bits > 2) assert_true(ldexp(1.0, bits - 2) <= reach * (1.0 + 1e-9));
    }
    /* The cases of the docs: 64 clients of equal weight, grid the largest power of two below p s/16. */
    end_sum(&f);
    begin_sum(&f, ctx, 64, 40, 0, 16, 1);
    for (int i = 0; i < 64; i++) f.share[i] = (mfpg_sum_share){1.0 / 64, 64.0, 14.0 * 64.0};
    f.terms.grid = 0x1p-4;
    assert_int_equal(mfpg_sum_bits(&f.roster, &f.terms), 15);
    for (int i = 0; i < 64; i++) f.share[i].clip = 50.0 * 64.0;
    assert_int_equal(mfpg_sum_bits(&f.roster, &f.terms), 17);
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

/* The least noise over all sets that the protocol allows: any survivors of at least t (or the given ones), the member among
 * them, of whom any c others work with the server. */
static double slow_noise(const sum_fixture *f, ptrdiff_t member, const unsigned char *survivors) {
    const int n = (int)f->n, c = f->terms.colluders;
    double least = INFINITY;
    if (f->share[member].weight * f->share[member].noise_sd < 4.0 * f->terms.grid)
        return f->share[member].noise_sd;
    for (int set = 0; set < 1 << n; set++) {
        int is_allowed = set >> member & 1;
        for (int i = 0; i < n; i++) {
            if (set >> i & 1 && f->share[i].weight == 0.0) is_allowed = 0;
            if (survivors && survivors[i] != (set >> i & 1)) is_allowed = 0;
        }
        if (!is_allowed || (!survivors && __builtin_popcount((unsigned)set) < f->terms.threshold)) continue;
        for (int bad = 0; bad < 1 << n; bad++) {
            if ((bad & set) != bad || bad >> member & 1 || __builtin_popcount((unsigned)bad) > c) continue;
            double variance = 0.0;
            for (int i = 0; i < n; i++) {
                const double noise = f->share[i].weight * f->share[i].noise_sd;
                if ((set & ~bad) >> i & 1 && noise >= 4.0 * f->terms.grid) variance += noise * noise;
            }
            least = fmin(least, sqrt(variance) / f->share[member].weight);
        }
    }
    return fmax(least, f->share[member].noise_sd);
}

static void draw_shares(
    sum_fixture *f, const mfpg_stream *stream, uint64_t number, unsigned char *survivors) {
    double u[24];
    int members = 0, survived = 0;
    mfpg_stream_uniform(stream, number * 24, 24, u);
    for (ptrdiff_t i = 0; i < f->n; i++) {
        f->share[i].weight = i > 2 && u[i] < 0.15 ? 0.0 : 0.05 + 0.1 * u[i];
        f->share[i].noise_sd = u[8 + i] < 0.3 ? 0.0 : 200.0 * (u[8 + i] - 0.3) * f->terms.grid;
        members += f->share[i].weight > 0.0;
    }
    f->terms.colluders = (int)(u[16] * (members - 1));
    const int least = (members + f->terms.colluders) / 2 + 1;
    f->terms.threshold = least + (int)(u[17] * (members - least + 1));
    for (ptrdiff_t i = 0; i < f->n; i++) {
        survivors[i] = f->share[i].weight > 0.0 && survived + (u[18] < 0.5) <= members;
        survived += survivors[i];
    }
    for (ptrdiff_t i = f->n - 1; i > 0 && survived > f->terms.threshold && u[19] < 0.7; i--)
        if (survivors[i]) {
            survivors[i] = 0;
            survived--;
        }
}

static void test_noise_is_that_of_the_worst_allowed_set(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const mfpg_key key = mfpg_key_from_seed(testing_seed());
    const mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, 0);
    for (ptrdiff_t n = 3; n <= 8; n++) {
        sum_fixture f;
        begin_sum(&f, ctx, n, 3, 0, 16, 1);
        for (uint64_t k = 0; k < (uint64_t)testing_repeats(12); k++) {
            unsigned char survivors[MFPG_SUM_MOST] = {0};
            draw_shares(&f, &stream, k * 8 + (uint64_t)n, survivors);
            CHECK_OK(ctx, mfpg_sum_check(ctx, &f.roster, &f.terms));
            for (ptrdiff_t member = 0; member < n; member++)
                for (int known = 0; known < 2; known++) {
                    const double noise =
                        mfpg_sum_noise(&f.roster, &f.terms, member, known ? survivors : NULL);
                    const double expected =
                        slow_noise(&f, member, known && survivors[member] ? survivors : NULL);
                    check_near(noise, expected, 1e-12, 0.0, "noise");
                    assert_true(noise <= expected * (1.0 + 1e-15));
                    assert_true(noise >= f.share[member].noise_sd);
                }
        }
        end_sum(&f);
    }
    mfpg_context_destroy(ctx);
}

/* The same numbers on other scales are the same noise, until digits or squares would be lost: then less is counted. */
static void test_noise_has_no_scale(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    sum_fixture f;
    begin_sum(&f, ctx, 5, 5, 0, 16, 1);
    for (int weights = -1014; weights <= 0; weights += 13)
        for (int noises = -500; noises <= 500; noises += 20) {
            double exact = 0.0;
            for (int i = 0; i < 5; i++) {
                f.share[i].weight = ldexp(0.15 + 0.02 * i, weights);
                f.share[i].noise_sd = ldexp(1.0 + i, noises);
                exact += pow((0.15 + 0.02 * i) * (1.0 + i) / 0.15, 2.0);
            }
            const int all = weights + noises > -1018;
            f.terms.grid = ldexp(1.0, weights + noises - 8 > -1074 ? weights + noises - 8 : -1074);
            const double noise = ldexp(mfpg_sum_noise(&f.roster, &f.terms, 0, NULL), -noises);
            assert_true(noise >= 1.0 && noise <= sqrt(exact));
            if (all) check_near(noise, sqrt(exact), 1e-12, 0.0, "noise");
            const double reach = mfpg_sum_reach(&f.roster, &f.terms, NULL);
            if (all) assert_true(reach > 9.0 * 256.0 * 0.15 * sqrt(exact));
        }
    f.share[1].noise_sd = 1e300; /* its square is not a number of this machine */
    f.share[0] = (mfpg_sum_share){1e-200, 1.0, 1.0};
    f.terms.grid = ldexp(1.0, -1000);
    assert_true(mfpg_sum_noise(&f.roster, &f.terms, 0, NULL) == 1.0);
    end_sum(&f);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_terms_out_of_range_are_refused),
        cmocka_unit_test(test_the_threshold_is_more_than_half_of_clients_and_colluders),
        cmocka_unit_test(test_bits_are_the_fewest_that_hold_the_sum),
        cmocka_unit_test(test_noise_is_that_of_the_worst_allowed_set),
        cmocka_unit_test(test_noise_has_no_scale)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
