/* The reference files: counts and shares as their README gives them. */
#include "fixture.h"

/* Options for files of one folder of the reference data. */
static mfpg_data_options shared_files(
    const char *shared, const char *folder, const char *const *files, ptrdiff_t count) {
    static char path[4200];
    snprintf(path, sizeof path, "%s/data/%s", shared, folder);
    mfpg_data_options options = mfpg_data_options_default();
    options.directory = path;
    options.files = files;
    options.file_count = count;
    options.test_fraction = 0;
    return options;
}

static ptrdiff_t present_rows(const mfpg_dataset *set) {
    ptrdiff_t rows = set->rows;
    for (ptrdiff_t i = 0; set->absent && i < set->rows; i++) rows -= set->absent[i];
    return rows;
}

/* Of the rows that are not absent. */
static double positive_share(const mfpg_dataset *set) {
    double sum = 0;
    for (ptrdiff_t i = 0; i < set->rows; i++)
        if (!set->absent || !set->absent[i]) sum += (double)set->y[i];
    return sum / (double)present_rows(set);
}

static ptrdiff_t total_rows(const mfpg_federated_data *data) {
    ptrdiff_t rows = 0;
    for (ptrdiff_t k = 0; k < data->clients; k++)
        rows += data->client[k].train.rows + data->client[k].test.rows;
    return rows;
}

static mfpg_data_options hearts(const char *shared) {
    static const char *const files[] = {"processed.cleveland.data", "processed.hungarian.data",
        "processed.switzerland.data", "processed.va.data"};
    static const char *const columns[] = {"age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach",
        "exang", "oldpeak", "slope", "ca", "thal", "num"};
    static const char *const drop[] = {"slope", "ca", "thal"};
    mfpg_data_options options = shared_files(shared, "heart", files, 4);
    options.header = 0;
    options.columns = columns;
    options.column_count = 14;
    options.drop_columns = drop;
    options.drop_count = 3;
    options.missing = MFPG_MISSING_DROP;
    options.label_column = "num";
    options.positive_above = 0;
    options.binary_labels = 1;
    return options;
}

static void test_four_hospitals(void **state) {
    (void)state;
    const ptrdiff_t rows[] = {303, 294, 123, 200}, present[] = {303, 261, 46, 130};
    const double percent[] = {45.9, 37.5, 97.8, 77.7};
    mfpg_data_options options = hearts(need_shared());
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->clients, 4);
    assert_int_equal(data->features, 10);
    assert_int_equal(data->dropped_rows, 920 - 740);
    assert_string_equal(data->client[2].name, "processed.switzerland");
    assert_string_equal(data->feature_names[9], "oldpeak");
    for (ptrdiff_t k = 0; k < 4; k++) {
        assert_int_equal(data->client[k].train.rows, rows[k]);
        assert_int_equal(present_rows(&data->client[k].train), present[k]);
        assert_int_equal(data->client[k].dropped_rows, rows[k] - present[k]);
        check_near(100 * positive_share(&data->client[k].train), percent[k], 0, 0.05, "percent positive");
    }
    const float first[] = {63, 1, 1, 145, 233, 1, 2, 150, 0, 2.3f};
    assert_memory_equal(data->client[0].train.x, first, sizeof first);
    mfpg_federated_data_destroy(data);
}

static void test_hospitals_that_keep_every_row_name_the_first_gap(void **state) {
    (void)state;
    mfpg_data_options options = hearts(need_shared());
    options.missing = MFPG_MISSING_ERROR;
    EXPECT_ERROR(&options, "processed.hungarian.data:3:", "column \"chol\"", "\"?\"");
    options.header = 1;
    options.columns = NULL;
    EXPECT_ERROR(&options, "processed.cleveland.data:1:", "data.header");
}

