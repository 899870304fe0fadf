/* A separate file, so that the allocations of pools fail too if tests replace memory.c. */
#include <stdlib.h>

#include "memory.h"

void *mfpg_room_for_one(void *array, ptrdiff_t count, ptrdiff_t *room, size_t size) {
    if (count < *room) return array;
    void *larger = mfpg_resize(array, *room + *room / 2 + 16, size);
    if (larger) *room += *room / 2 + 16;
    return larger;
}

void *mfpg_pool_own(mfpg_pool *pool, void *block) {
    void **larger = block ? mfpg_room_for_one(pool->block, pool->count, &pool->room, sizeof *larger) : NULL;
    if (larger) {
        pool->block = larger;
        return pool->block[pool->count++] = block;
    }
    pool->failed = 1;
    free(block);
    return NULL;
}

void *mfpg_pool_alloc(mfpg_pool *pool, ptrdiff_t count, size_t size) {
    return mfpg_pool_own(pool, mfpg_alloc(count, size));
}

void mfpg_pool_clear(mfpg_pool *pool) {
    for (ptrdiff_t i = 0; i < pool->count; i++) free(pool->block[i]);
    free(pool->block);
    *pool = (mfpg_pool){0};
}
