/* NumPy files: every type and version, shapes, labels of their own, headers that lie, damage. */
#include "fixture.h"

#include "base/streams.h"
#include "data/npy.h"
#include "mfpg/data_check.h"

static const char *const arrays[] = {"array"}, *const labels[] = {"labels"};

static int first_fastest; /* of the next arrays */

/* Writes a file of that version with a header for type and shape, and length bytes of values. */
static void write_array(
    const char *name, int version, const char *type, const char *shape, const void *values, size_t length) {
    unsigned char bytes[512];
    char header[128];
    int size = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", type,
        first_fastest ? "True" : "False", shape);
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

static void test_gzip_is_unpacked(void **state) {
    (void)state;
    const float values[] = {1, 2, 0, 3, 4, 1};
    unsigned char bytes[512];
    char path[1024], packed[1024];
    write_array("plain", 1, "<f4", "(2, 3)", values, sizeof values);
    snprintf(path, sizeof path, "%s/plain", fixture_folder);
    snprintf(packed, sizeof packed, "%s/array", fixture_folder);
    FILE *from = fopen(path, "rb");
    assert_non_null(from);
    size_t length = fread(bytes, 1, sizeof bytes, from);
    fclose(from);
    gzFile to = gzopen(packed, "wb");
    assert_int_equal(gzwrite(to, bytes, (unsigned)length), (int)length);
    assert_int_equal(gzclose(to), Z_OK);
    mfpg_data_options options = reading_npy();
    expect_two_features(&options, 2, (float[]){1, 2, 3, 4}, (float[]){0, 1});
    mfpg_data_report *report = NULL;
    CHECK_OK(fixture_ctx, mfpg_data_check(fixture_ctx, packed, NULL, &report));
    assert_string_equal(report->format, "npy");
    assert_string_equal(report->oddity[0].kind, "gzip");
    mfpg_data_report_destroy(report);
}

static void test_labels_may_be_in_a_file_of_their_own(void **state) {
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
        {"<f4", "(2, 4)", "ends too early; the header promises type <f4, 2 x 4"},
        {"<f4", "(2, 2)", "goes on after its values; the header promises type <f4, 2 x 2"},
        {"<f8", "(2, 3)", "promises type <f8"},
        {"<f4", "(1000000000, 60000)", "1 GiB"},
        {"<f4", "(1000000000, 2)", "1 GiB"},
        {"<f4", "(1000000000, 1000000000, 1000000000)", "1 GiB"},
        {"<f4", "(99999999999999999999, 3)", "dimensions"},
        {"<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 6)", "dimensions"},
        {"<f4", "(0, 3)", "dimension of size 0"},
        {"<f4", "()", "a single value"},
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
        EXPECT_ERROR(&options, "array: byte ", cases[i].what);
    }
    write_text("array", "\x93NUMPY\x01");
    mfpg_data_options options = reading_npy();
    EXPECT_ERROR(&options, "array: byte 7: the file ends too early");
    write_bytes("array", "\x93NUMPY\x01\x00\xFF\xFF{'descr'", 18);
    EXPECT_ERROR(&options, "array: byte 18: the file ends too early");
    write_text("array", "");
    EXPECT_ERROR(&options, "array: byte 0: the file ends too early");
    write_text("array", "age,height\n1,2\n");
    EXPECT_ERROR(&options, "array: byte 10: not a NumPy array", "data.format: csv");
    write_array("array", 1, "[('age', '<f4')]", "(6,)", values, sizeof values);
    EXPECT_ERROR(&options, "array: byte", "types are");
}

/* What numpy.asfortranarray writes, and pandas often has: the first index is the fastest. */
static void test_columns_first_reads_the_same(void **state) {
    (void)state;
    const float values[] = {1, 3, 2, 4, 0, 1};
    first_fastest = 1;
    write_array("array", 1, "<f4", "(2, 3)", values, sizeof values);
    mfpg_data_options options = reading_npy();
    expect_two_features(&options, 2, (float[]){1, 2, 3, 4}, (float[]){0, 1});
    /* x[i][j][k] = 100 i + 10 j + k, first index fastest */
    const uint8_t cube[] = {0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121};
    const uint8_t classes[] = {1, 0};
    write_array("array", 1, "|u1", "(2, 3, 2)", cube, sizeof cube);
    first_fastest = 0;
    write_array("labels", 1, "|u1", "(2,)", classes, sizeof classes);
    options.labels = labels;
    options.label_file_count = 1;
    mfpg_data_options bare = options;
    bare.scale = MFPG_SCALE_FROM_DATA; /* in place of the bounds of bytes */
    mfpg_federated_data *scaled = make_data(&bare), *data = make_data(&options);
    const float expected[] = {0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121};
    assert_int_equal(data->features, 6);
    for (int i = 0; i < 12; i++)
        check_near((double)data->client[0].train.x[i] * 255, (double)expected[i], 0, 1e-4, "pixel");
    assert_true(scaled->fitted_on_private);
    mfpg_federated_data_destroy(scaled);
    mfpg_federated_data_destroy(data);
}

