/* Internal interface of models: their fields, sums of clipped gradients and losses, and the loss as a
 * function of the features. */
#ifndef MFPG_MODELS_LOSSES_H
#define MFPG_MODELS_LOSSES_H

#include "mfpg/model.h"

typedef struct mfpg_model_ops mfpg_model_ops;

/* One tensor of the flat parameter vector: entries [offset, offset + size). */
typedef struct mfpg_tensor {
    ptrdiff_t offset, size;
} mfpg_tensor;

struct mfpg_model {
    const mfpg_model_ops *ops;
    ptrdiff_t features;
    ptrdiff_t classes;    /* labels are 0 .. classes-1; 0: regression */
    ptrdiff_t parameters; /* biases included */
    ptrdiff_t tensors;
    mfpg_tensor *tensor; /* tensors */
};

const char *mfpg_model_name(const mfpg_model *model);
/* Returns 1 if the loss of a set sums its rows, and 0 if it is their mean. */
int mfpg_model_sums_rows(const mfpg_model *model);

/* The facts that follow from the name of a model, as bits; 0 for NULL and unknown names. */
enum {
    MFPG_MODEL_TAKES_CLASSES = 1, /* reads classes of its options */
    /* reads the hidden layers of its options; training cannot start from zero weights */
    MFPG_MODEL_TAKES_HIDDEN = 2,
    MFPG_MODEL_BINARY = 4,    /* labels are 0 and 1 */
    MFPG_MODEL_SUMS_ROWS = 8, /* as mfpg_model_sums_rows */
    /* an example's loss is a function of one margin that is linear in its features */
    MFPG_MODEL_OF_MARGIN = 16,
    MFPG_MODEL_SQUARES = 32, /* half the squared error, so the loss is quadratic */
    MFPG_MODEL_SMOOTH = 64   /* mfpg_model_input_smoothness has a bound, and an example's loss is smooth */
};
int mfpg_model_facts(const char *kind);

/* Fills w with the initial model. he 1: the weights of a layer with n inputs are normal with variance 2/n
 * (He), from the streams (START, round 0, client: number of the layer), and biases are zero. A model without
 * hidden layers starts at zero in either case; a model with hidden layers would learn no weights from zero. */
void mfpg_model_start(const mfpg_model *model, const mfpg_key *key, int he, float *w);

/* Computes loss, accuracy, AUC and majority rate on the rows of a set that are not absent (if all are
 * absent, loss is NAN). It can fail only with MFPG_ERR_MEMORY. */
mfpg_status mfpg_model_evaluate(
    mfpg_context *ctx, const mfpg_model *model, const float *w, const mfpg_dataset *data, mfpg_metrics *out);

/* A public bound on the Hessian's norm if |x|^2 + bias <= norm2 for every example; NAN if there is none.
 * Logistic: norm2/4. Softmax: norm2/2. Linear: norm2. Quadratic, mlp: NAN (declare it). */
double mfpg_model_curvature(const mfpg_model *model, double norm2);

/* out = w - rate * grad, with the gradient at w on the batch: the same bits as mfpg_model_gradient and then the step. out
 * may be w. grad is room for the parameters, which may stay unused. */
void mfpg_model_descend(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    const int32_t *rows, ptrdiff_t count, double divisor, float rate, float *out, float *grad, float *work);

/* mfpg_model_gradient with every example's gradient scaled to norm at most clip (flattened vector, bias included), through
 * per-example norms. An example whose gradient is not finite counts as zero. Returns the number of such examples. */
int64_t mfpg_model_clipped_gradient(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    const int32_t *rows, ptrdiff_t count, double clip, double divisor, float *grad, float *work);

/* The largest power of two that is at most 2^-40 clip, or 2^-60 places clip for more than 2^20 places: the unit of the sums
 * below, with which no entry of a sum over so many rows reaches 2^62 units. NAN unless clip is in [2^-500, 2^500].
 * @param[in] places  a public bound on the rows of the set, below 2^31 */
double mfpg_model_sum_unit(double clip, ptrdiff_t places);

