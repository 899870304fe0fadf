/* Memory of federations: blocks that end together, arrays that grow, and things that are alike, which share a number. */
#ifndef MFPG_FEDERATION_STORAGE_H
#define MFPG_FEDERATION_STORAGE_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/context.h"

/* Blocks that end together. Begins as zeros; freed by mfpg_kept_clear. */
typedef struct mfpg_kept {
    void **block;
    ptrdiff_t count, room;
    int starved; /* 1: a block could not be had */
} mfpg_kept;

/* The block; NULL, and kept->starved 1, if it is NULL or there is no memory to keep it. */
void *mfpg_keep(mfpg_kept *kept, void *block);
void mfpg_kept_clear(mfpg_kept *kept);

/* An array of *room things with room for one more than count: the array itself, or a larger one in its place; NULL without memory. */
void *mfpg_room_for_one(void *array, ptrdiff_t count, ptrdiff_t *room, size_t size);

/* Numbers of distinct things: an open hash table of hashes and numbers. Begins as zeros; freed by mfpg_distinct_clear. */
typedef struct mfpg_distinct {
    uint64_t *hash;  /* slots */
    int32_t *number; /* slots: -1 if nothing is there */
    ptrdiff_t slots, used;
} mfpg_distinct;

/* 1 if the thing that is looked for is like the one with that number. */
typedef int (*mfpg_alike)(const void *user, int32_t number);

/* *number: that of what is alike and has that hash; fresh if there is nothing alike, which then has the number fresh. */
mfpg_status mfpg_distinct_find(mfpg_context *ctx, mfpg_distinct *distinct, uint64_t hash, mfpg_alike alike,
    const void *user, int32_t fresh, int32_t *number);
void mfpg_distinct_clear(mfpg_distinct *distinct);

#endif
