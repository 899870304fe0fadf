#include "embedded.h"

#include <assert.h>
#include <string.h>

const mfpg_embedded *mfpg_embedded_find(const char *name) {
    const mfpg_embedded *file = mfpg_embedded_files;
    while (file->name && strcmp(file->name, name) != 0) file++;
    assert(file->name);
    return file;
}