/* The example's bounds hold every value but those that mean a missing one (0 for chol and trestbps). */
static void test_hospitals_fit_their_public_bounds(void **state) {
    (void)state;
    mfpg_data_options options = hearts(need_shared());
    mfpg_federated_data *raw = make_data(&options);
    options.scale = MFPG_SCALE_BOUNDS;
    options.bounds_file = MFPG_SOURCE_DIR "/examples/hospitals-bounds.csv";
    mfpg_federated_data *data = make_data(&options);
    assert_float_equal(data->public_norm2, 10, 0);
    const double low[] = {20, 0, 1, 80, 80, 0, 0, 60, 0, -3}, high[] = {90, 1, 4, 220, 600, 1, 2, 220, 1, 7};
    for (ptrdiff_t k = 0; k < 4; k++) {
        for (ptrdiff_t i = 0; i < 10 * data->client[k].train.rows; i++) {
            if (data->client[k].train.absent && data->client[k].train.absent[i / 10]) continue;
            double before = (double)raw->client[k].train.x[i], after = (double)data->client[k].train.x[i];
            int j = (int)(i % 10);
            if ((j == 3 || j == 4) && before == 0) {
                assert_true(after == 0);
            } else if (before <= high[j]) {
                check_near(low[j] + after * (high[j] - low[j]), before, 1e-6, 1e-5, "value"); /* floats */
            } else { /* one cholesterol of 603 */
                assert_true(j == 4 && before == 603 && after == 1);
            }
        }
    }
    mfpg_federated_data_destroy(raw);
    mfpg_federated_data_destroy(data);
}

static const char *const adult_columns[] = {"age", "workclass", "fnlwgt", "education", "education-num",
    "marital-status", "occupation", "relationship", "race", "sex", "capital-gain", "capital-loss",
    "hours-per-week", "native-country", "income"};

static mfpg_data_options adults(const char *shared) {
    static const char *const files[] = {"adult.data", "adult.test"};
    mfpg_data_options options = shared_files(shared, "adult", files, 2);
    options.header = 0;
    options.columns = adult_columns;
    options.column_count = 15;
    options.positive = ">50K";
    options.binary_labels = 1;
    return options;
}

/* Comma and blank, dotted labels in the second file only, its comment line, the blank last line. */
static void test_adult_without_text_columns(void **state) {
    (void)state;
    const char *drop[] = {"workclass", "fnlwgt", "education", "marital-status", "occupation", "relationship",
        "race", "native-country"};
    const char *sexes[] = {"Female", "Male"};
    const mfpg_category sex = {"sex", sexes, 2};
    mfpg_data_options options = adults(need_shared());
    options.drop_columns = drop;
    options.drop_count = 8;
    options.categories = &sex;
    options.category_count = 1;
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->features, 6);
    assert_int_equal(data->dropped_rows, 0);
    assert_int_equal(data->client[0].train.rows, 32561);
    assert_int_equal(data->client[1].train.rows, 16281);
    check_near(positive_share(&data->client[0].train) * 32561, 7841, 0, 1e-6, "positives");
    check_near(positive_share(&data->client[1].train) * 16281, 3846, 0, 1e-6, "positives of the test file");
    mfpg_federated_data_destroy(data);
}

