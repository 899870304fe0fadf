/* Softmax regression: mean cross-entropy over classes 0 .. classes-1, a weight vector and a bias a class. The gradient
 * of an example is the outer product of its signal p - e_y and its input, so its norm is |signal| sqrt(|x|^2 + 1).
 * The workspace holds one signal an example and class, class by class. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "clip_factor.h"
#include "model_ops.h"
#include "numerics/linalg/linalg.h"

/* ---- cross-entropy of one example ---- */

ptrdiff_t mfpg_class_of(float y, ptrdiff_t classes) {
    return y >= 0.0F && y < (float)classes && y == floorf(y) ? (ptrdiff_t)y : -1;
}

/* The largest margin is subtracted first, so that no exponential overflows and the sum is at least 1. */
void mfpg_cross_entropy_signal(ptrdiff_t classes, ptrdiff_t step, ptrdiff_t label, float *margin) {
    float largest = margin[0], sum = 0.0F;
    for (ptrdiff_t c = 1; c < classes; c++) largest = fmaxf(largest, margin[c * step]);
    for (ptrdiff_t c = 0; c < classes; c++) {
        margin[c * step] = expf(margin[c * step] - largest);
        sum += margin[c * step];
    }
    for (ptrdiff_t c = 0; c < classes; c++)
        margin[c * step] = label < 0 ? NAN : margin[c * step] / sum - (c == label ? 1.0F : 0.0F);
}

mfpg_prediction mfpg_cross_entropy_predict(
    ptrdiff_t classes, ptrdiff_t step, ptrdiff_t label, const float *margin) {
    mfpg_prediction out = {.chosen = 0, .score = margin[step] - margin[0]};
    for (ptrdiff_t c = 1; c < classes; c++)
        if (margin[c * step] > margin[out.chosen * step]) out.chosen = (int32_t)c;
    double largest = (double)margin[out.chosen * step], sum = 0.0;
    for (ptrdiff_t c = 0; c < classes; c++) sum += exp((double)margin[c * step] - largest);
    if (isnan(sum)) return (mfpg_prediction){.loss = NAN, .score = NAN, .chosen = -1};
    out.loss = label < 0 ? (double)NAN : log(sum) + largest - (double)margin[label * step];
    return out;
}

/* ---- the model ---- */

/* Weights, class by class, and biases. */
static ptrdiff_t shape(const mfpg_model_ops *ops, const mfpg_model_options *options, ptrdiff_t *size) {
    (void)ops;
    if (size) size[0] = options->classes * options->features;
    if (size) size[1] = options->classes;
    return 2;
}

static mfpg_layer first_layer(const mfpg_model *model) {
    return (mfpg_layer){.units = model->classes,
        .inputs = model->features,
        .down = model->features,
        .across = 1,
        .biases = model->tensor[1].offset};
}

static ptrdiff_t workspace(const mfpg_model *model, ptrdiff_t rows) {
    return model->classes * rows;
}

static void margins(const mfpg_model *model, const float *w, const mfpg_batch *batch, float *out) {
    const float *bias = w + model->tensor[1].offset;
    for (ptrdiff_t c = 0; c < model->classes; c++)
        mfpg_matrix_apply(batch->count, model->features, batch->data->x, batch->rows, w + c * model->features,
            bias[c], out + c * batch->count);
}

static ptrdiff_t label_of(const mfpg_model *model, const mfpg_batch *batch, ptrdiff_t i) {
    return mfpg_class_of(batch->data->y[mfpg_batch_row(batch, i)], model->classes);
}

static void backward(const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work) {
    margins(model, w, batch, work);
    for (ptrdiff_t i = 0; i < batch->count; i++) {
        mfpg_cross_entropy_signal(model->classes, batch->count, label_of(model, batch, i), work + i);
        for (ptrdiff_t c = 0; mfpg_batch_is_absent(batch, i) && c < model->classes; c++)
            work[c * batch->count + i] = 0.0F;
    }
}

static int64_t clip(
    const mfpg_model *model, const mfpg_batch *batch, double bound, double scale, float *work) {
    int64_t nonfinite = 0;
    for (ptrdiff_t i = 0; i < batch->count; i++) {
        double squares = 0.0;
        for (ptrdiff_t c = 0; c < model->classes; c++) {
            double signal = (double)work[c * batch->count + i];
            squares += signal * signal;
        }
        double norm = sqrt(squares * (mfpg_batch_norm2(batch, i) + 1.0));
        double factor = mfpg_clip_factor(norm, bound);
        nonfinite += factor == 0.0;
        for (ptrdiff_t c = 0; c < model->classes; c++) {
            float *at = &work[c * batch->count + i];
            double scaled = (double)*at * factor * scale;
            /* rounding of a subnormal is not relative: multiplied by a huge feature it could exceed the clip */
            *at = factor == 0.0 || fabs(scaled) < (double)FLT_MIN ? 0.0F : (float)scaled;
        }
    }
    return nonfinite;
}

