#include "fixture.h"

#include "mfpg/random.h"

static mfpg_data_options making(
    mfpg_synthetic_kind kind, ptrdiff_t clients, ptrdiff_t rows, ptrdiff_t dimension) {
    mfpg_data_options options = mfpg_data_options_default();
    options.format = "synthetic";
    options.synthetic = kind;
    options.clients = clients;
    options.rows = rows;
    options.dimension = dimension;
    options.test_fraction = 0;
    return options;
}

/* Mean and variance of n values against those of a law with fourth moment 3 variance^2 (normal), by five standard
 * errors. */
static void expect_normal_moments(const float *v, ptrdiff_t n, double variance, const char *what) {
    double sum = 0, squares = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        sum += (double)v[i];
        squares += (double)v[i] * (double)v[i];
    }
    check_near(sum / (double)n, 0, 0, 5 * sqrt(variance / (double)n), what);
    check_near(squares / (double)n, variance, 0, 5 * variance * sqrt(2 / (double)n), what);
}

/* Solves the normal equations of least squares by elimination: w of size d for rows x d. */
static void least_squares(const mfpg_dataset *set, double *w) {
    enum { MOST = 8 };
    double a[MOST][MOST + 1] = {{0}};
    ptrdiff_t d = set->features;
    for (ptrdiff_t i = 0; i < set->rows; i++) {
        const float *x = set->x + i * d;
        for (ptrdiff_t j = 0; j < d; j++) {
            for (ptrdiff_t k = 0; k < d; k++) a[j][k] += (double)x[j] * (double)x[k];
            a[j][d] += (double)x[j] * (double)set->y[i];
        }
    }
    for (ptrdiff_t j = 0; j < d; j++) /* positive definite: no pivoting needed */
        for (ptrdiff_t i = 0; i < d; i++)
            for (ptrdiff_t k = d; i != j && k >= j; k--) a[i][k] -= a[i][j] / a[j][j] * a[j][k];
    for (ptrdiff_t j = 0; j < d; j++) w[j] = a[j][d] / a[j][j];
}

static void test_shapes_and_names(void **state) {
    (void)state;
    mfpg_data_options options = making(MFPG_SYNTHETIC_QUADRATIC, 3, 28, 5);
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->clients, 3);
    assert_int_equal(data->features, 5);
    assert_string_equal(data->feature_names[4], "x5");
    assert_string_equal(data->client[2].name, "2");
    assert_int_equal(data->client[2].train.rows, 28);
    assert_int_equal(data->client[2].test.rows, 0);
    assert_int_equal(data->common_test.rows, 0);
    assert_true(isinf(data->public_norm2));
    assert_int_equal(data->fitted_on_private, 0);
    mfpg_federated_data_destroy(data);
}

static void test_quadratic_values_are_standard_normal(void **state) {
    (void)state;
    mfpg_data_options options = making(MFPG_SYNTHETIC_QUADRATIC, 2, 4000, 3);
    mfpg_federated_data *data = make_data(&options);
    const mfpg_dataset *set = &data->client[1].train;
    expect_normal_moments(set->x, 12000, 1, "A");
    expect_normal_moments(set->y, 4000, 1, "b");
    double dot = 0;
    for (ptrdiff_t i = 0; i < 4000; i++) dot += (double)set->y[i] * (double)set->x[3 * i];
    check_near(dot / 4000, 0, 0, 5 / sqrt(4000.0), "correlation of A and b");
    mfpg_federated_data_destroy(data);
}

/* The planted model can be found from one client's rows and leaves residuals of variance 0.25 on another's. */
static void test_linear_labels_have_one_planted_model(void **state) {
    (void)state;
    mfpg_data_options options = making(MFPG_SYNTHETIC_LINEAR, 2, 4000, 4);
    options.common_test_rows = 4000;
    mfpg_federated_data *data = make_data(&options);
    double w[8];
    least_squares(&data->client[0].train, w);
    const mfpg_dataset *others[] = {&data->client[1].train, &data->common_test};
    for (int s = 0; s < 2; s++) {
        float residual[4000];
        assert_int_equal(others[s]->rows, 4000);
        for (ptrdiff_t i = 0; i < 4000; i++) {
            double predicted = 0;
            for (int j = 0; j < 4; j++) predicted += w[j] * (double)others[s]->x[4 * i + j];
            residual[i] = (float)((double)others[s]->y[i] - predicted);
        }
        expect_normal_moments(residual, 4000, 0.25, "residual"); /* the fit's own error is 4/4000 of it */
    }
    mfpg_federated_data_destroy(data);
}