static void test_adult_rows_with_question_marks_drop(void **state) {
    (void)state;
    const char *drop[] = {"fnlwgt", "education", "marital-status", "relationship", "race", "sex"};
    const char *work[] = {"Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov",
        "State-gov", "Without-pay", "Never-worked"};
    const char *jobs[] = {"Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial",
        "Prof-specialty", "Handlers-cleaners", "Machine-op-inspct", "Adm-clerical", "Farming-fishing",
        "Transport-moving", "Priv-house-serv", "Protective-serv", "Armed-Forces"};
    const char *lands[] = {"United-States", "Cambodia", "England", "Puerto-Rico", "Canada", "Germany",
        "Outlying-US(Guam-USVI-etc)", "India", "Japan", "Greece", "South", "China", "Cuba", "Iran",
        "Honduras", "Philippines", "Italy", "Poland", "Jamaica", "Vietnam", "Mexico", "Portugal", "Ireland",
        "France", "Dominican-Republic", "Laos", "Ecuador", "Taiwan", "Haiti", "Columbia", "Hungary",
        "Guatemala", "Nicaragua", "Scotland", "Thailand", "Yugoslavia", "El-Salvador", "Trinadad&Tobago",
        "Peru", "Hong", "Holand-Netherlands"};
    const mfpg_category categories[] = {
        {"workclass", work, 8}, {"occupation", jobs, 14}, {"native-country", lands, 41}};
    mfpg_data_options options = adults(need_shared());
    options.drop_columns = drop;
    options.drop_count = 6;
    options.categories = categories;
    options.category_count = 3;
    options.missing = MFPG_MISSING_DROP;
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->client[0].train.rows, 32561);
    assert_int_equal(data->client[1].train.rows, 16281);
    assert_int_equal(present_rows(&data->client[0].train), 32561 - 2399);
    assert_int_equal(present_rows(&data->client[1].train), 16281 - 1221);
    assert_int_equal(data->features, 5 + 7 + 13 + 40);
    mfpg_federated_data_destroy(data);
    options.category_count = 2;
    EXPECT_ERROR(
        &options, "adult.data:1:", "column \"native-country\"", "\"United-States\"", "data.categories");
}

static void test_districts(void **state) {
    (void)state;
    const char *files[] = {"contraception.csv"}, *drop[] = {"woman"};
    const char *children[] = {"0", "1", "2", "3+"}, *urban[] = {"N", "Y"};
    const mfpg_category categories[] = {{"livch", children, 4}, {"urban", urban, 2}};
    mfpg_data_options options = shared_files(need_shared(), "multilevel", files, 1);
    options.drop_columns = drop;
    options.drop_count = 1;
    options.label_column = "use";
    options.positive = "Y";
    options.binary_labels = 1;
    options.categories = categories;
    options.category_count = 2;
    options.partition = MFPG_PARTITION_COLUMN;
    options.partition_column = "district";
    options.scale = MFPG_SCALE_BOUNDS;
    options.bounds_file = MFPG_SOURCE_DIR "/examples/districts-bounds.csv";
    options.test_fraction = 0.2;
    mfpg_federated_data *data = make_data(&options);
    ptrdiff_t least = 1934, most = 0;
    double positives = 0;
    assert_int_equal(data->clients, 60);
    assert_int_equal(data->features, 5);
    assert_float_equal(data->public_norm2, 5, 0);
    assert_int_equal(total_rows(data), 1934);
    for (ptrdiff_t k = 0; k < 60; k++) {
        const mfpg_client_data *client = &data->client[k];
        ptrdiff_t rows = client->train.rows + client->test.rows;
        assert_int_equal(client->test.rows, rows / 5);
        if (rows < least) least = rows;
        if (rows > most) most = rows;
        positives += positive_share(&client->train) * (double)client->train.rows;
        if (client->test.rows > 0) positives += positive_share(&client->test) * (double)client->test.rows;
    }
    assert_int_equal(least, 2);
    assert_int_equal(most, 118);
    check_near(positives, 759, 0, 1e-6, "positives");
    mfpg_federated_data_destroy(data);
}

static void test_patients(void **state) {
    (void)state;
    const char *files[] = {"parkinsons_updrs.data"}, *drop[] = {"motor_UPDRS"};
    mfpg_data_options options = shared_files(need_shared(), "parkinsons", files, 1);
    options.drop_columns = drop;
    options.drop_count = 1;
    options.label_column = "total_UPDRS";
    options.partition = MFPG_PARTITION_COLUMN;
    options.partition_column = "subject#";
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->clients, 42);
    assert_int_equal(total_rows(data), 5875);
    assert_int_equal(data->features, 19);
    assert_float_equal(data->client[0].train.y[0], 34.398f, 0);
    assert_float_equal(data->client[0].train.x[4], 3.38e-5f, 0); /* Jitter(Abs) */
    for (ptrdiff_t k = 0; k < 42; k++) assert_in_range(data->client[k].train.rows, 101, 168);
    mfpg_federated_data_destroy(data);
}

