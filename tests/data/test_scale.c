#include "fixture.h"

/* Bounds of the file bounds.csv, applied to the text a.csv. */
static mfpg_data_options with_bounds(const char *text, const char *bounds) {
    static char path[600];
    snprintf(path, sizeof path, "%s/bounds.csv", fixture_folder);
    write_text("bounds.csv", bounds);
    mfpg_data_options options = reading_text(text);
    options.scale = MFPG_SCALE_BOUNDS;
    options.bounds_file = path;
    return options;
}

static void test_no_scaling_leaves_values_and_bounds_nothing(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,b,y\n3,4,0\n");
    mfpg_federated_data *data = make_data(&options);
    assert_true(isinf(data->public_norm2));
    assert_int_equal(data->fitted_on_private, 0);
    assert_float_equal(data->client[0].train.norm2[0], 25, 0);
    mfpg_federated_data_destroy(data);
}

/* By hand: a in [0, 4], b in [-1, 1]. */
static void test_public_bounds_clip_and_map_to_the_unit_interval(void **state) {
    (void)state;
    mfpg_data_options options =
        with_bounds("a,b,y\n1,-1,0\n4,0.5,1\n9,-7,0\n", "column,low,high\nb,-1,1\na,0,4\n");
    mfpg_federated_data *data = make_data(&options);
    expect_rows(data, 0, 3, (float[]){0.25f, 0, 1, 0.75f, 1, 0}, (float[]){0, 1, 0});
    assert_float_equal(data->public_norm2, 2, 0);
    assert_int_equal(data->fitted_on_private, 0);
    const double *norm2 = data->client[0].train.norm2;
    assert_true(norm2[0] == 0.0625 && norm2[1] == 1.5625 && norm2[2] == 1);
    mfpg_federated_data_destroy(data);
}

/* Rows are shortened one by one, after all other scaling; zero rows and short ones stay as they are. */
static void test_a_norm_shortens_long_rows(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,b,y\n3,4,0\n0,0,1\n0.3,0.4,1\n-6e18,8e18,0\n");
    options.norm = 2.5;
    mfpg_federated_data *data = make_data(&options);
    const mfpg_dataset *set = &data->client[0].train;
    assert_float_equal(data->public_norm2, 6.25, 0);
    for (ptrdiff_t i = 0; i < 4; i++) assert_true(set->norm2[i] <= 6.25);
    assert_true(set->norm2[0] > 6.249 && set->norm2[3] > 6.249);
    assert_true(set->x[4] == 0.3f && set->x[5] == 0.4f && set->norm2[1] == 0);
    assert_float_equal(set->x[0], 1.5, 1e-5);
    assert_float_equal(set->x[6], -1.5, 1e-5);
    assert_int_equal(data->fitted_on_private, 0);
    mfpg_federated_data_destroy(data);
    options = with_bounds("a,b,y\n4,1,0\n", "column,low,high\na,0,4\nb,-1,1\n");
    options.norm = 1;
    data = make_data(&options);
    assert_float_equal(data->public_norm2, 1, 0); /* the bounds alone give 2 */
    assert_true(data->client[0].train.norm2[0] <= 1);
    mfpg_federated_data_destroy(data);
    options.norm = 9;
    data = make_data(&options);
    assert_float_equal(data->public_norm2, 2, 0);
    mfpg_federated_data_destroy(data);
    options.norm = NAN;
    EXPECT_ERROR(&options, "data.norm");
}

static void test_public_bounds_map_to_any_range(void **state) {
    (void)state;
    mfpg_data_options options =
        with_bounds("a,b,y\n1,-1,0\n4,0.5,1\n9,-7,0\n", "column,low,high\nb,-1,1\na,0,4\n");
    options.range[0] = -1;
    options.range[1] = 3;
    mfpg_federated_data *data = make_data(&options);
    expect_rows(data, 0, 3, (const float[]){0, -1, 3, 2, 3, -1}, (const float[]){0, 1, 0});
    assert_true(data->public_norm2 == 2 * 9.0);
    mfpg_federated_data_destroy(data);
    options.range[0] = -0.3; /* ends that no float is: the bound holds for what they are rounded to */
    options.range[1] = 1.2;
    data = make_data(&options);
    for (ptrdiff_t i = 0; i < 3; i++) assert_true(data->client[0].train.norm2[i] <= data->public_norm2);
    mfpg_federated_data_destroy(data);
    options.range[1] = -1;
    EXPECT_ERROR(&options, "data.range");
    options.range[1] = (double)NAN;
    EXPECT_ERROR(&options, "data.range");
    options = reading_text("a,b,y\n1,-1,0\n");
    options.range[1] = 2;
    EXPECT_ERROR(&options, "data.range", "data.scale.bounds");
}

