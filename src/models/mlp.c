/* A network of fully connected layers, ReLU between them, softmax and cross-entropy at the end. Layer l has a tensor of
 * weights, inputs x units, and one of biases.
 *
 * The gradient of an example by the weights of a layer is the outer product of the layer's input and the derivative of
 * the loss by its output, its delta. So the norm of the whole is sqrt(sum over layers |delta|^2 (|input|^2 + 1)), and a
 * clipped sum is one product a layer after the examples' deltas have been scaled: no example's gradient is ever formed.
 *
 * Workspace of a batch: whether its inputs were copied, the copies, then the output of every layer, one row an example,
 * then the deltas of the hidden layers. The output of the last layer becomes its delta in place. */
#include <math.h>
#include <string.h>

#include "base/streams.h"
#include "base/wide.h"
#include "clip_factor.h"
#include "mfpg/random.h"
#include "model_ops.h"
#include "numerics/linalg/linalg.h"
#include "numerics/linalg/product.h"

/* ---- shapes ---- */

static ptrdiff_t shape(const mfpg_model_ops *ops, const mfpg_model_options *options, ptrdiff_t *size) {
    ptrdiff_t inputs = options->features;
    (void)ops;
    for (ptrdiff_t l = 0; size && l <= options->hidden_layers; l++) {
        ptrdiff_t units = l < options->hidden_layers ? options->hidden[l] : options->classes;
        size[2 * l] = inputs * units;
        size[2 * l + 1] = units;
        inputs = units;
    }
    return 2 * (options->hidden_layers + 1);
}

static ptrdiff_t last_layer(const mfpg_model *model) {
    return model->tensors / 2 - 1;
}

static ptrdiff_t units(const mfpg_model *model, ptrdiff_t layer) {
    return model->tensor[2 * layer + 1].size;
}

static ptrdiff_t inputs(const mfpg_model *model, ptrdiff_t layer) {
    return layer > 0 ? units(model, layer - 1) : model->features;
}

static const float *weights(const mfpg_model *model, const float *w, ptrdiff_t layer) {
    return w + model->tensor[2 * layer].offset;
}

static const float *biases(const mfpg_model *model, const float *w, ptrdiff_t layer) {
    return w + model->tensor[2 * layer + 1].offset;
}

static void start(const mfpg_model *model, const mfpg_key *key, int he, float *w) {
    for (ptrdiff_t l = 0; he && l <= last_layer(model); l++) {
        mfpg_stream stream = mfpg_stream_open(key, MFPG_PURPOSE_START, 0, (uint64_t)l);
        float deviation = sqrtf(2.0F / (float)inputs(model, l));
        mfpg_stream_gaussian_add(
            &stream, 0, model->tensor[2 * l].size, deviation, w + model->tensor[2 * l].offset);
    }
}

static mfpg_layer first_layer(const mfpg_model *model) {
    return (mfpg_layer){.units = units(model, 0),
        .inputs = model->features,
        .down = 1,
        .across = units(model, 0),
        .biases = model->tensor[1].offset};
}

/* ---- workspace ---- */

enum { HEAD = 16 }; /* floats before the copies of inputs */

static ptrdiff_t workspace(const mfpg_model *model, ptrdiff_t rows) {
    ptrdiff_t of_row = model->features + model->classes;
    for (ptrdiff_t l = 0; l < last_layer(model); l++) of_row += 2 * units(model, l);
    return HEAD + rows * of_row;
}

static float *output(const mfpg_model *model, const mfpg_batch *batch, ptrdiff_t layer, float *work) {
    ptrdiff_t before = model->features;
    for (ptrdiff_t l = 0; l < layer; l++) before += units(model, l);
    return work + HEAD + before * batch->count;
}

static float *delta(const mfpg_model *model, const mfpg_batch *batch, ptrdiff_t layer, float *work) {
    ptrdiff_t before = model->classes, last = last_layer(model);
    if (layer == last) return output(model, batch, last, work);
    for (ptrdiff_t l = 0; l < layer; l++) before += units(model, l);
    return output(model, batch, last, work) + before * batch->count;
}

