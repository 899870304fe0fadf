#include "glm.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "block_sum.h"
#include "clip_factor.h"
#include "numerics/linalg/linalg.h"

/* The margins of a batch. */
static void margins(const mfpg_model *model, const float *w, const mfpg_batch *batch, float *out) {
    float bias = model->ops->glm->bias ? w[model->features] : 0.0F;
    mfpg_matrix_apply(batch->count, model->features, batch->data->x, batch->rows, w, bias, out);
}

ptrdiff_t mfpg_glm_tensors(const mfpg_model_options *options) {
    (void)options;
    return 1; /* weights and bias together: the bias is the weight of a column of ones */
}

void mfpg_glm_shape(const mfpg_model_options *options, ptrdiff_t *size) {
    size[0] = options->features;
}

void mfpg_glm_shape_bias(const mfpg_model_options *options, ptrdiff_t *size) {
    size[0] = options->features + 1;
}

mfpg_layer mfpg_glm_first_layer(const mfpg_model *model) {
    return (mfpg_layer){.units = 1,
        .inputs = model->features,
        .down = model->features,
        .across = 1,
        .biases = model->features};
}

ptrdiff_t mfpg_glm_workspace(const mfpg_model *model, ptrdiff_t rows) {
    (void)model;
    return rows; /* the residuals */
}

void mfpg_glm_backward(const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work) {
    float (*residual)(float, float) = model->ops->glm->residual;
    margins(model, w, batch, work);
    for (ptrdiff_t i = 0; i < batch->count; i++)
        work[i] = mfpg_batch_is_absent(batch, i)
                      ? 0.0F
                      : residual(work[i], batch->data->y[mfpg_batch_row(batch, i)]);
}

/* Nearest float, but 0 where that would be subnormal: its rounding is not relative, so that times a huge feature it
 * could exceed the clip. */
static float normal_float(double value) {
    return fabs(value) < (double)FLT_MIN ? 0.0F : (float)value;
}

int64_t mfpg_glm_clip(
    const mfpg_model *model, const mfpg_batch *batch, double clip, double scale, float *work) {
    double ones = model->ops->glm->bias ? 1.0 : 0.0;
    int64_t nonfinite = 0;
    for (ptrdiff_t i = 0; i < batch->count; i++) {
        double residual = (double)work[i];
        double norm = fabs(residual) * sqrt(mfpg_batch_norm2(batch, i) + ones);
        double factor = mfpg_clip_factor(norm, clip);
        nonfinite += factor == 0.0;
        work[i] = factor == 0.0 ? 0.0F : normal_float(residual * factor * scale);
    }
    return nonfinite;
}

int64_t mfpg_glm_add_clipped(const mfpg_model *model, const mfpg_batch *batch, const mfpg_blocks *blocks,
    double clip, double unit, int fresh, float *work, int64_t *sum) {
    int64_t nonfinite = mfpg_glm_clip(model, batch, clip, 1.0, work);
    int64_t *bias = model->ops->glm->bias ? sum + model->features : NULL;
    mfpg_block_sum_outer(batch, blocks, work, 1.0 / unit, fresh, sum, bias);
    return nonfinite;
}

void mfpg_glm_accumulate(
    const mfpg_model *model, const mfpg_batch *batch, float alpha, int fresh, float *work, float *target) {
    if (fresh) memset(target, 0, (size_t)model->parameters * sizeof *target);
    float sum = 0.0F;
    for (ptrdiff_t i = 0; i < batch->count; i++) {
        work[i] *= alpha;
        sum += work[i];
    }
    mfpg_matrix_add_transposed(batch->count, model->features, batch->data->x, batch->rows, work, target);
    if (model->ops->glm->bias) target[model->features] += sum;
}

void mfpg_glm_predict(
    const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work, mfpg_prediction *out) {
    const mfpg_glm *glm = model->ops->glm;
    margins(model, w, batch, work);
    for (ptrdiff_t i = 0; i < batch->count; i++) {
        float score = work[i];
        out[i] = (mfpg_prediction){.loss = glm->loss(score, batch->data->y[mfpg_batch_row(batch, i)]),
            .score = score,
            .chosen = isnan(score) ? -1 : score > 0.0F};
    }
}

/* Products of floats are exact in double; the sum of n of them loses at most n units. */
double mfpg_glm_weights_norm2(const mfpg_model *model, const float *w) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < model->features; i++) sum += (double)w[i] * (double)w[i];
    return sum * (1.0 + (double)model->features * DBL_EPSILON);
}

void mfpg_glm_input_gradient(
    const mfpg_model *model, const float *w, const float *x, float y, double *out, double *work) {
    const mfpg_glm *glm = model->ops->glm;
    double margin = glm->bias ? (double)w[model->features] : 0.0;
    (void)work;
    for (ptrdiff_t i = 0; i < model->features; i++) margin += (double)w[i] * (double)x[i];
    double slope = glm->slope(margin, (double)y);
    for (ptrdiff_t i = 0; i < model->features; i++) out[i] = slope * (double)w[i];
}
