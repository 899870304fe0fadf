/* NumPy archives: every way numpy and zip writers put them together, which arrays are chosen, lies and damage. */
#include "fixture.h"

#include "zip_build.h"

static const char *const archives[] = {"a.npz"};
static zip_build zip;

static const float three_by_two[] = {1, 2, 3, 4, 5, 6};
static const int64_t three[] = {1, 0, 1}, other_three[] = {0, 0, 0}, two[] = {1, 0};
static const float one_row[] = {7, 8};

static mfpg_data_options reading_npz(void) {
    mfpg_data_options options = reading(archives, 1);
    options.format = "npz";
    return options;
}

static void begin(void) {
    memset(&zip, 0, sizeof zip);
}

static void add_features(const char *name, int flags) {
    zip_add_array(&zip, name, "<f4", "(3, 2)", three_by_two, sizeof three_by_two, flags);
}

static void add_labels(const char *name, const int64_t *labels, int flags) {
    zip_add_array(&zip, name, "<i8", "(3,)", labels, sizeof three, flags);
}

static void finish(int flags) {
    size_t length = zip_finish(&zip, flags);
    write_bytes("a.npz", zip.bytes, length);
}

static void expect_three_rows(void) {
    mfpg_data_options options = reading_npz();
    expect_two_features(&options, 3, three_by_two, (float[]){1, 0, 1});
}

static void test_every_way_of_writing_reads(void **state) {
    (void)state;
    const int ways[] = {0, ZIP_WIDE, ZIP_DEFLATE, ZIP_WIDE | ZIP_DEFLATE, ZIP_DESCRIPTOR,
        ZIP_DESCRIPTOR | ZIP_WIDE, ZIP_DESCRIPTOR | ZIP_UNSIGNED, ZIP_DESCRIPTOR | ZIP_DEFLATE,
        ZIP_DESCRIPTOR | ZIP_DEFLATE | ZIP_WIDE | ZIP_UNSIGNED};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        for (int end = 0; end <= ZIP_WIDE_END; end += ZIP_WIDE_END) {
            begin();
            add_features("x.npy", ways[i]);
            add_labels("y.npy", three, ways[i]);
            finish(end);
            expect_three_rows();
        }
    }
}

static void test_a_comment_behind_the_archive_is_skipped(void **state) {
    (void)state;
    begin();
    add_features("x.npy", 0);
    add_labels("y.npy", three, 0);
    size_t length = zip_finish(&zip, 0);
    zip.bytes[length - 2] = 26;
    memcpy(zip.bytes + length, "with PK\5\6 in it, to be sure", 26);
    write_bytes("a.npz", zip.bytes, length + 26);
    expect_three_rows();
}

/* x.npy/y.npy, X/y, data/labels, ...: by shape alone if that decides. */
static void test_shape_decides_and_then_the_name(void **state) {
    (void)state;
    const struct {
        const char *features, *labels, *more_features, *more_labels;
    } cases[] = {
        {"x.npy", "y.npy", NULL, NULL},
        {"whatever.npy", "foo.npy", NULL, NULL},
        {"data.npy", "labels.npy", NULL, "weights.npy"},
        {"images.npy", "labels.npy", "embedding.npy", "ids.npy"},
        {"X.npy", "y.npy", "data.npy", NULL},
        {"train_x.npy", "train_y.npy", NULL, "seen.npy"},
        {"x_train.npy", "y_train.npy", "x_test.npy", "y_test.npy"},
        {"X_TRAIN.npy", "Y_TRAIN.npy", "x_val.npy", "y_val.npy"},
        {"data.npy", "target.npy", "data_test.npy", "target_test.npy"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int turned = 0; turned < 2; turned++) {
            const float others[] = {9, 9, 9, 9, 9, 9};
            begin();
            if (turned) add_features(cases[i].features, 0), add_labels(cases[i].labels, three, 0);
            if (cases[i].more_features)
                zip_add_array(&zip, cases[i].more_features, "<f4", "(3, 2)", others, sizeof others, 0);
            if (cases[i].more_labels) add_labels(cases[i].more_labels, other_three, 0);
            if (!turned) add_features(cases[i].features, 0), add_labels(cases[i].labels, three, 0);
            zip_add(&zip, "readme.txt", "text", 4, 0);
            zip_add_array(&zip, "names.npy", "<U1", "(2,)", "a\0\0\0b\0\0\0", 8, 0);
            zip_add_array(&zip, "version.npy", "<i8", "()", two, 8, 0);
            finish(0);
            expect_three_rows();
        }
    }
}

static void test_without_labels_the_last_column_is_one(void **state) {
    (void)state;
    const float values[] = {1, 2, 0, 3, 4, 1};
    begin();
    zip_add_array(&zip, "arr_0.npy", "<f4", "(2, 3)", values, sizeof values, 0);
    finish(0);
    mfpg_data_options options = reading_npz();
    expect_two_features(&options, 2, (float[]){1, 2, 3, 4}, (float[]){0, 1});
}

