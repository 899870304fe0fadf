/* Every reader of readers.def on every seed of its fuzz corpus, good or bad, with the k-th allocation failing, for all k
 * (beyond 32 in growing steps) until the answer is the one that it is with memory. */
#include "fixture.h"

#include <dirent.h>

#include "data/readers.h"
#include "failing_memory.h"

static mfpg_status read_once(
    mfpg_context *ctx, const mfpg_reader_ops *reader, const char *path, ptrdiff_t *rows, ptrdiff_t *columns) {
    mfpg_data_options options = mfpg_data_options_default();
    mfpg_table table = {0};
    mfpg_status status = reader->read(ctx, path, &options, &table);
    *rows = table.rows;
    *columns = table.columns;
    mfpg_table_clear(&table);
    return status;
}

/* What a search added to the corpus is called by its checksum; the seeds have names. */
static int is_seed(const char *name) {
    return name[0] != '.' && !(strlen(name) == 40 && strspn(name, "0123456789abcdef") == 40);
}

/* Returns how many allocations the file's own answer takes. */
static long sweep(mfpg_context *ctx, const mfpg_reader_ops *reader, const char *path) {
    ptrdiff_t rows, columns, rows_then, columns_then;
    mfpg_status answer = read_once(ctx, reader, path, &rows, &columns);
    assert_true(answer == MFPG_OK || answer == MFPG_ERR_INPUT);
    long k = 0;
    for (int once = 0; once < 2; once++) {
        int failed = 1;
        for (k = 0; failed; k += k < 32 ? 1 : k / 2) { /* hundreds come from one loop over columns */
            begin_failing(k, once);
            mfpg_status status = read_once(ctx, reader, path, &rows_then, &columns_then);
            failed = end_failing();
            if (status != (failed ? MFPG_ERR_MEMORY : answer))
                fail_msg("%s: allocation %ld: %s", path, k, mfpg_context_message(ctx));
            if (status == MFPG_OK) assert_true(rows == rows_then && columns == columns_then);
        }
    }
    return k;
}

static void sweep_folder(mfpg_context *ctx, const mfpg_reader_ops *reader) {
    char folder[512], path[1024];
    int files = 0;
    long most = 0;
    snprintf(folder, sizeof folder, MFPG_SOURCE_DIR "/fuzz/corpus/%s", reader->name);
    DIR *directory = opendir(folder);
    if (!directory) fail_msg("%s: a reader needs a fuzz corpus", folder);
    for (struct dirent *item; (item = readdir(directory));) {
        if (!is_seed(item->d_name)) continue;
        snprintf(path, sizeof path, "%s/%s", folder, item->d_name);
        long needed = sweep(ctx, reader, path);
        if (needed > most) most = needed;
        files++;
    }
    closedir(directory);
    assert_true(files >= 5);
    assert_true(most >= 5); /* some file is read to its end */
}

static void test_every_reader_survives_on_every_seed_of_its_corpus(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (ptrdiff_t i = 0; mfpg_kind_name(&mfpg_readers, i); i++) {
        const mfpg_reader_ops *reader = NULL;
        CHECK_OK(ctx, mfpg_reader_find(ctx, mfpg_kind_name(&mfpg_readers, i), &reader));
        sweep_folder(ctx, reader);
    }
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_reader_survives_on_every_seed_of_its_corpus)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
