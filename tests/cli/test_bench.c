/* mfpg bench as a person meets it. */
#include "cli/program.h"

/* Rows of the file of results of a run with one thread, which that with two has written as well; both folders go. */
static int rows_of_both(void) {
    char command[256], path[128], line[4096];
    snprintf(
        command, sizeof command, "cmp %s/r1/full_benchmark.csv %s/r2/full_benchmark.csv", folder, folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/r1/full_benchmark.csv", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int lines = 0;
    while (fgets(line, sizeof line, file)) lines++;
    fclose(file);
    snprintf(command, sizeof command, "rm -r %s/r1 %s/r2", folder, folder);
    assert_int_equal(system(command), 0);
    return lines - 1;
}

static void test_one_row_a_run_and_the_same_on_any_threads(void **state) {
    (void)state;
    static char first[OUTPUT_SIZE];
    expect("bench --suite paper --task quadratic --seeds 2 --threads 1 --out r1", 0);
    strcpy(first, ran.out);
    assert_non_null(strstr(first, "| quadratic | mfpg | delta | 6.1e-1 | 0.6096 | exact |"));
    expect("bench --suite paper --task quadratic --seeds 2 --threads 2 --out r2", 0);
    assert_string_equal(ran.out, first);
    assert_int_equal(rows_of_both(), 4 * 2);
    REFUSED("bench --suite papre", "papre", "paper");
    REFUSED("bench --suite frontier --task quadratic", "none of the chosen tasks");
}

/* A file in the format of MNIST: that many images of 4 x 4, or (side 0) as many labels 0 .. 9 in turn. */
static void write_idx(const char *name, int count, int side) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    const unsigned char head[] = {0, 0, 8, side ? 3 : 1, 0, 0, 0, (unsigned char)count, 0, 0, 0,
        (unsigned char)side, 0, 0, 0, (unsigned char)side};
    fwrite(head, 1, side ? 16 : 8, file);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < (side ? side * side : 1); j++)
            fputc(side ? i % 10 * 25 + j * 7 % 5 : i % 10, file);
    assert_int_equal(fclose(file), 0);
}

static const char *const image_files[] = {
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

/* The certified numbers depend neither on the images nor on their number; nor does the paper's bound, whose dimension
 * counts up to 100. */
static void test_images_stand_beside_the_papers_numbers(void **state) {
    (void)state;
    static char first[OUTPUT_SIZE];
    for (int i = 0; i < 4; i++) write_idx(image_files[i], i < 2 ? 50 : 20, i % 2 ? 0 : 4);
    expect("bench --suite paper --task images --images . --threads 1 --out r1", 0);
    strcpy(first, ran.out);
    const char *parts[] = {"| images | mfep | delta | 1.5e-1 | 0.1506 | exact |",
        "| images | mfpg | delta | 1.0 | 1 | assumption |", "| images | dp-sgd | 20 | 1 | 0.9231 | 3.9908 |",
        "| images | mfep | 20 | 1 | 1.0001 | 4.3772 |", "| images | mfpg | 20 | 2 | 0.7072 | 2.9433 |"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strstr(first, parts[i])) continue;
        print_error("no '%s' in\n%s", parts[i], first);
        fail();
    }
    expect("bench --suite paper --task images --images . --threads 2 --out r2", 0);
    assert_string_equal(ran.out, first);
    assert_int_equal(rows_of_both(), 4);
    remove_from_folder(image_files[3]);
    REFUSED("bench --task images --images .", "t10k-labels-idx1-ubyte", "dataset-fashion-mnist");
    for (int i = 0; i < 3; i++) remove_from_folder(image_files[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_one_row_a_run_and_the_same_on_any_threads, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_images_stand_beside_the_papers_numbers, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