static const float *input(const mfpg_model *model, const mfpg_batch *batch, ptrdiff_t layer, float *work) {
    if (layer > 0) return output(model, batch, layer - 1, work);
    return work[0] != 0.0F ? work + HEAD : batch->data->x;
}

static void copy_inputs(const mfpg_model *model, const mfpg_batch *batch, float *work) {
    size_t bytes = (size_t)model->features * sizeof *work;
    for (ptrdiff_t i = 0; i < batch->count; i++)
        memcpy(work + HEAD + i * model->features, batch->data->x + mfpg_batch_row(batch, i) * model->features,
            bytes);
    work[0] = 1.0F;
}

/* ---- forward and backward ---- */

static ptrdiff_t label_of(const mfpg_model *model, const mfpg_batch *batch, ptrdiff_t i) {
    return mfpg_class_of(batch->data->y[mfpg_batch_row(batch, i)], model->classes);
}

/* max(0, x), but NaN stays. */
MFPG_WIDE static void rectify(ptrdiff_t n, float *x) {
    for (ptrdiff_t i = 0; i < n; i++) x[i] = x[i] < 0.0F ? 0.0F : x[i];
}

/* The derivative of rectify: 0 unless its value is above 0. */
MFPG_WIDE static void mask(ptrdiff_t n, const float *restrict value, float *restrict below) {
    for (ptrdiff_t i = 0; i < n; i++) below[i] = value[i] > 0.0F ? below[i] : 0.0F;
}

/* Computes the outputs of all layers; those of the last layer are margins. */
static void forward(const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work) {
    ptrdiff_t last = last_layer(model), count = batch->count;
    work[0] = 0.0F;
    if (batch->rows) copy_inputs(model, batch, work);
    for (ptrdiff_t l = 0; l <= last; l++) {
        ptrdiff_t from = inputs(model, l), to = units(model, l);
        float *out = output(model, batch, l, work);
        mfpg_matrix x = {input(model, batch, l, work), from, 1}, weight = {weights(model, w, l), to, 1};
        mfpg_matrix_product(count, to, from, x, weight, biases(model, w, l), out);
        if (l < last) rectify(count * to, out);
    }
}

/* Zero times a non-finite number is not zero, so both inputs and deltas are set to zero. */
static void drop_example(const mfpg_model *model, const mfpg_batch *batch, ptrdiff_t i, float *work) {
    if (work[0] == 0.0F) copy_inputs(model, batch, work);
    memset(work + HEAD + i * model->features, 0, (size_t)model->features * sizeof *work);
    for (ptrdiff_t l = 0; l <= last_layer(model); l++) {
        ptrdiff_t to = units(model, l);
        memset(output(model, batch, l, work) + i * to, 0, (size_t)to * sizeof *work);
        memset(delta(model, batch, l, work) + i * to, 0, (size_t)to * sizeof *work);
    }
}

/* Computes the deltas of all layers, from the last to the first. */
static void backward(const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work) {
    ptrdiff_t last = last_layer(model), count = batch->count, classes = model->classes;
    forward(model, w, batch, work);
    float *signal = delta(model, batch, last, work);
    for (ptrdiff_t i = 0; i < count; i++)
        mfpg_cross_entropy_signal(classes, 1, label_of(model, batch, i), signal + i * classes);
    for (ptrdiff_t l = last; l > 0; l--) {
        ptrdiff_t from = inputs(model, l), to = units(model, l), n = count * from;
        float *below = delta(model, batch, l - 1, work);
        const float *value = input(model, batch, l, work);
        mfpg_matrix above = {delta(model, batch, l, work), to, 1}, turned = {weights(model, w, l), 1, to};
        mfpg_matrix_product(count, from, to, above, turned, NULL, below);
        mask(n, value, below);
    }
    for (ptrdiff_t i = 0; batch->data->absent && i < count; i++)
        if (mfpg_batch_is_absent(batch, i)) drop_example(model, batch, i, work);
}

/* ---- clipped sums ---- */

