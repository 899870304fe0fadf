/* A program that includes this has its own allocation functions in place of src/base/memory.c, of which the k-th fails. */
#ifndef MFPG_TESTS_FAILING_MEMORY_H
#define MFPG_TESTS_FAILING_MEMORY_H

#include "testing.h"

#include <jansson.h>

#include "base/memory.h"

static long allocations_left = -1; /* < 0: no limit. Not for several threads */
static int fails_once;             /* 1: after the one that failed all others succeed */
static int has_failed;
static size_t largest_block = SIZE_MAX; /* bytes; larger ones fail */

static int may_allocate(ptrdiff_t count, size_t size) {
    if (count < 0 || size == 0 || (size_t)count > (size_t)PTRDIFF_MAX / size) return 0;
    if ((size_t)count * size > largest_block) return 0;
    if (allocations_left == 0) {
        has_failed = 1;
        if (fails_once) allocations_left = -1;
        return 0;
    }
    if (allocations_left > 0) allocations_left--;
    return 1;
}

void *mfpg_alloc(ptrdiff_t count, size_t size) {
    return may_allocate(count, size) ? calloc(count > 0 ? (size_t)count : 1, size) : NULL;
}

float *mfpg_alloc_floats(ptrdiff_t count) {
    return mfpg_alloc(count, sizeof(float));
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

/* The allocation after the next k fails: it alone, or all from there on. */
static inline void begin_failing(long k, int once) {
    allocations_left = k;
    fails_once = once;
    has_failed = 0;
}

/* Memory is there again. Returns whether the failure came. */
static inline int end_failing(void) {
    allocations_left = -1;
    fails_once = 0;
    return has_failed;
}

/* Calls with no allocation allowed, then one, two ... until none fails, and then again with a single one that fails. A call
 * that fails must fail with MFPG_ERR_MEMORY; one may succeed without a block that it can do without. The call checks what
 * it got and frees what it made; address sanitizer finds what was left. Returns how many allocations success takes. */
static inline long sweep_allocations(mfpg_status (*call)(void *arg), void *arg) {
    long k = 0;
    for (int once = 0; once < 2; once++) {
        for (k = 0;; k++) {
            begin_failing(k, once);
            mfpg_status status = call(arg);
            if (!end_failing()) {
                assert_int_equal(status, MFPG_OK);
                break;
            }
            assert_true(status == MFPG_OK || status == MFPG_ERR_MEMORY);
        }
    }
    return k;
}

#endif