static void test_schools_and_areas(void **state) {
    (void)state;
    const char *files[] = {"chem97.csv"}, *drop[] = {"lea", "school", "student"}, *genders[] = {"F", "M"};
    const mfpg_category gender = {"gender", genders, 2};
    mfpg_data_options options = shared_files(need_shared(), "multilevel", files, 1);
    options.drop_columns = drop;
    options.drop_count = 3;
    options.label_column = "score";
    options.categories = &gender;
    options.category_count = 1;
    options.partition = MFPG_PARTITION_COLUMN;
    options.partition_column = "school";
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->clients, 2410);
    assert_int_equal(total_rows(data), 31022);
    assert_int_equal(data->features, 4);
    mfpg_federated_data_destroy(data);
    options.partition_column = "lea";
    data = make_data(&options);
    assert_int_equal(data->clients, 131);
    mfpg_federated_data_destroy(data);
}

/* data/README.md: 4,059 pupils of 65 schools (2 to 198), 7,185 of 160 (14 to 67). */
static void test_pupils_of_two_studies(void **state) {
    (void)state;
    const struct {
        const char *file, *label, *drop[6];
        ptrdiff_t drops, rows, clients, least, most;
    } cases[] = {
        {"exam.csv", "normexam", {"schgend", "vr", "intake", "sex", "type", "student"}, 6, 4059, 65, 2, 198},
        {"hsb82.csv", "mAch", {"minrty", "sx", "sector"}, 3, 7185, 160, 14, 67},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mfpg_data_options options = shared_files(need_shared(), "multilevel", &cases[i].file, 1);
        options.drop_columns = cases[i].drop;
        options.drop_count = cases[i].drops;
        options.label_column = cases[i].label;
        options.partition = MFPG_PARTITION_COLUMN;
        options.partition_column = "school";
        mfpg_federated_data *data = make_data(&options);
        ptrdiff_t least = cases[i].rows, most = 0;
        assert_int_equal(data->clients, cases[i].clients);
        assert_int_equal(total_rows(data), cases[i].rows);
        for (ptrdiff_t k = 0; k < data->clients; k++) {
            ptrdiff_t rows = data->client[k].train.rows;
            if (rows < least) least = rows;
            if (rows > most) most = rows;
        }
        assert_int_equal(least, cases[i].least);
        assert_int_equal(most, cases[i].most);
        mfpg_federated_data_destroy(data);
    }
}

/* Every row of the four files, if the columns with gaps are left out: 303, 294, 123 and 200. */
static void test_hospitals_before_any_row_is_dropped(void **state) {
    (void)state;
    static const char *const gaps[] = {
        "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal"};
    const ptrdiff_t rows[] = {303, 294, 123, 200};
    mfpg_data_options options = hearts(need_shared());
    options.drop_columns = gaps;
    options.drop_count = 10;
    options.missing = MFPG_MISSING_ERROR;
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->features, 3);
    for (ptrdiff_t k = 0; k < 4; k++) assert_int_equal(data->client[k].train.rows, rows[k]);
    check_near(
        positive_share(&data->client[2].train) * 123, 115, 0, 1e-6, "positives"); /* 8 negatives of 123 */
    mfpg_federated_data_destroy(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_four_hospitals),
        cmocka_unit_test(test_hospitals_that_keep_every_row_name_the_first_gap),
        cmocka_unit_test(test_hospitals_fit_their_public_bounds),
        cmocka_unit_test(test_adult_without_text_columns),
        cmocka_unit_test(test_adult_rows_with_question_marks_drop),
        cmocka_unit_test(test_districts),
        cmocka_unit_test(test_patients),
        cmocka_unit_test(test_schools_and_areas),
        cmocka_unit_test(test_pupils_of_two_studies),
        cmocka_unit_test(test_hospitals_before_any_row_is_dropped),
    };
    if (!testing_shared()) {
        print_message("SKIPPED: no reference data; set MFPG_SHARED to their folder\n");
        return 77;
    }
    return FIXTURE_RUN(tests);
}
