#include "glm.h"

#include <float.h>
#include <math.h>

#include "clip_factor.h"

enum { LANES = 8 };

/* Eight running sums, added pairwise at the end: vectorises without reordering, so the bits are the same whatever the
 * compiler makes of it. */
static float dot(const float *restrict a, const float *restrict b, ptrdiff_t n) {
    float lane[LANES] = {0};
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) lane[l] += a[i + l] * b[i + l];
    for (int l = 0; i + l < n; l++) lane[l] += a[i + l] * b[i + l];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static void add_scaled(float alpha, const float *restrict x, ptrdiff_t n, float *restrict target) {
    for (ptrdiff_t i = 0; i < n; i++) target[i] += alpha * x[i];
}

static float margin(const mfpg_model *model, const float *w, const mfpg_dataset *data, ptrdiff_t row) {
    ptrdiff_t d = model->features;
    float product = dot(w, data->x + row * d, d);
    return model->ops->glm->bias ? product + w[d] : product;
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

ptrdiff_t mfpg_glm_workspace(const mfpg_model *model, ptrdiff_t rows) {
    (void)model;
    return rows; /* the residuals */
}

void mfpg_glm_backward(const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work) {
    const mfpg_dataset *data = batch->data;
    for (ptrdiff_t i = 0; i < batch->count; i++) {
        ptrdiff_t row = mfpg_batch_row(batch, i);
        work[i] = model->ops->glm->residual(margin(model, w, data, row), data->y[row]);
    }
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
        double norm = fabs(residual) * sqrt(batch->data->norm2[mfpg_batch_row(batch, i)] + ones);
        double factor = mfpg_clip_factor(norm, clip);
        nonfinite += factor == 0.0;
        work[i] = factor == 0.0 ? 0.0F : normal_float(residual * factor * scale);
    }
    return nonfinite;
}

void mfpg_glm_accumulate(
    const mfpg_model *model, const mfpg_batch *batch, float alpha, float *work, float *target) {
    ptrdiff_t d = model->features;
    int bias = model->ops->glm->bias;
    for (ptrdiff_t i = 0; i < batch->count; i++) {
        float weight = alpha * work[i];
        if (weight == 0.0F) continue; /* leaves out x as well, which may not be finite */
        add_scaled(weight, batch->data->x + mfpg_batch_row(batch, i) * d, d, target);
        if (bias) target[d] += weight;
    }
}

void mfpg_glm_predict(
    const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work, mfpg_prediction *out) {
    (void)work;
    const mfpg_glm *glm = model->ops->glm;
    for (ptrdiff_t i = 0; i < batch->count; i++) {
        ptrdiff_t row = mfpg_batch_row(batch, i);
        float score = margin(model, w, batch->data, row);
        out[i] = (mfpg_prediction){.loss = glm->loss(score, batch->data->y[row]),
            .score = score,
            .chosen = isnan(score) ? -1 : score > 0.0F};
    }
}
