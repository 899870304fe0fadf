/* What a model implements. The front (model.c, clipped_sum.c, metrics.c) composes gradients, clipped gradients and scores from it.
 *
 * One pass over a batch is: backward leaves one signal an example in the workspace (a residual, or the derivative of
 * the loss at every layer's output, with whatever else the pass needs), clip rescales signals through the norms of
 * the examples' gradients without forming these gradients (the gradient of an affine layer is an outer product, so its
 * norm is |signal| sqrt(|input|^2 + 1), and the norms of the layers add in squares), and accumulate forms the sum. */
#ifndef MFPG_MODELS_MODEL_OPS_H
#define MFPG_MODELS_MODEL_OPS_H

#include "losses.h"

/* Rows in one pass: batches are cut into blocks of this many, so that no workspace grows with the data. */
enum { MFPG_BLOCK_ROWS = 256 };

/* Rows in one block of a clipped sum at most (clipped_sum.c), by the type that the block is summed in. */
enum { MFPG_SUM_ROWS_FLOAT = 64, MFPG_SUM_ROWS_DOUBLE = 256 };

/* Rows of a data set, in order; rows NULL: all of them, then count is data->rows. */
typedef struct mfpg_batch {
    const mfpg_dataset *data;
    const int32_t *rows;
    ptrdiff_t count;
} mfpg_batch;

/* A batch in blocks, one after the other: block k ends before example end[k]. */
typedef struct mfpg_blocks {
    ptrdiff_t count;
    ptrdiff_t end[MFPG_BLOCK_ROWS];
} mfpg_blocks;

static inline ptrdiff_t mfpg_blocks_first(const mfpg_blocks *blocks, ptrdiff_t k) {
    return k > 0 ? blocks->end[k - 1] : 0;
}

typedef struct mfpg_prediction {
    double loss;
    float score;    /* two classes: larger if class 1 is likelier than class 0 */
    int32_t chosen; /* classifiers: the predicted class, -1 if the scores are not numbers */
} mfpg_prediction;

/* One generalised linear model: margin = x.w (+ bias), loss a function of margin and label. */
typedef struct mfpg_glm {
    int bias;                                 /* 1: one more parameter, the last */
    int squares;                              /* 1: the loss is half the squared error */
    float (*residual)(float margin, float y); /* d loss / d margin */
    double (*slope)(double margin, double y); /* the same in double */
    double (*loss)(float margin, float y);
} mfpg_glm;

enum {
    MFPG_CLASSES_OF_OPTIONS = -1,
    MFPG_MOST_CLASSES = 65536,
    MFPG_MOST_LAYERS = 64,
    MFPG_MOST_UNITS = 65536
};

/* Where a layer is in the flat vector: the weight of unit u and input j at weights + u * down + j * across, the bias of
 * unit u at biases + u. */
typedef struct mfpg_layer {
    ptrdiff_t units, inputs;
    ptrdiff_t weights, down, across;
    ptrdiff_t biases;
} mfpg_layer;

struct mfpg_model_ops {
    const char *name, *help;
    ptrdiff_t classes;   /* 0: regression; MFPG_CLASSES_OF_OPTIONS: the number in the options */
    int hidden;          /* 1: has hidden layers according to the options */
    int sums_rows;       /* 1: the loss of a set is the sum over its rows */
    double curvature;    /* the Hessian's norm is at most this times (|x|^2 + bias); NAN: no bound is known */
    const mfpg_glm *glm; /* generalised linear models only */
    int double_sums; /* 1: add_clipped sums in double, where products of two floats are exact; 0: in float */

    /* Returns the number of tensors and, unless size is NULL, the entries of each, in the order of the flat vector. */
    ptrdiff_t (*shape)(const mfpg_model_ops *ops, const mfpg_model_options *options, ptrdiff_t *size);
    /* Sets w, which is zero on entry, to the initial model. NULL: the initial model is zero. */
    void (*start)(const mfpg_model *model, const mfpg_key *key, int he, float *w);
    /* For a batch of that many rows, at most MFPG_BLOCK_ROWS. All below see no longer one. */
    ptrdiff_t (*workspace)(const mfpg_model *model, ptrdiff_t rows);

