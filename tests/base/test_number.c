#include "testing.h"

#include "base/names.h"
#include "base/number.h"

static void test_numbers_of_real_files_parse(void **state) {
    (void)state;
    const struct {
        const char *text;
        double value;
    } good[] = {
        {".7", 0.7}, {"63.", 63}, {"63.0", 63}, {"3.38e-005", 3.38e-5}, {"-1", -1}, {"+1", 1}, {"1E3", 1000}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double value = 0;
        assert_true(mfpg_number_parse(good[i].text, strlen(good[i].text), &value));
        assert_true(value == good[i].value);
    }
}

static void test_texts_that_are_no_number_are_refused(void **state) {
    (void)state;
    const char *bad[] = {
        "", " 1", "1 ", "nan", "NaN", "inf", "0x10", "1e", "1e+", ".", "-", "1,5", "1e999", "--1", "1.2.3"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value = 7;
        assert_false(mfpg_number_parse(bad[i], strlen(bad[i]), &value));
        assert_true(value == 7);
    }
}

static void test_formatted_numbers_read_back_equal(void **state) {
    (void)state;
    const double values[] = {
        0, 0.1, 1.0 / 3, 1e-300, 6.02e23, -2.75, 0.75625, 5e-324, 1.7976931348623157e308};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[MFPG_NUMBER_SIZE];
        double back = 0;
        mfpg_number_format(values[i], text);
        assert_true(mfpg_number_parse(text, strlen(text), &back));
        assert_true(back == values[i]);
    }
    char text[MFPG_NUMBER_SIZE];
    assert_string_equal(mfpg_number_format(0.1, text), "0.1");
    assert_string_equal(mfpg_number_format(20.0, text), "20");
    assert_string_equal(mfpg_number_format(-4000.0, text), "-4000");
    assert_string_equal(mfpg_number_format(INFINITY, text), "inf");
}

/* The other route: what the C library prints with ever more digits, until it reads back. */
static const char *by_trial(double value, char text[64]) {
    for (int digits = fabs(value) < 10.0 ? 1 : 15; digits <= 17; digits++) {
        if (digits == 2) digits = 15;
        snprintf(text, 64, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return text;
}

static void check_text(double value) {
    char text[MFPG_NUMBER_SIZE], expected[64];
    mfpg_number_format(value, text);
    if (strcmp(text, by_trial(value, expected)) != 0) fail_msg("%a: %s, expected %s", value, text, expected);
}

static uint64_t next_bits(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void test_texts_are_those_of_the_c_library(void **state) {
    (void)state;
    uint64_t random = testing_seed();
    print_message("seed %llu (set MFPG_TEST_SEED to repeat)\n", (unsigned long long)random);
    const double ends[] = {1e-14, 1e-5, 1e-4, 9.5, 10.0, 99999.5, 1e15, 1e16, 0x1p53, 0x1p52, 1.0 / 1024};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            check_text(sign * ends[i]);
            check_text(sign * nextafter(ends[i], 0.0));
            check_text(sign * nextafter(ends[i], INFINITY));
        }
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = next_bits(&random);
        double any, unit = (double)(bits >> 11) * 0x1p-53;
        memcpy(&any, &bits, sizeof any);
        if (isfinite(any)) check_text(any);
        check_text(unit);
        check_text(exp(80 * unit - 40)); /* over the whole fast range and beyond */
        check_text(ldexp(1.0 + (double)(bits % 1024) / 1024, (int)(bits % 110) - 56)); /* few bits: ties */
        check_text((double)(bits % 2000) / 1000);                                      /* few digits */
        check_text((double)(bits >> (bits % 64)));
        check_text((double)(float)unit);
    }
}

static void test_nearest_name_is_a_small_edit_away(void **state) {
    (void)state;
    const char *names[] = {"gaussian", "entropic", "none"};
    assert_string_equal(mfpg_names_nearest("gausian", names, 3), "gaussian");
    assert_string_equal(mfpg_names_nearest("entropci", names, 3), "entropic");
    assert_string_equal(mfpg_names_nearest("nnoe", names, 3), "none"); /* one swap is one edit */
    static const char *const close[] = {"mfep", "mfpg"};
    assert_string_equal(
        mfpg_names_nearest("mfgp", close, 2), "mfpg"); /* the swap is likelier than the change */
    assert_null(mfpg_names_nearest("laplace", names, 3));
}

static void test_unknown_name_says_what_is_allowed(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const char *names[] = {"gaussian", "entropic", "none"};
    assert_int_equal(mfpg_names_unknown(ctx, "mechanism", "gausian", names, 3), MFPG_ERR_INPUT);
    assert_string_equal(mfpg_context_message(ctx),
        "unknown mechanism \"gausian\", did you mean \"gaussian\"? Allowed: gaussian, entropic, none");
    assert_int_equal(mfpg_names_unknown(ctx, "mechanism", NULL, names, 3), MFPG_ERR_INPUT);
    assert_string_equal(
        mfpg_context_message(ctx), "unknown mechanism \"\"; allowed: gaussian, entropic, none");
    mfpg_context_destroy(ctx);
}

static void test_promises_are_printed_from_above(void **state) {
    (void)state;
    assert_true(mfpg_number_up(1.02382, 4) == 1.0239);
    assert_true(mfpg_number_up(1.9999999, 4) == 2.0);
    assert_true(mfpg_number_up(0.5, 4) == 0.5);
    assert_true(mfpg_number_up(1e-9, 4) == 0.0001);
    assert_true(mfpg_number_up(0.0, 4) == 0.0);
    assert_true(isinf(mfpg_number_up((double)INFINITY, 4)));
}

static void test_utf8_is_told_from_other_bytes(void **state) {
    (void)state;
    const char *good[] = {"", "plain", "Gr\xC3\xB6\xC3\x9F.", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    const char *bad[] = {
        "caf\xE9", "\xC3", "\x80", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) assert_true(mfpg_text_is_utf8(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_false(mfpg_text_is_utf8(bad[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_real_files_parse),
        cmocka_unit_test(test_texts_that_are_no_number_are_refused),
        cmocka_unit_test(test_formatted_numbers_read_back_equal),
        cmocka_unit_test(test_texts_are_those_of_the_c_library),
        cmocka_unit_test(test_promises_are_printed_from_above),
        cmocka_unit_test(test_utf8_is_told_from_other_bytes),
        cmocka_unit_test(test_nearest_name_is_a_small_edit_away),
        cmocka_unit_test(test_unknown_name_says_what_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
