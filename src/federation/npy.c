#include "npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/npy_header.h"

mfpg_status mfpg_npy_write_vector(mfpg_context *ctx, const char *path, const float *w, ptrdiff_t count) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create(ctx, path, &file);
    if (status != MFPG_OK) return status;
    mfpg_npy_write_header(file.stream, "<f4", &count, 1);
    fwrite(w, sizeof *w, (size_t)count, file.stream);
    return mfpg_file_commit(ctx, &file);
}

/* The header's length where it is an npy file of version 1 or 2 whose dictionary names float32 and (count,). */
static size_t data_offset(const char *text, size_t length, ptrdiff_t count) {
    const unsigned char *bytes = (const unsigned char *)text;
    if (length < 12 || memcmp(text, "\x93NUMPY", 6) != 0 || bytes[6] < 1 || bytes[6] > 2) return 0;
    size_t head = bytes[6] == 1 ? 10 : 12;
    size_t size = bytes[8] + 256u * bytes[9];
    if (bytes[6] == 2) size += 65536u * bytes[10] + 16777216u * bytes[11];
    if (size > length - head) return 0;
    char shape[64];
    snprintf(shape, sizeof shape, "(%td,)", count);
    const char *const needed[] = {"'<f4'", "'fortran_order': False", shape};
    for (int i = 0; i < 3; i++)
        if (!memmem(text + head, size, needed[i], strlen(needed[i]))) return 0;
    return length - head - size == (size_t)count * sizeof(float) ? head + size : 0;
}

mfpg_status mfpg_npy_read_vector(mfpg_context *ctx, const char *path, ptrdiff_t count, float **w) {
    char *text = NULL;
    size_t length = 0;
    mfpg_status status = mfpg_file_read(ctx, path, (size_t)count * sizeof(float) + 65536, &text, &length);
    if (status != MFPG_OK) return status;
    size_t offset = data_offset(text, length, count);
    float *values = offset ? mfpg_alloc(count, sizeof *values) : NULL;
    if (!offset)
        status = mfpg_fail(
            ctx, MFPG_ERR_INPUT, "%s: is no NumPy file of one float32 vector of %td entries", path, count);
    else if (!values)
        status = mfpg_fail_memory(ctx);
    else
        memcpy(values, text + offset, (size_t)count * sizeof *values);
    free(text);
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK; i++)
        if (!isfinite(values[i]))
            status = mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: entry %td is not finite", path, i);
    if (status != MFPG_OK) {
        free(values);
        return status;
    }
    *w = values;
    return MFPG_OK;
}
