/* Numbers things, so that those that are alike share a number: an open hash table of hashes and numbers. */
#ifndef MFPG_FEDERATION_DISTINCT_H
#define MFPG_FEDERATION_DISTINCT_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/context.h"

/* Begins as zeros; freed by mfpg_distinct_clear. */
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
