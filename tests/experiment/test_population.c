/* Populations: what texts mean, and that a law's stand-ins have its mean. */
#include "failing_memory.h"
#include "mfpg/preference_law.h"

static void fill_of(mfpg_context *ctx, const char *text, ptrdiff_t clients, double *out) {
    mfpg_population population;
    CHECK_OK(ctx, mfpg_population_parse(ctx, text, &population));
    CHECK_OK(ctx, mfpg_population_fill(ctx, &population, clients, out));
    mfpg_population_clear(&population);
}

static void test_texts_mean_what_they_say(void **state) {
    mfpg_context *ctx = testing_context(1);
    double value[4];
    (void)state;
    fill_of(ctx, "2.5", 3, value);
    assert_true(value[0] == 2.5 && value[2] == 2.5);
    fill_of(ctx, "3,1,2e0", 3, value);
    assert_true(value[0] == 3 && value[1] == 1 && value[2] == 2);
    fill_of(ctx, "1:4", 4, value);
    assert_true(value[0] == 1 && value[1] == 2 && value[2] == 3 && value[3] == 4);
    fill_of(ctx, "1:4", 1, value); /* one client stands in the middle */
    assert_true(value[0] == 2.5);
    fill_of(ctx, "uniform:1:5", 2, value);
    assert_true(value[0] == 2 && value[1] == 4);
    fill_of(ctx, "lognormal:3:0.7", 3, value);
    check_near(value[1], 3, 1e-15, 0, "the median");
    check_near(value[0] * value[2], 9, 1e-14, 0, "quantiles lie symmetric about the median of the logarithm");
    mfpg_context_destroy(ctx);
}

/* E exp(sd Z) = exp(sd^2/2), and mid-quantiles of a density miss a mean by less the more there are. */
static void test_means_of_laws_come_near_with_their_quantiles(void **state) {
    enum { MOST = 100000 };
    mfpg_context *ctx = testing_context(1);
    double *value = malloc(MOST * sizeof *value), before = (double)INFINITY;
    (void)state;
    assert_non_null(value);
    for (ptrdiff_t clients = 100; clients <= MOST; clients *= 10) {
        double sum = 0.0;
        fill_of(ctx, "lognormal:2:0.5", clients, value);
        for (ptrdiff_t k = 0; k < clients; k++) sum += value[k];
        double missed = fabs(sum / (double)clients - 2 * exp(0.125));
        assert_true(missed < before / 5); /* 1/N would be 10; the tail slows it a little */
        before = missed;
    }
    assert_true(before < 1e-4);
    free(value);
    mfpg_context_destroy(ctx);
}

static void test_bad_texts_leave_nothing(void **state) {
    static const char *const texts[] = {"", ",", "1,", ",1", "1,,2", "0", "-1", "1,-1", "nan", "inf", "1:inf",
        "0x1", "1 ", "2:1", ":", "1:", ":1", "uniform", "uniform:", "uniform:1", "uniform:2:1", "uniform:0:1",
        "lognormal:1", "lognormal:-1:1", "lognormal:1:-1", "lognormal:1:nan", "normal:0:1", "1:2:3", "1e999"};
    mfpg_context *ctx = testing_context(1);
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mfpg_population population;
        if (mfpg_population_parse(ctx, texts[i], &population) != MFPG_ERR_INPUT)
            fail_msg("'%s' was not refused as input", texts[i]);
        assert_true(population.list == NULL && population.count == 0);
        assert_true(strlen(mfpg_context_message(ctx)) > 20);
    }
    mfpg_context_destroy(ctx);
}

static void test_lengths_and_ranges_are_checked(void **state) {
    mfpg_context *ctx = testing_context(1);
    mfpg_population population;
    double value[3];
    (void)state;
    CHECK_OK(ctx, mfpg_population_parse(ctx, "1,2", &population));
    assert_int_equal(mfpg_population_fill(ctx, &population, 3, value), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "2 numbers for 3 clients"));
    mfpg_population_clear(&population);
    CHECK_OK(ctx, mfpg_population_parse(ctx, "lognormal:1:2000", &population));
    assert_int_equal(mfpg_population_fill(ctx, &population, 3, value), MFPG_ERR_DOMAIN);
    mfpg_population_clear(&population);
    mfpg_context_destroy(ctx);
}

static void test_failing_memory_is_reported(void **state) {
    mfpg_context *ctx = testing_context(1);
    mfpg_population population;
    (void)state;
    begin_failing(0, 0);
    mfpg_status status = mfpg_population_parse(ctx, "1,2,3", &population);
    assert_true(end_failing());
    assert_int_equal(status, MFPG_ERR_MEMORY);
    assert_null(population.list);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_mean_what_they_say),
        cmocka_unit_test(test_means_of_laws_come_near_with_their_quantiles),
        cmocka_unit_test(test_bad_texts_leave_nothing),
        cmocka_unit_test(test_lengths_and_ranges_are_checked),
        cmocka_unit_test(test_failing_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
