#include "glm.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "clip_factor.h"

/* Rows are taken four at a time, so that the weights are read once for the four, and each product is summed in four
 * lanes: that vectorises without reordering, so the bits are the same whatever the compiler makes of it, and those of a
 * row do not depend on its neighbours. */
enum { LANES = 4, GROUP = 4 };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

static inline lanes load(const float *from) {
    lanes value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline float sum_of(lanes v) {
    return (v[0] + v[2]) + (v[1] + v[3]);
}

/* product[r] = w.x[r] */
static inline void dot_group(const float *w, const float *const x[GROUP], ptrdiff_t n, float product[GROUP]) {
    lanes sum[GROUP] = {{0}};
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        lanes weight = load(w + i);
        for (int r = 0; r < GROUP; r++) sum[r] += weight * load(x[r] + i);
    }
    for (int r = 0; r < GROUP; r++) product[r] = sum_of(sum[r]);
    for (; i < n; i++)
        for (int r = 0; r < GROUP; r++) product[r] += w[i] * x[r][i];
}

/* target += sum of alpha[r] x[r], row after row */
static inline void add_group(
    const float alpha[GROUP], const float *const x[GROUP], ptrdiff_t n, float *target) {
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        lanes sum = load(target + i);
        for (int r = 0; r < GROUP; r++) sum += alpha[r] * load(x[r] + i);
        memcpy(target + i, &sum, sizeof sum);
    }
    for (; i < n; i++)
        for (int r = 0; r < GROUP; r++) target[i] += alpha[r] * x[r][i];
}

static inline void add_scaled(float alpha, const float *restrict x, ptrdiff_t n, float *restrict target) {
    for (ptrdiff_t i = 0; i < n; i++) target[i] += alpha * x[i];
}

static const float *features_of(const mfpg_model *model, const mfpg_batch *batch, ptrdiff_t index) {
    return batch->data->x + mfpg_batch_row(batch, index) * model->features;
}

/* The margins of the whole batch. A group that lacks rows repeats the last one. */
static void margins(const mfpg_model *model, const float *w, const mfpg_batch *batch, float *out) {
    float bias = model->ops->glm->bias ? w[model->features] : 0.0F, product[GROUP];
    const float *x[GROUP];
    for (ptrdiff_t first = 0; first < batch->count; first += GROUP) {
        ptrdiff_t left = batch->count - first, here = left < GROUP ? left : GROUP;
        for (ptrdiff_t r = 0; r < GROUP; r++)
            x[r] = features_of(model, batch, first + (r < here ? r : here - 1));
        dot_group(w, x, model->features, product);
        for (ptrdiff_t r = 0; r < here; r++) out[first + r] = product[r] + bias;
    }
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
    float (*residual)(float, float) = model->ops->glm->residual;
    margins(model, w, batch, work);
    for (ptrdiff_t i = 0; i < batch->count; i++)
        work[i] = residual(work[i], batch->data->y[mfpg_batch_row(batch, i)]);
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
    const float *x[GROUP];
    float weight[GROUP], bias = 0.0F;
    int filled = 0;
    for (ptrdiff_t i = 0; i < batch->count; i++) {
        float here = alpha * work[i];
        if (here == 0.0F) continue; /* leaves out x as well, which may not be finite */
        weight[filled] = here;
        x[filled++] = features_of(model, batch, i);
        bias += here;
        if (filled < GROUP) continue;
        add_group(weight, x, d, target);
        filled = 0;
    }
    for (int r = 0; r < filled; r++) add_scaled(weight[r], x[r], d, target);
    if (model->ops->glm->bias) target[d] += bias;
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
