#include "ranks.h"

#include <string.h>

#include "error.h"

int mfpg_ranks_size(const mfpg_context *ctx) {
    return ctx->options.group ? ctx->options.group->size : 1;
}

int mfpg_ranks_rank(const mfpg_context *ctx) {
    return ctx->options.group ? ctx->options.group->rank : 0;
}

mfpg_status mfpg_ranks_sum(mfpg_context *ctx, int64_t *numbers, ptrdiff_t count) {
    const mfpg_group *group = ctx->options.group;
    if (!group || group->size == 1 || count == 0) return MFPG_OK;
    if (group->sum(group->user, numbers, count) == 0) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_IO, "rank %d of %d: the processes cannot reach each other any more",
        group->rank, group->size);
}

mfpg_status mfpg_ranks_share(mfpg_context *ctx, void *words, ptrdiff_t count) {
    /* sums of one number and zeros: the bits of that number */
    return mfpg_ranks_sum(ctx, words, count);
}

mfpg_status mfpg_ranks_any(mfpg_context *ctx, int *flag) {
    int64_t total = *flag != 0;
    mfpg_status status = mfpg_ranks_sum(ctx, &total, 1);
    *flag = total > 0;
    return status;
}

/* One number a rank. */
static mfpg_status lowest_failure(mfpg_context *ctx, mfpg_status status, int *rank) {
    enum { MOST = 4096 };
    int64_t failed[MOST] = {0};
    int size = mfpg_ranks_size(ctx);
    if (size > MOST) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%d processes; allowed are 1 to %d", size, MOST);
    failed[mfpg_ranks_rank(ctx)] = (int64_t)status;
    mfpg_status reached = mfpg_ranks_sum(ctx, failed, size);
    if (reached != MFPG_OK) return reached;
    for (*rank = 0; *rank < size && failed[*rank] == MFPG_OK;) ++*rank;
    return *rank < size ? (mfpg_status)failed[*rank] : MFPG_OK;
}

mfpg_status mfpg_ranks_agree(mfpg_context *ctx, mfpg_status status) {
    if (mfpg_ranks_size(ctx) == 1) return status;
    int rank;
    mfpg_status worst = lowest_failure(ctx, status, &rank);
    if (worst == MFPG_OK) return MFPG_OK;
    union {
        char text[MFPG_MESSAGE_SIZE];
        int64_t words[MFPG_MESSAGE_SIZE / sizeof(int64_t)];
    } message = {{0}};
    if (rank == mfpg_ranks_rank(ctx)) memcpy(message.text, ctx->message, sizeof message.text);
    mfpg_status reached = mfpg_ranks_share(ctx, message.words, (ptrdiff_t)(sizeof message.words / 8));
    if (reached != MFPG_OK) return reached;
    message.text[sizeof message.text - 1] = 0;
    memcpy(ctx->message, message.text, sizeof ctx->message);
    return worst;
}
