/* Allocation with checked sizes. The library allocates all its memory here and frees it with free(). */
#ifndef MFPG_BASE_MEMORY_H
#define MFPG_BASE_MEMORY_H

#include <stddef.h>

/* Returns zeroed memory for count things of the given size, or NULL, also for a negative count or a product
 * that overflows. A count of 0 gives a valid pointer, so that NULL always means failure. */
void *mfpg_alloc(ptrdiff_t count, size_t size);

/* Does the same for floats of hot loops, aligned to a cache line. */
float *mfpg_alloc_floats(ptrdiff_t count);

/* Grows (or creates) an array for count things; the new part is not zeroed. On failure it returns NULL and
 * leaves the old block unchanged. */
void *mfpg_resize(void *block, ptrdiff_t count, size_t size);

/* Makes room for one more element than count in an array of *room elements. Returns the array itself or a
 * larger one that replaces it; NULL if memory is exhausted. */
void *mfpg_room_for_one(void *array, ptrdiff_t count, ptrdiff_t *room, size_t size);

/* Blocks that are freed together. All zeros is an empty pool. */
typedef struct mfpg_pool {
    void **block; /* count, and memory for room of them */
    ptrdiff_t count, room;
    int failed; /* 1: some block could not be allocated */
} mfpg_pool;

/* Gives the pool a block to free; NULL counts as a failure. Returns the block, or NULL. */
void *mfpg_pool_own(mfpg_pool *pool, void *block);

/* Does the same as mfpg_alloc, for a block of the pool. */
void *mfpg_pool_alloc(mfpg_pool *pool, ptrdiff_t count, size_t size);

/* Frees all blocks; the pool is empty again. */
void mfpg_pool_clear(mfpg_pool *pool);
/* Returns a copy of the first length bytes of text with a closing 0, or NULL. */
char *mfpg_text_copy(const char *text, size_t length);

#endif
