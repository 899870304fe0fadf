/* Rows to clients, and rows of a client to training and test. Every row of the test file carries its number as its
 * only feature, so that it can be followed. */
#include "fixture.h"

#include "data/frame.h"

enum { ROWS = 200, CLASSES = 10 };

/* Row i: feature i, label i mod 10, ward w(i mod 7). */
static mfpg_data_options reading_numbered_rows(mfpg_partition_kind kind, ptrdiff_t clients) {
    static char text[1 << 14];
    strcpy(text, "id,ward,y\n");
    for (int i = 0; i < ROWS; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%d,w%d,%d\n", i, i % 7, i % CLASSES);
    }
    static const char *const drop[] = {"ward"};
    mfpg_data_options options = reading_text(text);
    options.partition = kind;
    options.clients = clients;
    options.alpha = 0.5;
    options.shards_per_client = 2;
    options.partition_column = "ward";
    if (kind != MFPG_PARTITION_COLUMN) {
        options.drop_columns = drop;
        options.drop_count = 1;
    }
    return options;
}

/* Every row is in exactly one set, with its own label. */
static void expect_every_row_once(const mfpg_federated_data *data) {
    int seen[ROWS] = {0};
    for (ptrdiff_t k = 0; k < data->clients; k++) {
        const mfpg_dataset *sets[] = {&data->client[k].train, &data->client[k].test};
        assert_true(sets[0]->rows >= 1);
        for (int s = 0; s < 2; s++) {
            for (ptrdiff_t i = 0; i < sets[s]->rows; i++) {
                int id = (int)sets[s]->x[i];
                seen[id]++;
                assert_int_equal((int)sets[s]->y[i], id % CLASSES);
            }
        }
    }
    for (int i = 0; i < ROWS; i++) assert_int_equal(seen[i], 1);
}

static ptrdiff_t rows_of(const mfpg_federated_data *data, ptrdiff_t client) {
    return data->client[client].train.rows + data->client[client].test.rows;
}

static void test_every_partition_deals_every_row_once(void **state) {
    (void)state;
    for (int kind = MFPG_PARTITION_FILES; kind <= MFPG_PARTITION_SHARDS; kind++) {
        mfpg_data_options options = reading_numbered_rows((mfpg_partition_kind)kind, 6);
        options.test_fraction = 0.3;
        for (uint64_t seed = 0; seed < 5; seed++) {
            if (kind == MFPG_PARTITION_DIRICHLET) options.alpha = 5;
            mfpg_federated_data *data = make_data_of_seed(&options, seed);
            assert_int_equal(data->clients, kind == MFPG_PARTITION_FILES    ? 1
                                            : kind == MFPG_PARTITION_COLUMN ? 7
                                                                            : 6);
            expect_every_row_once(data);
            mfpg_federated_data_destroy(data);
        }
    }
}

static void test_partition_repeats_for_a_key_and_changes_with_it(void **state) {
    (void)state;
    for (int kind = MFPG_PARTITION_IID; kind <= MFPG_PARTITION_SHARDS; kind++) {
        mfpg_data_options options = reading_numbered_rows((mfpg_partition_kind)kind, 4);
        options.alpha = 2;
        mfpg_federated_data *a = make_data_of_seed(&options, 3), *b = make_data_of_seed(&options, 3),
                            *c = make_data_of_seed(&options, 4);
        assert_string_equal(a->fingerprint, b->fingerprint);
        assert_string_not_equal(a->fingerprint, c->fingerprint);
        mfpg_federated_data_destroy(a);
        mfpg_federated_data_destroy(b);
        mfpg_federated_data_destroy(c);
    }
}

static void test_column_values_are_clients_in_order_of_first_appearance(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,ward,y\n1, north,0\n2,south,1\n3,\"north\",1\n4,07,0\n");
    options.partition = MFPG_PARTITION_COLUMN;
    options.partition_column = "ward";
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->clients, 3);
    assert_string_equal(data->client[0].name, "north");
    assert_string_equal(data->client[1].name, "south");
    assert_string_equal(data->client[2].name, "07");
    assert_int_equal(data->features, 1);
    expect_rows(data, 0, 2, (float[]){1, 3}, (float[]){0, 1});
    expect_rows(data, 1, 1, (float[]){2}, (float[]){1});
    mfpg_federated_data_destroy(data);
}

