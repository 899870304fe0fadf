#include "pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static const mfpg_dataset *set_of(const mfpg_federated_data *data, int train, ptrdiff_t k) {
    return train ? &data->client[k].train : &data->client[k].test;
}

/* Where the sets stand one behind the other, as those of federated data without test rows of clients do, they are one set. */
static int stand_in_a_row(const mfpg_federated_data *data, int train) {
    const float *x = set_of(data, train, 0)->x, *y = set_of(data, train, 0)->y;
    for (ptrdiff_t k = 0; k < data->clients; k++) {
        const mfpg_dataset *part = set_of(data, train, k);
        if (part->x != x || part->y != y || part->absent) return 0;
        x += part->rows * part->features;
        y += part->rows;
    }
    return 1;
}

static mfpg_status copy_rows(
    mfpg_context *ctx, const mfpg_federated_data *data, int train, mfpg_dataset *pool) {
    pool->x = pool->rows > 0 && pool->features > PTRDIFF_MAX / pool->rows
                  ? NULL
                  : mfpg_alloc(pool->rows * pool->features, sizeof *pool->x);
    pool->y = mfpg_alloc(pool->rows, sizeof *pool->y);
    unsigned char *absent = mfpg_alloc(pool->rows, 1);
    pool->absent = absent;
    if (!pool->x || !pool->y || !absent) return mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0, at = 0; k < data->clients; k++) {
        const mfpg_dataset *part = set_of(data, train, k);
        if (part->rows == 0) continue;
        memcpy(
            pool->x + at * pool->features, part->x, (size_t)(part->rows * pool->features) * sizeof *pool->x);
        memcpy(pool->y + at, part->y, (size_t)part->rows * sizeof *pool->y);
        if (part->absent) memcpy(absent + at, part->absent, (size_t)part->rows);
        at += part->rows;
    }
    return MFPG_OK;
}

mfpg_status mfpg_pool_evaluate(mfpg_context *ctx, const mfpg_federated_data *data, int train,
    const mfpg_model *model, const float *w, mfpg_metrics *out) {
    mfpg_dataset pool = {.features = data->features};
    for (ptrdiff_t k = 0; k < data->clients; k++) pool.rows += set_of(data, train, k)->rows;
    int copied = !stand_in_a_row(data, train);
    mfpg_status status = MFPG_OK;
    if (copied) {
        status = copy_rows(ctx, data, train, &pool);
    } else {
        pool.x = set_of(data, train, 0)->x;
        pool.y = set_of(data, train, 0)->y;
    }
    if (status == MFPG_OK) status = mfpg_model_evaluate(ctx, model, w, &pool, out);
    if (copied) {
        free(pool.x);
        free(pool.y);
        free((void *)(uintptr_t)pool.absent);
    }
    return status;
}