/* The norm of the gradient of example i. */
static double gradient_norm(const mfpg_model *model, const mfpg_batch *batch, ptrdiff_t i, float *work) {
    double squares = 0.0;
    for (ptrdiff_t l = 0; l <= last_layer(model); l++) {
        ptrdiff_t from = inputs(model, l), to = units(model, l);
        const float *out = delta(model, batch, l, work) + i * to;
        const float *in = input(model, batch, l, work) + i * from;
        double of_input = l > 0 ? mfpg_vector_dot(from, in, in) : mfpg_batch_norm2(batch, i);
        squares += mfpg_vector_dot(to, out, out) * (of_input + 1.0);
    }
    return sqrt(squares);
}

static int64_t clip(
    const mfpg_model *model, const mfpg_batch *batch, double bound, double scale, float *work) {
    int64_t nonfinite = 0;
    for (ptrdiff_t i = 0; i < batch->count; i++) {
        double factor = mfpg_clip_factor(gradient_norm(model, batch, i, work), bound);
        nonfinite += factor == 0.0;
        if (factor == 0.0) drop_example(model, batch, i, work);
        for (ptrdiff_t l = 0; factor != 0.0 && l <= last_layer(model); l++) {
            ptrdiff_t to = units(model, l);
            /* rounding of a subnormal is not relative: multiplied by a huge input it could exceed the clip */
            mfpg_vector_scale_normal(to, factor * scale, delta(model, batch, l, work) + i * to);
        }
    }
    return nonfinite;
}

MFPG_WIDE static void scale_signals(ptrdiff_t n, float by, float *v) {
    for (ptrdiff_t i = 0; i < n; i++) v[i] *= by;
}

/* sum += the rows of cols entries, `down` floats apart, one after the other. */
MFPG_WIDE static void add_rows(
    ptrdiff_t rows, ptrdiff_t cols, ptrdiff_t down, const float *restrict x, float *restrict sum) {
    for (ptrdiff_t i = 0; i < rows; i++)
        for (ptrdiff_t u = 0; u < cols; u++) sum[u] += x[i * down + u];
}

static void accumulate(
    const mfpg_model *model, const mfpg_batch *batch, float alpha, int fresh, float *work, float *target) {
    ptrdiff_t count = batch->count;
    for (ptrdiff_t l = 0; l <= last_layer(model); l++) {
        ptrdiff_t from = inputs(model, l), to = units(model, l);
        float *signal = delta(model, batch, l, work), *bias = target + model->tensor[2 * l + 1].offset;
        float *weight = target + model->tensor[2 * l].offset;
        mfpg_matrix turned = {input(model, batch, l, work), 1, from}, above = {signal, to, 1};
        if (alpha != 1.0F) scale_signals(count * to, alpha, signal);
        if (fresh) memset(bias, 0, (size_t)to * sizeof *bias);
        add_rows(count, to, to, signal, bias);
        if (fresh)
            mfpg_matrix_product(from, to, count, turned, above, NULL, weight);
        else
            mfpg_matrix_add_product(from, to, count, turned, above, weight);
    }
}

/* Entries of a layer's gradient that are summed in float at a time and become multiples of the unit while they are in a
 * near cache, block after block. The rows of a piece are a multiple of 12 if there are more, as the tiles of product.c are
 * that high. */
enum { PIECE = 24576, PIECE_ROWS = 12 };

static ptrdiff_t least(ptrdiff_t a, ptrdiff_t b) {
    return a < b ? a : b;
}

static void add_weights(const mfpg_blocks *blocks, ptrdiff_t from, ptrdiff_t to, const float *in,
    const float *signal, int fresh, int64_t *sum) {
    float piece[PIECE] __attribute__((aligned(64)));
    ptrdiff_t broad = least(to, PIECE), high = PIECE / broad;
    if (high > PIECE_ROWS) high -= high % PIECE_ROWS;
    for (ptrdiff_t i = 0; i < from; i += high)
        for (ptrdiff_t j = 0; j < to; j += broad)
            for (ptrdiff_t k = 0; k < blocks->count; k++) {
                ptrdiff_t rows = least(high, from - i), cols = least(broad, to - j);
                ptrdiff_t first = mfpg_blocks_first(blocks, k), count = blocks->end[k] - first;
                mfpg_matrix turned = {in + first * from + i, 1, from},
                            above = {signal + first * to + j, to, 1};
                mfpg_matrix_product(rows, cols, count, turned, above, NULL, piece);
                mfpg_block_sum_convert(rows, cols, piece, fresh && k == 0, to, sum + i * to + j);
            }
}

