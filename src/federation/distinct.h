/* A table that gives equal things the same number. */
#ifndef MFPG_FEDERATION_DISTINCT_H
#define MFPG_FEDERATION_DISTINCT_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/context.h"

/* Numbers of distinct things: an open hash table of hashes and numbers. It begins as zeros and is freed by
 * mfpg_distinct_clear. */
typedef struct mfpg_distinct {
    uint64_t *hash;  /* slots */
    int32_t *number; /* one per slot: -1 if the slot is empty */
    ptrdiff_t slots, used;
} mfpg_distinct;

/* Returns 1 if the thing that is searched for equals the one with that number. */
typedef int (*mfpg_alike)(const void *user, int32_t number);

/* Sets *number to that of an equal thing with that hash. If there is none, the thing gets the number
 * `fresh`. */
mfpg_status mfpg_distinct_find(mfpg_context *ctx, mfpg_distinct *distinct, uint64_t hash, mfpg_alike alike,
    const void *user, int32_t fresh, int32_t *number);
void mfpg_distinct_clear(mfpg_distinct *distinct);

#endif