static void test_iid_sizes_are_equal_up_to_one(void **state) {
    (void)state;
    mfpg_data_options options = reading_numbered_rows(MFPG_PARTITION_IID, 7);
    mfpg_federated_data *data = make_data(&options);
    for (ptrdiff_t k = 0; k < 7; k++) {
        assert_true(rows_of(data, k) == ROWS / 7 || rows_of(data, k) == ROWS / 7 + 1);
        char number[8];
        snprintf(number, sizeof number, "%d", (int)k);
        assert_string_equal(data->client[k].name, number);
    }
    mfpg_federated_data_destroy(data);
}

/* 20 shards of 10 rows, one class each: a client with two shards has at most two classes. */
static void test_shards_hold_few_classes(void **state) {
    (void)state;
    mfpg_data_options options = reading_numbered_rows(MFPG_PARTITION_SHARDS, 10);
    mfpg_federated_data *data = make_data(&options);
    for (ptrdiff_t k = 0; k < 10; k++) {
        int classes = 0, has[CLASSES] = {0};
        assert_int_equal(rows_of(data, k), 20);
        for (ptrdiff_t i = 0; i < 20; i++) has[(int)data->client[k].train.y[i]] = 1;
        for (int c = 0; c < CLASSES; c++) classes += has[c];
        assert_true(classes <= 2);
    }
    mfpg_federated_data_destroy(data);
}

/* The share of the commonest class, averaged over clients. */
static double label_skew(double alpha) {
    double sum = 0;
    mfpg_data_options options = reading_numbered_rows(MFPG_PARTITION_DIRICHLET, 4);
    options.alpha = alpha;
    for (uint64_t seed = 0; seed < 10; seed++) {
        mfpg_federated_data *data = make_data_of_seed(&options, seed);
        for (ptrdiff_t k = 0; k < 4; k++) {
            int count[CLASSES] = {0}, most = 0;
            const mfpg_dataset *set = &data->client[k].train;
            for (ptrdiff_t i = 0; i < set->rows; i++) {
                int *c = &count[(int)set->y[i]];
                if (++*c > most) most = *c;
            }
            sum += (double)most / (double)set->rows / 40;
            if (alpha > 1e5) assert_int_equal(set->rows, ROWS / 4); /* shares of 1/4 up to 1e-3 */
        }
        mfpg_federated_data_destroy(data);
    }
    return sum;
}

/* With alpha at infinity every client has 5 rows of each of 10 classes. */
static void test_dirichlet_skew_grows_as_alpha_falls(void **state) {
    (void)state;
    double even = label_skew(1e6), mixed = label_skew(5), skewed = label_skew(0.3);
    check_near(even, 0.1, 0, 1e-12, "share of the commonest class");
    assert_true(mixed > 0.12 && mixed < 0.3);
    assert_true(skewed > mixed + 0.1);
}

/* Moments of Dirichlet(alpha x 1_K): mean 1/K, variance (1/K)(1-1/K)/(K alpha + 1). */
static void test_dirichlet_draws_have_the_right_moments(void **state) {
    (void)state;
    enum { DRAWS = 4000, K = 5 };
    const double alphas[] = {0.05, 0.7, 3};
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    for (int a = 0; a < 3; a++) {
        double sum = 0, squares = 0, share[K];
        for (uint64_t r = 0; r < DRAWS; r++) {
            mfpg_dirichlet_draw(&key, r, alphas[a], K, share);
            double total = 0;
            for (int k = 0; k < K; k++) total += share[k];
            check_near(total, 1, 1e-12, 0, "sum of shares");
            sum += share[0];
            squares += share[0] * share[0];
        }
        double mean = sum / DRAWS, variance = squares / DRAWS - mean * mean;
        double exact = 0.2 * 0.8 / (K * alphas[a] + 1);
        /* five standard errors; the fourth moment of a variable in [0,1] is at most its second */
        check_near(mean, 0.2, 0, 5 * sqrt(exact / DRAWS), "mean of a share");
        check_near(variance, exact, 0, 5 * sqrt(exact / DRAWS), "variance of a share");
    }
}

