/* The table of keys itself: every line is complete and consistent. */
#include "fixture.h"

#include <math.h>

#include "experiment/config/settings.h"

static int has_numbers(mfpg_option_kind kind) {
    return kind == MFPG_OPTION_NUMBER || kind == MFPG_OPTION_NUMBERS || kind == MFPG_OPTION_GRID;
}

static void test_every_key_is_documented(void **state) {
    (void)state;
    const mfpg_options *keys = mfpg_config_options();
    char allowed[512];
    for (ptrdiff_t count = 0; count < keys->count; count++) {
        const mfpg_option *key = &keys->option[count];
        assert_non_null(key->help);
        if (strlen(key->help) < 9) fail_msg("%s: help '%s'", key->name, key->help);
        if (has_numbers(key->kind) && !key->unit[0]) fail_msg("%s: no unit", key->name);
        if (!key->default_value == !key->example) fail_msg("%s: needs a default or an example", key->name);
        if (!mfpg_option_allowed(key, allowed, sizeof allowed)[0]) fail_msg("%s: nothing allowed", key->name);
        if (key->kind == MFPG_OPTION_WORD && !mfpg_option_word(key, 0)) fail_msg("%s: no words", key->name);
        assert_int_equal(mfpg_config_key_find(key->name), count);
        for (ptrdiff_t i = 0; i < count; i++) assert_string_not_equal(keys->option[i].name, key->name);
        assert_null(mfpg_option_word(key, -1));
    }
    assert_true(keys->count > 80);
    assert_int_equal(mfpg_config_key_find("nothing"), -1);
    assert_int_equal(mfpg_config_key_find(""), -1);
}

/* Keys of one section stand together, so that writing them in the table's order opens each section once. */
static void test_sections_are_contiguous(void **state) {
    (void)state;
    const mfpg_options *keys = mfpg_config_options();
    for (ptrdiff_t i = 0; i < keys->count; i++) {
        const char *path = keys->option[i].name, *dot = strrchr(path, '.');
        size_t length = dot ? (size_t)(dot - path) + 1 : 0;
        if (!length) continue;
        int left = 0;
        for (ptrdiff_t k = i + 1; k < keys->count; k++) {
            const char *later = keys->option[k].name;
            int inside = strncmp(path, later, length) == 0;
            if (inside && left) fail_msg("%s is cut from its section by %s", later, keys->option[k - 1].name);
            left |= !inside;
        }
    }
}

/* The value of every default and example, given as an argument and read from a file, is taken. */
static void test_every_default_and_example_is_allowed(void **state) {
    (void)state;
    const mfpg_options *keys = mfpg_config_options();
    for (ptrdiff_t i = 0; i < keys->count; i++) {
        const mfpg_option *key = &keys->option[i];
        char argument[512];
        const char *value = key->default_value ? key->default_value : key->example;
        mfpg_config *config = NULL;
        CHECK_OK(ctx, mfpg_config_create(ctx, &config));
        snprintf(argument, sizeof argument, "%.*s%s=%s", (int)strcspn(key->name, "*"), key->name,
            strchr(key->name, '*') ? "column" : "", value);
        if (mfpg_config_set(ctx, config, argument) != MFPG_OK) fail_msg("%s", mfpg_context_message(ctx));
        assert_true(strchr(key->name, '*')
                        ? config->categories == 1
                        : mfpg_config_has(config, key->name) && mfpg_config_given(config, key->name));
        mfpg_config_destroy(config);
    }
}

static void test_every_word_is_allowed_and_nothing_near_it(void **state) {
    (void)state;
    const mfpg_options *keys = mfpg_config_options();
    for (ptrdiff_t i = 0; i < keys->count; i++) {
        const mfpg_option *key = &keys->option[i];
        const char *word;
        for (ptrdiff_t k = 0; (word = mfpg_option_word(key, k)); k++) {
            char argument[256];
            mfpg_config *config = NULL;
            CHECK_OK(ctx, mfpg_config_create(ctx, &config));
            snprintf(argument, sizeof argument, "%s=%s", key->name, word);
            set(config, argument);
            assert_true(mfpg_config_is(config, key->name, word));
            assert_int_equal(config->value[mfpg_config_key_find(key->name)].choice, k);
            assert_string_equal(mfpg_config_text(config, key->name), word);
            strcat(argument, "x");
            if (key->kind != MFPG_OPTION_PATH) {
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
    const mfpg_options *keys = mfpg_config_options();
    for (ptrdiff_t i = 0; i < keys->count; i++) assert_non_null(strstr(text, keys->option[i].name));
    free(text);
}

/* Values go into the fields that the list names: numbers, words, truths, texts and lists, and words in the place of numbers;
 * a key that does not count leaves the default. */
static void test_keys_fill_their_fields(void **state) {
    (void)state;
    static const char *const arguments[] = {"data.files=[a.csv, b.csv]", "data.labels=[]",
        "data.header=false", "data.separator=;", "data.label.column=y", "data.norm=2",
        "data.partition.kind=iid", "data.partition.clients=7", "data.rows=3", "method=mfep",
        "entropic.step=0.5", "entropic.scale=sensitivity", "entropic.transport.cap=none",
        "train.learning_rate=9", "evaluate=train"};
    mfpg_config *config = NULL;
    CHECK_OK(ctx, mfpg_config_create(ctx, &config));
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++) set(config, arguments[i]);
    const mfpg_settings f = config->set;
    assert_true(f.data.file_count == 2 && !strcmp(f.data.files[1], "b.csv") && !f.data.labels);
    assert_true(!f.data.header && f.data.separator == ';' && !strcmp(f.data.label_column, "y"));
    assert_true(f.data.norm == 2 && f.data.clients == 7 && isnan(f.data.positive_above));
    assert_int_equal(f.data.partition, MFPG_PARTITION_IID);
    assert_true(f.data.rows == mfpg_data_options_default().rows); /* of made-up data only */
    assert_true(f.mechanism.step == 0.5 && f.mechanism.transport_cap == 0);
    assert_int_equal(f.mechanism.scale, MFPG_SCALE_SENSITIVITY);
    assert_true(f.mechanism.learning_rate == mfpg_mechanism_options_default().learning_rate);
    assert_int_equal(f.federation.evaluate, MFPG_EVALUATE_TRAIN);
    assert_true(f.seed == -1 && f.filter == -1 && isinf(f.federation.stop_at_epsilon));
    assert_true(f.checkpoint == MFPG_CHECKPOINT_AUTO && isnan(f.target_epsilon) && f.local_epochs == 0);
    assert_true(f.game.actions.count == 0 && config->all.game.actions.count == 5); /* there is no game */
    assert_true(config->all.game.actions.grid[4] == 2 && isnan(config->all.game.personalisation));
    mfpg_config_destroy(config);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key_is_documented),
        cmocka_unit_test(test_sections_are_contiguous),
        cmocka_unit_test(test_every_default_and_example_is_allowed),
        cmocka_unit_test(test_every_word_is_allowed_and_nothing_near_it),
        cmocka_unit_test(test_the_printed_table_holds_every_key),
        cmocka_unit_test(test_keys_fill_their_fields),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
