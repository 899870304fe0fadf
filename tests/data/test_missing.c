#include "fixture.h"

static void test_default_marks_and_empty_cells_are_missing(void **state) {
    (void)state;
    const char *cells[] = {"?", " ? ", "NA", "NaN", "nan", "", "  ", "\"\"", "\" ?\""};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "a,b,y\n1,2,0\n3,%s,1\n", cells[i]);
        mfpg_data_options options = reading_text(text);
        EXPECT_ERROR(&options, "a.csv:3:", "column \"b\"", "missing value");
    }
}

static void test_marks_can_be_chosen(void **state) {
    (void)state;
    const char *marks[] = {"-9"};
    mfpg_data_options options = reading_text("a,b,y\n1,-9,0\n3,4,1\n");
    expect_two_features(&options, 2, (float[]){1, -9, 3, 4}, (float[]){0, 1});
    options.missing_values = marks;
    options.missing_count = 1;
    EXPECT_ERROR(&options, "a.csv:2:", "column \"b\"", "\"-9\"", "missing value");
    options.missing = MFPG_MISSING_DROP;
    expect_two_features(&options, 2, (float[]){0, 0, 3, 4}, (float[]){0, 1});
    options = reading_text("a,b,y\n1,?,0\n"); /* a mark that is not in the list is a text */
    options.missing_values = marks;
    options.missing_count = 1;
    EXPECT_ERROR(&options, "a.csv:2:", "column \"b\"", "\"?\"", "not a finite number");
}

static void test_rows_with_missing_values_are_absent_and_counted(void **state) {
    (void)state;
    const char *drop[] = {"note"};
    mfpg_data_options options = reading_text("a,note,b,y\n1,?,2,0\n?,x,2,0\n3,,4,1\n5,x,6,?\n7,x,NA,0\n");
    options.drop_columns = drop; /* missing values there do not matter */
    options.drop_count = 1;
    options.missing = MFPG_MISSING_DROP;
    mfpg_federated_data *data = make_data(&options);
    const unsigned char absent[] = {0, 1, 0, 1, 1};
    expect_rows(data, 0, 5, (float[]){1, 2, 0, 0, 3, 4, 0, 0, 0, 0}, (float[]){0, 0, 1, 0, 0});
    assert_memory_equal(data->client[0].train.absent, absent, sizeof absent);
    assert_int_equal(data->client[0].dropped_rows, 3);
    assert_int_equal(data->dropped_rows, 3);
    assert_int_equal(data->fitted_on_private, 0);
    mfpg_federated_data_destroy(data);
}

/* An error would tell that nothing was there. Without any value at all there is nothing to train on. */
static void test_client_whose_rows_are_all_absent_takes_part_with_zeros(void **state) {
    (void)state;
    const char *files[] = {"full.csv", "holes.csv"};
    mfpg_data_options options = reading(files, 2);
    options.missing = MFPG_MISSING_DROP;
    write_text("full.csv", "a,y\n1,0\n");
    write_text("holes.csv", "a,y\n?,0\n?,1\n");
    mfpg_federated_data *data = make_data(&options);
    expect_rows(data, 0, 1, (float[]){1}, (float[]){0});
    expect_rows(data, 1, 2, (float[]){0, 0}, (float[]){0, 1});
    assert_null(data->client[0].train.absent);
    assert_int_equal(data->client[1].dropped_rows, 2);
    mfpg_federated_data_destroy(data);
    write_text("full.csv", "a,y\n?,0\n");
    EXPECT_ERROR(&options, "every one of 3 rows");
}

/* The partition column is public, and so are the rows that it gives to no client. */
static void test_rows_of_nobody_are_left_out(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,ward,y\n1,north,0\n?,south,0\n2,?,1\n3,north,1\n");
    options.missing = MFPG_MISSING_DROP;
    options.partition = MFPG_PARTITION_COLUMN;
    options.partition_column = "ward";
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->clients, 2);
    expect_rows(data, 0, 2, (float[]){1, 3}, (float[]){0, 1});
    expect_rows(data, 1, 1, (float[]){0}, (float[]){0});
    assert_int_equal(data->client[0].dropped_rows, 0);
    assert_int_equal(data->client[1].dropped_rows, 1);
    assert_int_equal(data->dropped_rows, 2);
    mfpg_federated_data_destroy(data);
}