static void test_dirichlet_needs_no_large_alpha(void **state) {
    (void)state;
    double share[3];
    mfpg_key key = mfpg_key_from_seed(1);
    const double tiny[] = {1e-5, 1e-12, 5e-324};
    for (int i = 0; i < 3; i++) {
        mfpg_dirichlet_draw(&key, 0, tiny[i], 3, share);
        double most = fmax(share[0], fmax(share[1], share[2]));
        check_near(most, 1, 0, 1e-9, "largest share");
        check_near(share[0] + share[1] + share[2], 1, 1e-12, 0, "sum of shares");
    }
}

static void test_clients_without_rows_are_errors_that_name_them(void **state) {
    (void)state;
    mfpg_data_options options = reading_numbered_rows(MFPG_PARTITION_IID, ROWS + 1);
    EXPECT_ERROR(&options, "client \"200\" has no rows", "fewer rows than clients");
    options = reading_numbered_rows(MFPG_PARTITION_DIRICHLET, 50);
    options.alpha = 0.01;
    EXPECT_ERROR(&options, "client \"", "has no rows", "larger alpha");
    options = reading_numbered_rows(MFPG_PARTITION_SHARDS, 101);
    EXPECT_ERROR(&options, "101 clients with 2 shards", "200 rows");
}

static void test_dirichlet_needs_classes(void **state) {
    (void)state;
    static char text[1 << 15];
    strcpy(text, "a,y\n");
    for (int i = 0; i < 1001; i++) snprintf(text + strlen(text), 32, "1,%d\n", i);
    mfpg_data_options options = reading_text(text);
    options.partition = MFPG_PARTITION_DIRICHLET;
    options.clients = 2;
    options.alpha = 1;
    EXPECT_ERROR(&options, "dirichlet", "1000 different labels");
}

static void test_file_stems_are_names_and_equal_stems_keep_their_folders(void **state) {
    (void)state;
    const char *files[] = {"north/rows.csv", "south/rows.csv", "processed.va.data", "plain"};
    for (int i = 0; i < 4; i++) write_text(files[i], "a,y\n1,0\n");
    mfpg_data_options options = reading(files, 4);
    mfpg_federated_data *data = make_data(&options);
    assert_string_equal(data->client[0].name, "north/rows.csv");
    assert_string_equal(data->client[1].name, "south/rows.csv");
    assert_string_equal(data->client[2].name, "processed.va");
    assert_string_equal(data->client[3].name, "plain");
    mfpg_federated_data_destroy(data);
    files[1] = files[0];
    EXPECT_ERROR(&options, "data.files", "\"north/rows.csv\" is given twice");
}

static void test_files_pool_before_other_partitions(void **state) {
    (void)state;
    const char *files[] = {"one.csv", "two.csv"};
    write_text("one.csv", "a,ward,y\n1,n,0\n2,s,0\n");
    write_text("two.csv", "a,ward,y\n3,s,1\n4,n,1\n");
    mfpg_data_options options = reading(files, 2);
    options.partition = MFPG_PARTITION_COLUMN;
    options.partition_column = "ward";
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->clients, 2);
    expect_rows(data, 0, 2, (float[]){1, 4}, (float[]){0, 1});
    expect_rows(data, 1, 2, (float[]){2, 3}, (float[]){0, 1});
    mfpg_federated_data_destroy(data);
}

