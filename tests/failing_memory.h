/* A program that includes this has its own allocation functions in place of src/base/memory.c, of which the k-th fails. */
#ifndef MFPG_TESTS_FAILING_MEMORY_H
#define MFPG_TESTS_FAILING_MEMORY_H

#include "testing.h"

#include <jansson.h>

#include "base/memory.h"

static long allocations_left = -1; /* < 0: no limit. Not for several threads */

static int may_allocate(ptrdiff_t count, size_t size) {
    if (count < 0 || size == 0 || (size_t)count > (size_t)PTRDIFF_MAX / size) return 0;
    if (allocations_left == 0) return 0;
    if (allocations_left > 0) allocations_left--;
    return 1;
}

void *mfpg_alloc(ptrdiff_t count, size_t size) {
    return may_allocate(count, size) ? calloc(count > 0 ? (size_t)count : 1, size) : NULL;
}

void *mfpg_resize(void *block, ptrdiff_t count, size_t size) {
    return may_allocate(count, size) ? realloc(block, (count > 0 ? (size_t)count : 1) * size) : NULL;
}

char *mfpg_text_copy(const char *text, size_t length) {
    char *copy = mfpg_alloc((ptrdiff_t)length + 1, 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

static inline void *counted_json(size_t size) {
    return may_allocate(1, size) ? malloc(size) : NULL;
}

/* From now on the allocations of the JSON library count too. */
static inline void count_json_allocations(void) {
    json_set_alloc_funcs(counted_json, free);
}

/* Calls with no allocation allowed, then one, two ... until it succeeds; every other outcome must be MFPG_ERR_MEMORY.
 * The call frees what it made. Returns how many allocations success takes; address sanitizer finds what was left. */
static inline long sweep_allocations(mfpg_status (*call)(void *arg), void *arg) {
    for (long k = 0;; k++) {
        allocations_left = k;
        mfpg_status status = call(arg);
        allocations_left = -1;
        if (status == MFPG_OK) return k;
        assert_int_equal(status, MFPG_ERR_MEMORY);
    }
}

#endif