static void test_indicators_need_no_bounds(void **state) {
    (void)state;
    const char *values[] = {"u", "v", "w"};
    const mfpg_category category = {"k", values, 3};
    mfpg_data_options options = with_bounds("k,a,y\nw,1,0\nu,2,1\n", "column,low,high\na,0,4\n");
    options.categories = &category;
    options.category_count = 1;
    mfpg_federated_data *data = make_data(&options);
    expect_rows(data, 0, 2, (float[]){0, 1, 0.25f, 0, 0, 0.5f}, (float[]){0, 1});
    assert_float_equal(data->public_norm2, 3, 0);
    mfpg_federated_data_destroy(data);
}

static void test_bounds_of_dropped_columns_may_be_in_the_file(void **state) {
    (void)state;
    const char *drop[] = {"b"};
    mfpg_data_options options = with_bounds("a,b,y\n1,x,0\n", "column,low,high\nb,0,1\na,0,4\n");
    options.drop_columns = drop;
    options.drop_count = 1;
    mfpg_federated_data *data = make_data(&options);
    expect_rows(data, 0, 1, (float[]){0.25f}, (float[]){0});
    mfpg_federated_data_destroy(data);
}

static void test_bad_bounds_are_refused_with_their_line(void **state) {
    (void)state;
    const char *text = "age,b,y\n1,2,0\n";
    mfpg_data_options options = with_bounds(text, "column,low,high\nage,0,4\n");
    EXPECT_ERROR(&options, "bounds.csv", "no bounds", "\"b\"");
    const struct {
        const char *row, *what;
    } bad[] = {{"b,1,1", "less than"}, {"b,2,1", "less than"}, {"b,-1e308,1e308", "less than"},
        {"b,NaN,1", "finite numbers"}, {"b,0,inf", "finite numbers"}, {"b,,1", "finite numbers"},
        {"age,0,5", "twice"}, {"agee,0,1", "did you mean \"age\""}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char bounds[100];
        snprintf(bounds, sizeof bounds, "column,low,high\nage,0,4\n%s\n", bad[i].row);
        options = with_bounds(text, bounds);
        EXPECT_ERROR(&options, "bounds.csv:3:", bad[i].what);
    }
    options = with_bounds(text, "column,low\nage,0\n");
    EXPECT_ERROR(&options, "bounds.csv:1:", "column, low and high");
    options.bounds_file = "/nowhere/bounds.csv";
    EXPECT_ERROR(&options, "/nowhere/bounds.csv");
}

/* By hand over both clients: a is 1, 3, 3, 5 with mean 3 and deviation sqrt(2); b is constant. */
static void test_scaling_from_data_standardises_over_all_clients(void **state) {
    (void)state;
    const char *files[] = {"one.csv", "two.csv"};
    mfpg_data_options options = reading(files, 2);
    write_text("one.csv", "a,b,y\n1,0.1,0\n3,0.1,1\n");
    write_text("two.csv", "a,b,y\n3,0.1,0\n5,0.1,0\n");
    options.scale = MFPG_SCALE_FROM_DATA;
    mfpg_federated_data *data = make_data(&options);
    const float r = (float)sqrt(2.0);
    expect_rows(data, 0, 2, (float[]){-r, 0, 0, 0}, (float[]){0, 1});
    expect_rows(data, 1, 2, (float[]){0, 0, r, 0}, (float[]){0, 0});
    assert_int_equal(data->fitted_on_private, 1);
    assert_true(isinf(data->public_norm2));
    mfpg_federated_data_destroy(data);
}

