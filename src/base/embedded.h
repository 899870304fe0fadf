/* Files of the source tree that the program carries within itself (cmake/embed.cmake). */
#ifndef MFPG_BASE_EMBEDDED_H
#define MFPG_BASE_EMBEDDED_H

#include <stddef.h>

#include "mfpg/program.h"

typedef struct mfpg_embedded {
    const char *name;  /* without its folder; NULL: the end of the list */
    const char *bytes; /* with a closing 0 behind them */
    size_t size;
} mfpg_embedded;

extern const mfpg_embedded mfpg_embedded_files[];

/* The file of that name, which the build has put there: a name that is not there is a fault of the program. */
const mfpg_embedded *mfpg_embedded_find(const char *name);

/* Writes a copy of that file into a folder, whole or absent. */
mfpg_status mfpg_embedded_write(mfpg_context *ctx, const char *folder, const char *name);

#endif
