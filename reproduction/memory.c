/* A separate file, so that tests can replace it by an allocation that fails. */
#include <stdint.h>
#include <stdlib.h>

#include "support.h"

void *reproduction_alloc(ptrdiff_t count, size_t size) {
    if (count < 0 || size == 0 || (size_t)count > (size_t)PTRDIFF_MAX / size) return NULL;
    return calloc(count > 0 ? (size_t)count : 1, size);
}
