#include "embedded.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "file.h"

const mfpg_embedded *mfpg_embedded_find(const char *name) {
    const mfpg_embedded *file = mfpg_embedded_files;
    while (file->name && strcmp(file->name, name) != 0) file++;
    assert(file->name);
    return file;
}

mfpg_status mfpg_embedded_write(mfpg_context *ctx, const char *folder, const char *name) {
    const mfpg_embedded *embedded = mfpg_embedded_find(name);
    mfpg_file file;
    mfpg_status status = mfpg_file_create_in(ctx, folder, name, &file);
    if (status != MFPG_OK) return status;
    fwrite(embedded->bytes, 1, embedded->size, file.stream);
    return mfpg_file_commit(ctx, &file);
}
