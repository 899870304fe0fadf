#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit_game.h"
#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/mechanism_ops.h"
#include "models/clip_factor.h"

/* ---- the directions ---- */

/* Returns a coin for each pair of entries (the finaliser of splitmix64), so that the pattern is unlike any
 * pattern of the noise. */
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

/* Returns how many entries a direction has: whole pairs. */
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
    return rows; /* each example's gradient along v */
}

/* The features of an example: size, direction, number of directions. Floats represent whole numbers up to
 * 2^24 exactly. */
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

/* The norm of v in floats exceeds 1 by at most 2^-24. */
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

/* Along its direction a row has entries of one size, which is rounded towards zero to whole units, so the
 * sum is exact. */
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

#define LINEAR_LOSS                                                                                          \
    .name = "linear-loss", .help = "a loss that is linear in the parameters", .curvature = 0.0,              \
    .double_sums = 1, .workspace = workspace, .backward = backward, .clip = clip,                            \
    .add_clipped = add_clipped, .accumulate = accumulate, .predict = predict
static const mfpg_model_ops linear_loss = {LINEAR_LOSS};
/* If the loss of a set is the sum over its rows, it is clipped after the sum: the same canary. */
static const mfpg_model_ops linear_loss_summed = {LINEAR_LOSS, .sums_rows = 1};

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

/* ---- data ---- */

void mfpg_canary_data_clear(mfpg_canary_data *canaries) {
    mfpg_pool_clear(&canaries->memory);
    *canaries = (mfpg_canary_data){0};
}

/* Creates data with as many rows as each client has, all zeros. */
static mfpg_status create_data(
    mfpg_context *ctx, const mfpg_federated_data *like, ptrdiff_t features, mfpg_canary_data *out) {
    mfpg_pool memory = {0};
    mfpg_client_data *client = mfpg_pool_alloc(&memory, like->clients, sizeof *client);
    ptrdiff_t *hot = mfpg_pool_alloc(&memory, like->clients, sizeof *hot);
    for (ptrdiff_t k = 0; k < like->clients && !memory.failed; k++) {
        ptrdiff_t rows = like->client[k].train.rows;
        client[k].name = like->client[k].name;
        client[k].train = (mfpg_dataset){.rows = rows,
            .features = features,
            .x = mfpg_pool_alloc(&memory, rows, (size_t)features * sizeof(float)),
            .y = mfpg_pool_own(&memory, mfpg_alloc_floats(rows)),
            .norm2 = mfpg_pool_alloc(&memory, rows, sizeof(double))};
    }
    *out = (mfpg_canary_data){.data = {.clients = like->clients,
                                  .features = features,
                                  .client = client,
                                  .public_norm2 = (double)INFINITY},
        .hot = hot,
        .memory = memory};
    if (!memory.failed) return MFPG_OK;
    mfpg_canary_data_clear(out);
    return mfpg_fail_memory(ctx);
}

/* ---- gradients ---- */

/* The unit of privacy is a client, whose gradient is a mean (or sum) over its rows, or one row. Poisson
 * batches omit rows, so every row of a client then carries the canary. */
mfpg_status mfpg_canary_data_create(mfpg_context *ctx, const mfpg_federated_data *like,
    const mfpg_mechanism *const *mechanism, double excess, ptrdiff_t each, ptrdiff_t directions,
    mfpg_canary_data *out) {
    mfpg_status status = create_data(ctx, like, FEATURES, out);
    for (ptrdiff_t k = 0; k < like->clients && status == MFPG_OK; k++) {
        const mfpg_mechanism_options *o = &mechanism[k]->options;
        const mfpg_dataset *set = &out->data.client[k].train;
        int example = o->promise.unit == MFPG_UNIT_EXAMPLE;
        double size = excess * o->clip * (example ? 1.0 : (double)set->rows);
        if (mfpg_mechanism_clips_update(mechanism[k])) size /= mechanism[k]->ops->rate(o);
        for (ptrdiff_t i = 0; i < set->rows; i++) {
            float *x = set->x + FEATURES * i;
            x[SIZE] = (float)size;
            x[DIRECTION] = (float)(each == 1 ? k % directions : i < each ? i : 0);
            x[DIRECTIONS] = (float)directions;
            set->norm2[i] = size * size;
        }
        int all = (!example && o->batch_rate < 1.0) || each > set->rows;
        out->hot[k] = all ? set->rows : each;
    }
    return status;
}

