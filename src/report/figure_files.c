#include "figure_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

mfpg_status mfpg_figure_remove(mfpg_context *ctx, const char *folder, const char *name) {
    static const char *const extensions[] = {"csv", "gp", "svg", "png", "pdf"};
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++) {
        char full[128];
        snprintf(full, sizeof full, "%s.%s", name, extensions[i]);
        char *path = mfpg_path_join(folder, full);
        if (!path) return mfpg_fail_memory(ctx);
        unlink(path); /* what is not there is gone */
        free(path);
    }
    return MFPG_OK;
}
