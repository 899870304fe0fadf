/* Who holds a row, and whether it is a test row, depends on its place alone: not on any cell, and not on which values are
 * missing. Every row of the test file carries its number, in a feature if a label is changed and in the label if a
 * feature is. */
#include "fixture.h"

enum { ROWS = 60, CHANGED = 17 };

typedef enum cell_change {
    NOTHING = 0,
    OTHER_FEATURE,
    MISSING_FEATURE,
    OTHER_LABEL,
    MISSING_LABEL
} cell_change;

/* Row i: feature a is i, feature b 1, ward w(i mod 4); the label is i, or i mod 3 if the number is to be looked for in a. */
static void write_rows(cell_change change, int labels_are_numbers) {
    char text[4096] = "a,b,ward,y\n";
    for (int i = 0; i < ROWS; i++) {
        char b[8] = "1", y[8];
        snprintf(y, sizeof y, "%d", labels_are_numbers ? i : i % 3);
        if (i == CHANGED && change == OTHER_FEATURE) strcpy(b, "7");
        if (i == CHANGED && change == MISSING_FEATURE) strcpy(b, "?");
        if (i == CHANGED && change == OTHER_LABEL) strcpy(y, "1");
        if (i == CHANGED && change == MISSING_LABEL) strcpy(y, "NA");
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d,%s,w%d,%s\n", i, b, i % 4, y);
    }
    write_text("rows.csv", text);
}

static mfpg_data_options options_of(mfpg_partition_kind kind) {
    static const char *const files[] = {"rows.csv"}, *const drop[] = {"ward"};
    mfpg_data_options options = reading(files, 1);
    options.missing = MFPG_MISSING_DROP;
    options.test_fraction = 0.3;
    options.partition = kind;
    options.partition_column = "ward";
    options.drop_columns = drop;
    options.drop_count = kind != MFPG_PARTITION_COLUMN;
    options.clients = 4;
    options.alpha = 5;
    options.shards_per_client = 2;
    return options;
}

static int number_of(const mfpg_dataset *set, ptrdiff_t row, int labels_are_numbers) {
    return (int)(labels_are_numbers ? set->y[row] : set->x[row * set->features]);
}

/* Set by set, row by row: a row that is in one place of one federation is in the same place of the other; the changed one
 * may have lost its number, and then it is absent there. */
static void expect_the_same_places(
    const mfpg_federated_data *a, const mfpg_federated_data *b, int labels_are_numbers) {
    assert_int_equal(a->clients, b->clients);
    for (ptrdiff_t k = 0; k < a->clients; k++) {
        const mfpg_dataset *one[] = {&a->client[k].train, &a->client[k].test},
                           *two[] = {&b->client[k].train, &b->client[k].test};
        assert_string_equal(a->client[k].name, b->client[k].name);
        for (int s = 0; s < 2; s++) {
            assert_int_equal(one[s]->rows, two[s]->rows);
            for (ptrdiff_t i = 0; i < one[s]->rows; i++) {
                int number = number_of(one[s], i, labels_are_numbers);
                if (two[s]->absent && two[s]->absent[i])
                    assert_int_equal(number, CHANGED);
                else
                    assert_int_equal(number, number_of(two[s], i, labels_are_numbers));
            }
        }
    }
}

/* The one absent row has no feature; its label is kept if it is known. */
static void expect_one_absent(const mfpg_federated_data *data, float label) {
    int absent = 0;
    int64_t dropped = 0;
    for (ptrdiff_t k = 0; k < data->clients; k++) {
        const mfpg_dataset *sets[] = {&data->client[k].train, &data->client[k].test};
        dropped += data->client[k].dropped_rows;
        for (int s = 0; s < 2; s++) {
            for (ptrdiff_t i = 0; sets[s]->absent && i < sets[s]->rows; i++) {
                if (!sets[s]->absent[i]) continue;
                absent++;
                assert_float_equal(sets[s]->y[i], label, 0);
                for (ptrdiff_t j = 0; j < data->features; j++)
                    assert_float_equal(sets[s]->x[i * data->features + j], 0, 0);
                if (sets[s]->norm2) assert_true(sets[s]->norm2[i] == 0.0);
            }
        }
    }
    assert_int_equal(absent, 1);
    assert_int_equal(dropped, 1);
    assert_int_equal(data->dropped_rows, 1);
}

static void check_change(
    mfpg_partition_kind kind, cell_change change, int labels_are_numbers, uint64_t seed) {
    mfpg_data_options options = options_of(kind);
    write_rows(NOTHING, labels_are_numbers);
    mfpg_federated_data *before = make_data_of_seed(&options, seed);
    write_rows(change, labels_are_numbers);
    mfpg_federated_data *after = make_data_of_seed(&options, seed);
    expect_the_same_places(before, after, labels_are_numbers);
    assert_string_not_equal(before->fingerprint, after->fingerprint);
    if (change == MISSING_FEATURE) expect_one_absent(after, labels_are_numbers ? CHANGED : CHANGED % 3);
    if (change == MISSING_LABEL) expect_one_absent(after, 0);
    if (change == OTHER_FEATURE || change == OTHER_LABEL) assert_int_equal(after->dropped_rows, 0);
    mfpg_federated_data_destroy(before);
    mfpg_federated_data_destroy(after);
}