void mfpg_canary_set(mfpg_canary_data *canaries, ptrdiff_t k, double value) {
    for (ptrdiff_t i = 0; i < canaries->hot[k]; i++) canaries->data.client[k].train.y[i] = (float)value;
}

/* One row carries the canary, or all rows if the unit is a client. */
static void set_hot(const mfpg_mechanism *const *mechanism, mfpg_canary_data *out) {
    for (ptrdiff_t k = 0; k < out->data.clients; k++)
        out->hot[k] =
            mechanism[k]->options.promise.unit == MFPG_UNIT_EXAMPLE ? 1 : out->data.client[k].train.rows;
}

/* ---- rows ---- */

/* Returns the norm above which the clip shortens the gradient: an update is clipped after all its steps. */
static double clip_of(const mfpg_mechanism *mechanism) {
    const mfpg_mechanism_options *o = &mechanism->options;
    if (!mfpg_mechanism_clips_update(mechanism)) return o->clip;
    return o->clip / (mechanism->ops->rate(o) * (double)o->local_steps);
}

/* A logistic residual is 1/2 at the start and fades like exp(-margin), so |x~| exp(-|x~| spread) is largest
 * at 1/spread. */
static void choose_size(
    mfpg_input_canary *input, const mfpg_model *model, const mfpg_mechanism *mechanism, double spread) {
    double clip = clip_of(mechanism), bias = input->glm->bias ? 1.0 : 0.0;
    if (model->classes > 0) {
        double size = spread > 0.0 ? 1.0 / spread : (double)INFINITY;
        input->norm = fmax(fmin(fmax(size, 4.0 * clip), 20.0 * clip), 2.0 * bias);
        input->label[1] = 1.0F;
    } else { /* a linear residual is margin - label, and does not fade */
        input->norm = 2.0;
        input->label[1] = (float)(10.0 * (clip / input->norm + spread * input->norm));
        input->label[0] = -input->label[1];
    }
}

mfpg_status mfpg_input_canary_check(mfpg_context *ctx, const mfpg_model *model) {
    if (model->ops->glm) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "input canaries need a generalised linear model (logistic, linear, quadratic); model %s is not one",
        model->ops->name);
}

mfpg_status mfpg_input_canary_create(mfpg_context *ctx, const mfpg_model *model,
    const mfpg_mechanism *mechanism, double spread, mfpg_input_canary *out) {
    const mfpg_glm *glm = model->ops->glm;
    mfpg_input_canary made = {.glm = glm,
        .features = model->features,
        .row = mfpg_alloc_floats(model->features),
        .sums_rows = mfpg_model_sums_rows(model)};
    if (!made.row) return mfpg_fail_memory(ctx);
    choose_size(&made, model, mechanism, spread);
    double length = sqrt(made.norm * made.norm - (glm->bias ? 1.0 : 0.0)), square = glm->bias ? 1.0 : 0.0;
    for (ptrdiff_t i = 0; i < made.features; i++) { /* entries of equal size, of which half are negative */
        double sign = i % 2 == 0 ? 1.0 : -1.0;
        made.row[i] = (float)(sign * length / sqrt((double)made.features));
        square += (double)made.row[i] * (double)made.row[i];
    }
    made.norm = sqrt(square);
    *out = made;
    return MFPG_OK;
}

void mfpg_input_canary_clear(mfpg_input_canary *input) {
    free(input->row);
    *input = (mfpg_input_canary){0};
}

double mfpg_input_project(const mfpg_input_canary *input, const float *w) {
    double sum = input->glm->bias ? (double)w[input->features] : 0.0;
    for (ptrdiff_t i = 0; i < input->features; i++) sum += (double)input->row[i] * (double)w[i];
    return sum / input->norm;
}

mfpg_status mfpg_input_data_create(mfpg_context *ctx, const mfpg_input_canary *input,
    const mfpg_federated_data *like, const mfpg_mechanism *const *mechanism, mfpg_canary_data *out) {
    mfpg_status status = create_data(ctx, like, input->features, out);
    if (status != MFPG_OK) return status;
    set_hot(mechanism, out);
    for (ptrdiff_t k = 0; k < like->clients; k++) {
        const mfpg_dataset *set = &out->data.client[k].train;
        for (ptrdiff_t i = 0; i < set->rows * input->features; i++) set->x[i] = NAN;
        for (ptrdiff_t i = 0; i < set->rows; i++) set->norm2[i] = (double)NAN;
    }
    return MFPG_OK;
}

