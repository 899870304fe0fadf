/* The options' files into tables. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "frame.h"
#include "readers.h"

/* ---- files that are named twice ---- */

static const char *name_of(const mfpg_data_options *options, ptrdiff_t index) {
    ptrdiff_t files = options->file_count;
    return index < files ? options->files[index] : options->test_files[index - files];
}

static mfpg_status fail_pair(
    mfpg_context *ctx, const mfpg_data_options *options, ptrdiff_t first, ptrdiff_t second) {
    const char *one = name_of(options, first), *other = name_of(options, second),
               *key = second < options->file_count ? "files" : "test_files";
    if (first < options->file_count && second >= options->file_count)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "data.test_files: %s is the same file as %s of data.files; nobody is tested on what was trained "
            "on (evaluate=train measures that)",
            other, one);
    if (strcmp(one, other) == 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "data.%s: \"%s\" is given twice", key, one);
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "data.%s: %s and %s are the same file; each may be named once, or its rows count twice", key, one,
        other);
}

/* Compares all regular files by the system's numbers; missing files are reported later by the readers.
 * splits: a test file may be a file of the clients. */
static mfpg_status check_distinct(mfpg_context *ctx, const mfpg_data_options *options, int splits) {
    ptrdiff_t all = options->file_count + options->test_file_count;
    mfpg_lookup seen = {0};
    ptrdiff_t *index = mfpg_alloc(all, sizeof *index); /* of each seen file, the last name */
    mfpg_status status = index ? MFPG_OK : mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < all && status == MFPG_OK; i++) {
        struct stat info;
        char *path = mfpg_path_join(options->directory, name_of(options, i));
        int regular = path && stat(path, &info) == 0 && S_ISREG(info.st_mode);
        free(path);
        if (!path) status = mfpg_fail_memory(ctx);
        if (!regular) continue;
        const uint64_t identity[] = {(uint64_t)info.st_dev, (uint64_t)info.st_ino};
        ptrdiff_t known = seen.count;
        ptrdiff_t file = mfpg_lookup_add(&seen, (mfpg_slice){(const char *)identity, sizeof identity});
        if (file < 0) {
            status = mfpg_fail_memory(ctx);
            continue;
        }
        int apart = index[file] < options->file_count && i >= options->file_count;
        if (file < known && !(splits && apart)) status = fail_pair(ctx, options, index[file], i);
        index[file] = i;
    }
    mfpg_lookup_clear(&seen);
    free(index);
    return status;
}

/* ---- reading ---- */

typedef struct reading {
    const mfpg_data_options *options;
    const mfpg_reader_ops *reader;
    mfpg_table *tables;
} reading;

static mfpg_status read_table(mfpg_context *ctx, const reading *r, const char *name, mfpg_table *table) {
    char *path = mfpg_path_join(r->options->directory, name);
    if (!path) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_reader_read(ctx, r->reader, path, r->options, table);
    free(path);
    return status;
}

/* A file of the clients or, after those, of the common test set. */
static mfpg_status read_file(mfpg_context *ctx, ptrdiff_t index, int worker, void *arg) {
    (void)worker;
    const reading *r = arg;
    const mfpg_data_options *o = r->options;
    int test = index >= o->file_count;
    mfpg_table *table = &r->tables[index], labels = {.part = MFPG_PART_LABELS, .test = test};
    const char *const *labels_of = test ? o->test_labels : o->labels;
    table->part = labels_of ? MFPG_PART_FEATURES : MFPG_PART_BOTH;
    table->test = test;
    mfpg_status status = read_table(ctx, r, name_of(o, index), table);
    if (status == MFPG_OK && labels_of)
        status = read_table(ctx, r, labels_of[test ? index - o->file_count : index], &labels);
    if (status == MFPG_OK && labels_of) status = mfpg_table_add_label(ctx, table, &labels);
    if (!test && o->first_rows > 0 && table->rows > o->first_rows) table->rows = o->first_rows;
    mfpg_table_clear(&labels);
    return status;
}

mfpg_status mfpg_frame_read(mfpg_context *ctx, const mfpg_data_options *options, mfpg_frame *frame) {
    ptrdiff_t files = options->file_count + options->test_file_count;
    reading r = {.options = options, .tables = mfpg_alloc(files, sizeof *r.tables)};
    if (!r.tables) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_reader_find(ctx, options->format, &r.reader);
    if (status == MFPG_OK) status = check_distinct(ctx, options, r.reader->splits);
    if (status == MFPG_OK) status = mfpg_tasks_run(ctx, files, read_file, &r);
    if (status == MFPG_OK) status = mfpg_frame_assemble(ctx, options, r.tables, files, frame);
    for (ptrdiff_t t = 0; t < files; t++) mfpg_table_clear(&r.tables[t]);
    free(r.tables);
    return status;
}
