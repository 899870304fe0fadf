/* Models as NumPy files, format 1.0: one vector of little-endian float32. */
#ifndef MFPG_FEDERATION_NPY_H
#define MFPG_FEDERATION_NPY_H

#include <stddef.h>

#include "mfpg/context.h"

/* Writes w to path, whole or not at all. */
mfpg_status mfpg_npy_write_vector(mfpg_context *ctx, const char *path, const float *w, ptrdiff_t count);

/* Reads a vector of exactly count finite numbers (free it). MFPG_ERR_INPUT says what the file holds instead. */
mfpg_status mfpg_npy_read_vector(mfpg_context *ctx, const char *path, ptrdiff_t count, float **w);

#endif