/* For y = [x.v > 0] with x ~ N(0,I): E[(2y-1) x] = sqrt(2/pi) v/|v|, so the mean points along v. */
static void test_logistic_labels_are_the_side_of_one_plane(void **state) {
    (void)state;
    enum { N = 4000, D = 5 };
    mfpg_data_options options = making(MFPG_SYNTHETIC_LOGISTIC, 2, N, D);
    options.common_test_rows = N;
    mfpg_federated_data *data = make_data(&options);
    double w[D] = {0};
    for (ptrdiff_t i = 0; i < N; i++)
        for (int j = 0; j < D; j++)
            w[j] +=
                (2 * (double)data->client[0].train.y[i] - 1) * (double)data->client[0].train.x[D * i + j] / N;
    double norm2 = 0;
    for (int j = 0; j < D; j++) norm2 += w[j] * w[j];
    check_near(sqrt(norm2), sqrt(2 / 3.14159265358979), 0.05, 0, "length of the mean");
    const mfpg_dataset *others[] = {&data->client[1].train, &data->common_test};
    for (int s = 0; s < 2; s++) {
        int right = 0;
        for (ptrdiff_t i = 0; i < N; i++) {
            double score = 0;
            for (int j = 0; j < D; j++) score += w[j] * (double)others[s]->x[D * i + j];
            assert_true(others[s]->y[i] == 0 || others[s]->y[i] == 1);
            right += (score > 0) == (others[s]->y[i] == 1);
        }
        /* the angle between the mean and v is about sqrt(D/N)/0.8 = 0.044: 1.4 % of labels differ */
        assert_true(right > N * 0.96);
    }
    mfpg_federated_data_destroy(data);
}

static void test_coins_are_fair_and_know_nothing_of_the_features(void **state) {
    (void)state;
    mfpg_data_options options = making(MFPG_SYNTHETIC_COINS, 1, 4000, 2);
    mfpg_federated_data *data = make_data(&options);
    double heads = 0, dot = 0;
    for (ptrdiff_t i = 0; i < 4000; i++) {
        float y = data->client[0].train.y[i];
        assert_true(y == 0 || y == 1);
        heads += (double)y;
        dot += (2 * (double)y - 1) * (double)data->client[0].train.x[2 * i];
    }
    check_near(heads / 4000, 0.5, 0, 2.5 / sqrt(4000.0), "share of heads"); /* five standard errors */
    check_near(dot / 4000, 0, 0, 5 / sqrt(4000.0), "correlation with a feature");
    mfpg_federated_data_destroy(data);
}

static void test_client_does_not_change_when_clients_join(void **state) {
    (void)state;
    for (int kind = MFPG_SYNTHETIC_QUADRATIC; kind <= MFPG_SYNTHETIC_COINS; kind++) {
        mfpg_data_options few = making((mfpg_synthetic_kind)kind, 2, 50, 3);
        mfpg_data_options many = making((mfpg_synthetic_kind)kind, 9, 50, 3);
        few.common_test_rows = many.common_test_rows = 20;
        mfpg_federated_data *a = make_data(&few), *b = make_data(&many);
        assert_memory_equal(a->client[1].train.x, b->client[1].train.x, 150 * sizeof(float));
        assert_memory_equal(a->client[1].train.y, b->client[1].train.y, 50 * sizeof(float));
        assert_memory_equal(a->common_test.x, b->common_test.x, 60 * sizeof(float));
        assert_memory_equal(a->common_test.y, b->common_test.y, 20 * sizeof(float));
        assert_memory_not_equal(b->client[1].train.x, b->client[2].train.x, 150 * sizeof(float));
        assert_memory_not_equal(b->client[0].train.x, b->common_test.x, 60 * sizeof(float));
        mfpg_federated_data_destroy(a);
        mfpg_federated_data_destroy(b);
    }
}

