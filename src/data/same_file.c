#include "same_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

/* What the system knows a file by. */
typedef struct identity {
    dev_t device;
    ino_t inode;
    ptrdiff_t index; /* among data.files, then data.test_files */
} identity;

static const char *name_of(const mfpg_data_options *options, ptrdiff_t index) {
    ptrdiff_t files = options->file_count;
    return index < files ? options->files[index] : options->test_files[index - files];
}

static int same(const identity *a, const identity *b) {
    return a->device == b->device && a->inode == b->inode;
}

static int by_identity(const void *left, const void *right) {
    const identity *a = left, *b = right;
    if (a->device != b->device) return a->device < b->device ? -1 : 1;
    if (a->inode != b->inode) return a->inode < b->inode ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* The identities of all regular files among them. */
static mfpg_status identify(
    mfpg_context *ctx, const mfpg_data_options *options, identity *known, ptrdiff_t *count) {
    ptrdiff_t all = options->file_count + options->test_file_count;
    for (ptrdiff_t i = 0; i < all; i++) {
        char *path = mfpg_path_join(options->directory, name_of(options, i));
        if (!path) return mfpg_fail_memory(ctx);
        struct stat info;
        if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
            known[(*count)++] = (identity){info.st_dev, info.st_ino, i};
        free(path);
    }
    return MFPG_OK;
}

static mfpg_status fail_pair(
    mfpg_context *ctx, const mfpg_data_options *options, ptrdiff_t first, ptrdiff_t second) {
    const char *one = name_of(options, first), *other = name_of(options, second),
               *key = second < options->file_count ? "files" : "test_files";
    int apart = first < options->file_count && second >= options->file_count;
    if (!apart && strcmp(one, other) == 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "data.%s: \"%s\" is given twice", key, one);
    if (!apart)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "data.%s: %s and %s are the same file; each may be named once, or its rows count twice", key, one,
            other);
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "data.test_files: %s is the same file as %s of data.files; nobody is tested on what was trained on "
        "(evaluate=train measures that)",
        other, one);
}

mfpg_status mfpg_data_check_distinct(mfpg_context *ctx, const mfpg_data_options *options, int splits) {
    ptrdiff_t all = options->file_count + options->test_file_count, count = 0, first = 0, second = all;
    identity *known = mfpg_alloc(all, sizeof *known);
    if (!known) return mfpg_fail_memory(ctx);
    mfpg_status status = identify(ctx, options, known, &count);
    if (status == MFPG_OK) qsort(known, (size_t)count, sizeof *known, by_identity);
    for (ptrdiff_t i = 1; i < count && status == MFPG_OK; i++) {
        int apart = known[i - 1].index < options->file_count && known[i].index >= options->file_count;
        if (!same(&known[i - 1], &known[i]) || known[i].index >= second || (splits && apart)) continue;
        first =
            known[i - 1].index; /* the pair whose second name comes first, whatever numbers the system gave */
        second = known[i].index;
    }
    free(known);
    return status != MFPG_OK || second == all ? status : fail_pair(ctx, options, first, second);
}