/* Bytes in three dimensions are images with public bounds, in two they are any numbers. */
static void test_images_have_public_bounds(void **state) {
    (void)state;
    const uint8_t bytes[] = {0, 255, 51, 102, 255, 0}, classes[] = {1, 0, 1};
    write_array("labels", 1, "|u1", "(3,)", classes, sizeof classes);
    mfpg_data_options options = reading_npy();
    options.labels = labels;
    options.label_file_count = 1;
    write_array("array", 1, "|u1", "(3, 1, 2)", bytes, sizeof bytes);
    mfpg_federated_data *data = make_data(&options);
    assert_float_equal(data->public_norm2, 2, 0);
    expect_rows(data, 0, 3, (float[]){0, 1, 0.2f, 0.4f, 1, 0}, (float[]){1, 0, 1});
    mfpg_federated_data_destroy(data);
    write_array("array", 1, "|u1", "(3, 2)", bytes, sizeof bytes);
    data = make_data(&options);
    assert_true(isinf(data->public_norm2));
    expect_rows(data, 0, 3, (float[]){0, 255, 51, 102, 255, 0}, (float[]){1, 0, 1});
    mfpg_federated_data_destroy(data);
}

static void test_a_value_that_is_no_number_is_refused_by_row(void **state) {
    (void)state;
    const float values[] = {1, 2, 0, 3, NAN, 1};
    write_array("array", 1, "<f4", "(2, 3)", values, sizeof values);
    mfpg_data_options options = reading_npy();
    EXPECT_ERROR(&options, "array:2", "\"c2\"");
}

/* A model is a vector of as many finite float32 numbers as the model has parameters. */
static void test_a_vector_is_read_or_the_message_says_what_is_there(void **state) {
    (void)state;
    const float good[] = {1, -2.5F, 3}, holed[] = {1, INFINITY, 3};
    const double wide[] = {1, 2, 3};
    const struct {
        const char *type, *shape;
        const void *values;
        size_t length;
        const char *message;
    } bad[] = {
        {"<f8", "(3,)", wide, sizeof wide,
            "found an array of type <f8, 3; expected: one float32 vector of 3"},
        {"<i4", "(3,)", good, sizeof good, "found an array of type <i4, 3"},
        {"<f4", "(3, 1)", good, sizeof good, "found an array of type <f4, 3 x 1"},
        {"<f4", "(2,)", good, 8, "found an array of type <f4, 2"},
        {"<f4", "()", good, 4, "a single value"},
        {"<f4", "(3,)", good, 8, "ends too early"},
        {"<f4", "(3,)", good, 0, "ends too early"},
        {"<f4", "(3,)", holed, sizeof holed, "array: entry 1 is not finite; expected: one float32 vector"},
    };
    char path[1024];
    float *w = NULL;
    snprintf(path, sizeof path, "%s/array", fixture_folder);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_array("array", 1, bad[i].type, bad[i].shape, bad[i].values, bad[i].length);
        assert_int_equal(mfpg_npy_read_vector(fixture_ctx, path, 3, &w), MFPG_ERR_INPUT);
        if (!strstr(mfpg_context_message(fixture_ctx), bad[i].message))
            fail_msg("%s: %s", bad[i].message, mfpg_context_message(fixture_ctx));
        assert_null(w);
    }
    write_array("array", 1, "<f4", "(3,)", good, sizeof good);
    CHECK_OK(fixture_ctx, mfpg_npy_read_vector(fixture_ctx, path, 3, &w));
    assert_memory_equal(w, good, sizeof good);
    free(w);
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
        cmocka_unit_test(test_gzip_is_unpacked),
        cmocka_unit_test(test_labels_may_be_in_a_file_of_their_own),
        cmocka_unit_test(test_every_type_reads),
        cmocka_unit_test(test_headers_that_lie_or_ask_too_much_are_refused),
        cmocka_unit_test(test_columns_first_reads_the_same),
        cmocka_unit_test(test_images_have_public_bounds),
        cmocka_unit_test(test_a_value_that_is_no_number_is_refused_by_row),
        cmocka_unit_test(test_a_vector_is_read_or_the_message_says_what_is_there),
        cmocka_unit_test(test_damaged_files_are_read_or_refused),
    };
    return FIXTURE_RUN(tests);
}
