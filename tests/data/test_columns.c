/* Columns: which are features, labels, categories, and how several files match. */
#include "fixture.h"

static void test_unknown_columns_suggest_the_nearest_name(void **state) {
    (void)state;
    const char *drop[] = {"agee"};
    mfpg_data_options options = reading_text("age,chol,num\n1,2,0\n");
    options.drop_columns = drop;
    options.drop_count = 1;
    EXPECT_ERROR(&options, "data.drop_columns", "a.csv", "\"agee\"", "\"age\"", "age, chol, num");
    options.drop_count = 0;
    options.label_column = "nun";
    EXPECT_ERROR(&options, "data.label.column", "\"nun\"", "\"num\"");
    options.label_column = NULL;
    options.partition = MFPG_PARTITION_COLUMN;
    options.partition_column = "cholesterol";
    EXPECT_ERROR(&options, "data.partition.column", "\"cholesterol\"", "age, chol, num");
    options.partition = MFPG_PARTITION_FILES;
    const char *values[] = {"0"};
    mfpg_category category = {"chl", values, 1};
    options.categories = &category;
    options.category_count = 1;
    EXPECT_ERROR(&options, "data.categories", "\"chl\"", "\"chol\"");
}

static void test_column_cannot_have_two_roles(void **state) {
    (void)state;
    const char *drop[] = {"c"}, *values[] = {"1"};
    mfpg_category categories[] = {{"b", values, 1}, {"b", values, 1}};
    mfpg_data_options options = reading_text("a,b,c\n1,1,0\n");
    options.drop_columns = drop;
    options.drop_count = 1;
    EXPECT_ERROR(&options, "data.label.column", "\"c\"", "data.drop_columns");
    drop[0] = "b";
    options.categories = categories;
    options.category_count = 1;
    EXPECT_ERROR(&options, "data.categories", "\"b\"", "data.drop_columns");
    options.drop_count = 0;
    options.category_count = 2;
    EXPECT_ERROR(&options, "data.categories", "\"b\"", "twice");
    options.category_count = 0;
    options.partition = MFPG_PARTITION_COLUMN;
    options.partition_column = "c";
    EXPECT_ERROR(&options, "data.label.column", "\"c\"", "partition column");
}

static void test_label_may_stand_anywhere(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("y,a,b\n0,1,2\n1,3,4\n");
    options.label_column = "y";
    expect_two_features(&options, 2, (float[]){1, 2, 3, 4}, (float[]){0, 1});
}

static void test_file_of_labels_alone_is_refused(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("y\n1\n0\n");
    EXPECT_ERROR(&options, "no feature column");
}

static void test_text_in_a_feature_column_points_to_the_remedies(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,b,y\n1,2,0\n3,north,1\n");
    EXPECT_ERROR(&options, "a.csv:3:", "column \"b\"", "\"north\"", "data.categories", "data.drop_columns");
    options = reading_text("a,b,y\n1,inf,0\n");
    EXPECT_ERROR(&options, "a.csv:2:", "column \"b\"", "\"inf\"");
    options = reading_text("a,b,y\n1,1e39,0\n");
    EXPECT_ERROR(&options, "a.csv:2:", "column \"b\"", "too large");
    options = reading_text("a,b,y\n1,2,0\n3,\"1,5\",1\n");
    EXPECT_ERROR(&options, "a.csv:3:", "column \"b\"", "\"1,5\"");
}

static void test_files_match_by_column_name(void **state) {
    (void)state;
    const char *files[] = {"one.csv", "two.csv"};
    mfpg_data_options options = reading(files, 2);
    write_text("one.csv", "a,b,y\n1,2,0\n");
    write_text("two.csv", "y;b;a\n1;4;3\n");
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->clients, 2);
    expect_rows(data, 0, 1, (float[]){1, 2}, (float[]){0});
    expect_rows(data, 1, 1, (float[]){3, 4}, (float[]){1});
    mfpg_federated_data_destroy(data);
}