static void add_biases(
    const mfpg_blocks *blocks, ptrdiff_t to, const float *signal, int fresh, int64_t *sum) {
    float piece[PIECE] __attribute__((aligned(64)));
    for (ptrdiff_t j = 0; j < to; j += PIECE)
        for (ptrdiff_t k = 0; k < blocks->count; k++) {
            ptrdiff_t cols = least(PIECE, to - j), first = mfpg_blocks_first(blocks, k);
            memset(piece, 0, (size_t)cols * sizeof *piece);
            add_rows(blocks->end[k] - first, cols, to, signal + first * to + j, piece);
            mfpg_block_sum_convert(1, cols, piece, fresh && k == 0, to, sum + j);
        }
}

/* The signals are scaled to multiples of the unit, which is a power of two: it costs no rounding, brings every entry
 * below 2^49, far from the largest float (a layer has biases, so no signal exceeds the clip either), and what becomes
 * subnormal is below 2^-126 units. */
static int64_t add_clipped(const mfpg_model *model, const mfpg_batch *batch, const mfpg_blocks *blocks,
    double bound, double unit, int fresh, float *work, int64_t *sum) {
    int64_t nonfinite = clip(model, batch, bound, 1.0 / unit, work);
    for (ptrdiff_t l = 0; l <= last_layer(model); l++) {
        const float *in = input(model, batch, l, work), *signal = delta(model, batch, l, work);
        ptrdiff_t to = units(model, l);
        add_weights(blocks, inputs(model, l), to, in, signal, fresh, sum + model->tensor[2 * l].offset);
        add_biases(blocks, to, signal, fresh, sum + model->tensor[2 * l + 1].offset);
    }
    return nonfinite;
}

/* The sum of the biases' gradients overwrites that of the first example, which is no longer needed. */
static void descend(const mfpg_model *model, const mfpg_batch *batch, float alpha, float factor,
    const float *from_w, float *work, float *to_w) {
    ptrdiff_t count = batch->count;
    for (ptrdiff_t l = 0; l <= last_layer(model); l++) {
        ptrdiff_t from = inputs(model, l), to = units(model, l);
        float *signal = delta(model, batch, l, work);
        mfpg_matrix turned = {input(model, batch, l, work), 1, from}, above = {signal, to, 1};
        scale_signals(count * to, alpha, signal);
        ptrdiff_t weight = model->tensor[2 * l].offset, bias = model->tensor[2 * l + 1].offset;
        mfpg_matrix_add_scaled_product(
            from, to, count, turned, above, factor, from_w + weight, to_w + weight);
        add_rows(count - 1, to, to, signal + to, signal);
        if (from_w != to_w) memcpy(to_w + bias, from_w + bias, (size_t)to * sizeof *to_w);
        mfpg_vector_axpy(to, factor, signal, to_w + bias);
    }
}

static void predict(
    const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work, mfpg_prediction *out) {
    ptrdiff_t classes = model->classes;
    forward(model, w, batch, work);
    const float *margin = output(model, batch, last_layer(model), work);
    for (ptrdiff_t i = 0; i < batch->count; i++)
        out[i] = mfpg_cross_entropy_predict(classes, 1, label_of(model, batch, i), margin + i * classes);
}

const mfpg_model_ops mfpg_model_mlp = {
    .name = "mlp",
    .help = "network of ReLU layers (task.hidden), mean cross-entropy, labels 0, 1, ... (task.classes)",
    .classes = MFPG_CLASSES_OF_OPTIONS,
    .hidden = 1,
    .curvature = NAN, /* the loss is not convex and has no public bound, so one must be declared */
    .shape = shape,
    .start = start,
    .workspace = workspace,
    .backward = backward,
    .clip = clip,
    .add_clipped = add_clipped,
    .accumulate = accumulate,
    .descend = descend,
    .predict = predict,
    .first_layer = first_layer,
};