    /* The signal of an absent example is exactly zero, whatever its values and the weights. */
    void (*backward)(const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work);
    /* Multiplies every signal by scale mfpg_clip_factor(norm of the example's gradient, clip). An example of factor 0
     * must not reach accumulate, whatever its values. Returns the number of examples whose norm is not finite. */
    int64_t (*clip)(const mfpg_model *model, const mfpg_batch *batch, double clip, double scale, float *work);
    /* After backward: sum += the clipped gradients of every block of the batch in multiples of unit. The sum of a block is
     * made in float or double from zero, in an order that depends on the block alone, and then rounded to whole multiples;
     * every entry takes at most one rounding of a product and one of an addition per row of the block. fresh 1: whatever
     * sum holds counts as zero. Returns as clip does, whose promises hold here too. Sums in float are the bits of clip with the
     * scale 1/unit and accumulate with alpha 1, and below 2^49. */
    int64_t (*add_clipped)(const mfpg_model *model, const mfpg_batch *batch, const mfpg_blocks *blocks,
        double clip, double unit, int fresh, float *work, int64_t *sum);
    /* target += alpha * sum of the examples' gradients. fresh 1: whatever target holds counts as zero. */
    void (*accumulate)(
        const mfpg_model *model, const mfpg_batch *batch, float alpha, int fresh, float *work, float *target);
    /* to = from + factor * g with g = alpha * sum of the examples' gradients, at least one, but without g: the same bits
     * as with it. to may be from. NULL: few parameters, not worth it. */
    void (*descend)(const mfpg_model *model, const mfpg_batch *batch, float alpha, float factor,
        const float *from, float *work, float *to);
    /* Forward pass: one prediction an example, in the order of the batch. */
    void (*predict)(
        const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work, mfpg_prediction *out);

    /* All three are set, or all are 0 and NULL if the loss is not a smooth convex function of the features.
     * margin_curvature: an upper bound on the Hessian's norm in the margins. weights_norm2: an upper bound
     * of the squared operator norm of the map from features to margins. input_gradient: NaN if the label is
     * not one of the model's; work: classes doubles. */
    double margin_curvature;
    double (*weights_norm2)(const mfpg_model *model, const float *w);
    void (*input_gradient)(
        const mfpg_model *model, const float *w, const float *x, float y, double *out, double *work);

    /* The layer that the features enter, which has biases. NULL: none has. */
    mfpg_layer (*first_layer)(const mfpg_model *model);
};

/* The `count` rows of a batch from `first` on; data is room for the set that the part refers to. */
mfpg_batch mfpg_batch_part(const mfpg_batch *batch, ptrdiff_t first, ptrdiff_t count, mfpg_dataset *data);

/* Returns, for a batch of count rows, the block from `first` on; data is memory for the set to which the
 * block refers. */
mfpg_batch mfpg_batch_block(const mfpg_batch *batch, ptrdiff_t first, mfpg_dataset *data);

static inline ptrdiff_t mfpg_batch_row(const mfpg_batch *batch, ptrdiff_t index) {
    return batch->rows ? batch->rows[index] : index;
}

/* Returns 1 if the example with that index is absent: backward gives it a signal of zero. */
static inline int mfpg_batch_is_absent(const mfpg_batch *batch, ptrdiff_t index) {
    return batch->data->absent && batch->data->absent[mfpg_batch_row(batch, index)];
}

/* Returns |x|^2 of the example with that index, stored or computed with the same bits. */
static inline double mfpg_batch_norm2(const mfpg_batch *batch, ptrdiff_t index) {
    const mfpg_dataset *data = batch->data;
    ptrdiff_t row = mfpg_batch_row(batch, index);
    if (data->norm2) return data->norm2[row];
    const float *x = data->x + row * data->features;
    double sum = 0.0;
    for (ptrdiff_t j = 0; j < data->features; j++) sum += (double)x[j] * (double)x[j];
    return sum;
}

