#include "canary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/ops.h"
#include "models/clip_factor.h"
#include "models/ops.h"

/* ---- the direction ---- */

/* A coin for each pair of entries (the finaliser of splitmix64): no pattern that noise could share. */
static int coin(uint64_t pair) {
    uint64_t z = pair + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (int)((z ^ (z >> 31)) & 1);
}

static double sign_of(ptrdiff_t i, ptrdiff_t n) {
    if (n == 1) return 1.0;
    if (i == n - 1 && n % 2 == 1) return 0.0;
    return ((int)(i & 1) ^ coin((uint64_t)i / 2)) ? 1.0 : -1.0;
}

static double entry_size(ptrdiff_t n) {
    return 1.0 / sqrt((double)(n == 1 ? 1 : n - n % 2));
}

float mfpg_canary_direction(ptrdiff_t i, ptrdiff_t n) {
    return (float)(sign_of(i, n) * entry_size(n));
}

double mfpg_canary_project(ptrdiff_t n, const float *w) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) sum += sign_of(i, n) * (double)w[i];
    return sum * entry_size(n);
}

/* ---- the model ---- */

static ptrdiff_t workspace(const mfpg_model *model, ptrdiff_t rows) {
    (void)model;
    return rows; /* what each example's gradient is along v */
}

static void backward(const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work) {
    (void)model;
    (void)w;
    for (ptrdiff_t i = 0; i < batch->count; i++) {
        ptrdiff_t row = mfpg_batch_row(batch, i);
        work[i] = -batch->data->x[row] * batch->data->y[row];
    }
}

/* v as floats is longer than 1 by at most 2^-24. */
static int64_t clip(
    const mfpg_model *model, const mfpg_batch *batch, double bound, double scale, float *work) {
    (void)model;
    int64_t nonfinite = 0;
    for (ptrdiff_t i = 0; i < batch->count; i++) {
        double factor = mfpg_clip_factor(fabs((double)work[i]) * (1.0 + 0x1p-24), bound);
        nonfinite += factor == 0.0;
        work[i] = factor == 0.0 ? 0.0F : (float)((double)work[i] * factor * scale);
    }
    return nonfinite;
}

static void accumulate(
    const mfpg_model *model, const mfpg_batch *batch, float alpha, int fresh, float *work, float *target) {
    ptrdiff_t n = model->parameters;
    float sum = 0.0F;
    if (fresh) memset(target, 0, (size_t)n * sizeof *target);
    for (ptrdiff_t i = 0; i < batch->count; i++) sum += alpha * work[i];
    if (sum == 0.0F) return;
    for (ptrdiff_t i = 0; i < n; i++) target[i] += sum * mfpg_canary_direction(i, n);
}

static void predict(
    const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work, mfpg_prediction *out) {
    double along = mfpg_canary_project(model->parameters, w);
    backward(model, w, batch, work);
    for (ptrdiff_t i = 0; i < batch->count; i++)
        out[i] = (mfpg_prediction){.loss = (double)work[i] * along, .score = (float)along};
}

static const mfpg_model_ops linear_loss = {
    .name = "linear-loss",
    .help = "a loss that is linear in the parameters",
    .curvature = 0.0,
    .workspace = workspace,
    .backward = backward,
    .clip = clip,
    .accumulate = accumulate,
    .predict = predict,
};
/* A loss of a set that is the sum over its rows is clipped after the sum: the same canary. */
static const mfpg_model_ops linear_loss_summed = {
    .name = "linear-loss",
    .help = "a loss that is linear in the parameters",
    .sums_rows = 1,
    .curvature = 0.0,
    .workspace = workspace,
    .backward = backward,
    .clip = clip,
    .accumulate = accumulate,
    .predict = predict,
};

mfpg_status mfpg_canary_model_create(mfpg_context *ctx, const mfpg_model *like, mfpg_model **out) {
    mfpg_model *model = mfpg_alloc(1, sizeof *model);
    mfpg_tensor *tensor = mfpg_alloc(like->tensors, sizeof *tensor);
    if (!model || !tensor) {
        free(model);
        free(tensor);
        return mfpg_fail_memory(ctx);
    }
    memcpy(tensor, like->tensor, (size_t)like->tensors * sizeof *tensor);
    *model = (mfpg_model){.ops = mfpg_model_sums_rows(like) ? &linear_loss_summed : &linear_loss,
        .features = 1,
        .parameters = like->parameters,
        .tensors = like->tensors,
        .tensor = tensor};
    *out = model;
    return MFPG_OK;
}

/* ---- the data ---- */

void mfpg_canary_data_clear(mfpg_canary_data *canaries) {
    for (ptrdiff_t k = 0; canaries->data.client && k < canaries->data.clients; k++) {
        free(canaries->data.client[k].train.x);
        free(canaries->data.client[k].train.y);
        free(canaries->data.client[k].train.norm2);
    }
    free(canaries->data.client);
    free(canaries->hot);
    *canaries = (mfpg_canary_data){0};
}

/* Of the rows of one client: the unit of privacy is a client, whose gradient is a mean (or sum) over its rows, or one row.
 * Poisson batches leave rows out: then every row of a client carries the canary. */
static mfpg_status fill(mfpg_context *ctx, const mfpg_mechanism *mechanism, double excess, ptrdiff_t rows,
    mfpg_dataset *out, ptrdiff_t *hot) {
    const mfpg_mechanism_options *o = &mechanism->options;
    int example = o->promise.unit == MFPG_UNIT_EXAMPLE;
    double size = excess * o->clip * (example ? 1.0 : (double)rows);
    if (mfpg_mechanism_clips_update(mechanism)) size /= mechanism->ops->rate(o);
    *out = (mfpg_dataset){.rows = rows,
        .features = 1,
        .x = mfpg_alloc_floats(rows),
        .y = mfpg_alloc_floats(rows),
        .norm2 = mfpg_alloc(rows, sizeof *out->norm2)};
    if (!out->x || !out->y || !out->norm2) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < rows; i++) {
        out->x[i] = (float)size;
        out->y[i] = 0.0F;
        out->norm2[i] = size * size;
    }
    *hot = !example && o->batch_rate < 1.0 ? rows : 1;
    return MFPG_OK;
}

mfpg_status mfpg_canary_data_create(mfpg_context *ctx, const mfpg_federated_data *like,
    const mfpg_mechanism *const *mechanism, double excess, mfpg_canary_data *out) {
    mfpg_canary_data made = {.data = {.clients = like->clients,
                                 .features = 1,
                                 .client = mfpg_alloc(like->clients, sizeof *made.data.client),
                                 .public_norm2 = (double)INFINITY},
        .hot = mfpg_alloc(like->clients, sizeof *made.hot)};
    mfpg_status status = made.data.client && made.hot ? MFPG_OK : mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; k < like->clients && status == MFPG_OK; k++) {
        made.data.client[k].name = like->client[k].name;
        status = fill(
            ctx, mechanism[k], excess, like->client[k].train.rows, &made.data.client[k].train, &made.hot[k]);
    }
    if (status == MFPG_OK)
        *out = made;
    else
        mfpg_canary_data_clear(&made);
    return status;
}

void mfpg_canary_set(mfpg_canary_data *canaries, ptrdiff_t k, double value) {
    for (ptrdiff_t i = 0; i < canaries->hot[k]; i++) canaries->data.client[k].train.y[i] = (float)value;
}
