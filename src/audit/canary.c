#include "canary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/mechanism_ops.h"
#include "models/clip_factor.h"
#include "models/model_ops.h"

/* ---- the directions ---- */

/* A coin for each pair of entries (the finaliser of splitmix64): no pattern that noise could share. */
static int coin(uint64_t pair) {
    uint64_t z = pair + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (int)((z ^ (z >> 31)) & 1);
}

static double sign_of(ptrdiff_t i, ptrdiff_t n) {
    if (n == 1) return 1.0;
    return ((int)(i & 1) ^ coin((uint64_t)i / 2)) ? 1.0 : -1.0;
}

/* How many entries a direction has: whole pairs. */
static ptrdiff_t length_of(ptrdiff_t n, ptrdiff_t directions) {
    return n == 1 ? 1 : n / (2 * directions) * 2;
}

ptrdiff_t mfpg_canary_most(ptrdiff_t n) {
    return n < 2 ? n : n / 2;
}

ptrdiff_t mfpg_canary_first(ptrdiff_t n, ptrdiff_t directions, ptrdiff_t j) {
    return j * length_of(n, directions);
}

double mfpg_canary_entry(ptrdiff_t n, ptrdiff_t directions, ptrdiff_t j, ptrdiff_t i) {
    ptrdiff_t length = length_of(n, directions);
    return i < j * length || i >= (j + 1) * length ? 0.0 : sign_of(i, n) / sqrt((double)length);
}

double mfpg_canary_project_on(ptrdiff_t n, ptrdiff_t directions, ptrdiff_t j, const float *w) {
    ptrdiff_t length = length_of(n, directions);
    double sum = 0.0;
    for (ptrdiff_t i = j * length; i < (j + 1) * length; i++) sum += sign_of(i, n) * (double)w[i];
    return sum * (1.0 / sqrt((double)length));
}

double mfpg_canary_project(ptrdiff_t n, const float *w) {
    return mfpg_canary_project_on(n, 1, 0, w);
}

/* ---- the model ---- */

static ptrdiff_t workspace(const mfpg_model *model, ptrdiff_t rows) {
    (void)model;
    return rows; /* what each example's gradient is along v */
}

/* The features of an example: size, direction, number of directions. Floats hold whole numbers up to 2^24. */
enum { SIZE, DIRECTION, DIRECTIONS, FEATURES };

static const float *features_of(const mfpg_batch *batch, ptrdiff_t i) {
    return batch->data->x + FEATURES * mfpg_batch_row(batch, i);
}

