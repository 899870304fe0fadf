/* What is written loads again to the same configuration. */
#include "fixture.h"
#include "experiment/config/settings.h"

#include <sys/stat.h>

static char *template_text(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    CHECK_OK(ctx, mfpg_config_template(ctx, stream));
    fclose(stream);
    return text;
}

static void check_same_again(const mfpg_config *config) {
    char *first = written(config);
    mfpg_config *again = load(first);
    char *second = written(again);
    assert_string_equal(first, second);
    free(first);
    free(second);
    mfpg_config_destroy(again);
}

static void test_written_configurations_load_to_the_same(void **state) {
    (void)state;
    const char *texts[] = {
        "seed: 9007199254740991\n",
        "name: \"tab\\there, 'quotes' \\\"and\\\" # marks: {x} [y] \\u2028 \\u0085 \\uFEFF é\"\n",
        "name: 'null'\n",
        "name: '12'\n",
        "name: '- x'\n",
        "method: {mechanism: gaussian, players: mean-field}\ntrain: {batch: {rate: 0.123456789012345678}}\n",
        "method: mapg-dp\ngame: {actions: {min: 1e-300, max: 1e300}, preferences: [0.1, 3, "
        "0.3333333333333333]}\n",
        "method: dp-sgd\nnoise: {target_epsilon: 2}\ntrain: {local_epochs: 3, learning_rate: 1e-5}\n",
        "data:\n  files: [a.csv, 'b, c.csv', \"d'e.csv\", ' f']\n  label: {column: 'Größe: x', positive: "
        "'>50K'}\n"
        "  separator: \"\\t\"\n  categories: {\"a: b\": [x, ' '], c.d: ['1', \"no\"], '#e': ['~']}\n"
        "  missing: {values: ['', '?', -9], impute: mean}\n  scale: {bounds: /b/bounds.csv}\n"
        "  partition: {kind: dirichlet, clients: 3, alpha: 0.25}\n",
        "game: {preferences: {file: /tmp/beta.csv, column: beta}, actions: continuous, curvature: 3.25}\n",
        "data: {format: synthetic, kind: coins, clients: 7}\npaper: {clamp: false}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mfpg_config *config = load(texts[i]);
        check_same_again(config);
        mfpg_config_destroy(config);
    }
}

static void test_numbers_come_back_to_the_last_bit(void **state) {
    (void)state;
    uint64_t random = testing_seed();
    print_message("seed %llu\n", (unsigned long long)random);
    for (int i = 0; i < testing_repeats(200); i++) {
        char argument[64];
        random = random * 6364136223846793005u + 1442695040888963407u;
        double value = ldexp((double)(random >> 11), (int)(random >> 56) - 160);
        if (!(value > 0)) continue;
        mfpg_config *config = NULL;
        CHECK_OK(ctx, mfpg_config_create(ctx, &config));
        snprintf(argument, sizeof argument, "privacy.clip=%.17g", value);
        set(config, argument);
        assert_true(mfpg_config_number(config, "privacy.clip") == value);
        char *text = written(config);
        mfpg_config *again = load(text);
        assert_true(mfpg_config_number(again, "privacy.clip") == value);
        free(text);
        mfpg_config_destroy(again);
        mfpg_config_destroy(config);
    }
}

static void test_resolved_values_are_written_with_their_reason(void **state) {
    (void)state;
    mfpg_config *config = load("data: {format: synthetic}\n");
    CHECK_OK(
        ctx, mfpg_config_resolve(ctx, config, "game.own_cost", "0.045", "(h d/2) omega^2 2 tau,\nd = 5"));
    assert_true(mfpg_config_number(config, "game.own_cost") == 0.045);
    assert_false(mfpg_config_given(config, "game.own_cost"));
    assert_string_equal(mfpg_config_source(config, "game.own_cost"), "auto: (h d/2) omega^2 2 tau, d = 5");
    char *text = written(config);
    assert_non_null(strstr(text, "  own_cost: 0.045  # auto: (h d/2) omega^2 2 tau, d = 5\n"));
    assert_non_null(strstr(text, "\nnoise:\n  grid: auto\n")); /* the others wait for a run without a game */
    assert_null(strstr(text, "  law:"));
    mfpg_config *again = load(text);
    assert_true(mfpg_config_number(again, "game.own_cost") == 0.045);
    CHECK_OK(ctx, mfpg_config_check(ctx, again));
    free(text);
    mfpg_config_destroy(again);
    assert_int_equal(mfpg_config_resolve(ctx, config, "game.own_cost", "-1", "x"), MFPG_ERR_INPUT);
    assert_int_equal(mfpg_config_resolve(ctx, config, "game.own", "1", "x"), MFPG_ERR_INPUT);
    assert_true(mfpg_config_number(config, "game.own_cost") == 0.045);
    mfpg_config_destroy(config);
}

