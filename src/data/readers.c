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

static const mfpg_reader_ops *const readers[] = {
#define ENTRY(name) &mfpg_reader_##name,
#include "readers.def"
#undef ENTRY
};

enum { READERS = sizeof readers / sizeof readers[0] };

const char *mfpg_reader_name(ptrdiff_t index) {
    return index >= 0 && index < READERS ? readers[index]->name : NULL;
}

const char *mfpg_reader_help(ptrdiff_t index) {
    return index >= 0 && index < READERS ? readers[index]->help : NULL;
}

int mfpg_reader_facts(const char *name) {
    for (ptrdiff_t i = 0; name && i < READERS; i++)
        if (strcmp(readers[i]->name, name) == 0)
            return (readers[i]->arrays ? MFPG_READER_ARRAYS : 0) |
                   (readers[i]->infers_features ? MFPG_READER_INFERS_FEATURES : 0) |
                   (readers[i]->pictures ? MFPG_READER_PICTURES : 0);
    return 0;
}

mfpg_status mfpg_reader_find(mfpg_context *ctx, const char *name, const mfpg_reader_ops **out) {
    const char *names[READERS + 1];
    for (ptrdiff_t i = 0; i < READERS; i++) {
        if (strcmp(readers[i]->name, name) == 0) {
            *out = readers[i];
            return MFPG_OK;
        }
        names[i] = readers[i]->name;
    }
    names[READERS] = "synthetic";
    return mfpg_names_unknown(ctx, "data.format", name, names, READERS + 1);
}

const mfpg_reader_ops *mfpg_reader_recognise(const unsigned char *head, size_t length) {
    for (ptrdiff_t i = 0; i < READERS; i++)
        if (readers[i]->sniff(head, length)) return readers[i];
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
