/* What the processes of a group do together. Without a group every call is a no-op of a group of one. */
#ifndef MFPG_BASE_RANKS_H
#define MFPG_BASE_RANKS_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/context.h"

int mfpg_ranks_size(const mfpg_context *ctx);
int mfpg_ranks_rank(const mfpg_context *ctx);

/* Who writes files, prints and keeps the ledger. */
static inline int mfpg_ranks_first(const mfpg_context *ctx) {
    return mfpg_ranks_rank(ctx) == 0;
}

/* numbers[i] becomes the sum over all ranks; the caller knows that it fits. */
mfpg_status mfpg_ranks_sum(mfpg_context *ctx, int64_t *numbers, ptrdiff_t count);

/* Where one rank failed, all fail, with its status and message; of several the lowest. Where a status can differ from
 * rank to rank, this comes before the next call that all have to make. */
mfpg_status mfpg_ranks_agree(mfpg_context *ctx, mfpg_status status);

/* *flag becomes 1 on all where it is not 0 on any. */
mfpg_status mfpg_ranks_any(mfpg_context *ctx, int *flag);

/* Words of 64 bits, doubles among them: every word is known to one rank, is 0 on the others, and is known to all then. */
mfpg_status mfpg_ranks_share(mfpg_context *ctx, void *words, ptrdiff_t count);

/* Bytes of the first rank become those of all; of the others only the room counts. */
mfpg_status mfpg_ranks_hand_out(mfpg_context *ctx, void *bytes, size_t size);

/* The same for a block whose size only the first rank knows: *block and *size are set on the others, which free it. On the
 * first rank they stay. A failure is the same on all. */
mfpg_status mfpg_ranks_hand_out_block(mfpg_context *ctx, char **block, size_t *size);

#endif