static void test_the_test_arrays_are_those_of_test_files(void **state) {
    (void)state;
    begin();
    add_features("x_train.npy", ZIP_DEFLATE);
    add_labels("y_train.npy", three, ZIP_DEFLATE);
    zip_add_array(&zip, "x_test.npy", "<f4", "(1, 2)", one_row, sizeof one_row, ZIP_DEFLATE);
    zip_add_array(&zip, "y_test.npy", "<i8", "(1,)", three, 8, ZIP_DEFLATE);
    finish(0);
    mfpg_data_options options = reading_npz();
    options.test_files = archives;
    options.test_file_count = 1;
    mfpg_federated_data *data = make_data(&options);
    expect_rows(data, 0, 3, three_by_two, (float[]){1, 0, 1});
    assert_int_equal(data->common_test.rows, 1);
    assert_float_equal(data->common_test.x[1], 8, 0);
    assert_float_equal(data->common_test.y[0], 1, 0);
    mfpg_federated_data_destroy(data);
}

/* data.labels may be an array, an archive or an IDX file, whichever of them holds the features. */
static void test_labels_of_another_file_in_another_format(void **state) {
    (void)state;
    static const char *const labels[] = {"labels"}, *const array[] = {"array"};
    const unsigned char idx[] = {0, 0, 8, 1, 0, 0, 0, 3, 1, 0, 1};
    unsigned char npy[512], features[512];
    size_t npy_length = npy_build(npy, "<i8", "(3,)", three, sizeof three),
           features_length = npy_build(features, "<f4", "(3, 2)", three_by_two, sizeof three_by_two);
    write_bytes("array", features, features_length);
    begin();
    add_features("x.npy", 0);
    add_labels("y.npy", other_three, 0); /* not taken: data.labels names others */
    finish(0);
    for (int kind = 0; kind < 3; kind++) {
        if (kind == 0) write_bytes("labels", idx, sizeof idx);
        if (kind == 1) write_bytes("labels", npy, npy_length);
        if (kind == 2) {
            begin();
            add_features("x.npy", 0);
            add_labels("y.npy", three, 0);
            write_bytes("labels", zip.bytes, zip_finish(&zip, 0));
        }
        for (int from_array = 0; from_array < 2; from_array++) {
            mfpg_data_options options = from_array ? reading(array, 1) : reading_npz();
            if (from_array) options.format = "npy";
            options.labels = labels;
            options.label_file_count = 1;
            expect_two_features(&options, 3, three_by_two, (float[]){1, 0, 1});
        }
    }
}

static void test_what_cannot_be_decided_lists_the_members(void **state) {
    (void)state;
    mfpg_data_options options = reading_npz();
    begin();
    add_features("left.npy", 0);
    add_features("right.npy", 0);
    finish(0);
    EXPECT_ERROR(&options, "a.npz", "could be the features", "\"left.npy\" (type <f4, 3 x 2)",
        "\"right.npy\"", "x, data, images, features or inputs wins");
    begin();
    add_features("x.npy", 0);
    add_features("X.npy", 0);
    finish(0);
    EXPECT_ERROR(&options, "could be the features");
    begin();
    add_features("x.npy", 0);
    add_labels("a.npy", three, 0);
    add_labels("b.npy", three, 0);
    finish(0);
    EXPECT_ERROR(&options, "could be the labels", "\"a.npy\"", "\"b.npy\"",
        "y, labels, label, targets or target wins");
    begin();
    add_features("x.npy", 0);
    zip_add_array(&zip, "y.npy", "<i8", "(2,)", two, sizeof two, 0);
    finish(0);
    EXPECT_ERROR(&options, "member \"y.npy\": 2 labels for the 3 rows of \"x.npy\"");
    begin();
    zip_add_array(&zip, "x.npy", "|O", "(3, 2)", three, 8, 0);
    zip_add_array(&zip, "empty.npy", "<f4", "(0, 2)", three, 0, 0);
    finish(0);
    EXPECT_ERROR(
        &options, "no array of numbers", "\"x.npy\" (type |O, 3 x 2)", "\"empty.npy\" (type <f4, 0 x 2)");
    begin();
    zip_add(&zip, "a.csv", "x,y\n1,2\n", 8, 0);
    finish(0);
    EXPECT_ERROR(&options, "without a NumPy array");
    begin();
    finish(0);
    EXPECT_ERROR(&options, "without a NumPy array");
}

