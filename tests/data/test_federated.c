/* The result as a whole: fingerprint, norms, and options that contradict each other. */
#include "fixture.h"

static void fingerprint_of(const mfpg_data_options *options, char out[65]) {
    mfpg_federated_data *data = make_data(options);
    assert_int_equal(strlen(data->fingerprint), 64);
    strcpy(out, data->fingerprint);
    mfpg_federated_data_destroy(data);
}

static void test_fingerprint_changes_with_any_value(void **state) {
    (void)state;
    const char *base = "a,b,y\n1,2,0\n3,4,1\n5,6,0\n";
    char first[65], again[65], other[65], text[64];
    mfpg_data_options options = reading_text(base);
    fingerprint_of(&options, first);
    fingerprint_of(&options, again);
    assert_string_equal(first, again);
    for (const char *at = strchr(base, '\n'); *at; at++) {
        if (*at < '0' || *at > '9') continue;
        strcpy(text, base);
        text[at - base] = '8';
        options = reading_text(text);
        fingerprint_of(&options, other);
        assert_string_not_equal(first, other);
    }
}

static void test_fingerprint_changes_with_place(void **state) {
    (void)state;
    char first[65], other[65];
    mfpg_data_options options = reading_text("a,b,y\n1,2,0\n3,4,1\n");
    fingerprint_of(&options, first);
    const char *moved[] = {"a,b,y\n3,4,1\n1,2,0\n", "a,b,y\n2,1,0\n3,4,1\n", "b,a,y\n1,2,1\n3,4,0\n"};
    for (int i = 0; i < 3; i++) {
        options = reading_text(moved[i]);
        fingerprint_of(&options, other);
        assert_string_not_equal(first, other);
    }
    const char *files[] = {"one.csv", "two.csv"}; /* the same rows over two clients */
    write_text("one.csv", "a,b,y\n1,2,0\n");
    write_text("two.csv", "a,b,y\n3,4,1\n");
    options = reading(files, 2);
    fingerprint_of(&options, other);
    assert_string_not_equal(first, other);
    write_text("one.csv", "a,y\n1,1\n1,1\n"); /* equal values, so that only the sizes tell */
    write_text("two.csv", "a,y\n1,1\n");
    fingerprint_of(&options, first);
    write_text("one.csv", "a,y\n1,1\n");
    write_text("two.csv", "a,y\n1,1\n1,1\n");
    fingerprint_of(&options, other);
    assert_string_not_equal(first, other);
}

static void test_fingerprint_ignores_how_the_file_is_written(void **state) {
    (void)state;
    char first[65], other[65];
    mfpg_data_options options = reading_text("a,b,y\n1,2,0\n3,4,1\n");
    fingerprint_of(&options, first);
    options = reading_text("\"a\";b;y\r\n\r\n1.0;+2;0\r\n\"3\" ; 4e0;1");
    fingerprint_of(&options, other);
    assert_string_equal(first, other);
}

static void test_norms_are_squares_without_bias_in_double(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,b,y\n1e30,1e25,0\n3,4,1\n0,0,1\n");
    mfpg_federated_data *data = make_data(&options);
    const double *norm2 = data->client[0].train.norm2;
    check_near(norm2[0], 1e60 + 1e50, 1e-6, 0, "norm"); /* the values are floats */
    assert_true(norm2[1] == 25 && norm2[2] == 0);
    mfpg_federated_data_destroy(data);
}

static void test_defaults_are_as_documented(void **state) {
    (void)state;
    mfpg_data_options options = mfpg_data_options_default();
    assert_string_equal(options.format, "csv");
    assert_int_equal(options.header, 1);
    assert_int_equal(options.missing_count, 4);
    assert_int_equal(options.missing, MFPG_MISSING_ERROR);
    assert_int_equal(options.scale, MFPG_SCALE_NONE);
    assert_int_equal(options.partition, MFPG_PARTITION_FILES);
    assert_true(options.test_fraction == 0.2 && isnan(options.positive_above));
}