/* Sizes 1 .. 12: floor(f n), at most n-1. */
static void test_split_takes_the_floor_and_leaves_one_row(void **state) {
    (void)state;
    static char text[1 << 12];
    strcpy(text, "a,ward,y\n");
    for (int n = 1; n <= 12; n++)
        for (int i = 0; i < n; i++) snprintf(text + strlen(text), 32, "%d,w%d,0\n", i, n);
    mfpg_data_options options = reading_text(text);
    options.partition = MFPG_PARTITION_COLUMN;
    options.partition_column = "ward";
    const double fractions[] = {0, 0.2, 0.5, 1 - 0x1p-53};
    for (int f = 0; f < 4; f++) {
        options.test_fraction = fractions[f];
        mfpg_federated_data *data = make_data(&options);
        assert_int_equal(data->clients, 12);
        for (int n = 1; n <= 12; n++) {
            int expected = fractions[f] > 0.9    ? n - 1
                           : fractions[f] == 0.5 ? n / 2
                           : fractions[f] == 0.2 ? n / 5
                                                 : 0;
            assert_int_equal(data->client[n - 1].test.rows, expected);
            assert_int_equal(data->client[n - 1].train.rows, n - expected);
        }
        mfpg_federated_data_destroy(data);
    }
}

/* A client's split is a function of the key, its number and its row count: what others hold does not matter. */
static void test_split_of_a_client_ignores_the_others(void **state) {
    (void)state;
    const char *files[] = {"one.csv", "two.csv"};
    char text[1000] = "a,y\n";
    for (int i = 0; i < 30; i++) snprintf(text + strlen(text), 32, "%d,0\n", i);
    write_text("one.csv", text);
    write_text("two.csv", "a,y\n1,0\n");
    mfpg_data_options alone = reading(files, 1), together = reading(files, 2);
    alone.test_fraction = together.test_fraction = 0.4;
    mfpg_federated_data *a = make_data(&alone), *b = make_data(&together), *c = make_data_of_seed(&alone, 9);
    size_t bytes = 12 * sizeof(float);
    assert_int_equal(a->client[0].test.rows, 12);
    assert_int_equal(b->client[0].test.rows, 12);
    assert_memory_equal(a->client[0].test.x, b->client[0].test.x, bytes);
    assert_memory_not_equal(a->client[0].test.x, c->client[0].test.x, bytes);
    mfpg_federated_data_destroy(a);
    mfpg_federated_data_destroy(b);
    mfpg_federated_data_destroy(c);
}

/* Each of 20 rows is a test row of about half of 400 keys: 200 +- 50 is five standard deviations. */
static void test_split_draws_every_row_alike(void **state) {
    (void)state;
    int count[20] = {0};
    char text[1000] = "a,y\n";
    for (int i = 0; i < 20; i++) snprintf(text + strlen(text), 32, "%d,0\n", i);
    mfpg_data_options options = reading_text(text);
    options.test_fraction = 0.5;
    for (uint64_t seed = 0; seed < 400; seed++) {
        mfpg_federated_data *data = make_data_of_seed(&options, seed);
        for (ptrdiff_t i = 0; i < 10; i++) count[(int)data->client[0].test.x[i]]++;
        mfpg_federated_data_destroy(data);
    }
    for (int i = 0; i < 20; i++) assert_in_range(count[i], 150, 250);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_partition_deals_every_row_once),
        cmocka_unit_test(test_partition_repeats_for_a_key_and_changes_with_it),
        cmocka_unit_test(test_column_values_are_clients_in_order_of_first_appearance),
        cmocka_unit_test(test_iid_sizes_are_equal_up_to_one),
        cmocka_unit_test(test_shards_hold_few_classes),
        cmocka_unit_test(test_dirichlet_skew_grows_as_alpha_falls),
        cmocka_unit_test(test_dirichlet_draws_have_the_right_moments),
        cmocka_unit_test(test_dirichlet_needs_no_large_alpha),
        cmocka_unit_test(test_clients_without_rows_are_errors_that_name_them),
        cmocka_unit_test(test_dirichlet_needs_classes),
        cmocka_unit_test(test_file_stems_are_names_and_equal_stems_keep_their_folders),
        cmocka_unit_test(test_files_pool_before_other_partitions),
        cmocka_unit_test(test_split_takes_the_floor_and_leaves_one_row),
        cmocka_unit_test(test_split_of_a_client_ignores_the_others),
        cmocka_unit_test(test_split_draws_every_row_alike),
    };
    return FIXTURE_RUN(tests);
}
