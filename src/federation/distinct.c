#include "distinct.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static void put(mfpg_distinct *distinct, uint64_t hash, int32_t number) {
    ptrdiff_t mask = distinct->slots - 1, at = (ptrdiff_t)(hash & (uint64_t)mask);
    while (distinct->number[at] >= 0) at = (at + 1) & mask;
    distinct->hash[at] = hash;
    distinct->number[at] = number;
}

/* Grows the table so that at most half of its slots are in use, which keeps searches short. */
static mfpg_status make_room(mfpg_context *ctx, mfpg_distinct *distinct) {
    if (2 * distinct->used < distinct->slots) return MFPG_OK;
    mfpg_distinct larger = {.slots = distinct->slots ? 4 * distinct->slots : 1024, .used = distinct->used};
    larger.hash = mfpg_alloc(larger.slots, sizeof *larger.hash);
    larger.number = mfpg_alloc(larger.slots, sizeof *larger.number);
    if (!larger.hash || !larger.number) {
        mfpg_distinct_clear(&larger);
        return mfpg_fail_memory(ctx);
    }
    memset(larger.number, 0xff, (size_t)larger.slots * sizeof *larger.number);
    for (ptrdiff_t i = 0; i < distinct->slots; i++)
        if (distinct->number[i] >= 0) put(&larger, distinct->hash[i], distinct->number[i]);
    mfpg_distinct_clear(distinct);
    *distinct = larger;
    return MFPG_OK;
}

mfpg_status mfpg_distinct_find(mfpg_context *ctx, mfpg_distinct *distinct, uint64_t hash, mfpg_alike alike,
    const void *user, int32_t fresh, int32_t *number) {
    mfpg_status status = make_room(ctx, distinct);
    if (status != MFPG_OK) return status;
    ptrdiff_t mask = distinct->slots - 1;
    for (ptrdiff_t at = (ptrdiff_t)(hash & (uint64_t)mask); distinct->number[at] >= 0; at = (at + 1) & mask)
        if (distinct->hash[at] == hash && alike(user, distinct->number[at])) {
            *number = distinct->number[at];
            return MFPG_OK;
        }
    put(distinct, hash, *number = fresh);
    distinct->used++;
    return MFPG_OK;
}

void mfpg_distinct_clear(mfpg_distinct *distinct) {
    free(distinct->hash);
    free(distinct->number);
    *distinct = (mfpg_distinct){0};
}