/* Training rows have mean 0 and mean square 1, whatever the test rows are. */
static void test_scaling_from_data_looks_at_training_rows_only(void **state) {
    (void)state;
    char text[2000] = "a,y\n";
    for (int i = 0; i < 60; i++) snprintf(text + strlen(text), 32, "%d,0\n", i * i);
    mfpg_data_options options = reading_text(text);
    options.scale = MFPG_SCALE_FROM_DATA;
    options.test_fraction = 0.5;
    mfpg_federated_data *data = make_data(&options);
    double sum = 0, squares = 0, test_sum = 0;
    for (int i = 0; i < 30; i++) {
        sum += (double)data->client[0].train.x[i];
        squares += data->client[0].train.norm2[i];
        test_sum += (double)data->client[0].test.x[i];
    }
    check_near(sum, 0, 0, 30 * 1e-6, "sum"); /* float rounding of values near 1 */
    check_near(squares, 30, 1e-6, 0, "sum of squares");
    assert_true(fabs(test_sum) > 1e-3);
    mfpg_federated_data_destroy(data);
}

/* Values that vary only in the test rows are 0 there too: the training rows know no scale for them. */
static void test_feature_that_is_constant_in_training_becomes_zero_everywhere(void **state) {
    (void)state;
    char text[400] = "a,y\n";
    for (int i = 0; i < 10; i++) snprintf(text + strlen(text), 32, "%d,%d\n", i == 4 ? 9 : 7, i);
    mfpg_data_options options = reading_text(text);
    options.scale = MFPG_SCALE_FROM_DATA;
    options.test_fraction = 0.9;
    for (uint64_t seed = 0; seed < 5; seed++) {
        mfpg_federated_data *data = make_data_of_seed(&options, seed);
        for (ptrdiff_t i = 0; i < 9; i++) assert_float_equal(data->client[0].test.x[i], 0, 0);
        mfpg_federated_data_destroy(data);
    }
}

/* A test row may lie so far from the training rows that its scaled value is not a finite float. */
static void test_scaled_value_beyond_float_is_refused_with_its_line(void **state) {
    (void)state;
    int refused = 0;
    mfpg_data_options options = reading_text("a,y\n1e-30,0\n2e-30,0\n3e-30,0\n1e30,0\n");
    options.scale = MFPG_SCALE_FROM_DATA;
    options.test_fraction = 0.25;
    for (uint64_t seed = 0; seed < 20; seed++) {
        mfpg_key key = mfpg_key_from_seed(seed);
        mfpg_federated_data *data = NULL;
        mfpg_status status = mfpg_federated_data_create(fixture_ctx, &options, &key, &data);
        if (status != MFPG_OK) { /* the test row is the last one */
            assert_int_equal(status, MFPG_ERR_INPUT);
            assert_non_null(strstr(mfpg_context_message(fixture_ctx), "a.csv:5: column \"a\""));
            refused++;
        }
        mfpg_federated_data_destroy(data);
    }
    assert_in_range(refused, 1, 19);
}

static void test_means_are_filled_in_before_scaling(void **state) {
    (void)state;
    mfpg_data_options options =
        with_bounds("a,b,y\n0,1,0\n8,?,1\n?,3,0\n", "column,low,high\na,0,10\nb,0,4\n");
    options.missing = MFPG_MISSING_MEAN;
    mfpg_federated_data *data = make_data(&options);
    expect_rows(data, 0, 3, (float[]){0, 0.25f, 0.8f, 0.5f, 0.4f, 0.75f}, (float[]){0, 1, 0});
    assert_int_equal(data->fitted_on_private, 1);
    assert_float_equal(data->public_norm2, 2, 0); /* still a bound: every value was clipped */
    mfpg_federated_data_destroy(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_norm_shortens_long_rows),
        cmocka_unit_test(test_no_scaling_leaves_values_and_bounds_nothing),
        cmocka_unit_test(test_public_bounds_clip_and_map_to_the_unit_interval),
        cmocka_unit_test(test_public_bounds_map_to_any_range),
        cmocka_unit_test(test_indicators_need_no_bounds),
        cmocka_unit_test(test_bounds_of_dropped_columns_may_be_in_the_file),
        cmocka_unit_test(test_bad_bounds_are_refused_with_their_line),
        cmocka_unit_test(test_scaling_from_data_standardises_over_all_clients),
        cmocka_unit_test(test_scaling_from_data_looks_at_training_rows_only),
        cmocka_unit_test(test_feature_that_is_constant_in_training_becomes_zero_everywhere),
        cmocka_unit_test(test_scaled_value_beyond_float_is_refused_with_its_line),
        cmocka_unit_test(test_means_are_filled_in_before_scaling),
    };
    return FIXTURE_RUN(tests);
}
