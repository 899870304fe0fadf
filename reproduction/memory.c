/* A file of its own, so that tests can put an allocation that fails in its place. */
#include <stdint.h>
#include <stdlib.h>

#include "support.h"

void *reproduction_alloc(ptrdiff_t count, size_t size) {
    if (count < 0 || size == 0 || (size_t)count > (size_t)PTRDIFF_MAX / size) return NULL;
    return calloc(count > 0 ? (size_t)count : 1, size);
}
