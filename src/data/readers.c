#include "readers.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/names.h"

#define ENTRY(name) extern const mfpg_reader_ops mfpg_reader_##name;
#include "readers.def"
#undef ENTRY

static const void *const KINDS[] = {
#define ENTRY(name) &mfpg_reader_##name,
#include "readers.def"
#undef ENTRY
};

const mfpg_kinds mfpg_readers = MFPG_KINDS(KINDS);

int mfpg_reader_facts(const char *name) {
    const mfpg_reader_ops *reader = mfpg_kind_find(&mfpg_readers, name);
    if (!reader) return 0;
    return (reader->arrays ? MFPG_READER_ARRAYS : 0) |
           (reader->infers_features ? MFPG_READER_INFERS_FEATURES : 0) |
           (reader->pictures ? MFPG_READER_PICTURES : 0);
}

mfpg_status mfpg_reader_find(mfpg_context *ctx, const char *name, const mfpg_reader_ops **out) {
    *out = mfpg_kind_find(&mfpg_readers, name);
    return *out ? MFPG_OK : mfpg_kind_unknown(ctx, "data.format", name, &mfpg_readers, "synthetic");
}

const mfpg_reader_ops *mfpg_reader_recognise(const unsigned char *head, size_t length) {
    for (ptrdiff_t i = 0; i < mfpg_readers.count; i++) {
        const mfpg_reader_ops *reader = mfpg_readers.kind[i];
        if (reader->sniff(head, length)) return reader;
    }
    return NULL;
}

mfpg_status mfpg_reader_head(
    mfpg_context *ctx, const char *path, unsigned char head[MFPG_SNIFF_SIZE], size_t *length) {
    FILE *file = NULL;
    struct stat info;
    *length = 0;
    if (stat(path, &info) == 0 && S_ISFIFO(info.st_mode)) return MFPG_OK; /* bytes read of a pipe are gone */
    mfpg_status status = mfpg_file_open(ctx, path, &file);
    if (status != MFPG_OK) return status;
    *length = fread(head, 1, MFPG_SNIFF_SIZE, file);
    fclose(file);
    return MFPG_OK;
}

mfpg_status mfpg_reader_read(mfpg_context *ctx, const mfpg_reader_ops *reader, const char *path,
    const mfpg_data_options *options, mfpg_table *table) {
    unsigned char head[MFPG_SNIFF_SIZE];
    size_t length = 0;
    mfpg_status status = mfpg_reader_head(ctx, path, head, &length);
    if (status != MFPG_OK) return status;
    const mfpg_unsupported *format = mfpg_unsupported_recognise(head, length);
    if (format) return mfpg_unsupported_fail(ctx, path, format);
    const mfpg_reader_ops *other = mfpg_reader_recognise(head, length);
    if (table->part == MFPG_PART_LABELS && other && other->arrays && reader->arrays) reader = other;
    status = reader->read(ctx, path, options, table);
    if (status == MFPG_ERR_INPUT && other && other != reader && !reader->sniff(head, length))
        mfpg_fail_behind(ctx, status, "; the file looks like data.format: %s", other->name);
    return status;
}
