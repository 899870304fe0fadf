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

void *mfpg_resize(void *block, ptrdiff_t count, size_t size) {
    if (!product_fits(count, size)) return NULL;
    return realloc(block, (count > 0 ? (size_t)count : 1) * size);
}

char *mfpg_text_copy(const char *text, size_t length) {
    char *copy = mfpg_alloc((ptrdiff_t)length + 1, 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}