static int64_t add_clipped(const mfpg_model *model, const mfpg_batch *batch, const mfpg_blocks *blocks,
    double bound, double unit, int fresh, float *work, int64_t *sum) {
    int64_t nonfinite = clip(model, batch, bound, 1.0, work);
    int64_t *bias = sum + model->tensor[1].offset;
    for (ptrdiff_t c = 0; c < model->classes; c++)
        mfpg_block_sum_outer(
            batch, blocks, work + c * batch->count, 1.0 / unit, fresh, sum + c * model->features, bias + c);
    return nonfinite;
}

static void accumulate(
    const mfpg_model *model, const mfpg_batch *batch, float alpha, int fresh, float *work, float *target) {
    if (fresh) memset(target, 0, (size_t)model->parameters * sizeof *target);
    float *bias = target + model->tensor[1].offset;
    for (ptrdiff_t c = 0; c < model->classes; c++) {
        float *signal = work + c * batch->count, sum = 0.0F;
        for (ptrdiff_t i = 0; i < batch->count; i++) {
            signal[i] *= alpha;
            sum += signal[i];
        }
        mfpg_matrix_add_transposed(
            batch->count, model->features, batch->data->x, batch->rows, signal, target + c * model->features);
        bias[c] += sum;
    }
}

static void predict(
    const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work, mfpg_prediction *out) {
    margins(model, w, batch, work);
    for (ptrdiff_t i = 0; i < batch->count; i++)
        out[i] =
            mfpg_cross_entropy_predict(model->classes, batch->count, label_of(model, batch, i), work + i);
}

/* |W|^2 <= the smaller of the squared Frobenius norm and the largest row sum times the largest column sum of |W|. The n
 * products of floats are exact; a sum of n terms loses at most n units. */
static double weights_norm2(const mfpg_model *model, const float *w) {
    ptrdiff_t features = model->features, classes = model->classes;
    double squares = 0.0, row = 0.0, column = 0.0;
    for (ptrdiff_t c = 0; c < classes; c++) {
        double sum = 0.0;
        for (ptrdiff_t i = 0; i < features; i++) {
            double v = (double)w[c * features + i];
            squares += v * v;
            sum += fabs(v);
        }
        row = fmax(row, sum);
    }
    for (ptrdiff_t i = 0; i < features; i++) {
        double sum = 0.0;
        for (ptrdiff_t c = 0; c < classes; c++) sum += fabs((double)w[c * features + i]);
        column = fmax(column, sum);
    }
    if (isnan(squares)) return (double)NAN; /* fmin and fmax would drop it */
    return fmin(squares, row * column) * (1.0 + (double)(features * classes + 4) * DBL_EPSILON);
}

/* W'(p - e_y), the largest margin taken off before the exponentials. work: the margins, then p - e_y. */
static void input_gradient(
    const mfpg_model *model, const float *w, const float *x, float y, double *out, double *work) {
    ptrdiff_t features = model->features, classes = model->classes, label = mfpg_class_of(y, classes);
    const float *bias = w + model->tensor[1].offset;
    double largest = -(double)INFINITY, sum = 0.0;
    for (ptrdiff_t c = 0; c < classes; c++) {
        double margin = (double)bias[c];
        for (ptrdiff_t i = 0; i < features; i++) margin += (double)w[c * features + i] * (double)x[i];
        work[c] = margin;
        largest = fmax(largest, margin);
    }
    for (ptrdiff_t c = 0; c < classes; c++) sum += work[c] = exp(work[c] - largest);
    for (ptrdiff_t c = 0; c < classes; c++)
        work[c] = label < 0 ? (double)NAN : work[c] / sum - (c == label ? 1.0 : 0.0);
    for (ptrdiff_t i = 0; i < features; i++) out[i] = 0.0;
    for (ptrdiff_t c = 0; c < classes; c++)
        for (ptrdiff_t i = 0; i < features; i++) out[i] += work[c] * (double)w[c * features + i];
}

const mfpg_model_ops mfpg_model_softmax = {
    .name = "softmax",
    .help = "softmax regression with biases, mean cross-entropy, labels 0, 1, ... (task.classes)",
    .classes = MFPG_CLASSES_OF_OPTIONS,
    .curvature = 0.5, /* the norm of diag(p) - pp' is at most 1/2 */
    .double_sums = 1,
    .shape = shape,
    .workspace = workspace,
    .backward = backward,
    .clip = clip,
    .add_clipped = add_clipped,
    .accumulate = accumulate,
    .predict = predict,
    .margin_curvature = 0.5,
    .weights_norm2 = weights_norm2,
    .input_gradient = input_gradient,
    .first_layer = first_layer,
};
