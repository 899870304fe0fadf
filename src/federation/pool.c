#include "pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static const mfpg_dataset *set_of(const mfpg_federated_data *data, int train, ptrdiff_t k) {
    return train ? &data->client[k].train : &data->client[k].test;
}

static void copy_rows(const mfpg_dataset *part, ptrdiff_t at, mfpg_dataset *pool) {
    if (part->rows == 0) return;
    memcpy(pool->x + at * pool->features, part->x, (size_t)(part->rows * pool->features) * sizeof *pool->x);
    memcpy(pool->y + at, part->y, (size_t)part->rows * sizeof *pool->y);
    memcpy(pool->norm2 + at, part->norm2, (size_t)part->rows * sizeof *pool->norm2);
}

mfpg_status mfpg_pool_evaluate(mfpg_context *ctx, const mfpg_federated_data *data, int train,
    const mfpg_model *model, const float *w, mfpg_metrics *out) {
    mfpg_dataset pool = {.features = data->features};
    for (ptrdiff_t k = 0; k < data->clients; k++) pool.rows += set_of(data, train, k)->rows;
    pool.x = pool.rows > 0 && pool.features > PTRDIFF_MAX / pool.rows
                 ? NULL
                 : mfpg_alloc(pool.rows * pool.features, sizeof *pool.x);
    pool.y = mfpg_alloc(pool.rows, sizeof *pool.y);
    pool.norm2 = mfpg_alloc(pool.rows, sizeof *pool.norm2);
    mfpg_status status = pool.x && pool.y && pool.norm2 ? MFPG_OK : mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0, at = 0; k < data->clients && status == MFPG_OK; k++) {
        copy_rows(set_of(data, train, k), at, &pool);
        at += set_of(data, train, k)->rows;
    }
    if (status == MFPG_OK) status = mfpg_model_evaluate(ctx, model, w, &pool, out);
    free(pool.x);
    free(pool.y);
    free(pool.norm2);
    return status;
}
