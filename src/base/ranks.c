#include "ranks.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "memory.h"

int mfpg_ranks_size(const mfpg_context *ctx) {
    return ctx->options.group ? ctx->options.group->size : 1;
}

int mfpg_ranks_rank(const mfpg_context *ctx) {
    return ctx->options.group ? ctx->options.group->rank : 0;
}

mfpg_status mfpg_ranks_sum(mfpg_context *ctx, int64_t *numbers, ptrdiff_t count) {
    const mfpg_group *group = ctx->options.group;
    if (!group || group->size == 1 || count == 0) return MFPG_OK;
    ptrdiff_t most = group->most > 0 ? group->most : count;
    int failed = 0;
    for (ptrdiff_t first = 0, part; first < count && !failed; first += part) {
        part = count - first < most ? count - first : most;
        failed = group->sum(group->user, numbers + first, part) != 0;
    }
    if (!failed) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_IO, "rank %d of %d: the processes cannot reach each other any more",
        group->rank, group->size);
}

mfpg_status mfpg_ranks_hand_out(mfpg_context *ctx, void *bytes, size_t size) {
    enum { WORDS = 4096 };
    int64_t words[WORDS];
    mfpg_status status = MFPG_OK;
    if (mfpg_ranks_size(ctx) == 1) return MFPG_OK;
    for (size_t done = 0, part; done < size && status == MFPG_OK; done += part) {
        part = size - done < sizeof words ? size - done : sizeof words;
        memset(words, 0, sizeof words);
        if (mfpg_ranks_first(ctx)) memcpy(words, (char *)bytes + done, part);
        status = mfpg_ranks_share(ctx, words, (ptrdiff_t)((part + sizeof *words - 1) / sizeof *words));
        if (status == MFPG_OK) memcpy((char *)bytes + done, words, part);
    }
    return status;
}

mfpg_status mfpg_ranks_hand_out_block(mfpg_context *ctx, char **block, size_t *size) {
    int first = mfpg_ranks_first(ctx);
    int64_t length = first ? (int64_t)*size : 0;
    if (mfpg_ranks_size(ctx) == 1) return MFPG_OK;
    mfpg_status status = mfpg_ranks_sum(ctx, &length, 1);
    if (status != MFPG_OK) return status;
    char *bytes = first ? *block : mfpg_alloc((ptrdiff_t)length + 1, 1);
    status = mfpg_ranks_agree(ctx, bytes ? MFPG_OK : mfpg_fail_memory(ctx));
    if (status == MFPG_OK) status = mfpg_ranks_hand_out(ctx, bytes, (size_t)length);
    if (status != MFPG_OK && !first) free(bytes);
    if (status != MFPG_OK || first) return status;
    *block = bytes;
    *size = (size_t)length;
    return MFPG_OK;
}

mfpg_status mfpg_ranks_any(mfpg_context *ctx, int *flag) {
    int64_t total = *flag != 0;
    mfpg_status status = mfpg_ranks_sum(ctx, &total, 1);
    *flag = total > 0;
    return status;
}

mfpg_status mfpg_ranks_agree(mfpg_context *ctx, mfpg_status status) {
    enum { MOST = 4096 };
    int64_t failed[MOST] = {0}; /* one number a rank */
    int size = mfpg_ranks_size(ctx), rank = 0;
    if (size == 1) return status;
    if (size > MOST) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%d processes; allowed are 1 to %d", size, MOST);
    failed[mfpg_ranks_rank(ctx)] = (int64_t)status;
    mfpg_status reached = mfpg_ranks_sum(ctx, failed, size);
    if (reached != MFPG_OK) return reached;
    while (rank < size && failed[rank] == MFPG_OK) rank++;
    if (rank == size) return MFPG_OK;
    mfpg_status worst = (mfpg_status)failed[rank];
    union {
        char text[MFPG_MESSAGE_SIZE];
        int64_t words[MFPG_MESSAGE_SIZE / sizeof(int64_t)];
    } message = {{0}};
    if (rank == mfpg_ranks_rank(ctx)) memcpy(message.text, ctx->message, sizeof message.text);
    reached = mfpg_ranks_sum(ctx, message.words, sizeof message.words / sizeof message.words[0]);
    if (reached != MFPG_OK) return reached;
    message.text[sizeof message.text - 1] = 0;
    memcpy(ctx->message, message.text, sizeof ctx->message);
    return rank == 0 ? worst : mfpg_fail_in(ctx, worst, "rank %d of %d", rank, size);
}

mfpg_status mfpg_context_agree(mfpg_context *ctx, mfpg_status status) {
    return mfpg_ranks_agree(ctx, status);
}