void mfpg_input_set(const mfpg_input_canary *input, mfpg_canary_data *canaries, ptrdiff_t k, double value) {
    mfpg_dataset *data = &canaries->data.client[k].train;
    double bias = input->glm->bias ? 1.0 : 0.0;
    for (ptrdiff_t i = 0; i < canaries->hot[k]; i++) {
        float *x = data->x + i * input->features;
        for (ptrdiff_t j = 0; j < input->features; j++) x[j] = value == 0.0 ? NAN : input->row[j];
        data->y[i] = input->label[value > 0.0];
        data->norm2[i] = value == 0.0 ? (double)NAN : input->norm * input->norm - bias;
    }
}

mfpg_input_pull mfpg_input_pull_at(const mfpg_input_canary *input, const mfpg_mechanism *mechanism,
    ptrdiff_t rows, double value, double along) {
    if (value == 0.0) return (mfpg_input_pull){0.0, 1.0, 0.0};
    double residual = input->glm->slope(input->norm * along, (double)input->label[value > 0.0]);
    int client = mechanism->options.promise.unit == MFPG_UNIT_CLIENT;
    double norm = fabs(residual) * input->norm * (client && input->sums_rows ? (double)rows : 1.0);
    double clip = clip_of(mechanism), moves = fmin(norm / clip, 1.0);
    return (mfpg_input_pull){norm, norm > clip ? clip / norm : 1.0, residual < 0.0 ? moves : -moves};
}

/* ---- records ---- */

mfpg_status mfpg_record_data_create(mfpg_context *ctx, ptrdiff_t features, const mfpg_federated_data *like,
    const mfpg_mechanism *const *mechanism, mfpg_canary_data *out) {
    mfpg_status status = create_data(ctx, like, features, out);
    if (status == MFPG_OK) set_hot(mechanism, out);
    return status;
}

void mfpg_record_set(
    mfpg_canary_data *canaries, const mfpg_mechanism *mechanism, ptrdiff_t k, double value, double excess) {
    mfpg_dataset *data = &canaries->data.client[k].train;
    double size = value * excess * mechanism->options.clip;
    for (ptrdiff_t i = 0; i < canaries->hot[k]; i++) {
        for (ptrdiff_t j = 0; j < data->features; j++)
            data->x[i * data->features + j] = (float)(size * mfpg_canary_entry(data->features, 1, 0, j));
        data->norm2[i] = size * size;
    }
}

double mfpg_record_look(const mfpg_canary_data *canaries, ptrdiff_t k, const mfpg_dataset *noised) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < canaries->hot[k]; i++)
        sum += mfpg_canary_project(noised->features, noised->x + i * noised->features);
    return sum / sqrt((double)canaries->hot[k]);
}

double mfpg_record_look_beside(const mfpg_canary_data *canaries, ptrdiff_t k, const mfpg_dataset *noised) {
    ptrdiff_t other = canaries->hot[k];
    if (other >= noised->rows) return (double)NAN;
    return mfpg_canary_project(noised->features, noised->x + other * noised->features);
}

/* A step of the flow along v, on which the loss has no gradient (the start is zero), is computed with the
 * mechanism's own map. The record's effect on the others through their mean, 1/rows of the variance penalty,
 * is left out of the observation. */
void mfpg_record_law(const mfpg_mechanism *mechanism, double noise_sd, ptrdiff_t rows, int64_t steps,
    double *gap, double *variance) {
    int all = mechanism->options.promise.unit == MFPG_UNIT_CLIENT;
    double keep = 1.0, nothing = 0.0, mean = all ? 1.0 : 1.0 / (double)rows;
    if (mechanism->ops->map) mechanism->ops->map(mechanism, noise_sd, 1, &nothing, &mean, &keep);
    double distance = mechanism->options.clip * sqrt(all ? (double)rows : 1.0);
    *gap = distance * keep;
    *variance = noise_sd * noise_sd;
    for (int64_t step = 1; step < steps && mechanism->ops->map; step++) {
        *gap *= keep;
        *variance = *variance * keep * keep + noise_sd * noise_sd;
    }
}
