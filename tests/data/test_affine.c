/* The affine shift: by hand, in its place after scaling, client by client, and the refused files. */
#include "fixture.h"

#define TEXT "a,b,y\n1,-1,0\n4,0.5,1\n"

/* The shift of a file shift.csv, applied to options. */
static mfpg_data_options with_shift(mfpg_data_options options, const char *shift) {
    static char path[600];
    snprintf(path, sizeof path, "%s/shift.csv", fixture_folder);
    write_text("shift.csv", shift);
    options.affine_file = path;
    return options;
}

static mfpg_data_options two_clients(void) {
    static const char *const files[] = {"east.csv", "west.csv"};
    write_text("east.csv", TEXT);
    write_text("west.csv", TEXT);
    return reading(files, 2);
}

static void test_features_are_scaled_and_shifted(void **state) {
    (void)state;
    mfpg_data_options options = with_shift(reading_text(TEXT), "column,scale,shift\nb,2,-0.5\na,-1,10\n");
    mfpg_federated_data *data = make_data(&options);
    expect_rows(data, 0, 2, (float[]){9, -2.5F, 6, 0.5F}, (float[]){0, 1});
    assert_true(data->client[0].train.norm2[0] == 81 + 6.25);
    assert_true(isinf(data->public_norm2));
    mfpg_federated_data_destroy(data);
    options = with_shift(reading_text(TEXT), "shift,column,scale\n1,a,0.5\n"); /* b stays as it is */
    expect_two_features(&options, 2, (float[]){1.5F, -1, 3, 0.5F}, (float[]){0, 1});
    options = with_shift(reading_text(TEXT), "column,scale,shift\na,1,0\nb,1,0\n");
    expect_two_features(&options, 2, (float[]){1, -1, 4, 0.5F}, (float[]){0, 1});
}

static void test_a_client_may_have_numbers_of_its_own(void **state) {
    (void)state;
    mfpg_data_options options =
        with_shift(two_clients(), "client,column,scale,shift\n,a,2,0\nwest,a,1,100\nwest,b,0,7\n,b,1,1\n");
    mfpg_federated_data *data = make_data(&options);
    expect_rows(data, 0, 2, (float[]){2, 0, 8, 1.5F}, (float[]){0, 1});
    expect_rows(data, 1, 2, (float[]){101, 7, 104, 7},
        (float[]){0, 1}); /* from the value as it was, not shifted twice */
    mfpg_federated_data_destroy(data);
}

/* Test rows of a client follow its shift, a common test set that for all. */
static void test_test_rows_follow_their_client(void **state) {
    (void)state;
    mfpg_data_options options = with_shift(two_clients(), "client,column,scale,shift\n,a,0,1\nwest,a,0,2\n");
    options.test_fraction = 0.5;
    mfpg_federated_data *data = make_data(&options);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(data->client[k].test.rows, 1);
        assert_true(
            data->client[k].train.x[0] == (float)(k + 1) && data->client[k].test.x[0] == (float)(k + 1));
    }
    mfpg_federated_data_destroy(data);
    const char *const test[] = {"a.csv"};
    write_text("a.csv", TEXT);
    options.test_files = test;
    options.test_file_count = 1;
    data = make_data(&options);
    assert_int_equal(data->common_test.rows, 2);
    assert_true(data->common_test.x[0] == 1.0F && data->common_test.x[2] == 1.0F);
    mfpg_federated_data_destroy(data);
}

/* Scaling comes first; the bound on the norm is that of the shifted features, and nothing exceeds it. */
static void test_the_public_bound_follows(void **state) {
    (void)state;
    static char bounds[600];
    snprintf(bounds, sizeof bounds, "%s/bounds.csv", fixture_folder);
    write_text("bounds.csv", "column,low,high\na,0,4\nb,-1,1\n");
    mfpg_data_options options =
        with_shift(two_clients(), "client,column,scale,shift\n,a,2,-0.5\n,b,-1,0.25\nwest,b,0.5,-2\n");
    options.scale = MFPG_SCALE_BOUNDS;
    options.bounds_file = bounds;
    mfpg_federated_data *data = make_data(&options);
    /* a in [0, 1] becomes [-.5, 1.5]; b becomes [-.75, .25], in the west [-2, -1.5] */
    expect_rows(data, 0, 2, (float[]){0, 0.25F, 1.5F, -0.5F}, (float[]){0, 1});
    expect_rows(data, 1, 2, (float[]){0, -2, 1.5F, -1.625F}, (float[]){0, 1});
    check_near(data->public_norm2, 2.25 + 4, 1e-14, 0, "bound");
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 2; i++) assert_true(data->client[k].train.norm2[i] <= data->public_norm2);
    mfpg_federated_data_destroy(data);
    options.range[0] = -0.3; /* ends that no float is */
    options.range[1] = 1.2;
    data = make_data(&options);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 2; i++) assert_true(data->client[k].train.norm2[i] <= data->public_norm2);
    mfpg_federated_data_destroy(data);
}

