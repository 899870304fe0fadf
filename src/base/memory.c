#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int product_fits(ptrdiff_t count, size_t size) {
    return count >= 0 && size > 0 && (size_t)count <= (size_t)PTRDIFF_MAX / size;
}

void *mfpg_alloc(ptrdiff_t count, size_t size) {
    if (!product_fits(count, size)) return NULL;
    return calloc(count > 0 ? (size_t)count : 1, size);
}

float *mfpg_alloc_floats(ptrdiff_t count) {
    const size_t line = 64;
    if (count > PTRDIFF_MAX / (ptrdiff_t)sizeof(float) - (ptrdiff_t)line || count < 0) return NULL;
    size_t bytes = ((size_t)count * sizeof(float) / line + 1) * line;
    float *block = aligned_alloc(line, bytes);
    if (block) memset(block, 0, bytes);
    return block;
}

void *mfpg_resize(void *block, ptrdiff_t count, size_t size) {
    if (!product_fits(count, size)) return NULL;
    return realloc(block, (count > 0 ? (size_t)count : 1) * size);
}

char *mfpg_text_copy(const char *text, size_t length) {
    char *copy = mfpg_alloc((ptrdiff_t)length + 1, 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}
