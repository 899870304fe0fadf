/* Files that no reader takes: what they are, and how to make a file of them that one does. */
#ifndef MFPG_DATA_FOREIGN_H
#define MFPG_DATA_FOREIGN_H

#include <stddef.h>

#include "mfpg/context.h"

typedef struct mfpg_foreign {
    const char *name;   /* "a MATLAB file" */
    const char *advice; /* how to convert it */
} mfpg_foreign;

/* What a file that begins with these bytes is, or NULL where the beginning is none of a foreign format. */
const mfpg_foreign *mfpg_foreign_recognise(const unsigned char *head, size_t length);

/* MFPG_ERR_INPUT with name and advice. */
mfpg_status mfpg_foreign_fail(mfpg_context *ctx, const char *path, const mfpg_foreign *foreign);

#endif