/* ---- generalised linear models (glm.c): what a new one defines in addition to its loss, and the layer of
 * models with a bias ---- */

ptrdiff_t mfpg_glm_shape(const mfpg_model_ops *ops, const mfpg_model_options *options, ptrdiff_t *size);
mfpg_layer mfpg_glm_first_layer(const mfpg_model *model);
ptrdiff_t mfpg_glm_workspace(const mfpg_model *model, ptrdiff_t rows);
void mfpg_glm_backward(const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work);
int64_t mfpg_glm_clip(
    const mfpg_model *model, const mfpg_batch *batch, double clip, double scale, float *work);
int64_t mfpg_glm_add_clipped(const mfpg_model *model, const mfpg_batch *batch, const mfpg_blocks *blocks,
    double clip, double unit, int fresh, float *work, int64_t *sum);
void mfpg_glm_accumulate(
    const mfpg_model *model, const mfpg_batch *batch, float alpha, int fresh, float *work, float *target);
void mfpg_glm_predict(
    const mfpg_model *model, const float *w, const mfpg_batch *batch, float *work, mfpg_prediction *out);
double mfpg_glm_weights_norm2(const mfpg_model *model, const float *w);
void mfpg_glm_input_gradient(
    const mfpg_model *model, const float *w, const float *x, float y, double *out, double *work);

#define MFPG_GLM_FUNCTIONS                                                                                   \
    .double_sums = 1, .shape = mfpg_glm_shape, .workspace = mfpg_glm_workspace,                              \
    .backward = mfpg_glm_backward, .clip = mfpg_glm_clip, .add_clipped = mfpg_glm_add_clipped,               \
    .accumulate = mfpg_glm_accumulate, .predict = mfpg_glm_predict, .weights_norm2 = mfpg_glm_weights_norm2, \
    .input_gradient = mfpg_glm_input_gradient

/* ---- cross-entropy of one example, for models of any number of classes (softmax.c); margins lie `step` floats apart ---- */

/* Returns the class of a label, or -1 if it is not one of 0 .. classes-1. */
ptrdiff_t mfpg_class_of(float y, ptrdiff_t classes);

/* Turns margins into the derivative of the loss by them, p - e_label, in place. Margins that are not numbers and a label
 * below 0 leave NaN. */
void mfpg_cross_entropy_signal(ptrdiff_t classes, ptrdiff_t step, ptrdiff_t label, float *margin);

/* Returns the prediction for one example: its loss is NAN if the label is below 0. */
mfpg_prediction mfpg_cross_entropy_predict(
    ptrdiff_t classes, ptrdiff_t step, ptrdiff_t label, const float *margin);

/* ---- the sum of one block of examples as integers: made in float or double from zero, then rounded once to multiples of the
 * unit and added to the blocks before (block_sum.c) ---- */

/* For every block, sum += sum over its examples of signal_i x_i, and bias += sum of signal_i unless bias is NULL, in whole
 * multiples of 1/per_unit, a power of two. A block is summed in double, in which products of two floats are exact. A row
 * of signal 0 is left out, whatever it holds, NaN too. Magnitudes stay below 2^51 multiples. fresh 1: what sum and bias
 * hold counts as zero. */
void mfpg_block_sum_outer(const mfpg_batch *batch, const mfpg_blocks *blocks, const float *signal,
    double per_unit, int fresh, int64_t *sum, int64_t *bias);

/* sum += the rows x cols matrix `from`, row-major without padding, each entry below 2^51 and rounded to the nearest
 * integer, ties to even; rows of sum are `down` entries apart. fresh as above. */
void mfpg_block_sum_convert(
    ptrdiff_t rows, ptrdiff_t cols, const float *from, int fresh, ptrdiff_t down, int64_t *sum);

#endif
