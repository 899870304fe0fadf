/* The built-in example: its shape, and that a logistic model can learn it. */
#include "fixture.h"

enum { FEATURES = 6, PARAMETERS = FEATURES + 1 };

static mfpg_data_options clinics(void) {
    mfpg_data_options options = mfpg_data_options_default();
    options.format = "synthetic";
    options.synthetic = MFPG_SYNTHETIC_CLINICS;
    options.binary_labels = 1;
    return options;
}

static double score(const double *w, const float *x) {
    double sum = w[FEATURES];
    for (int j = 0; j < FEATURES; j++) sum += w[j] * (double)x[j];
    return sum;
}

/* Adds gradient (last column) and Hessian of the log-loss of a set. */
static void add_derivatives(const mfpg_dataset *set, const double *w, double a[PARAMETERS][PARAMETERS + 1]) {
    for (ptrdiff_t i = 0; i < set->rows; i++) {
        double x[PARAMETERS], p = 1 / (1 + exp(-score(w, set->x + FEATURES * i)));
        for (int j = 0; j < FEATURES; j++) x[j] = (double)set->x[FEATURES * i + j];
        x[FEATURES] = 1;
        for (int j = 0; j < PARAMETERS; j++) {
            for (int k = 0; k < PARAMETERS; k++) a[j][k] += p * (1 - p) * x[j] * x[k];
            a[j][PARAMETERS] += (p - (double)set->y[i]) * x[j];
        }
    }
}

/* Newton's method on all clients' training rows, with a ridge of 1e-3. */
static void fit(const mfpg_federated_data *data, double *w) {
    memset(w, 0, PARAMETERS * sizeof *w);
    for (int step = 0; step < 20; step++) {
        double a[PARAMETERS][PARAMETERS + 1] = {{0}};
        for (ptrdiff_t k = 0; k < data->clients; k++) add_derivatives(&data->client[k].train, w, a);
        for (int j = 0; j < PARAMETERS; j++) {
            a[j][j] += 1e-3;
            a[j][PARAMETERS] += 1e-3 * w[j];
        }
        for (int j = 0; j < PARAMETERS; j++)
            for (int i = 0; i < PARAMETERS; i++)
                for (int k = PARAMETERS; i != j && k >= j; k--) a[i][k] -= a[i][j] / a[j][j] * a[j][k];
        for (int j = 0; j < PARAMETERS; j++) w[j] -= a[j][PARAMETERS] / a[j][j];
    }
}

static double accuracy(const double *w, const mfpg_dataset *set) {
    ptrdiff_t right = 0;
    for (ptrdiff_t i = 0; i < set->rows; i++)
        right += (score(w, set->x + FEATURES * i) > 0) == (set->y[i] == 1);
    return (double)right / (double)set->rows;
}

static double positives(const mfpg_dataset *set) {
    double sum = 0;
    for (ptrdiff_t i = 0; i < set->rows; i++) sum += (double)set->y[i];
    return sum / (double)set->rows;
}

static void test_four_unequal_clinics_in_the_unit_cube(void **state) {
    (void)state;
    const char *names[] = {"city", "county", "coast", "valley"};
    const ptrdiff_t rows[] = {400, 180, 90, 40};
    mfpg_data_options options = clinics();
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->clients, 4);
    assert_int_equal(data->features, FEATURES);
    assert_string_equal(data->feature_names[0], "age");
    assert_float_equal(data->public_norm2, FEATURES, 0);
    assert_int_equal(data->fitted_on_private, 0);
    for (ptrdiff_t k = 0; k < 4; k++) {
        const mfpg_dataset *sets[] = {&data->client[k].train, &data->client[k].test};
        assert_string_equal(data->client[k].name, names[k]);
        assert_int_equal(sets[1]->rows, rows[k] / 5);
        assert_int_equal(sets[0]->rows, rows[k] - rows[k] / 5);
        for (int s = 0; s < 2; s++) {
            for (ptrdiff_t i = 0; i < sets[s]->rows; i++) {
                assert_true(sets[s]->norm2[i] <= data->public_norm2);
                for (int j = 0; j < FEATURES; j++)
                    assert_true(sets[s]->x[FEATURES * i + j] >= 0 && sets[s]->x[FEATURES * i + j] <= 1);
            }
        }
    }
    mfpg_federated_data_destroy(data);
}

/* The population's figures come from an independent simulation of the same law: best accuracy .854, positives by
 * clinic .43, .34, .66, .88. */
static void test_a_logistic_model_learns_them(void **state) {
    (void)state;
    mfpg_data_options options = clinics();
    options.common_test_rows = 20000;
    options.test_fraction = 0;
    double rate[4] = {0}, found[3] = {0};
    enum { SEEDS = 10 };
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double w[PARAMETERS];
        mfpg_federated_data *data = make_data_of_seed(&options, seed);
        fit(data, w);
        found[0] += accuracy(w, &data->common_test) / SEEDS;
        found[1] += positives(&data->common_test) / SEEDS;
        for (ptrdiff_t k = 0; k < 4; k++) rate[k] += positives(&data->client[k].train) / SEEDS;
        mfpg_federated_data_destroy(data);
    }
    print_message("accuracy of a logistic fit %.4f, positives %.3f; by clinic %.3f %.3f %.3f %.3f\n",
        found[0], found[1], rate[0], rate[1], rate[2], rate[3]);
    check_near(
        found[0], 0.85, 0, 0.01, "accuracy"); /* a fit of 710 rows loses up to a point against the law */
    check_near(found[1], 0.46, 0, 0.02, "positives");
    const double expected[] = {0.43, 0.34, 0.66, 0.88};
    for (int k = 0; k < 4; k++) check_near(rate[k], expected[k], 0, 0.06, "positives of a clinic");
}

static void test_own_scaling_works_on_natural_units(void **state) {
    (void)state;
    char path[600];
    snprintf(path, sizeof path, "%s/clinics.csv", fixture_folder);
    write_text("clinics.csv", "column,low,high\nage,0,100\nsex,0,1\nblood_pressure,0,200\ncholesterol,0,400\n"
                              "max_heart_rate,0,200\nst_depression,0,10\n");
    mfpg_data_options options = clinics();
    options.scale = MFPG_SCALE_BOUNDS;
    options.bounds_file = path;
    mfpg_federated_data *data = make_data(&options);
    for (ptrdiff_t i = 0; i < data->client[0].train.rows; i++) { /* whole years */
        double age = 100 * (double)data->client[0].train.x[FEATURES * i];
        check_near(age, round(age), 0, 1e-4, "age");
        assert_true(age >= 20 && age <= 90);
    }
    mfpg_federated_data_destroy(data);

    options.scale = MFPG_SCALE_FROM_DATA;
    options.bounds_file = NULL;
    data = make_data(&options);
    assert_true(isinf(data->public_norm2));
    assert_int_equal(data->fitted_on_private, 1);
    mfpg_federated_data_destroy(data);

    write_text("clinics.csv", "column,low,high\nage,0,100\n");
    options.scale = MFPG_SCALE_BOUNDS;
    options.bounds_file = path;
    EXPECT_ERROR(&options, "clinics.csv", "no bounds", "\"sex\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_four_unequal_clinics_in_the_unit_cube),
        cmocka_unit_test(test_a_logistic_model_learns_them),
        cmocka_unit_test(test_own_scaling_works_on_natural_units),
    };
    return FIXTURE_RUN(tests);
}
