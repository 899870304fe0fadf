/* Models whose loss is a function of one margin x.w (+ bias), and the three of them that the library has. */
#include "model_ops.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "clip_factor.h"
#include "numerics/linalg/linalg.h"

/* The margins of a batch. */
static void margins(const mfpg_model *model, const float *w, const mfpg_batch *batch, float *out) {
    float bias = model->ops->glm->bias ? w[model->features] : 0.0F;
    mfpg_matrix_apply(batch->count, model->features, batch->data->x, batch->rows, w, bias, out);
}

/* Returns one tensor: the bias is the weight of a column of ones. */
ptrdiff_t mfpg_glm_shape(const mfpg_model_ops *ops, const mfpg_model_options *options, ptrdiff_t *size) {
    if (size) size[0] = options->features + ops->glm->bias;
    return 1;
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

/* Returns the nearest float, but 0 if that is subnormal: its rounding error is not relative, so multiplied
 * by a huge feature it could exceed the clip. */
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

/* Products of floats are exact in double; the error of a sum of n of them is at most n units. */
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

/* ---- half the squared error ---- */

static float squared_residual(float margin, float y) {
    return margin - y;
}

static double squared_slope(double margin, double y) {
    return margin - y;
}

static double squared_loss(float margin, float y) {
    double difference = (double)margin - (double)y;
    return 0.5 * difference * difference;
}

/* Least squares as in the paper's quadratic task: 1/2 |A w - b|^2 summed over the rows, without bias. */
static const mfpg_glm quadratic = {
    .squares = 1, .residual = squared_residual, .slope = squared_slope, .loss = squared_loss};

const mfpg_model_ops mfpg_model_quadratic = {
    .name = "quadratic",
    .help = "half the squared error summed over the rows, no bias",
    .sums_rows = 1,
    .curvature = NAN, /* |A'A| depends on the data, so a public bound must be declared */
    .glm = &quadratic,
    .margin_curvature = 1.0,
    MFPG_GLM_FUNCTIONS,
};

/* Linear regression: 1/2 mean (x.w + bias - y)^2. */
static const mfpg_glm linear = {
    .bias = 1, .squares = 1, .residual = squared_residual, .slope = squared_slope, .loss = squared_loss};

const mfpg_model_ops mfpg_model_linear = {
    .name = "linear",
    .help = "linear regression with bias, half the mean squared error",
    .curvature = 1.0,
    .glm = &linear,
    .margin_curvature = 1.0,
    .first_layer = mfpg_glm_first_layer,
    MFPG_GLM_FUNCTIONS,
};

/* ---- logistic regression ----
 *
 * Mean log-loss, labels 0 and 1, with bias. With s = 2y - 1 the loss is ln(1 + exp(-s m)), which needs no case for the
 * label and stays exact in both tails. */

static float logistic_residual(float margin, float y) {
    float s = 2.0F * y - 1.0F, t = -s * margin; /* -s sigmoid(t) */
    float decay = expf(-fabsf(t)), larger = 1.0F / (1.0F + decay);
    return -s * (t >= 0.0F ? larger : decay * larger);
}

static double logistic_slope(double margin, double y) {
    /* for an invalid label, which also has no bound on the curvature */
    if (!(y >= 0.0 && y <= 1.0)) return (double)NAN;
    double s = 2.0 * y - 1.0, t = -s * margin;
    double decay = exp(-fabs(t)), larger = 1.0 / (1.0 + decay);
    return -s * (t >= 0.0 ? larger : decay * larger);
}

static double logistic_loss(float margin, float y) {
    double t = -(2.0 * (double)y - 1.0) * (double)margin;
    if (isnan(t)) return NAN;
    return fmax(t, 0.0) + log1p(exp(-fabs(t)));
}

static const mfpg_glm logistic = {
    .bias = 1, .residual = logistic_residual, .slope = logistic_slope, .loss = logistic_loss};

const mfpg_model_ops mfpg_model_logistic = {
    .name = "logistic",
    .help = "logistic regression with bias, mean log-loss, labels 0 and 1",
    .classes = 2,
    .curvature = 0.25, /* sigmoid' <= 1/4 */
    .glm = &logistic,
    .margin_curvature = 0.25,
    .first_layer = mfpg_glm_first_layer,
    MFPG_GLM_FUNCTIONS,
};
