/* The table of keys itself: every line is complete and consistent. */
#include "fixture.h"

static int has_numbers(mfpg_form form) {
    return form == MFPG_FORM_NUMBER || form == MFPG_FORM_NUMBERS || form == MFPG_FORM_GRID;
}

static void test_every_key_is_documented(void **state) {
    (void)state;
    mfpg_config_key key, other;
    char allowed[512];
    ptrdiff_t count = 0;
    for (; mfpg_config_key_get(count, &key); count++) {
        assert_non_null(key.help);
        if (strlen(key.help) < 9) fail_msg("%s: help '%s'", key.path, key.help);
        if (has_numbers(key.form) && !key.unit[0]) fail_msg("%s: no unit", key.path);
        if (!key.default_value == !key.example) fail_msg("%s: needs a default or an example", key.path);
        if (!mfpg_config_key_allowed(count, allowed, sizeof allowed)[0])
            fail_msg("%s: nothing allowed", key.path);
        if (key.form == MFPG_FORM_WORD && !mfpg_config_key_word(count, 0)) fail_msg("%s: no words", key.path);
        assert_int_equal(mfpg_config_key_find(key.path), count);
        for (ptrdiff_t i = 0; i < count; i++) {
            assert_true(mfpg_config_key_get(i, &other));
            assert_string_not_equal(other.path, key.path);
        }
    }
    assert_true(count > 80);
    assert_false(mfpg_config_key_get(-1, &key));
    assert_null(mfpg_config_key_word(count, 0));
    assert_int_equal(mfpg_config_key_find("nothing"), -1);
    assert_int_equal(mfpg_config_key_find(""), -1);
}

/* Keys of one section stand together, so that writing them in the table's order opens each section once. */
static void test_sections_are_contiguous(void **state) {
    (void)state;
    mfpg_config_key a, b, c;
    for (ptrdiff_t i = 0; mfpg_config_key_get(i, &a); i++) {
        const char *dot = strrchr(a.path, '.');
        size_t length = dot ? (size_t)(dot - a.path) + 1 : 0;
        if (!length) continue;
        int left = 0;
        for (ptrdiff_t k = i + 1; mfpg_config_key_get(k, &b); k++) {
            int inside = strncmp(a.path, b.path, length) == 0;
            if (inside && left) {
                mfpg_config_key_get(k - 1, &c);
                fail_msg("%s is cut from its section by %s", b.path, c.path);
            }
            left |= !inside;
        }
    }
}

/* The value of every default and example, given as an argument and read from a file, is taken. */
static void test_every_default_and_example_is_allowed(void **state) {
    (void)state;
    mfpg_config_key key;
    for (ptrdiff_t i = 0; mfpg_config_key_get(i, &key); i++) {
        char argument[512];
        const char *value = key.default_value ? key.default_value : key.example;
        mfpg_config *config = NULL;
        CHECK_OK(ctx, mfpg_config_create(ctx, &config));
        snprintf(argument, sizeof argument, "%.*s%s=%s", (int)strcspn(key.path, "*"), key.path,
            strchr(key.path, '*') ? "column" : "", value);
        if (mfpg_config_set(ctx, config, argument) != MFPG_OK) fail_msg("%s", mfpg_context_message(ctx));
        assert_true(strchr(key.path, '*')
                        ? mfpg_config_categories(config) == 1
                        : mfpg_config_has(config, key.path) && mfpg_config_given(config, key.path));
        mfpg_config_destroy(config);
    }
}

static void test_every_word_is_allowed_and_nothing_near_it(void **state) {
    (void)state;
    mfpg_config_key key;
    for (ptrdiff_t i = 0; mfpg_config_key_get(i, &key); i++) {
        const char *word;
        for (ptrdiff_t k = 0; (word = mfpg_config_key_word(i, k)); k++) {
            char argument[256];
            mfpg_config *config = NULL;
            CHECK_OK(ctx, mfpg_config_create(ctx, &config));
            snprintf(argument, sizeof argument, "%s=%s", key.path, word);
            set(config, argument);
            assert_true(mfpg_config_is(config, key.path, word));
            assert_int_equal(mfpg_config_choice(config, key.path), k);
            assert_string_equal(mfpg_config_text(config, key.path), word);
            strcat(argument, "x");
            if (key.form != MFPG_FORM_PATH) {
                assert_int_equal(mfpg_config_set(ctx, config, argument), MFPG_ERR_INPUT);
                MESSAGE_HOLDS("did you mean", word);
            }
            mfpg_config_destroy(config);
        }
    }
}

static void test_the_printed_table_holds_every_key(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    CHECK_OK(ctx, mfpg_config_keys_print(ctx, stream));
    fclose(stream);
    mfpg_config_key key;
    for (ptrdiff_t i = 0; mfpg_config_key_get(i, &key); i++) assert_non_null(strstr(text, key.path));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key_is_documented),
        cmocka_unit_test(test_sections_are_contiguous),
        cmocka_unit_test(test_every_default_and_example_is_allowed),
        cmocka_unit_test(test_every_word_is_allowed_and_nothing_near_it),
        cmocka_unit_test(test_the_printed_table_holds_every_key),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
