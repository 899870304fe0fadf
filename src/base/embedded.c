#include "embedded.h"

#include <assert.h>
#include <string.h>

const mfpg_embedded *mfpg_embedded_find(const char *name) {
    const mfpg_embedded *file = mfpg_embedded_files;
    while (file->name && strcmp(file->name, name) != 0) file++;
    assert(file->name);
    return file;
}

mfpg_status mfpg_embedded_write(mfpg_context *ctx, const char *folder, const char *name) {
    const mfpg_embedded *file = mfpg_embedded_find(name);
    return mfpg_file_write(ctx, folder, name, file->bytes, file->size);
}
