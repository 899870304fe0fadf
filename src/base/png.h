/* Grey pictures as PNG files (ISO/IEC 15948): eight bits a pixel, no filter, one block of data. */
#ifndef MFPG_BASE_PNG_H
#define MFPG_BASE_PNG_H

#include <stddef.h>

#include "mfpg/context.h"

/* The bytes of the file of width x height pixels, row-major, 0 black; *bytes is to be freed. MFPG_ERR_DOMAIN for sides below 1 or above
 * 2^15. */
mfpg_status mfpg_png_grey(mfpg_context *ctx, ptrdiff_t width, ptrdiff_t height, const unsigned char *pixel,
    unsigned char **bytes, size_t *size);

#endif
