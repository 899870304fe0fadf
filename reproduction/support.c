#include "support.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

mfpg_status reproduction_write_script(mfpg_context *ctx, const char *folder, const char *name) {
    const reproduction_script *script = reproduction_scripts;
    while (script->name && strcmp(script->name, name) != 0) script++;
    assert(script->name);
    return mfpg_file_write(ctx, folder, name, script->bytes, script->size);
}

void reproduction_remove_figure(const char *folder, const char *name) {
    static const char *const extensions[] = {"csv", "gp", "svg", "png", "pdf"};
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++) {
        char path[4200];
        int length = snprintf(path, sizeof path, "%s/%s.%s", folder, name, extensions[i]);
        if (length < (int)sizeof path) unlink(path); /* a file that does not exist counts as removed */
    }
}
