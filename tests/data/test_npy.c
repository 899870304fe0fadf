/* NumPy files: every type and version, shapes, labels of their own, headers that lie, damage. */
#include "fixture.h"

static const char *const arrays[] = {"array"}, *const labels[] = {"labels"};

/* Writes a file of that version with a header for type and shape, and length bytes of values. */
static void write_array(
    const char *name, int version, const char *type, const char *shape, const void *values, size_t length) {
    unsigned char bytes[512];
    char header[128];
    int size = snprintf(
        header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", type, shape);
    int head = version == 1 ? 10 : 12;
    memcpy(bytes, "\x93NUMPY", 6);
    memset(bytes + 6, 0, 6);
    bytes[6] = (unsigned char)version;
    bytes[8] = (unsigned char)size;
    memcpy(bytes + head, header, (size_t)size);
    memcpy(bytes + head + size, values, length);
    write_bytes(name, bytes, (size_t)(head + size) + length);
}

static mfpg_data_options reading_npy(void) {
    mfpg_data_options options = reading(arrays, 1);
    options.format = "npy";
    return options;
}

static void test_the_last_column_is_the_label(void **state) {
    (void)state;
    const float values[] = {1, 2, 0, 3, 4, 1};
    for (int version = 1; version <= 3; version++) {
        write_array("array", version, "<f4", "(2, 3)", values, sizeof values);
        mfpg_data_options options = reading_npy();
        expect_two_features(&options, 2, (float[]){1, 2, 3, 4}, (float[]){0, 1});
    }
}

static void test_labels_may_stand_in_a_file_of_their_own(void **state) {
    (void)state;
    const double values[] = {1, 2, 3, 4};
    const int64_t classes[] = {1, 0};
    write_array("array", 1, "<f8", "(2, 2)", values, sizeof values);
    write_array("labels", 1, "<i8", "(2,)", classes, sizeof classes);
    mfpg_data_options options = reading_npy();
    options.labels = labels;
    options.label_file_count = 1;
    expect_two_features(&options, 2, (float[]){1, 2, 3, 4}, (float[]){1, 0});
}

/* One row of a number and, as its label, the same number. */
static void test_every_type_reads(void **state) {
    (void)state;
    const struct {
        const char *type;
        unsigned char bytes[8];
        size_t size;
        float value;
    } cases[] = {
        {"|i1", {0xFE}, 1, -2},
        {"|u1", {0xFE}, 1, 254},
        {"|b1", {1}, 1, 1},
        {"<i2", {0x00, 0xFF}, 2, -256},
        {">i2", {0xFF, 0x00}, 2, -256},
        {"<u2", {0x00, 0xFF}, 2, 65280},
        {"<i4", {0xFB, 0xFF, 0xFF, 0xFF}, 4, -5},
        {">u4", {0, 1, 0, 0}, 4, 65536},
        {"<i8", {0xF0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, 8, -16},
        {"<u8", {0, 0, 0, 0, 1}, 8, 4294967296.0f},
        {">f4", {0x3F, 0xC0}, 4, 1.5f},
        {"<f8", {0, 0, 0, 0, 0, 0, 0x04, 0xC0}, 8, -2.5f},
        {">f8", {0xC0, 0x04}, 8, -2.5f},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned char twice[16];
        memcpy(twice, cases[i].bytes, cases[i].size);
        memcpy(twice + cases[i].size, cases[i].bytes, cases[i].size);
        write_array("array", 1, cases[i].type, "(1, 2)", twice, 2 * cases[i].size);
        mfpg_data_options options = reading_npy();
        mfpg_federated_data *data = make_data(&options);
        expect_rows(data, 0, 1, &cases[i].value, &cases[i].value);
        mfpg_federated_data_destroy(data);
    }
}

static void test_headers_that_lie_or_ask_too_much_are_refused(void **state) {
    (void)state;
    const float values[] = {1, 2, 0, 3, 4, 1};
    const struct {
        const char *type, *shape, *what;
    } cases[] = {
        {"<f4", "(2, 4)", "promises 2 x 4"},
        {"<f4", "(2, 2)", "but 24 bytes follow"},
        {"<f8", "(2, 3)", "of 8 bytes"},
        {"<f4", "(1000000000, 60000)", "promises"},
        {"<f4", "(99999999999999999999, 3)", "dimensions"},
        {"<f4", "(0, 3)", "dimensions"},
        {"<f4", "(2, 3, 1)", "dimensions"},
        {"<f4", "()", "dimensions"},
        {"<f4", "(-2, 3)", "dimensions"},
        {"<f4", "(2 3", "dimensions"},
        {"<f4", "(1, 65536)", "65534"},
        {"<f2", "(2, 6)", "types"},
        {"<c8", "(1, 3)", "types"},
        {"<U4", "(2, 3)", "types"},
        {"|O", "(2, 3)", "types"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_array("array", 1, cases[i].type, cases[i].shape, values, sizeof values);
        mfpg_data_options options = reading_npy();
        EXPECT_ERROR(&options, "array", cases[i].what);
    }
    write_text("array", "\x93NUMPY\x01");
    mfpg_data_options options = reading_npy();
    EXPECT_ERROR(&options, "array", "no NumPy file");
    write_bytes("array", "\x93NUMPY\x01\x00\xFF\xFF{'descr'", 18);
    EXPECT_ERROR(&options, "array", "header is longer");
    write_text("array", "");
    EXPECT_ERROR(&options, "array", "no NumPy file");
}

static void test_columns_by_columns_are_refused(void **state) {
    (void)state;
    char header[] =
        "\x93NUMPY\x01\x00\x40\x00{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }     \n";
    unsigned char bytes[256] = {0};
    memcpy(bytes, header, 10 + 0x40);
    write_bytes("array", bytes, 10 + 0x40 + 8);
    mfpg_data_options options = reading_npy();
    EXPECT_ERROR(&options, "array", "fortran_order");
}

static void test_a_value_that_is_no_number_is_refused_by_row(void **state) {
    (void)state;
    const float values[] = {1, 2, 0, 3, NAN, 1};
    write_array("array", 1, "<f4", "(2, 3)", values, sizeof values);
    mfpg_data_options options = reading_npy();
    EXPECT_ERROR(&options, "array:2", "\"c2\"");
}

static void test_damaged_files_are_read_or_refused(void **state) {
    (void)state;
    const float values[] = {1, 2, 0, 3, 4, 1};
    uint64_t seed = testing_seed();
    mfpg_key key = mfpg_key_from_seed(seed);
    write_array("array", 1, "<f4", "(2, 3)", values, sizeof values);
    char path[1024];
    unsigned char good[512], bytes[512];
    snprintf(path, sizeof path, "%s/array", fixture_folder);
    FILE *file = fopen(path, "rb");
    size_t length = fread(good, 1, sizeof good, file);
    fclose(file);
    int repeats = testing_repeats(300), refused = 0;
    for (int i = 0; i < repeats; i++) {
        mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 2, (uint64_t)i);
        memcpy(bytes, good, length);
        for (uint64_t k = 0; k < 2; k++)
            bytes[mfpg_stream_below(&stream, 2 * k, length)] =
                (unsigned char)mfpg_stream_below(&stream, 2 * k + 1, 256);
        write_bytes("array", bytes, length - (i % 5 ? 0 : (size_t)mfpg_stream_below(&stream, 9, length)));
        mfpg_data_options options = reading_npy();
        mfpg_federated_data *data = NULL;
        mfpg_status status = mfpg_federated_data_create(fixture_ctx, &options, &key, &data);
        if (status != MFPG_OK && status != MFPG_ERR_INPUT) {
            print_error("seed %llu, case %d: %s\n", (unsigned long long)seed, i, mfpg_status_text(status));
            fail();
        }
        refused += status != MFPG_OK;
        mfpg_federated_data_destroy(data);
    }
    assert_true(refused > 0 && refused < repeats);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_column_is_the_label),
        cmocka_unit_test(test_labels_may_stand_in_a_file_of_their_own),
        cmocka_unit_test(test_every_type_reads),
        cmocka_unit_test(test_headers_that_lie_or_ask_too_much_are_refused),
        cmocka_unit_test(test_columns_by_columns_are_refused),
        cmocka_unit_test(test_a_value_that_is_no_number_is_refused_by_row),
        cmocka_unit_test(test_damaged_files_are_read_or_refused),
    };
    return FIXTURE_RUN(tests);
}