static void test_missing_client_or_label_has_no_mean(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,ward,y\n1,north,0\n2,?,1\n3,north,?\n");
    options.partition = MFPG_PARTITION_COLUMN;
    options.partition_column = "ward";
    options.missing = MFPG_MISSING_MEAN;
    EXPECT_ERROR(&options, "a.csv:3:", "column \"ward\"", "missing");
    options.partition = MFPG_PARTITION_FILES;
    const char *drop[] = {"ward"};
    options.drop_columns = drop;
    options.drop_count = 1;
    EXPECT_ERROR(&options, "a.csv:4:", "column \"y\"", "missing");
}

/* Means by hand: a (1+3+8)/3 = 4; the indicator of v (1+0+0)/3. */
static void test_means_of_the_pooled_rows_fill_gaps(void **state) {
    (void)state;
    const char *files[] = {"one.csv", "two.csv"}, *values[] = {"u", "v"};
    const mfpg_category category = {"k", values, 2};
    mfpg_data_options options = reading(files, 2);
    options.missing = MFPG_MISSING_MEAN;
    options.categories = &category;
    options.category_count = 1;
    write_text("one.csv", "a,k,y\n1,v,0\n?,u,1\n");
    write_text("two.csv", "a,k,y\n3,?,0\n8,u,0\n");
    mfpg_federated_data *data = make_data(&options);
    const float third = (float)(1.0 / 3);
    expect_rows(data, 0, 2, (float[]){1, 1, 4, 0}, (float[]){0, 1});
    expect_rows(data, 1, 2, (float[]){3, third, 8, 0}, (float[]){0, 0});
    assert_int_equal(data->fitted_on_private, 1);
    assert_int_equal(data->dropped_rows, 0);
    mfpg_federated_data_destroy(data);
}

/* Only training rows enter the mean, and test rows are filled with it. Row id has the value id^2, or a gap at every
 * fifth; its label is its id. */
static void test_test_rows_do_not_enter_the_mean(void **state) {
    (void)state;
    char text[2000] = "a,y\n";
    for (int i = 0; i < 50; i++) {
        char value[16] = "?";
        if (i % 5) snprintf(value, sizeof value, "%d", i * i);
        snprintf(text + strlen(text), 32, "%s,%d\n", value, i);
    }
    mfpg_data_options options = reading_text(text);
    options.missing = MFPG_MISSING_MEAN;
    options.test_fraction = 0.4;
    mfpg_federated_data *data = make_data(&options);
    const mfpg_dataset *sets[] = {&data->client[0].train, &data->client[0].test};
    assert_int_equal(sets[1]->rows, 20);
    double sum = 0, count = 0;
    for (ptrdiff_t i = 0; i < sets[0]->rows; i++) {
        int id = (int)sets[0]->y[i];
        if (id % 5 == 0) continue;
        sum += id * id;
        count++;
    }
    for (int s = 0; s < 2; s++) {
        for (ptrdiff_t i = 0; i < sets[s]->rows; i++) {
            int id = (int)sets[s]->y[i];
            float expected = (float)(id % 5 ? id * id : sum / count);
            assert_float_equal(sets[s]->x[i], expected, 0);
        }
    }
    mfpg_federated_data_destroy(data);
}

static void test_column_without_any_value_has_no_mean(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,b,y\n1,?,0\n2,?,1\n");
    options.missing = MFPG_MISSING_MEAN;
    EXPECT_ERROR(&options, "column \"b\"", "no mean");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_marks_and_empty_cells_are_missing),
        cmocka_unit_test(test_marks_can_be_chosen),
        cmocka_unit_test(test_rows_with_missing_values_are_absent_and_counted),
        cmocka_unit_test(test_client_whose_rows_are_all_absent_takes_part_with_zeros),
        cmocka_unit_test(test_rows_of_nobody_are_left_out),
        cmocka_unit_test(test_missing_client_or_label_has_no_mean),
        cmocka_unit_test(test_means_of_the_pooled_rows_fill_gaps),
        cmocka_unit_test(test_test_rows_do_not_enter_the_mean),
        cmocka_unit_test(test_column_without_any_value_has_no_mean),
    };
    return FIXTURE_RUN(tests);
}
