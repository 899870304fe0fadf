/* No file is two clients, and no test rows are training rows, by whatever path. */
#include "fixture.h"

static const char rows[] = "a,y\n1,0\n2,1\n3,0\n";

static void link_in_folder(int hard, const char *to, const char *name) {
    char from[1024], path[1024];
    snprintf(from, sizeof from, "%s/%s", fixture_folder, to);
    snprintf(path, sizeof path, "%s/%s", fixture_folder, name);
    assert_int_equal(hard ? link(from, path) : symlink(from, path), 0);
}

static void test_one_file_by_two_names_is_refused(void **state) {
    (void)state;
    write_text("one.csv", rows);
    write_text("two.csv", rows); /* equal content is allowed: it may be another ward's */
    write_text("sub/three.csv", rows);
    link_in_folder(0, "one.csv", "soft.csv");
    link_in_folder(1, "one.csv", "hard.csv");
    char absolute[1024];
    snprintf(absolute, sizeof absolute, "%s/one.csv", fixture_folder);
    const char *others[] = {"one.csv", "./one.csv", "sub/../one.csv", absolute, "soft.csv", "hard.csv"};
    for (int i = 0; i < 6; i++) {
        const char *files[] = {"two.csv", "one.csv", "sub/three.csv", others[i]};
        mfpg_data_options options = reading(files, 4);
        EXPECT_ERROR(
            &options, "data.files", "one.csv", others[i], i == 0 ? "is given twice" : "are the same file");
    }
    const char *different[] = {"one.csv", "two.csv", "sub/three.csv"};
    mfpg_data_options options = reading(different, 3);
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->clients, 3);
    mfpg_federated_data_destroy(data);
}

/* Of several pairs, the message names the one that is complete first in the order of the names. */
static void test_the_first_pair_is_told(void **state) {
    (void)state;
    write_text("one.csv", rows);
    write_text("two.csv", rows);
    const char *files[] = {"one.csv", "two.csv", "./two.csv", "./one.csv"};
    mfpg_data_options options = reading(files, 4);
    EXPECT_ERROR(&options, "data.files: two.csv and ./two.csv");
}

static void test_training_rows_are_no_test_rows(void **state) {
    (void)state;
    write_text("one.csv", rows);
    write_text("test.csv", rows);
    const char *files[] = {"one.csv"}, *leak[] = {"test.csv", "./one.csv"},
               *twice[] = {"test.csv", "./test.csv"};
    mfpg_data_options options = reading(files, 1);
    options.test_files = leak;
    options.test_file_count = 2;
    EXPECT_ERROR(&options, "data.test_files: ./one.csv", "one.csv of data.files", "evaluate=train");
    options.test_files = twice;
    EXPECT_ERROR(&options, "data.test_files: test.csv and ./test.csv");
    options.test_file_count = 1;
    mfpg_federated_data_destroy(make_data(&options));
}

static void test_a_missing_file_is_left_to_its_reader(void **state) {
    (void)state;
    const char *files[] = {"absent.csv", "absent.csv"};
    mfpg_data_options options = reading(files, 2);
    EXPECT_ERROR(&options, "absent.csv", "No such file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_file_by_two_names_is_refused),
        cmocka_unit_test(test_the_first_pair_is_told),
        cmocka_unit_test(test_training_rows_are_no_test_rows),
        cmocka_unit_test(test_a_missing_file_is_left_to_its_reader),
    };
    return FIXTURE_RUN(tests);
}