static void test_files_with_other_columns_are_refused_unless_dropped(void **state) {
    (void)state;
    const char *files[] = {"one.csv", "two.csv"}, *drop[] = {"extra"};
    mfpg_data_options options = reading(files, 2);
    write_text("one.csv", "age,b,y\n1,2,0\n");
    write_text("two.csv", "age,y\n3,1\n");
    EXPECT_ERROR(&options, "two.csv: no column \"b\"", "one.csv");
    write_text("two.csv", "agee,b,y\n3,4,1\n");
    EXPECT_ERROR(&options, "two.csv: column \"agee\"", "one.csv", "\"age\"");
    write_text("two.csv", "age,extra,b,y\n3,text,4,1\n");
    options.drop_columns = drop;
    options.drop_count = 1;
    mfpg_federated_data *data = make_data(&options);
    expect_rows(data, 1, 1, (float[]){3, 4}, (float[]){1});
    mfpg_federated_data_destroy(data);
}

static mfpg_data_options with_category(const mfpg_category *category, const char *text) {
    mfpg_data_options options = reading_text(text);
    options.categories = category;
    options.category_count = 1;
    return options;
}

static void test_categories_become_indicators_of_all_values_but_the_first(void **state) {
    (void)state;
    const char *values[] = {"0", "1", "3+"};
    const mfpg_category category = {"livch", values, 3};
    mfpg_data_options options = with_category(&category, "livch,age,y\n3+,10,0\n0,11,1\n1,12,0\n");
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->features, 3);
    assert_string_equal(data->feature_names[0], "livch=1");
    assert_string_equal(data->feature_names[1], "livch=3+");
    assert_string_equal(data->feature_names[2], "age");
    expect_rows(data, 0, 3, (float[]){0, 1, 10, 0, 0, 11, 1, 0, 12}, (float[]){0, 1, 0});
    mfpg_federated_data_destroy(data);
}

static void test_category_of_one_value_makes_no_column(void **state) {
    (void)state;
    const char *values[] = {"x"};
    const mfpg_category category = {"a", values, 1};
    mfpg_data_options options = with_category(&category, "a,b,y\nx,5,1\n");
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->features, 1);
    expect_rows(data, 0, 1, (float[]){5}, (float[]){1});
    mfpg_federated_data_destroy(data);
}

static void test_unlisted_category_names_line_column_value_and_list(void **state) {
    (void)state;
    const char *values[] = {"N", "Y"};
    const mfpg_category category = {"urban", values, 2};
    mfpg_data_options options = with_category(&category, "urban,b,y\nY,1,0\nyes,2,1\n");
    EXPECT_ERROR(&options, "a.csv:3:", "column \"urban\"", "\"yes\"", "N, Y", "data.categories");
}

static void test_bad_category_lists_are_refused(void **state) {
    (void)state;
    const char *values[] = {"N", "N"};
    mfpg_category category = {"urban", values, 2};
    mfpg_data_options options = with_category(&category, "urban,b,y\nN,1,0\n");
    EXPECT_ERROR(&options, "data.categories", "\"urban\"", "\"N\" twice");
    category.count = 0;
    EXPECT_ERROR(&options, "data.categories", "\"urban\"", "no values");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_columns_suggest_the_nearest_name),
        cmocka_unit_test(test_column_cannot_have_two_roles),
        cmocka_unit_test(test_label_may_stand_anywhere),
        cmocka_unit_test(test_file_of_labels_alone_is_refused),
        cmocka_unit_test(test_text_in_a_feature_column_points_to_the_remedies),
        cmocka_unit_test(test_files_match_by_column_name),
        cmocka_unit_test(test_files_with_other_columns_are_refused_unless_dropped),
        cmocka_unit_test(test_categories_become_indicators_of_all_values_but_the_first),
        cmocka_unit_test(test_category_of_one_value_makes_no_column),
        cmocka_unit_test(test_unlisted_category_names_line_column_value_and_list),
        cmocka_unit_test(test_bad_category_lists_are_refused),
    };
    return FIXTURE_RUN(tests);
}
