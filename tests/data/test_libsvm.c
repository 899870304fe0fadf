/* LIBSVM text: its traps, refusals with their line, real files, and damage. */
#include "base/streams.h"
#include "fixture.h"

static mfpg_data_options reading_libsvm(const char *text) {
    mfpg_data_options options = reading_text(text);
    options.format = "libsvm";
    return options;
}

static void test_left_out_entries_are_zero(void **state) {
    (void)state;
    mfpg_data_options options = reading_libsvm("+1 1:0.5 2:-3\n0 2:1e-1 \n-1\n1 1:.25 2:0\n");
    expect_two_features(&options, 4, (float[]){0.5f, -3, 0, 0.1f, 0, 0, 0.25f, 0}, (float[]){1, 0, -1, 1});
}

static void test_comments_blank_lines_and_line_ends_read(void **state) {
    (void)state;
    mfpg_data_options options =
        reading_libsvm("# made by hand\r\n1 1:1 2:2 # first\r\n\r\n  0\t1:3\t2:4\t\r\n#\n1 2:6");
    expect_two_features(&options, 3, (float[]){1, 2, 3, 4, 0, 6}, (float[]){1, 0, 1});
}

static void test_two_label_signs_become_classes(void **state) {
    (void)state;
    mfpg_data_options options = reading_libsvm("+1 1:1 2:2\n-1 1:3 2:4\n");
    options.binary_labels = 1;
    expect_two_features(&options, 2, (float[]){1, 2, 3, 4}, (float[]){1, 0});
}

/* The column that one file lacks is 0 in it: a9a.t has no example with the top feature. */
static void test_files_of_different_width_fit_together(void **state) {
    (void)state;
    static const char *const files[] = {"wide.txt", "narrow.txt"};
    write_text("wide.txt", "1 1:1 3:3\n");
    write_text("narrow.txt", "0 1:5\n");
    for (int order = 0; order < 2; order++) {
        const char *turned[] = {files[order], files[1 - order]};
        mfpg_data_options options = reading(turned, 2);
        options.format = "libsvm";
        mfpg_federated_data *data = make_data(&options);
        assert_int_equal(data->features, 3);
        expect_rows(data, 1 - order, 1, (float[]){5, 0, 0}, (float[]){0});
        expect_rows(data, order, 1, (float[]){1, 0, 3}, (float[]){1});
        mfpg_federated_data_destroy(data);
    }
}

