#include "fixture.h"

static void expect_labels(const mfpg_data_options *options, ptrdiff_t rows, const float *y) {
    mfpg_federated_data *data = make_data(options);
    assert_int_equal(data->client[0].train.rows, rows);
    for (ptrdiff_t i = 0; i < rows; i++) assert_float_equal(data->client[0].train.y[i], y[i], 0);
    mfpg_federated_data_destroy(data);
}

static void test_threshold_makes_one_strictly_above(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,y\n1,0\n1,1\n1,4\n1,-2.5\n");
    options.positive_above = 0;
    expect_labels(&options, 4, (float[]){0, 1, 1, 0});
    options.positive_above = 1;
    expect_labels(&options, 4, (float[]){0, 0, 1, 0});
}

static void test_positive_text_ignores_one_trailing_dot(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,y\n1, >50K\n1, <=50K.\n1, >50K.\n1,>50K..\n");
    options.positive = ">50K";
    expect_labels(&options, 4, (float[]){1, 0, 1, 0});
    options.positive = ">50K.";
    expect_labels(&options, 4, (float[]){1, 0, 1, 0});
}

static void test_plain_numbers_stay(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,y\n1,0.25\n1,-7\n");
    expect_labels(&options, 2, (float[]){0.25f, -7});
}

static void test_text_label_without_rule_points_to_the_rule(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,use\n1,0\n1,Y\n");
    EXPECT_ERROR(&options, "a.csv:3:", "\"use\"", "\"Y\"", "data.label.positive");
    options = reading_text("a,use\n1,1e300\n");
    EXPECT_ERROR(&options, "a.csv:2:", "\"use\"", "too large");
    options.positive_above = 5; /* compared before it becomes a float */
    expect_labels(&options, 1, (float[]){1});
}

static void test_positive_text_that_no_row_has(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,y\n1,>50K\n1,<=50K.\n1,<=50K\n");
    options.positive = ">50k";
    EXPECT_ERROR(&options, "data.label.positive", "\">50k\"", "\">50K\"", "<=50K");
    options = reading_text("a,y\n1,N\n1,N\n");
    options.positive = "Y";
    fixture_warning[0] = 0;
    expect_labels(&options, 2, (float[]){0, 0}); /* a client may hold one class only */
    assert_non_null(strstr(fixture_warning, "\"Y\""));
}

static void test_positive_text_is_found_behind_many_others(void **state) {
    (void)state;
    char text[2000] = "a,y\n";
    float y[41] = {0};
    for (int i = 0; i < 40; i++) sprintf(text + strlen(text), "1,v%d\n", i);
    strcat(text, "1,last\n");
    y[40] = 1;
    mfpg_data_options options = reading_text(text);
    options.positive = "last";
    expect_labels(&options, 41, y);
}

static void test_binary_labels_are_zero_one_or_minus_one_one(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,y\n1,0\n1,1\n");
    options.binary_labels = 1;
    expect_labels(&options, 2, (float[]){0, 1});
    options = reading_text("a,y\n1,-1\n1,+1\n1,1.0\n");
    options.binary_labels = 1;
    expect_labels(&options, 3, (float[]){0, 1, 1});
}

static void test_other_labels_are_no_binary_labels(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,y\n1,1\n1,2\n");
    options.binary_labels = 1;
    EXPECT_ERROR(&options, "a.csv:3:", "label 2", "data.label.positive_above");
    options = reading_text("a,y\n1,1\n1,0\n1,-1\n");
    options.binary_labels = 1;
    EXPECT_ERROR(&options, "a.csv:4: label -1", "a.csv:3: label 0");
}

static void test_minus_one_in_one_file_counts_for_all(void **state) {
    (void)state;
    const char *files[] = {"one.csv", "two.csv"};
    mfpg_data_options options = reading(files, 2);
    options.binary_labels = 1;
    write_text("one.csv", "a,y\n1,1\n");
    write_text("two.csv", "a,y\n1,-1\n");
    mfpg_federated_data *data = make_data(&options);
    expect_rows(data, 0, 1, (float[]){1}, (float[]){1});
    expect_rows(data, 1, 1, (float[]){1}, (float[]){0});
    mfpg_federated_data_destroy(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threshold_makes_one_strictly_above),
        cmocka_unit_test(test_positive_text_ignores_one_trailing_dot),
        cmocka_unit_test(test_plain_numbers_stay),
        cmocka_unit_test(test_text_label_without_rule_points_to_the_rule),
        cmocka_unit_test(test_positive_text_that_no_row_has),
        cmocka_unit_test(test_positive_text_is_found_behind_many_others),
        cmocka_unit_test(test_binary_labels_are_zero_one_or_minus_one_one),
        cmocka_unit_test(test_other_labels_are_no_binary_labels),
        cmocka_unit_test(test_minus_one_in_one_file_counts_for_all),
    };
    return FIXTURE_RUN(tests);
}