static void test_threads_do_not_change_the_data(void **state) {
    (void)state;
    mfpg_data_options options = making(MFPG_SYNTHETIC_LOGISTIC, 13, 20, 6);
    mfpg_key key = mfpg_key_from_seed(5);
    char first[65] = "";
    for (int threads = 1; threads <= 4; threads++) {
        mfpg_context *ctx = testing_context(threads);
        mfpg_federated_data *data = NULL;
        CHECK_OK(ctx, mfpg_federated_data_create(ctx, &options, &key, &data));
        if (threads == 1) strcpy(first, data->fingerprint);
        assert_string_equal(data->fingerprint, first);
        mfpg_federated_data_destroy(data);
        mfpg_context_destroy(ctx);
    }
}

static void test_common_test_set_replaces_the_split(void **state) {
    (void)state;
    mfpg_data_options options = making(MFPG_SYNTHETIC_LOGISTIC, 2, 50, 3);
    options.test_fraction = 0.2;
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->client[0].test.rows, 10);
    assert_int_equal(data->client[0].train.rows, 40);
    mfpg_federated_data_destroy(data);
    options.common_test_rows = 30;
    data = make_data(&options);
    assert_int_equal(data->client[0].test.rows, 0);
    assert_int_equal(data->client[0].train.rows, 50);
    assert_int_equal(data->common_test.rows, 30);
    mfpg_federated_data_destroy(data);
}

static void test_common_test_set_is_scaled_like_the_clients_but_not_measured(void **state) {
    (void)state;
    mfpg_data_options options = making(MFPG_SYNTHETIC_COINS, 2, 500, 1);
    options.common_test_rows = 10;
    mfpg_federated_data *raw = make_data(&options);
    options.scale = MFPG_SCALE_FROM_DATA;
    mfpg_federated_data *scaled = make_data(&options);
    double sum = 0, squares = 0;
    for (int k = 0; k < 2; k++)
        for (ptrdiff_t i = 0; i < 500; i++) {
            double x = (double)raw->client[k].train.x[i];
            sum += x;
            squares += x * x;
        }
    double mean = sum / 1000, deviation = sqrt(squares / 1000 - mean * mean);
    for (ptrdiff_t i = 0; i < 10; i++)
        check_near((double)scaled->common_test.x[i], ((double)raw->common_test.x[i] - mean) / deviation, 1e-5,
            1e-6, "a scaled value"); /* float rounding */
    assert_int_equal(scaled->fitted_on_private, 1);
    mfpg_federated_data_destroy(raw);
    mfpg_federated_data_destroy(scaled);
}

static void test_binary_labels_are_demanded_of_synthetic_data_too(void **state) {
    (void)state;
    mfpg_data_options options = making(MFPG_SYNTHETIC_QUADRATIC, 2, 5, 3);
    options.binary_labels = 1;
    EXPECT_ERROR(&options, "row 0 of client 0", "label");
    options.synthetic = MFPG_SYNTHETIC_COINS;
    mfpg_federated_data_destroy(make_data(&options));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_and_names),
        cmocka_unit_test(test_quadratic_values_are_standard_normal),
        cmocka_unit_test(test_linear_labels_have_one_planted_model),
        cmocka_unit_test(test_logistic_labels_are_the_side_of_one_plane),
        cmocka_unit_test(test_coins_are_fair_and_know_nothing_of_the_features),
        cmocka_unit_test(test_client_does_not_change_when_clients_join),
        cmocka_unit_test(test_threads_do_not_change_the_data),
        cmocka_unit_test(test_common_test_set_replaces_the_split),
        cmocka_unit_test(test_common_test_set_is_scaled_like_the_clients_but_not_measured),
        cmocka_unit_test(test_binary_labels_are_demanded_of_synthetic_data_too),
    };
    return FIXTURE_RUN(tests);
}