/* sum = sum over the drawn rows of the examples' loss gradients at w, each scaled to norm at most clip (flattened vector,
 * bias included), in whole multiples of unit; divided by nothing. An example whose gradient is not finite counts as
 * zero. Rows have their places in the set: if one is drawn or not, or is zero or not, and all others keep their places,
 * sum times unit moves by at most clip (1 + mfpg_model_sum_rounding) in the 2-norm; if one is replaced by another, by
 * twice that. The proof is in src/models/clipped_sum.c.
 * @param[in]  rows   drawn rows, count of them, strictly ascending; NULL: all rows of data, count ignored
 * @param[in]  unit   mfpg_model_sum_unit(clip, places), with places >= data->rows. For any other unit, and if clip is out of
 *                    range, every example counts as zero and as not finite
 * @param[out] sum    parameters entries, each below 2^62 in magnitude, as is their 2-norm
 * @param      work   mfpg_model_workspace(model, rows in use) floats
 * @return the number of examples that are not finite. Threads: safe. Memory: allocates nothing. */
int64_t mfpg_model_clipped_sum(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    const int32_t *rows, ptrdiff_t count, double clip, double unit, int64_t *sum, float *work);

/* The same sum as it is made, in the memory of `sum`, for callers that read it once: floats if all drawn rows are one block that
 * is summed in float, without the pass that makes integers of them. */
typedef struct mfpg_clipped_sum {
    const int64_t *integers; /* NULL: the sum is in floats */
    const float *floats;     /* below 2^49; the nearest integers, ties to even, are the sum */
    int64_t nonfinite;       /* what mfpg_model_clipped_sum returns */
} mfpg_clipped_sum;
mfpg_clipped_sum mfpg_model_clipped_sum_as_made(const mfpg_model *model, const float *w,
    const mfpg_dataset *data, const int32_t *rows, ptrdiff_t count, double clip, double unit, int64_t *sum,
    float *work);

/* rho of mfpg_model_clipped_sum, rounded up: what the rounding of floating-point sums, and of these to multiples of the
 * unit, adds to the clip. About 4.9e-4 for mlp, below 1e-6 for the other models up to 10^5 parameters. */
double mfpg_model_sum_rounding(const mfpg_model *model);

/* Sum over all rows of the examples' losses at w, each cut to [0, clip] and rounded down to whole multiples of unit, at most
 * mfpg_model_clipped_loss_most; one that is not a number, and an absent row, counts as half of that. Exact: one example,
 * whatever it becomes, moves the sum by at most that number, and by at most half of it if it counted as half before or after.
 * @param  unit  mfpg_model_sum_unit(clip, places) with places >= data->rows; the sum is then below 2^62
 * @param  work  mfpg_model_workspace(model, data->rows) floats. Threads: safe. Memory: allocates nothing. */
int64_t mfpg_model_clipped_loss(
    const mfpg_model *model, const float *w, const mfpg_dataset *data, double clip, double unit, float *work);

/* Returns the largest even number of units that is at most clip. */
int64_t mfpg_model_clipped_loss_most(double clip, double unit);

/* Sum over all rows of the examples' losses at w, unclipped, absent rows left out; not finite if one of them is not.
 * @param  work  as above. Threads: safe. Memory: allocates nothing. */
double mfpg_model_loss(const mfpg_model *model, const float *w, const mfpg_dataset *data, float *work);

/* A bound on the norm of the Hessian of any one example's loss in its own features at w, whatever its features and label,
 * rounded up; the loss is then convex in them. Quadratic, linear: |v|^2 with v the weights of the features; logistic: a
 * quarter of it; softmax: half the squared operator norm of the weights. +INFINITY if none is known: mlp, whose
 * loss has kinks, and parameters that are not finite. */
double mfpg_model_input_smoothness(const mfpg_model *model, const float *w);

/* out = gradient of one example's loss in its features x at w, in double. Only for models that
 * mfpg_model_input_smoothness has a bound for. work: classes doubles. Threads: safe. */
void mfpg_model_input_gradient(
    const mfpg_model *model, const float *w, const float *x, float y, double *out, double *work);

#endif
