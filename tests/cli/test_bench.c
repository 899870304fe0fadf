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
    assert_null(strstr(ran.err, "earlier"));
    expect("bench --suite paper --task quadratic --seeds 2 --out r2", 0);
    assert_non_null(strstr(ran.err, "r2/full_benchmark.csv holds the results of an earlier time"));
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

static void expect_in_file(const char *name, const char *part) {
    char path[256], text[1 << 15] = "";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    if (!strstr(text, part)) fail_msg("no '%s' in %s:\n%s", part, name, text);
}

/* Figures 1 and 4: the paper's 1/(K+1) fallback after two rounds, 1/3, the certificate of one round of mfep, which is that
 * of a Gaussian of multiplier sqrt(20), and the literal best response, which is always the largest strength. */
static void test_figures_have_data_and_scripts(void **state) {
    (void)state;
    char command[512];
    snprintf(command, sizeof command, "mkdir %s/f && touch %s/f/figure5.gp %s/f/figure5.svg %s/f/mine.svg",
        folder, folder, folder, folder);
    assert_int_equal(system(command), 0); /* of an earlier run that had another task; and somebody else's */
    expect("bench --suite figures --task quadratic --seeds 1 --out f", 0);
    assert_null(strstr(ran.err, "could not draw"));
    assert_non_null(strstr(ran.out, "- figure 1: trained"));
    assert_non_null(strstr(ran.out, "- figure 5: left out"));
    expect_in_file("f/figure1.csv",
        "method,round,runs,loss,loss_error,accuracy,accuracy_error,epsilon,paper_epsilon,paper_delta\n");
    expect_in_file("f/figure1.csv", "\nmfep,2,1,");
    expect_in_file("f/figure1.csv", ",0.3333333333333333\n");
    expect_in_file("f/figure4.csv", "\nmean,literal,0.1,2,0\n");
    expect_in_file("f/figure1.gp", "load 'rounds.gp'");
    snprintf(command, sizeof command,
        "test -e %s/f/mine.svg -a ! -e %s/f/figure5.gp -a ! -e %s/f/figure5.svg", folder, folder, folder);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "rm -r %s/f", folder);
    assert_int_equal(system(command), 0);
}

/* A game that is offered one action plays it, so that mfpg at strength 2 is mfep at strength 2. */
static void test_figure_5_shows_every_method_by_its_own_number(void **state) {
    (void)state;
    static const char *const methods[] = {"dp-sgd", "mfep", "mapg-dp", "mfpg"};
    char path[256], line[256], own[4][256] = {""}, start[32];
    expect("bench --suite figures --task logistic --seeds 1 --out f", 0);
    assert_null(strstr(ran.err, "could not draw"));
    snprintf(path, sizeof path, "%s/f/figure5.csv", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        for (int m = 0; m < 4; m++) {
            int length = snprintf(start, sizeof start, "own,%s,2,", methods[m]);
            if (strncmp(line, start, (size_t)length) == 0)
                snprintf(own[m], sizeof own[m], "%s", line + length);
        }
    fclose(file);
    for (int m = 0; m < 4; m++) assert_true(own[m][0] != 0);
    assert_string_equal(own[1], own[3]);
    assert_string_not_equal(own[0], own[2]); /* the laws of their noise differ */
    snprintf(line, sizeof line, "rm -r %s/f", folder);
    assert_int_equal(system(line), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_one_row_a_run_and_the_same_on_any_threads, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_images_stand_beside_the_papers_numbers, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_figures_have_data_and_scripts, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_figure_5_shows_every_method_by_its_own_number, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
