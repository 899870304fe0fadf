/* A folder of small files for one test program, and the way from a text to a federation or to its error. */
#ifndef MFPG_TESTS_DATA_FIXTURE_H
#define MFPG_TESTS_DATA_FIXTURE_H

#include "testing.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mfpg/dataset.h"

static char fixture_folder[512];
static mfpg_context *fixture_ctx;
static char fixture_warning[1024]; /* the last warning */

static inline void fixture_warn(void *user, const char *text) {
    (void)user;
    snprintf(fixture_warning, sizeof fixture_warning, "%s", text);
}

static inline int fixture_open(void **state) {
    (void)state;
    const char *root = getenv("TMPDIR");
    snprintf(fixture_folder, sizeof fixture_folder, "%s/mfpg-data-XXXXXX", root && *root ? root : "/tmp");
    mfpg_context_options options = mfpg_context_options_default();
    options.threads = 2;
    options.warn = fixture_warn;
    if (mfpg_context_create(&options, &fixture_ctx) != MFPG_OK) return -1;
    return mkdtemp(fixture_folder) ? 0 : -1;
}

static inline int fixture_remove(const char *path, const struct stat *info, int kind, struct FTW *where) {
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

static inline int fixture_close(void **state) {
    (void)state;
    mfpg_context_destroy(fixture_ctx);
    return nftw(fixture_folder, fixture_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file of the folder; sub-folders are made. Returns name. */
static inline const char *write_bytes(const char *name, const void *bytes, size_t length) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", fixture_folder, name);
    char *slash = strrchr(path, '/');
    *slash = 0;
    if (access(path, F_OK) != 0) assert_int_equal(mkdir(path, 0777), 0);
    *slash = '/';
    remove(path); /* a file that is written over would be flushed to the disk by some file systems */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return name;
}

static inline const char *write_text(const char *name, const char *text) {
    return write_bytes(name, text, strlen(text));
}

/* Options that read files of the folder and keep every row for training. */
static inline mfpg_data_options reading(const char *const *files, ptrdiff_t count) {
    mfpg_data_options options = mfpg_data_options_default();
    options.directory = fixture_folder;
    options.files = files;
    options.file_count = count;
    options.test_fraction = 0;
    return options;
}

/* The same for one file a.csv of that text. */
static inline mfpg_data_options reading_text(const char *text) {
    static const char *const files[] = {"a.csv"};
    write_text("a.csv", text);
    return reading(files, 1);
}

static inline mfpg_federated_data *make_data_of_seed(const mfpg_data_options *options, uint64_t seed) {
    mfpg_key key = mfpg_key_from_seed(seed);
    mfpg_federated_data *data = NULL;
    CHECK_OK(fixture_ctx, mfpg_federated_data_create(fixture_ctx, options, &key, &data));
    assert_non_null(data);
    return data;
}

static inline mfpg_federated_data *make_data(const mfpg_data_options *options) {
    return make_data_of_seed(options, 1);
}

/* The options fail with MFPG_ERR_INPUT and a one-line message that holds all the parts (up to NULL). */
static inline void expect_error_parts(const mfpg_data_options *options, const char *const *parts) {
    mfpg_key key = mfpg_key_from_seed(1);
    mfpg_federated_data *data = NULL;
    mfpg_status status = mfpg_federated_data_create(fixture_ctx, options, &key, &data);
    assert_null(data);
    assert_int_equal(status, MFPG_ERR_INPUT);
    const char *message = mfpg_context_message(fixture_ctx);
    assert_null(strchr(message, '\n'));
    for (; *parts; parts++) {
        if (strstr(message, *parts)) continue;
        print_error("message \"%s\" lacks \"%s\"\n", message, *parts);
        fail();
    }
}

#define EXPECT_ERROR(options, ...) expect_error_parts(options, (const char *const[]){__VA_ARGS__, NULL})

/* The client's training features and labels are exactly these. */
static inline void expect_rows(
    const mfpg_federated_data *data, ptrdiff_t client, ptrdiff_t rows, const float *x, const float *y) {
    assert_true(client < data->clients);
    const mfpg_dataset *set = &data->client[client].train;
    assert_int_equal(set->rows, rows);
    assert_int_equal(set->features, data->features);
    for (ptrdiff_t i = 0; i < rows * data->features; i++) assert_float_equal(set->x[i], x[i], 0);
    for (ptrdiff_t i = 0; i < rows; i++) assert_float_equal(set->y[i], y[i], 0);
}

/* The text reads as one client with these rows of two features and a label. */
static inline void expect_two_features(
    const mfpg_data_options *options, ptrdiff_t rows, const float *x, const float *y) {
    mfpg_federated_data *data = make_data(options);
    assert_int_equal(data->features, 2);
    expect_rows(data, 0, rows, x, y);
    mfpg_federated_data_destroy(data);
}

#define FIXTURE_RUN(tests) cmocka_run_group_tests(tests, fixture_open, fixture_close)

#endif
