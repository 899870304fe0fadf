/* Metrics of the global model. They come from private data, and no certificate covers them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "federation_core.h"
#include "models/losses.h"

static const mfpg_dataset *set_of(const mfpg_federated_data *data, int train, ptrdiff_t k) {
    return train ? &data->client[k].train : &data->client[k].test;
}

/* Returns 1 if the sets are consecutive in memory and so form one set; this is the case for federated data
 * in which clients have no test rows. */
static int follow_one_another(const mfpg_federated_data *data, int train) {
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
    int copied = !follow_one_another(data, train);
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

/* ---- of a federation ---- */

_Static_assert(sizeof(mfpg_metrics) == 4 * sizeof(double) + sizeof(int64_t), "metrics are words of 64 bits");

static const mfpg_dataset *evaluation_set(const mfpg_federation *f, ptrdiff_t k) {
    return set_of(f->data, f->options.evaluate == MFPG_EVALUATE_TRAIN, k);
}

static int uses_common_test(const mfpg_federation *f) {
    return f->options.evaluate == MFPG_EVALUATE_TEST && f->data->common_test.rows > 0;
}

static mfpg_status evaluate_client(mfpg_context *ctx, ptrdiff_t k, int worker, void *arg) {
    (void)worker;
    mfpg_federation *f = arg;
    f->metrics[k] = (mfpg_metrics){0}; /* until the rank that computed it shares it */
    if (!mfpg_federation_owns(f, k)) return MFPG_OK;
    return mfpg_model_evaluate(ctx, f->model, f->w, evaluation_set(f, k), &f->metrics[k]);
}

/* Sums over clients in their order, whichever thread measured them. */
static void combine(const mfpg_federation *f, double *loss, double *accuracy) {
    double rows = 0.0, mean_loss = 0.0, loss_sum = 0.0, right = 0.0;
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        const mfpg_metrics *m = &f->metrics[k];
        if (m->rows == 0) continue;
        rows += (double)m->rows;
        mean_loss += (double)m->rows * m->loss;
        loss_sum += m->loss;
        right += (double)m->rows * m->accuracy;
    }
    int sums = f->options.loss_kind == MFPG_LOSS_CLIENT_SUM || mfpg_model_sums_rows(f->model);
    *loss = rows > 0.0 ? (sums ? loss_sum : mean_loss / rows) : (double)NAN;
    *accuracy = rows > 0.0 ? right / rows : (double)NAN;
}

mfpg_status mfpg_federation_evaluate(mfpg_context *ctx, mfpg_federation *f, double *loss, double *accuracy) {
    *loss = *accuracy = (double)NAN;
    if (f->options.evaluate == MFPG_EVALUATE_NONE) return MFPG_OK;
    if (uses_common_test(f)) {
        mfpg_metrics metrics;
        mfpg_status status = mfpg_model_evaluate(ctx, f->model, f->w, &f->data->common_test, &metrics);
        *loss = metrics.loss;
        *accuracy = metrics.accuracy;
        return status;
    }
    mfpg_status status = mfpg_tasks_run(ctx, f->clients, evaluate_client, f);
    status = mfpg_ranks_agree(ctx, status);
    if (status == MFPG_OK)
        status = mfpg_ranks_share(ctx, f->metrics, f->clients * (ptrdiff_t)(sizeof(mfpg_metrics) / 8));
    if (status == MFPG_OK) combine(f, loss, accuracy);
    return status;
}

mfpg_status mfpg_federation_metrics(
    mfpg_context *ctx, const mfpg_federation *f, ptrdiff_t client, mfpg_metrics *out) {
    *out = (mfpg_metrics){.loss = NAN, .accuracy = NAN, .auc = NAN, .majority_rate = NAN};
    if (f->options.evaluate == MFPG_EVALUATE_NONE) return MFPG_OK;
    if (client >= f->clients) return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "there is no client %td", client);
    if (client >= 0) return mfpg_model_evaluate(ctx, f->model, f->w, evaluation_set(f, client), out);
    if (uses_common_test(f)) return mfpg_model_evaluate(ctx, f->model, f->w, &f->data->common_test, out);
    return mfpg_pool_evaluate(ctx, f->data, f->options.evaluate == MFPG_EVALUATE_TRAIN, f->model, f->w, out);
}
