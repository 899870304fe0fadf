/* IDX files: plain and gzip, every type, labels of their own, lies in the header, damage, and MNIST. */
#include "base/streams.h"
#include "fixture.h"

#include <zlib.h>

static const char *const images[] = {"images"}, *const labels[] = {"labels"};

static mfpg_data_options reading_idx(void) {
    mfpg_data_options options = reading(images, 1);
    options.format = "idx";
    options.labels = labels;
    options.label_file_count = 1;
    return options;
}

/* Three images of 1 x 2 bytes, and three labels. */
static const unsigned char three[] = {
    0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 255, 51, 102, 255, 0};
static const unsigned char their_labels[] = {0, 0, 8, 1, 0, 0, 0, 3, 1, 0, 7};

static void write_three(void) {
    write_bytes("images", three, sizeof three);
    write_bytes("labels", their_labels, sizeof their_labels);
}

static void write_gzip(const char *name, const void *bytes, size_t length) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", fixture_folder, name);
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, bytes, (unsigned)length), (int)length);
    assert_int_equal(gzclose(file), Z_OK);
}

static void expect_three(void) {
    mfpg_data_options options = reading_idx();
    mfpg_federated_data *data = make_data(&options);
    assert_int_equal(data->features, 2);
    assert_float_equal(data->public_norm2, 2, 0); /* bytes have public bounds, and are mapped to [0, 1] */
    expect_rows(data, 0, 3, (float[]){0, 1, 0.2f, 0.4f, 1, 0}, (float[]){1, 0, 7});
    mfpg_federated_data_destroy(data);
}

static void test_plain_and_compressed_files_read_the_same(void **state) {
    (void)state;
    write_three();
    expect_three();
    write_gzip("images", three, sizeof three);
    expect_three();
    write_gzip("labels", their_labels, sizeof their_labels);
    expect_three();
}

static void test_given_scaling_takes_the_place_of_the_formats_own(void **state) {
    (void)state;
    write_three();
    mfpg_data_options options = reading_idx();
    options.scale = MFPG_SCALE_FROM_DATA;
    mfpg_federated_data *data = make_data(&options);
    assert_true(isinf(data->public_norm2));
    assert_true(data->fitted_on_private);
    mfpg_federated_data_destroy(data);
}

/* One row of one number of each type; the last column is the label, so the number itself occurs twice. */
static void test_every_type_reads_big_endian(void **state) {
    (void)state;
    const struct {
        unsigned char type, bytes[8];
        int size;
        float value;
    } cases[] = {
        {0x09, {0xFE}, 1, -2},
        {0x0B, {0xFF, 0x00}, 2, -256},
        {0x0C, {0xFF, 0xFF, 0xFF, 0xFB}, 4, -5},
        {0x0D, {0x3F, 0xC0, 0, 0}, 4, 1.5f},
        {0x0E, {0xC0, 0x04, 0, 0, 0, 0, 0, 0}, 8, -2.5f},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned char bytes[12 + 16] = {0, 0, cases[i].type, 2, 0, 0, 0, 1, 0, 0, 0, 2};
        memcpy(bytes + 12, cases[i].bytes, (size_t)cases[i].size);
        memcpy(bytes + 12 + cases[i].size, cases[i].bytes, (size_t)cases[i].size);
        write_bytes("images", bytes, 12 + 2 * (size_t)cases[i].size);
        mfpg_data_options options = reading_idx();
        options.labels = NULL;
        options.label_file_count = 0;
        mfpg_federated_data *data = make_data(&options);
        expect_rows(data, 0, 1, &cases[i].value, &cases[i].value);
        mfpg_federated_data_destroy(data);
    }
}

static void expect_damage(const unsigned char *bytes, size_t length, const char *place, const char *what) {
    write_bytes("images", bytes, length);
    mfpg_data_options options = reading_idx();
    EXPECT_ERROR(&options, "images", place, what);
}

static void test_headers_that_lie_are_refused_by_byte(void **state) {
    (void)state;
    unsigned char bytes[sizeof three + 1];
    write_three();
    for (size_t length = 0; length < sizeof three; length++)
        expect_damage(three, length, "byte ", "ends too early");
    memcpy(bytes, three, sizeof three);
    bytes[sizeof three] = 9;
    expect_damage(bytes, sizeof bytes, "byte 23", "goes on after");
    memcpy(bytes, three, sizeof three);
    memset(bytes + 4, 0xFF, 4); /* four thousand million rows */
    expect_damage(bytes, sizeof three, "byte 8", "1 GiB");
    memset(bytes + 4, 0, 4);
    expect_damage(bytes, sizeof three, "byte 8", "size 0");
    memcpy(bytes, three, sizeof three);
    bytes[2] = 7;
    expect_damage(bytes, sizeof three, "byte 4", "not an IDX file");
    bytes[2] = 8;
    bytes[3] = 0;
    expect_damage(bytes, sizeof three, "byte 4", "dimensions");
    bytes[3] = 3;
    bytes[10] = 255; /* one row of 255 x 256 x 2 bytes and more */
    bytes[9] = 255;
    expect_damage(bytes, sizeof three, "byte 16", "numbers a row");
}