static void test_faults_are_named_by_line(void **state) {
    (void)state;
    const struct {
        const char *text, *place, *what;
    } faults[] = {
        {"1 1:1\nx 1:1\n", "a.csv:2", "label"},
        {"1 1:1\n1 1\n", "a.csv:2", "index:value expected"},
        {"1 1:1\n1 :1\n", "a.csv:2", "index:value expected"},
        {"1 0:1\n", "a.csv:1", "from 1"},
        {"1 1.5:1\n", "a.csv:1", "from 1"},
        {"1 99999:1\n", "a.csv:1", "65534"},
        {"1 2:1 1:1\n", "a.csv:1", "rise"},
        {"1 2:1 2:1\n", "a.csv:1", "rise"},
        {"\n1 1:nan\n", "a.csv:2", "finite"},
        {"1 1:1 2:inf\n", "a.csv:1", "finite"},
        {"1 1:1e999\n", "a.csv:1", "finite"},
        {"1 1:\n", "a.csv:1", "finite"},
        {"1,2 1:1\n", "a.csv:1", "label"},
        {"", "a.csv", "no example"},
        {"1\n0\n", "a.csv", "no example"},
        {"# nothing\n", "a.csv", "no example"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        mfpg_data_options options = reading_libsvm(faults[i].text);
        EXPECT_ERROR(&options, faults[i].place, faults[i].what);
    }
}

/* A few bytes a line that would ask for 65,535 floats each: refused before memory is. */
static void test_a_file_cannot_ask_for_more_than_it_could_fill(void **state) {
    (void)state;
    enum { LINES = 100000 };
    char *text = malloc(LINES * 10 + 1);
    for (int i = 0; i < LINES; i++) memcpy(text + 10 * i, "1 65534:1\n", 10);
    text[LINES * 10] = 0;
    mfpg_data_options options = reading_libsvm(text);
    EXPECT_ERROR(&options, "a.csv", "too sparse");
    free(text);
}

/* Any bytes read or are refused with one line; which of the two is all that damage may decide. */
static void test_damaged_files_are_read_or_refused(void **state) {
    (void)state;
    const char good[] = "+1 1:0.5 2:-3 7:1\n-1 2:1e-1 #c\n+1 1:.25\n-1 3:4 5:6\n";
    uint64_t seed = testing_seed();
    mfpg_key key = mfpg_key_from_seed(seed);
    static const char *const files[] = {"damaged.txt"};
    int refused = 0, repeats = testing_repeats(300);
    for (int i = 0; i < repeats; i++) {
        char bytes[sizeof good];
        mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 0, (uint64_t)i);
        memcpy(bytes, good, sizeof good);
        ptrdiff_t length = (ptrdiff_t)sizeof good - 1 - (ptrdiff_t)mfpg_stream_below(&stream, 0, 12);
        for (uint64_t k = 1; k <= 3; k++)
            bytes[mfpg_stream_below(&stream, 2 * k, (uint64_t)length)] =
                (char)mfpg_stream_below(&stream, 2 * k + 1, 256);
        write_bytes("damaged.txt", bytes, (size_t)length);
        mfpg_data_options options = reading(files, 1);
        options.format = "libsvm";
        mfpg_federated_data *data = NULL;
        mfpg_status status = mfpg_federated_data_create(fixture_ctx, &options, &key, &data);
        if (status != MFPG_OK && status != MFPG_ERR_INPUT) {
            print_error("seed %llu, case %d: %s\n", (unsigned long long)seed, i, mfpg_status_text(status));
            fail();
        }
        refused += status != MFPG_OK;
        mfpg_federated_data_destroy(data);
    }
    assert_true(refused > 0 && refused < repeats); /* both happen */
}

/* data/README.md: rows, features and positives of the real files. */
static void test_real_files_have_their_rows(void **state) {
    (void)state;
    char folder[4200];
    snprintf(folder, sizeof folder, "%s/data/libsvm", need_shared());
    static const char *const adult[] = {"a9a", "a9a.t"}, *const heart[] = {"heart_scale"};
    mfpg_data_options options = reading(adult, 2);
    options.directory = folder;
    options.format = "libsvm";
    options.binary_labels = 1;
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->features, 123);
    const ptrdiff_t rows[] = {32561, 16281}, positives[] = {7841, 3846};
    for (ptrdiff_t k = 0; k < 2; k++) {
        const mfpg_dataset *set = &data->client[k].train;
        ptrdiff_t count = 0;
        for (ptrdiff_t i = 0; i < set->rows; i++) count += set->y[i] > 0;
        assert_int_equal(set->rows, rows[k]);
        assert_int_equal(count, positives[k]);
    }
    mfpg_federated_data_destroy(data);
    options.files = heart;
    options.file_count = 1;
    data = make_data(&options);
    assert_int_equal(data->features, 13);
    assert_int_equal(data->client[0].train.rows, 270);
    mfpg_federated_data_destroy(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_left_out_entries_are_zero),
        cmocka_unit_test(test_comments_blank_lines_and_line_ends_read),
        cmocka_unit_test(test_two_label_signs_become_classes),
        cmocka_unit_test(test_files_of_different_width_fit_together),
        cmocka_unit_test(test_faults_are_named_by_line),
        cmocka_unit_test(test_a_file_cannot_ask_for_more_than_it_could_fill),
        cmocka_unit_test(test_damaged_files_are_read_or_refused),
        cmocka_unit_test(test_real_files_have_their_rows),
    };
    return FIXTURE_RUN(tests);
}
