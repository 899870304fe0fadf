#include "input.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/mechanism_ops.h"

/* The norm of the gradient above which the clip holds it: an update is clipped after all its steps. */
static double clip_of(const mfpg_mechanism *mechanism) {
    const mfpg_mechanism_options *o = &mechanism->options;
    if (!mfpg_mechanism_clips_update(mechanism)) return o->clip;
    return o->clip / (mechanism->ops->rate(o) * (double)o->local_steps);
}

/* A logistic residual is 1/2 at the start and fades like exp(-margin): |x~| exp(-|x~| spread) is largest at 1/spread. */
static void choose_size(
    mfpg_input_canary *input, const mfpg_model *model, const mfpg_mechanism *mechanism, double spread) {
    double clip = clip_of(mechanism), bias = input->glm->bias ? 1.0 : 0.0;
    if (model->classes > 0) {
        double size = spread > 0.0 ? 1.0 / spread : (double)INFINITY;
        input->norm = fmax(fmin(fmax(size, 4.0 * clip), 20.0 * clip), 2.0 * bias);
        input->label[1] = 1.0F;
    } else { /* a residual is margin - label, and does not fade */
        input->norm = 2.0;
        input->label[1] = (float)(10.0 * (clip / input->norm + spread * input->norm));
        input->label[0] = -input->label[1];
    }
}

mfpg_status mfpg_input_canary_check(mfpg_context *ctx, const mfpg_model *model) {
    if (model->ops->glm) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "input canaries need a generalised linear model (logistic, linear, quadratic); model %s is none",
        model->ops->name);
}

mfpg_status mfpg_input_canary_create(mfpg_context *ctx, const mfpg_model *model,
    const mfpg_mechanism *mechanism, double spread, mfpg_input_canary *out) {
    const mfpg_glm *glm = model->ops->glm;
    mfpg_status checked = mfpg_input_canary_check(ctx, model);
    if (checked != MFPG_OK) return checked;
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

static mfpg_status fill(mfpg_context *ctx, const mfpg_input_canary *input, const mfpg_mechanism *mechanism,
    ptrdiff_t rows, mfpg_dataset *out, ptrdiff_t *hot) {
    *hot = mechanism->options.promise.unit == MFPG_UNIT_EXAMPLE ? 1 : rows;
    *out = (mfpg_dataset){.rows = rows,
        .features = input->features,
        .x = mfpg_alloc(rows, (size_t)input->features * sizeof *out->x),
        .y = mfpg_alloc_floats(rows),
        .norm2 = mfpg_alloc(rows, sizeof *out->norm2)};
    if (!out->x || !out->y || !out->norm2) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < rows * input->features; i++) out->x[i] = NAN;
    for (ptrdiff_t i = 0; i < rows; i++) out->norm2[i] = (double)NAN;
    return MFPG_OK;
}

mfpg_status mfpg_input_data_create(mfpg_context *ctx, const mfpg_input_canary *input,
    const mfpg_federated_data *like, const mfpg_mechanism *const *mechanism, mfpg_canary_data *out) {
    mfpg_canary_data made = {.data = {.clients = like->clients,
                                 .features = input->features,
                                 .client = mfpg_alloc(like->clients, sizeof *made.data.client),
                                 .public_norm2 = (double)INFINITY},
        .hot = mfpg_alloc(like->clients, sizeof *made.hot)};
    mfpg_status status = made.data.client && made.hot ? MFPG_OK : mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; k < like->clients && status == MFPG_OK; k++) {
        made.data.client[k].name = like->client[k].name;
        status = fill(
            ctx, input, mechanism[k], like->client[k].train.rows, &made.data.client[k].train, &made.hot[k]);
    }
    if (status == MFPG_OK)
        *out = made;
    else
        mfpg_canary_data_clear(&made);
    return status;
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