static void backward(const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work) {
    (void)model;
    (void)w;
    for (ptrdiff_t i = 0; i < batch->count; i++)
        work[i] = -features_of(batch, i)[SIZE] * batch->data->y[mfpg_batch_row(batch, i)];
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

static void add_along(ptrdiff_t n, const float *features, float factor, float *target) {
    ptrdiff_t length = length_of(n, (ptrdiff_t)features[DIRECTIONS]),
              first = (ptrdiff_t)features[DIRECTION] * length;
    double size = 1.0 / sqrt((double)length);
    for (ptrdiff_t i = first; i < first + length; i++) target[i] += factor * (float)(sign_of(i, n) * size);
}

static void accumulate(
    const mfpg_model *model, const mfpg_batch *batch, float alpha, int fresh, float *work, float *target) {
    ptrdiff_t n = model->parameters, i = 0;
    if (fresh) memset(target, 0, (size_t)n * sizeof *target);
    while (i < batch->count) { /* rows of one direction at a time */
        const float *features = features_of(batch, i);
        float sum = 0.0F;
        for (; i < batch->count && features_of(batch, i)[DIRECTION] == features[DIRECTION]; i++)
            sum += alpha * work[i];
        if (sum != 0.0F) add_along(n, features, sum, target);
    }
}

/* Along its direction a row has entries of one size, which is rounded towards zero to whole units: the sum is exact. */
static int64_t add_clipped(const mfpg_model *model, const mfpg_batch *batch, const mfpg_blocks *blocks,
    double bound, double unit, int fresh, float *work, int64_t *sum) {
    ptrdiff_t n = model->parameters, i = 0;
    int64_t nonfinite = clip(model, batch, bound, 1.0, work);
    (void)blocks;
    if (fresh) memset(sum, 0, (size_t)n * sizeof *sum);
    while (i < batch->count) { /* rows of one direction at a time */
        const float *features = features_of(batch, i);
        ptrdiff_t length = length_of(n, (ptrdiff_t)features[DIRECTIONS]),
                  first = (ptrdiff_t)features[DIRECTION] * length;
        int64_t units = 0;
        for (; i < batch->count && features_of(batch, i)[DIRECTION] == features[DIRECTION]; i++)
            units += (int64_t)((double)work[i] / sqrt((double)length) / unit);
        for (ptrdiff_t j = first; j < first + length && units != 0; j++)
            sum[j] += sign_of(j, n) > 0.0 ? units : -units;
    }
    return nonfinite;
}

static void predict(
    const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work, mfpg_prediction *out) {
    backward(model, w, batch, work);
    for (ptrdiff_t i = 0; i < batch->count; i++) {
        const float *features = features_of(batch, i);
        double along = mfpg_canary_project_on(
            model->parameters, (ptrdiff_t)features[DIRECTIONS], (ptrdiff_t)features[DIRECTION], w);
        out[i] = (mfpg_prediction){.loss = (double)work[i] * along, .score = (float)along};
    }
}

static const mfpg_model_ops linear_loss = {
    .name = "linear-loss",
    .help = "a loss that is linear in the parameters",
    .curvature = 0.0,
    .double_sums = 1,
    .workspace = workspace,
    .backward = backward,
    .clip = clip,
    .add_clipped = add_clipped,
    .accumulate = accumulate,
    .predict = predict,
};
/* A loss of a set that is the sum over its rows is clipped after the sum: the same canary. */
static const mfpg_model_ops linear_loss_summed = {
    .name = "linear-loss",
    .help = "a loss that is linear in the parameters",
    .sums_rows = 1,
    .curvature = 0.0,
    .double_sums = 1,
    .workspace = workspace,
    .backward = backward,
    .clip = clip,
    .add_clipped = add_clipped,
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
        .features = FEATURES,
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

/* The canaries of client k point along these directions. */
typedef struct pointing {
    ptrdiff_t each, directions, first;
} pointing;

/* Of the rows of one client: the unit of privacy is a client, whose gradient is a mean (or sum) over its rows, or one row.
 * Poisson batches leave rows out: then every row of a client carries the canary. */
static mfpg_status fill(mfpg_context *ctx, const mfpg_mechanism *mechanism, double excess, ptrdiff_t rows,
    const pointing *to, mfpg_dataset *out, ptrdiff_t *hot) {
    const mfpg_mechanism_options *o = &mechanism->options;
    int example = o->promise.unit == MFPG_UNIT_EXAMPLE;
    double size = excess * o->clip * (example ? 1.0 : (double)rows);
    if (mfpg_mechanism_clips_update(mechanism)) size /= mechanism->ops->rate(o);
    *out = (mfpg_dataset){.rows = rows,
        .features = FEATURES,
        .x = mfpg_alloc(rows, FEATURES * sizeof *out->x),
        .y = mfpg_alloc_floats(rows),
        .norm2 = mfpg_alloc(rows, sizeof *out->norm2)};
    if (!out->x || !out->y || !out->norm2) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < rows; i++) {
        float *x = out->x + FEATURES * i;
        x[SIZE] = (float)size;
        x[DIRECTION] = (float)(to->first + (i < to->each ? i : 0));
        x[DIRECTIONS] = (float)to->directions;
        out->y[i] = 0.0F;
        out->norm2[i] = size * size;
    }
    *hot = !example && o->batch_rate < 1.0 ? rows : to->each < rows ? to->each : rows;
    return MFPG_OK;
}

mfpg_status mfpg_canary_data_create_many(mfpg_context *ctx, const mfpg_federated_data *like,
    const mfpg_mechanism *const *mechanism, double excess, ptrdiff_t each, ptrdiff_t directions,
    mfpg_canary_data *out) {
    mfpg_canary_data made = {.data = {.clients = like->clients,
                                 .features = FEATURES,
                                 .client = mfpg_alloc(like->clients, sizeof *made.data.client),
                                 .public_norm2 = (double)INFINITY},
        .hot = mfpg_alloc(like->clients, sizeof *made.hot)};
    mfpg_status status = made.data.client && made.hot ? MFPG_OK : mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; k < like->clients && status == MFPG_OK; k++) {
        const pointing to = {each, directions, each > 1 ? 0 : k % directions};
        made.data.client[k].name = like->client[k].name;
        status = fill(ctx, mechanism[k], excess, like->client[k].train.rows, &to, &made.data.client[k].train,
            &made.hot[k]);
    }
    if (status == MFPG_OK)
        *out = made;
    else
        mfpg_canary_data_clear(&made);
    return status;
}

mfpg_status mfpg_canary_data_create(mfpg_context *ctx, const mfpg_federated_data *like,
    const mfpg_mechanism *const *mechanism, double excess, mfpg_canary_data *out) {
    return mfpg_canary_data_create_many(ctx, like, mechanism, excess, 1, 1, out);
}

void mfpg_canary_set(mfpg_canary_data *canaries, ptrdiff_t k, double value) {
    for (ptrdiff_t i = 0; i < canaries->hot[k]; i++) canaries->data.client[k].train.y[i] = (float)value;
}

void mfpg_canary_set_one(mfpg_canary_data *canaries, ptrdiff_t k, ptrdiff_t i, double value) {
    if (i < canaries->hot[k]) canaries->data.client[k].train.y[i] = (float)value;
}