static void test_features_move_nobody_under_any_partition(void **state) {
    (void)state;
    for (int kind = MFPG_PARTITION_FILES; kind <= MFPG_PARTITION_SHARDS; kind++) {
        for (uint64_t seed = 0; seed < 5; seed++) {
            int by_label = kind == MFPG_PARTITION_DIRICHLET || kind == MFPG_PARTITION_SHARDS;
            check_change((mfpg_partition_kind)kind, OTHER_FEATURE, !by_label, seed);
            check_change((mfpg_partition_kind)kind, MISSING_FEATURE, !by_label, seed);
        }
    }
}

static void test_labels_move_nobody_unless_they_deal_the_rows(void **state) {
    (void)state;
    for (int kind = MFPG_PARTITION_FILES; kind <= MFPG_PARTITION_IID; kind++) {
        for (uint64_t seed = 0; seed < 5; seed++) {
            check_change((mfpg_partition_kind)kind, OTHER_LABEL, 0, seed);
            check_change((mfpg_partition_kind)kind, MISSING_LABEL, 0, seed);
        }
    }
}

/* What the two kinds that read labels are warned of: one label moves rows of others. */
static void test_labels_move_others_if_they_deal_the_rows(void **state) {
    (void)state;
    for (int kind = MFPG_PARTITION_DIRICHLET; kind <= MFPG_PARTITION_SHARDS; kind++) {
        int moved = 0;
        mfpg_data_options options = options_of((mfpg_partition_kind)kind);
        write_rows(NOTHING, 0);
        mfpg_federated_data *before = make_data(&options);
        write_rows(OTHER_LABEL, 0);
        mfpg_federated_data *after = make_data(&options);
        for (ptrdiff_t k = 0; k < 4; k++) {
            const mfpg_dataset *one = &before->client[k].train, *two = &after->client[k].train;
            moved |= one->rows != two->rows ||
                     memcmp(one->x, two->x, (size_t)(one->rows * one->features) * sizeof *one->x) != 0;
        }
        assert_true(moved);
        mfpg_federated_data_destroy(before);
        mfpg_federated_data_destroy(after);
    }
}

/* Every fourth value is missing: the declared numbers are those of the file, and tests those of its fraction. */
static void test_declared_numbers_include_absent_rows(void **state) {
    (void)state;
    char text[4096] = "a,y\n";
    for (int i = 0; i < 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), i % 4 ? "%d,%d\n" : "?,%d\n", i, i);
    mfpg_data_options options = reading_text(text);
    options.missing = MFPG_MISSING_DROP;
    options.test_fraction = 0.25;
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->client[0].train.rows, 30);
    assert_int_equal(data->client[0].test.rows, 10);
    assert_int_equal(data->client[0].dropped_rows, 10);
    assert_non_null(data->client[0].train.absent);
    mfpg_federated_data_destroy(data);
}

/* Scaling by public bounds maps 0 elsewhere, fitted scaling and shifts too: absent rows stay zero, and are not measured. */
static void test_scaling_leaves_absent_rows_alone(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,y\n1,0\n?,1\n3,0\n");
    options.missing = MFPG_MISSING_DROP;
    options.scale = MFPG_SCALE_FROM_DATA; /* mean 2, deviation 1 */
    mfpg_federated_data *data = make_data(&options);
    expect_rows(data, 0, 3, (float[]){-1, 0, 1}, (float[]){0, 1, 0});
    assert_true(!data->client[0].train.absent[0] && data->client[0].train.absent[1]);
    mfpg_federated_data_destroy(data);
    char bounds[1024];
    write_text("bounds.csv", "column,low,high\na,-1,3\n");
    snprintf(bounds, sizeof bounds, "%s/bounds.csv", fixture_folder);
    options.scale = MFPG_SCALE_BOUNDS;
    options.bounds_file = bounds;
    data = make_data(&options);
    expect_rows(data, 0, 3, (float[]){0.5f, 0, 1}, (float[]){0, 1, 0});
    mfpg_federated_data_destroy(data);
}

/* Labels -1 and 1 become 0 and 1, those of absent rows too; a missing label does not spoil that. */
static void test_binary_labels_of_absent_rows(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("a,y\n1,-1\n?,-1\n?,1\n4,NA\n5,1\n");
    options.missing = MFPG_MISSING_DROP;
    options.binary_labels = 1;
    mfpg_federated_data *data = make_data(&options);
    expect_rows(data, 0, 5, (float[]){1, 0, 0, 0, 5}, (float[]){0, 0, 1, 0, 1});
    mfpg_federated_data_destroy(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_move_nobody_under_any_partition),
        cmocka_unit_test(test_labels_move_nobody_unless_they_deal_the_rows),
        cmocka_unit_test(test_labels_move_others_if_they_deal_the_rows),
        cmocka_unit_test(test_declared_numbers_include_absent_rows),
        cmocka_unit_test(test_scaling_leaves_absent_rows_alone),
        cmocka_unit_test(test_binary_labels_of_absent_rows),
    };
    return FIXTURE_RUN(tests);
}
