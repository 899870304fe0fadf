/* Metrics of the global model: from private data, covered by no certificate. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "internal.h"

static const mfpg_dataset *evaluation_set(const mfpg_federation *federation, ptrdiff_t k) {
    const mfpg_client_data *client = &federation->data->client[k];
    return federation->options.evaluate == MFPG_EVALUATE_TRAIN ? &client->train : &client->test;
}

static int uses_common_test(const mfpg_federation *federation) {
    return federation->options.evaluate == MFPG_EVALUATE_TEST && federation->data->common_test.rows > 0;
}

static mfpg_status evaluate_client(mfpg_context *ctx, ptrdiff_t k, int worker, void *arg) {
    (void)worker;
    mfpg_federation *federation = arg;
    return mfpg_model_evaluate(
        ctx, federation->model, federation->w, evaluation_set(federation, k), &federation->metrics[k]);
}

/* Sums over clients in their order, whatever thread measured them. */
static void combine(const mfpg_federation *federation, double *loss, double *accuracy) {
    double rows = 0.0, mean_loss = 0.0, loss_sum = 0.0, right = 0.0;
    for (ptrdiff_t k = 0; k < federation->clients; k++) {
        const mfpg_metrics *m = &federation->metrics[k];
        if (m->rows == 0) continue;
        rows += (double)m->rows;
        mean_loss += (double)m->rows * m->loss;
        loss_sum += m->loss;
        right += (double)m->rows * m->accuracy;
    }
    int sums =
        federation->options.loss_kind == MFPG_LOSS_CLIENT_SUM || mfpg_model_sums_rows(federation->model);
    *loss = rows > 0.0 ? (sums ? loss_sum : mean_loss / rows) : (double)NAN;
    *accuracy = rows > 0.0 ? right / rows : (double)NAN;
}

mfpg_status mfpg_federation_evaluate(
    mfpg_context *ctx, mfpg_federation *federation, double *loss, double *accuracy) {
    *loss = *accuracy = (double)NAN;
    if (federation->options.evaluate == MFPG_EVALUATE_NONE) return MFPG_OK;
    if (uses_common_test(federation)) {
        mfpg_metrics metrics;
        mfpg_status status = mfpg_model_evaluate(
            ctx, federation->model, federation->w, &federation->data->common_test, &metrics);
        *loss = metrics.loss;
        *accuracy = metrics.accuracy;
        return status;
    }
    mfpg_status status = mfpg_tasks_run(ctx, federation->clients, evaluate_client, federation);
    if (status == MFPG_OK) combine(federation, loss, accuracy);
    return status;
}

/* All clients' evaluation sets as one, for a curve over everybody. */
static mfpg_status evaluate_pool(mfpg_context *ctx, const mfpg_federation *federation, mfpg_metrics *out) {
    ptrdiff_t rows = 0, features = federation->data->features;
    for (ptrdiff_t k = 0; k < federation->clients; k++) rows += evaluation_set(federation, k)->rows;
    mfpg_dataset pool = {.rows = rows, .features = features};
    pool.x = rows > 0 && features > PTRDIFF_MAX / rows ? NULL : mfpg_alloc(rows * features, sizeof *pool.x);
    pool.y = mfpg_alloc(rows, sizeof *pool.y);
    pool.norm2 = mfpg_alloc(rows, sizeof *pool.norm2);
    mfpg_status status = pool.x && pool.y && pool.norm2 ? MFPG_OK : mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0, at = 0; k < federation->clients && status == MFPG_OK; k++) {
        const mfpg_dataset *part = evaluation_set(federation, k);
        if (part->rows == 0) continue;
        memcpy(pool.x + at * features, part->x, (size_t)(part->rows * features) * sizeof *pool.x);
        memcpy(pool.y + at, part->y, (size_t)part->rows * sizeof *pool.y);
        memcpy(pool.norm2 + at, part->norm2, (size_t)part->rows * sizeof *pool.norm2);
        at += part->rows;
    }
    if (status == MFPG_OK) status = mfpg_model_evaluate(ctx, federation->model, federation->w, &pool, out);
    free(pool.x);
    free(pool.y);
    free(pool.norm2);
    return status;
}

mfpg_status mfpg_federation_metrics(
    mfpg_context *ctx, const mfpg_federation *federation, ptrdiff_t client, mfpg_metrics *out) {
    *out = (mfpg_metrics){.loss = NAN, .accuracy = NAN, .auc = NAN, .majority_rate = NAN};
    if (federation->options.evaluate == MFPG_EVALUATE_NONE) return MFPG_OK;
    if (client >= federation->clients)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "there is no client %td", client);
    if (client >= 0)
        return mfpg_model_evaluate(
            ctx, federation->model, federation->w, evaluation_set(federation, client), out);
    if (uses_common_test(federation))
        return mfpg_model_evaluate(
            ctx, federation->model, federation->w, &federation->data->common_test, out);
    return evaluate_pool(ctx, federation, out);
}