static void test_steps_that_do_not_count_stay_out(void **state) {
    (void)state;
    mfpg_config *config = load("data: {format: synthetic}\nmethod: dp-sgd\n");
    char *text = written(config);
    mfpg_config *again = load(text);
    CHECK_OK(ctx, mfpg_config_check(ctx, again)); /* entropic.step would be refused if it were given */
    assert_true(mfpg_config_given(again, "train.learning_rate"));
    assert_false(mfpg_config_given(again, "entropic.step"));
    free(text);
    mfpg_config_destroy(again);
    mfpg_config_destroy(config);
}

static void test_written_paths_are_absolute(void **state) {
    (void)state;
    char path[256], line[4200], real[4096];
    const char *folder = temporary_folder();
    assert_non_null(realpath(folder, real));
    snprintf(path, sizeof path, "%s/c.yaml", folder);
    write_file(path, "data: {files: [a.csv], scale: {bounds: b.csv}}\nseed: 3\n");
    snprintf(line, sizeof line, "%s/b.csv", folder);
    write_file(line, "");
    mfpg_config *config = NULL;
    CHECK_OK(ctx, mfpg_config_load(ctx, path, &config));
    char *text = written(config);
    remove(line);
    snprintf(line, sizeof line, "  dir: %s\n", real);
    assert_non_null(strstr(text, line));
    snprintf(line, sizeof line, "    bounds: %s/b.csv\n", real);
    assert_non_null(strstr(text, line));
    assert_non_null(strstr(text, "name: c  # auto: the configuration's file\n"));
    free(text);
    mfpg_config_destroy(config);
    remove(path);
    rmdir(folder);
}

static void test_the_template_loads_and_passes(void **state) {
    (void)state;
    char *text = template_text();
    mfpg_config *config = load(text);
    CHECK_OK(ctx, mfpg_config_check(ctx, config));
    assert_true(mfpg_config_is(config, "data.kind", "clinics"));
    const mfpg_options *keys = mfpg_config_options();
    for (ptrdiff_t i = 0; i < keys->count; i++)
        if (!strstr(text, keys->option[i].help)) fail_msg("%s is not in the template", keys->option[i].name);
    set(config, "method=dp-sgd"); /* the user's first change must not be an error */
    CHECK_OK(ctx, mfpg_config_check(ctx, config));
    mfpg_config_destroy(config);
    free(text);
}

/* Takes the mark from every commented-out key, one at a time: each must load then. */
static void test_every_commented_key_of_the_template_is_right(void **state) {
    (void)state;
    char *text = template_text();
    int tried = 0;
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        next = next ? next + 1 : NULL;
        size_t indent = strspn(line, " "), name = strspn(line + indent + 2, "abcdefghijklmnopqrstuvwxyz_");
        if (strncmp(line + indent, "# ", 2) != 0 || name == 0 ||
            strncmp(line + indent + 2 + name, ": ", 2) != 0)
            continue;
        char *changed = strdup(text);
        assert_non_null(changed);
        char *mark = changed + (line - text) + indent;
        memmove(mark, mark + 2, strlen(mark + 2) + 1);
        mfpg_config *config = NULL;
        mfpg_status status = mfpg_config_load_text(ctx, changed, strlen(changed), "t.yaml", NULL, &config);
        int clash = status != MFPG_OK && (strstr(mfpg_context_message(ctx), "given twice") ||
                                             strstr(mfpg_context_message(ctx), "excludes"));
        if (status != MFPG_OK && !clash) fail_msg("%.60s: %s", line, mfpg_context_message(ctx));
        tried++;
        mfpg_config_destroy(config);
        free(changed);
    }
    assert_true(tried > 30);
    free(text);
}

static void test_the_template_is_never_written_over_a_file(void **state) {
    (void)state;
    char path[256], part[300];
    struct stat info;
    const char *folder = temporary_folder();
    snprintf(path, sizeof path, "%s/c.yaml", folder);
    snprintf(part, sizeof part, "%s.part", path);
    CHECK_OK(ctx, mfpg_config_template_save(ctx, path));
    assert_int_equal(stat(part, &info), -1);
    mfpg_config *config = NULL;
    CHECK_OK(ctx, mfpg_config_load(ctx, path, &config));
    mfpg_config_destroy(config);
    write_file(path, "mine");
    assert_int_equal(mfpg_config_template_save(ctx, path), MFPG_ERR_INPUT);
    MESSAGE_HOLDS(path, "exists already");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 4);
    remove(path);
    snprintf(path, sizeof path, "%s/none/c.yaml", folder);
    assert_int_equal(mfpg_config_template_save(ctx, path), MFPG_ERR_IO);
    assert_int_equal(rmdir(folder), 0); /* nothing was left behind */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_configurations_load_to_the_same),
        cmocka_unit_test(test_numbers_come_back_to_the_last_bit),
        cmocka_unit_test(test_resolved_values_are_written_with_their_reason),
        cmocka_unit_test(test_steps_that_do_not_count_stay_out),
        cmocka_unit_test(test_written_paths_are_absolute),
        cmocka_unit_test(test_the_template_loads_and_passes),
        cmocka_unit_test(test_every_commented_key_of_the_template_is_right),
        cmocka_unit_test(test_the_template_is_never_written_over_a_file),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