static void test_contradictory_options_are_refused_with_their_key(void **state) {
    (void)state;
    mfpg_data_options options = mfpg_data_options_default(), good;
    EXPECT_ERROR(&options, "data.files");
    options.format = NULL;
    EXPECT_ERROR(&options, "data.format");
    good = reading_text("a,b,y\n1,2,0\n");

    const char *nameless[] = {""};
    options = reading(nameless, 1);
    EXPECT_ERROR(&options, "data.files", "empty");
    const double fractions[] = {-0.1, 1, 2, (double)NAN};
    for (int i = 0; i < 4; i++) {
        options = good;
        options.test_fraction = fractions[i];
        EXPECT_ERROR(&options, "data.test_fraction");
    }
    const char separators[] = {'a', 'Z', '0', '.', '-', '"', '\n', '_'};
    for (size_t i = 0; i < sizeof separators; i++) {
        options = good;
        options.separator = separators[i];
        EXPECT_ERROR(&options, "data.separator");
    }
    const char *names[] = {"a", "b", "y"};
    options = good;
    options.columns = names;
    options.column_count = 3;
    EXPECT_ERROR(&options, "data.columns", "data.header");
    options = good;
    options.positive = "1";
    options.positive_above = 0;
    EXPECT_ERROR(&options, "data.label");
    options = good;
    options.positive_above = INFINITY;
    EXPECT_ERROR(&options, "data.label.positive_above");
    options = good;
    options.scale = MFPG_SCALE_BOUNDS;
    EXPECT_ERROR(&options, "data.scale", "bounds file");
    options = good;
    options.bounds_file = "x";
    EXPECT_ERROR(&options, "data.scale", "bounds file");
    options = good;
    options.common_test_rows = 5;
    EXPECT_ERROR(&options, "data.common_test_rows");
}

static void test_partition_and_synthetic_counts_are_checked(void **state) {
    (void)state;
    mfpg_data_options good = reading_text("a,b,y\n1,2,0\n"), options = good;
    options.partition = MFPG_PARTITION_COLUMN;
    EXPECT_ERROR(&options, "data.partition.column");
    for (int kind = MFPG_PARTITION_IID; kind <= MFPG_PARTITION_SHARDS; kind++) {
        options.partition = (mfpg_partition_kind)kind;
        EXPECT_ERROR(&options, "data.partition.clients");
    }
    options.clients = 1;
    EXPECT_ERROR(&options, "data.partition.shards_per_client");
    options.partition = MFPG_PARTITION_DIRICHLET;
    const double alphas[] = {0, -1, (double)NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        options.alpha = alphas[i];
        EXPECT_ERROR(&options, "data.partition.alpha");
    }
    options = mfpg_data_options_default();
    options.format = "synthetic";
    EXPECT_ERROR(&options, "data.clients");
    options.clients = 3;
    EXPECT_ERROR(&options, "data.rows");
    options.rows = 1;
    EXPECT_ERROR(&options, "data.dimension");
    options.dimension = 1;
    options.partition = MFPG_PARTITION_IID;
    EXPECT_ERROR(&options, "data.partition");
    options.partition = MFPG_PARTITION_FILES;
    options.common_test_rows = -1;
    EXPECT_ERROR(&options, "data.common_test_rows");
    options.common_test_rows = 0;
    options.rows = INT32_MAX / 2;
    EXPECT_ERROR(&options, "data.rows");
}

static void test_values_of_enumerations_are_checked(void **state) {
    (void)state;
    mfpg_data_options good = reading_text("a,b,y\n1,2,0\n"), options = good;
    options.partition = (mfpg_partition_kind)17;
    EXPECT_ERROR(&options, "data.partition.kind");
    options = good;
    options.missing = (mfpg_missing_rule)17;
    EXPECT_ERROR(&options, "data.missing");
    options = good;
    options.scale = (mfpg_scale_rule)17;
    EXPECT_ERROR(&options, "data.scale");
    options = mfpg_data_options_default();
    options.format = "synthetic";
    options.synthetic = (mfpg_synthetic_kind)17;
    EXPECT_ERROR(&options, "data.kind");
}

static void test_destroying_nothing_is_fine(void **state) {
    (void)state;
    mfpg_federated_data_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fingerprint_changes_with_any_value),
        cmocka_unit_test(test_fingerprint_changes_with_place),
        cmocka_unit_test(test_fingerprint_ignores_how_the_file_is_written),
        cmocka_unit_test(test_norms_are_squares_without_bias_in_double),
        cmocka_unit_test(test_defaults_are_as_documented),
        cmocka_unit_test(test_contradictory_options_are_refused_with_their_key),
        cmocka_unit_test(test_partition_and_synthetic_counts_are_checked),
        cmocka_unit_test(test_values_of_enumerations_are_checked),
        cmocka_unit_test(test_destroying_nothing_is_fine),
    };
    return FIXTURE_RUN(tests);
}