static void test_synthetic_clients_are_numbered(void **state) {
    (void)state;
    mfpg_data_options plain = mfpg_data_options_default();
    plain.format = "synthetic";
    plain.synthetic = MFPG_SYNTHETIC_LINEAR;
    plain.clients = 3;
    plain.rows = 4;
    plain.dimension = 2;
    mfpg_federated_data *before = make_data(&plain);
    char text[200];
    snprintf(text, sizeof text, "client,column,scale,shift\n%s,%s,-2,3\n", before->client[1].name,
        before->feature_names[1]);
    mfpg_data_options options = with_shift(plain, text);
    mfpg_federated_data *after = make_data(&options);
    for (int k = 0; k < 3; k++)
        for (ptrdiff_t i = 0; i < 2 * after->client[k].train.rows; i++) {
            float x = before->client[k].train.x[i];
            float expected = k == 1 && i % 2 == 1 ? (float)(-2.0 * (double)x + 3.0) : x;
            assert_true(after->client[k].train.x[i] == expected);
        }
    assert_string_not_equal(before->fingerprint, after->fingerprint);
    mfpg_federated_data_destroy(before);
    mfpg_federated_data_destroy(after);
}

static void test_faults_are_named_with_their_line(void **state) {
    (void)state;
    const struct {
        const char *shift, *parts[3];
    } rows[] = {
        {"column,scale\na,1\n", {"shift.csv:1", "column, scale and shift"}},
        {"column,scale,shift\nc,1,0\n", {"shift.csv:2", "no feature \"c\""}},
        {"column,scale,shift\nA,1,0\n", {"shift.csv:2", "did you mean \"a\"?"}},
        {"column,scale,shift\ny,1,0\n", {"shift.csv:2", "no feature"}}, /* labels are not shifted */
        {"column,scale,shift\na,1,x\n", {"shift.csv:2", "finite numbers"}},
        {"column,scale,shift\na,nan,0\n", {"shift.csv:2", "finite numbers"}},
        {"column,scale,shift\na,1,0\nb,1,0\na,2,0\n", {"shift.csv:4", "given twice, first in line 2"}},
        {"column,scale,shift,client\na,1,0,wst\n", {"shift.csv:2", "no client", "did you mean \"west\"?"}},
        {"column,scale,shift,client\na,1,0,west\na,1,1,west\n", {"shift.csv:3", "given twice"}},
        {"column,scale,shift\na,1e38,0\n", {"east.csv:3", "leaves the range"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mfpg_data_options options = with_shift(two_clients(), rows[i].shift);
        const char *const parts[] = {rows[i].parts[0], rows[i].parts[1], rows[i].parts[2], NULL};
        if (i == 9) write_text("east.csv", "a,b,y\n1,-1,0\n40,0.5,1\n");
        expect_error_parts(&options, parts);
    }
    mfpg_data_options options = two_clients();
    options.affine_file = "/nowhere/shift.csv";
    EXPECT_ERROR(&options, "/nowhere/shift.csv");
}

/* A file that the run has not seen: clients may be missing if rows name theirs, and are unknown otherwise. */
static void test_another_file_may_lack_clients(void **state) {
    (void)state;
    mfpg_data_options options = with_shift(reading_text("a,where,y\n1,east,0\n2,north,1\n"),
        "client,column,scale,shift\nwest,a,0,9\neast,a,0,5\n,a,1,1\n");
    options.partition = MFPG_PARTITION_COLUMN;
    options.partition_column = "where";
    EXPECT_ERROR(&options, "shift.csv:2", "no client \"west\"");
    options.other_file = 1;
    mfpg_federated_data *data = make_data(&options);
    expect_rows(data, 0, 1, (float[]){5}, (float[]){0});
    expect_rows(data, 1, 1, (float[]){3}, (float[]){1});
    mfpg_federated_data_destroy(data);
    options = with_shift(reading_text(TEXT), "client,column,scale,shift\nwest,a,0,9\n");
    options.other_file = 1;
    EXPECT_ERROR(&options, "shift.csv:2", "the clients of another file's rows are not known");
    options = with_shift(reading_text(TEXT), "column,scale,shift\na,0,9\n");
    options.other_file = 1;
    expect_two_features(&options, 2, (float[]){9, -1, 9, 0.5F}, (float[]){0, 1});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_are_scaled_and_shifted),
        cmocka_unit_test(test_a_client_may_have_numbers_of_its_own),
        cmocka_unit_test(test_test_rows_follow_their_client),
        cmocka_unit_test(test_the_public_bound_follows),
        cmocka_unit_test(test_synthetic_clients_are_numbered),
        cmocka_unit_test(test_faults_are_named_with_their_line),
        cmocka_unit_test(test_another_file_may_lack_clients),
    };
    return FIXTURE_RUN(tests);
}
