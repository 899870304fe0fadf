/* Every way through mfpg_federated_data_create, with the k-th allocation failing, for all k until it succeeds. */
#include "fixture.h"

#include "failing_memory.h"
#include "mfpg/data_check.h"
#include "zip_build.h"

/* Fails the first allocation, then the second, ..., and demands a clean MFPG_ERR_MEMORY each time. */
static void sweep(const mfpg_data_options *options) {
    mfpg_context *ctx = testing_context(1); /* one thread: the counter is not shared */
    mfpg_key key = mfpg_key_from_seed(1);
    for (int once = 0; once < 2; once++) {
        int failed = 1;
        for (long k = 0; failed; k++) {
            mfpg_federated_data *data = NULL;
            begin_failing(k, once);
            mfpg_status status = mfpg_federated_data_create(ctx, options, &key, &data);
            failed = end_failing();
            assert_int_equal(status, failed ? MFPG_ERR_MEMORY : MFPG_OK);
            assert_int_equal(data == NULL, failed);
            mfpg_federated_data_destroy(data);
            if (!failed) assert_true(k > 5);
        }
    }
    mfpg_context_destroy(ctx);
}

static void test_files_with_everything_survive(void **state) {
    (void)state;
    static char path[600];
    const char *files[] = {"x/one.csv", "y/one.csv"}, *drop[] = {"note"}, *values[] = {"u", "v", "w"};
    const mfpg_category category = {"k", values, 3};
    snprintf(path, sizeof path, "%s/bounds.csv", fixture_folder);
    write_text("bounds.csv", "column,low,high\na,0,10\n");
    write_text(files[0], "a,k,note,y\n1,u,,N\n?,v,\"x\",Y\n3,w,z,Y\n");
    write_text(files[1], "a,k,note,y\n1,u,,N\n5,v,x,Y\n");
    mfpg_data_options options = reading(files, 2);
    options.drop_columns = drop;
    options.drop_count = 1;
    options.categories = &category;
    options.category_count = 1;
    options.positive = "Y";
    options.binary_labels = 1;
    options.missing = MFPG_MISSING_MEAN;
    options.test_fraction = 0.4;
    options.scale = MFPG_SCALE_BOUNDS;
    options.bounds_file = path;
    sweep(&options);
    options.scale = MFPG_SCALE_FROM_DATA;
    options.bounds_file = NULL;
    sweep(&options);
}

static void test_partitions_survive(void **state) {
    (void)state;
    mfpg_data_options options = reading_text("1,n,0\n2,s,1\n3,n,0\n4,s,1\n5,n,0\n6,s,1\n7,n,1\n8,s,0\n");
    const char *names[] = {"a", "ward", "y"}, *drop[] = {"ward"};
    options.header = 0;
    options.columns = names;
    options.column_count = 3;
    options.partition_column = "ward";
    options.clients = 2;
    options.alpha = 100;
    options.shards_per_client = 2;
    options.test_fraction = 0.5;
    for (int kind = MFPG_PARTITION_COLUMN; kind <= MFPG_PARTITION_SHARDS; kind++) {
        options.partition = (mfpg_partition_kind)kind;
        options.drop_columns = drop;
        options.drop_count = kind != MFPG_PARTITION_COLUMN;
        sweep(&options);
    }
}

static void test_arrays_survive(void **state) {
    (void)state;
    static zip_build zip;
    static const char *const archive[] = {"a.npz"}, *const array[] = {"a.npy"}, *const idx[] = {"labels"};
    const float values[] = {1, 2, 3, 4, 5, 6};
    const unsigned char bytes[] = {0, 0, 8, 1, 0, 0, 0, 3, 1, 0, 1}, classes[] = {1, 0, 1};
    unsigned char npy[512];
    zip_add_array(&zip, "x.npy", "<f4", "(3, 2)", values, sizeof values, ZIP_DEFLATE);
    zip_add_array(&zip, "y.npy", "|u1", "(3,)", classes, sizeof classes, 0);
    write_bytes("a.npz", zip.bytes, zip_finish(&zip, 0));
    write_bytes("a.npy", npy, npy_build(npy, "<f4", "(3, 2)", values, sizeof values));
    write_bytes("labels", bytes, sizeof bytes);
    mfpg_data_options options = reading(archive, 1);
    options.format = "npz";
    sweep(&options);
    options = reading(array, 1);
    options.format = "npy";
    options.labels = idx;
    options.label_file_count = 1;
    sweep(&options);
}

/* The same for a look at a file. */
static void sweep_check(const char *name) {
    mfpg_context *ctx = testing_context(1);
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", fixture_folder, name);
    for (int once = 0; once < 2; once++) {
        int failed = 1;
        for (long k = 0; failed; k++) {
            mfpg_data_report *report = NULL;
            begin_failing(k, once);
            mfpg_status status = mfpg_data_check(ctx, path, NULL, &report);
            failed = end_failing();
            if (status != (failed ? MFPG_ERR_MEMORY : MFPG_OK))
                fail_msg(
                    "%s, allocation %ld%s: %s", name, k, once ? " alone" : "", mfpg_context_message(ctx));
            assert_int_equal(report == NULL, failed);
            mfpg_data_report_destroy(report);
            if (!failed) assert_true(k > 20);
        }
    }
    mfpg_context_destroy(ctx);
}

static void test_checks_survive(void **state) {
    (void)state;
    sweep_check(write_text("a.csv", "\xEF\xBB\xBFsite;a;k;n;e;y\r\nn;1;u;-9;;yes.\nn;?;v;1,5;;no\n\ns;0;u;x;;"
                                    "yes\ns;0;u;x;;yes\ns;5;5;7;;yes"));
    sweep_check(write_text("a.txt", "1 1:1 2:0 \n0 2:5 # c\n"));
    sweep_check("a.npz");
}

static void test_synthetic_data_survive(void **state) {
    (void)state;
    mfpg_data_options options = mfpg_data_options_default();
    options.format = "synthetic";
    options.clients = 2;
    options.rows = 5;
    options.dimension = 3;
    options.common_test_rows = 4;
    for (int kind = MFPG_SYNTHETIC_QUADRATIC; kind <= MFPG_SYNTHETIC_CLINICS; kind++) {
        options.synthetic = (mfpg_synthetic_kind)kind;
        sweep(&options);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_with_everything_survive),
        cmocka_unit_test(test_partitions_survive),
        cmocka_unit_test(test_arrays_survive),
        cmocka_unit_test(test_checks_survive),
        cmocka_unit_test(test_synthetic_data_survive),
    };
    return FIXTURE_RUN(tests);
}
