/* Metrics of the global model: from private data, covered by no certificate. */
#include <math.h>

#include "base/error.h"
#include "base/ranks.h"
#include "internal.h"
#include "models/losses.h"
#include "pool.h"

_Static_assert(sizeof(mfpg_metrics) == 4 * sizeof(double) + sizeof(int64_t), "metrics are words of 64 bits");

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
    federation->metrics[k] = (mfpg_metrics){0}; /* what another rank shares */
    if (!mfpg_federation_owns(federation, k)) return MFPG_OK;
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
    status = mfpg_ranks_agree(ctx, status);
    if (status == MFPG_OK)
        status = mfpg_ranks_share(
            ctx, federation->metrics, federation->clients * (ptrdiff_t)(sizeof(mfpg_metrics) / 8));
    if (status == MFPG_OK) combine(federation, loss, accuracy);
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
    return mfpg_pool_evaluate(ctx, federation->data, federation->options.evaluate == MFPG_EVALUATE_TRAIN,
        federation->model, federation->w, out);
}
