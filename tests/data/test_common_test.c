/* A test set in files of its own, and the first rows of a file. */
#include "fixture.h"

/* Ten rows x = 0 .. 9 with district a or b in turn, label 0 or 1 in turn. */
static void write_clients(const char *name) {
    char text[512] = "district,x,y\n";
    for (int i = 0; i < 10; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%c,%d,%d\n", 'a' + i % 2, i, i / 2 % 2);
    write_text(name, text);
}

static const char *const test_files[] = {"t1.csv", "t2.csv"};

static mfpg_data_options with_test_files(const char *const *files, ptrdiff_t count) {
    mfpg_data_options options = reading(files, count);
    write_text("t1.csv", "district,x,y\na,100,0\nc,200,1\n");
    write_text("t2.csv", "district,x,y\nd,300,1\n");
    options.test_fraction = 0.5; /* the files have precedence */
    options.test_files = test_files;
    options.test_file_count = 2;
    return options;
}

static void test_it_is_nobodys_whatever_the_partition(void **state) {
    (void)state;
    static const char *const files[] = {"c1.csv", "c2.csv"}, *const drop[] = {"district"};
    write_clients("c1.csv");
    write_clients("c2.csv");
    for (int kind = MFPG_PARTITION_FILES; kind <= MFPG_PARTITION_SHARDS; kind++) {
        mfpg_data_options options = with_test_files(files, 2);
        options.partition = (mfpg_partition_kind)kind;
        options.partition_column = "district";
        options.drop_columns = drop;
        options.drop_count = kind != MFPG_PARTITION_COLUMN;
        options.clients = 2;
        options.alpha = 100;
        options.shards_per_client = 2;
        mfpg_federated_data *data = make_data(&options);
        assert_int_equal(data->clients, 2); /* the districts c and d of the test files make no clients */
        assert_int_equal(data->common_test.rows, 3);
        ptrdiff_t rows = 0;
        for (ptrdiff_t k = 0; k < 2; k++) {
            rows += data->client[k].train.rows;
            assert_int_equal(data->client[k].test.rows, 0);
            for (ptrdiff_t i = 0; i < data->client[k].train.rows; i++)
                assert_true(data->client[k].train.x[i] < 10);
        }
        assert_int_equal(rows, 20);
        for (int i = 0; i < 3; i++) {
            assert_float_equal(data->common_test.x[i], 100 * (i + 1), 0);
            assert_float_equal(data->common_test.y[i], i > 0, 0);
        }
        mfpg_federated_data_destroy(data);
    }
}

/* The same for one client of c1.csv, without the column that names districts. */
static mfpg_data_options one_client(void) {
    static const char *const files[] = {"c1.csv"}, *const drop[] = {"district"};
    write_clients("c1.csv");
    mfpg_data_options options = with_test_files(files, 1);
    options.drop_columns = drop;
    options.drop_count = 1;
    return options;
}

static void test_first_rows_are_those_of_the_clients_files(void **state) {
    (void)state;
    mfpg_data_options options = one_client();
    options.first_rows = 1;
    mfpg_federated_data *data = make_data(&options);
    expect_rows(data, 0, 1, (const float[]){0}, (const float[]){0});
    assert_int_equal(data->common_test.rows, 3);
    mfpg_federated_data_destroy(data);
    options.first_rows = 1000; /* more than there are: all */
    data = make_data(&options);
    assert_int_equal(data->client[0].train.rows, 10);
    mfpg_federated_data_destroy(data);
}

static void test_it_is_scaled_like_the_clients_but_not_measured(void **state) {
    (void)state;
    mfpg_data_options options = one_client();
    options.scale = MFPG_SCALE_FROM_DATA;
    mfpg_federated_data *data = make_data(&options);
    double sd = sqrt(8.25); /* of 0 .. 9, whose mean is 4.5 */
    for (int i = 0; i < 3; i++)
        assert_true(fabs((double)data->common_test.x[i] - (100.0 * (i + 1) - 4.5) / sd) < 1e-4); /* float */
    mfpg_federated_data_destroy(data);
}

static void test_errors_name_file_and_key(void **state) {
    (void)state;
    mfpg_data_options options = one_client();
    write_text("t2.csv", "district,x,y\nd,many,1\n");
    EXPECT_ERROR(&options, "t2.csv:2", "\"many\"");
    write_text("t2.csv", "district,z,y\nd,1,1\n");
    EXPECT_ERROR(&options, "t2.csv", "\"z\"");
    static const char *const one[] = {"l"};
    options.test_labels = one;
    options.test_label_file_count = 1;
    EXPECT_ERROR(&options, "data.test_labels", "1 files of labels for 2");
    options.test_label_file_count = 0;
    options.test_labels = NULL;
    options.first_rows = -1;
    EXPECT_ERROR(&options, "data.first_rows");
    static const char *const empty[] = {""};
    options.first_rows = 0;
    options.test_files = empty;
    options.test_file_count = 1;
    EXPECT_ERROR(&options, "data.test_files");
}

static void test_its_rows_with_missing_values_are_absent(void **state) {
    (void)state;
    mfpg_data_options options = one_client();
    options.missing = MFPG_MISSING_DROP;
    write_text("t1.csv", "district,x,y\na,?,0\nc,200,1\n");
    mfpg_federated_data *data = make_data(&options);
    const unsigned char absent[] = {1, 0, 0};
    assert_int_equal(data->common_test.rows, 3);
    assert_memory_equal(data->common_test.absent, absent, sizeof absent);
    assert_int_equal(data->dropped_rows, 1);
    assert_int_equal(data->client[0].dropped_rows, 0);
    mfpg_federated_data_destroy(data);
    write_text("c1.csv", "district,x,y\na,?,0\n"); /* a test set alone is not a federation */
    EXPECT_ERROR(&options, "missing");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_nobodys_whatever_the_partition),
        cmocka_unit_test(test_first_rows_are_those_of_the_clients_files),
        cmocka_unit_test(test_it_is_scaled_like_the_clients_but_not_measured),
        cmocka_unit_test(test_errors_name_file_and_key),
        cmocka_unit_test(test_its_rows_with_missing_values_are_absent),
    };
    return FIXTURE_RUN(tests);
}