static void test_labels_must_fit_their_rows(void **state) {
    (void)state;
    const unsigned char two[] = {0, 0, 8, 1, 0, 0, 0, 2, 1, 0};
    write_three();
    write_bytes("labels", two, sizeof two);
    mfpg_data_options options = reading_idx();
    EXPECT_ERROR(&options, "labels", "2 labels for the 3 rows of", "images");
    write_bytes("labels", three, sizeof three);
    EXPECT_ERROR(&options, "labels", "2 numbers a row");
    options.label_file_count = 2;
    EXPECT_ERROR(&options, "data.labels", "2 files of labels for 1 files");
    static const char *const text[] = {"a.csv"};
    write_text("a.csv", "x,y\n1,0\n2,1\n3,0\n");
    options = reading(text, 1);
    options.labels = text;
    options.label_file_count = 1;
    EXPECT_ERROR(&options, "data.labels", "a text file has a label column");
}

/* Any bytes, compressed or not, read or are refused with one line. */
static void test_damaged_files_are_read_or_refused(void **state) {
    (void)state;
    uint64_t seed = testing_seed();
    mfpg_key key = mfpg_key_from_seed(seed);
    int repeats = testing_repeats(300);
    write_gzip("images", three, sizeof three);
    char path[1024];
    unsigned char packed[256];
    snprintf(path, sizeof path, "%s/images", fixture_folder);
    FILE *file = fopen(path, "rb");
    size_t packed_length = fread(packed, 1, sizeof packed, file);
    fclose(file);
    write_bytes("labels", their_labels, sizeof their_labels);
    for (int i = 0; i < repeats; i++) {
        unsigned char bytes[256];
        size_t length = i % 2 ? packed_length : sizeof three;
        mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 1, (uint64_t)i);
        memcpy(bytes, i % 2 ? packed : three, length);
        for (uint64_t k = 0; k < 2; k++)
            bytes[mfpg_stream_below(&stream, 2 * k, length)] =
                (unsigned char)mfpg_stream_below(&stream, 2 * k + 1, 256);
        write_bytes("images", bytes, length);
        mfpg_data_options options = reading_idx();
        mfpg_federated_data *data = NULL;
        mfpg_status status = mfpg_federated_data_create(fixture_ctx, &options, &key, &data);
        if (status != MFPG_OK && status != MFPG_ERR_INPUT) {
            print_error("seed %llu, case %d: %s\n", (unsigned long long)seed, i, mfpg_status_text(status));
            fail();
        }
        mfpg_federated_data_destroy(data);
    }
}

/* data/README.md: digits 0 to 9 of the 10,000 test images, mean/255 = 0.1325. */
static void test_mnist_has_its_digits(void **state) {
    (void)state;
    char folder[4200];
    snprintf(folder, sizeof folder, "%s/data/mnist", need_shared());
    static const char *const files[] = {"t10k-images-idx3-ubyte.gz"}, *const digits[] = {
                                                                          "t10k-labels-idx1-ubyte.gz"};
    const int expected[] = {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009};
    mfpg_data_options options = reading(files, 1);
    options.directory = folder;
    options.format = "idx";
    options.labels = digits;
    options.label_file_count = 1;
    mfpg_federated_data *data = make_data(&options);
    const mfpg_dataset *set = &data->client[0].train;
    assert_int_equal(set->rows, 10000);
    assert_int_equal(set->features, 784);
    int count[10] = {0};
    double sum = 0;
    for (ptrdiff_t i = 0; i < set->rows; i++) count[(int)set->y[i]]++;
    for (ptrdiff_t i = 0; i < set->rows * 784; i++) sum += (double)set->x[i];
    for (int c = 0; c < 10; c++) assert_int_equal(count[c], expected[c]);
    check_near(sum / (10000.0 * 784.0), 0.1325, 0, 5e-5, "mean of all pixels");
    mfpg_federated_data_destroy(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_and_compressed_files_read_the_same),
        cmocka_unit_test(test_given_scaling_takes_the_place_of_the_formats_own),
        cmocka_unit_test(test_every_type_reads_big_endian),
        cmocka_unit_test(test_headers_that_lie_are_refused_by_byte),
        cmocka_unit_test(test_labels_must_fit_their_rows),
        cmocka_unit_test(test_damaged_files_are_read_or_refused),
        cmocka_unit_test(test_mnist_has_its_digits),
    };
    return FIXTURE_RUN(tests);
}