/* One change of a good archive of two members, and what it leads to. */
static void expect_fault(size_t place, unsigned value, int size, const char *what) {
    unsigned char bytes[ZIP_ROOM];
    begin();
    add_features("x.npy", ZIP_DEFLATE);
    add_labels("y.npy", three, 0);
    size_t length = zip_finish(&zip, 0), at = place;
    memcpy(bytes, zip.bytes, length);
    put_field(bytes, &at, value, size);
    write_bytes("a.npz", bytes, length);
    mfpg_data_options options = reading_npz();
    EXPECT_ERROR(&options, "a.npz", "byte", what);
}

static void test_what_is_not_read_is_named(void **state) {
    (void)state;
    begin();
    add_features("x.npy", ZIP_DEFLATE);
    add_labels("y.npy", three, 0);
    size_t length = zip_finish(&zip, 0), directory = zip.length, end = length - 22;
    expect_fault(directory + 8, 1, 2, "member \"x.npy\": byte 0: is encrypted");
    expect_fault(directory + 10, 12, 2, "method 12 (bzip2)");
    expect_fault(directory + 10, 99, 2, "method 99");
    expect_fault(end + 4, 1, 2, "several parts");
    expect_fault(end + 8, 1, 2, "several parts");
    expect_fault(end + 10, 0xFFFF, 2, "no 64-bit directory");
    expect_fault(end + 16, 1, 4, "no entry of the directory");
    expect_fault(end + 16, 0x7FFFFFFF, 4, "goes past its end");
    expect_fault(end, 0, 4, "directory is missing");
    expect_fault(end + 20, 1, 2, "directory is missing");
    expect_fault(directory + 16, 1, 4, "contradicts the directory"); /* checksum */
    expect_fault(directory + 20, 30, 4, "contradicts the directory");
    expect_fault(directory + 24, 30, 4, "contradicts the directory");
    expect_fault(directory + 20, 0x7FFFFFFF, 4, "goes past the beginning of the directory");
    expect_fault(directory + 20, 0xFFFFFFFF, 4, "64-bit sizes");
    expect_fault(directory + 46, 'z', 1, "contradicts the directory"); /* name */
    expect_fault(8, 0, 2, "contradicts the directory");                /* method of the local header */
    expect_fault(6, 8, 2, "contradicts the directory");                /* flags of the local header */
    expect_fault(0, 0, 4, "contradicts the directory");
}

/* Local header and directory agree on a lie. */
static void test_sizes_and_checksums_are_those_of_the_data(void **state) {
    (void)state;
    const struct {
        size_t local, entry;
        int by;
        const char *what;
    } lies[] = {
        {14, 16, 1, "its checksum is"},
        {22, 24, 1, "promises"},
        {22, 24, -1, "promises"},
        {18, 20, -1, "too early"},
        {18, 20, 1, "before the directory says"},
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        begin();
        add_features("x.npy", ZIP_DEFLATE);
        add_labels("y.npy", three, 0);
        zip.bytes[lies[i].local] = (unsigned char)(zip.bytes[lies[i].local] + lies[i].by);
        zip.directory[lies[i].entry] = (unsigned char)(zip.directory[lies[i].entry] + lies[i].by);
        finish(0);
        mfpg_data_options options = reading_npz();
        EXPECT_ERROR(&options, "member \"x.npy\": byte ", lies[i].what);
    }
    begin();
    add_features("x.npy", ZIP_DESCRIPTOR);
    add_labels("y.npy", three, 0);
    for (size_t at = 0; at + 4 < zip.length; at++)
        if (memcmp(zip.bytes + at, "PK\7\10", 4) == 0)
            zip.bytes[at + 8] ^= 1; /* packed size after the data */
    finish(0);
    mfpg_data_options options = reading_npz();
    EXPECT_ERROR(&options, "descriptor after its data contradicts");
    begin();
    add_features("x.npy", 0);
    add_features("x.npy", 0);
    finish(0);
    EXPECT_ERROR(&options, "byte", "occurs twice");
}

static void test_an_archive_is_recognised_and_suggested(void **state) {
    (void)state;
    begin();
    add_features("x.npy", 0);
    add_labels("y.npy", three, 0);
    finish(0);
    mfpg_data_options options = reading_npz();
    options.format = "csv";
    EXPECT_ERROR(&options, "a.npz:", "data.format: npz");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_way_of_writing_reads),
        cmocka_unit_test(test_a_comment_behind_the_archive_is_skipped),
        cmocka_unit_test(test_shape_decides_and_then_the_name),
        cmocka_unit_test(test_without_labels_the_last_column_is_one),
        cmocka_unit_test(test_the_test_arrays_are_those_of_test_files),
        cmocka_unit_test(test_labels_of_another_file_in_another_format),
        cmocka_unit_test(test_what_cannot_be_decided_lists_the_members),
        cmocka_unit_test(test_what_is_not_read_is_named),
        cmocka_unit_test(test_sizes_and_checksums_are_those_of_the_data),
        cmocka_unit_test(test_an_archive_is_recognised_and_suggested),
    };
    return FIXTURE_RUN(tests);
}
