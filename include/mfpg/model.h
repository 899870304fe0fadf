/** Models: loss, gradient, per-example clipped gradient sums, scores. A model holds shapes only; parameters are the
 *  caller's flat float vector w of mfpg_model_parameters(model) entries. */
#ifndef MFPG_MODEL_H
#define MFPG_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "dataset.h"

typedef struct mfpg_model mfpg_model;

typedef struct mfpg_model_options {
    const char *kind;   /* name in models.def */
    ptrdiff_t features; /* columns of x, >= 1 */
    ptrdiff_t
        classes; /* softmax, mlp: labels are 0 .. classes-1, 2 to 65536; the other kinds do not look at it */
    const ptrdiff_t *hidden; /* mlp: units of every hidden layer, the first behind the input; 1 to 65536 */
    ptrdiff_t hidden_layers; /* mlp: 1 to 64 */
} mfpg_model_options;

/** One tensor of the flat parameter vector: entries [offset, offset + size). */
typedef struct mfpg_tensor {
    ptrdiff_t offset, size;
} mfpg_tensor;

typedef struct mfpg_metrics {
    double loss;     /* mean over rows (quadratic: the sum 1/2 |Aw-b|^2 of the set) */
    double accuracy; /* share of right classes; NAN for regression */
    double auc;      /* area under the ROC curve, ties half; NAN with one class or for regression */
    double
        majority_rate; /* share of the commonest class: what a constant answer scores; NAN for regression */
    ptrdiff_t rows;    /* without the absent ones */
} mfpg_metrics;

/** Makes a model; options are copied. MFPG_ERR_INPUT for an unknown kind (names the nearest), MFPG_ERR_DOMAIN for bad shapes. */
mfpg_status mfpg_model_create(mfpg_context *ctx, const mfpg_model_options *options, mfpg_model **out);
void mfpg_model_destroy(mfpg_model *model);

const char *mfpg_model_name(const mfpg_model *model);
ptrdiff_t mfpg_model_features(const mfpg_model *model);
ptrdiff_t mfpg_model_parameters(const mfpg_model *model); /* bias included */
ptrdiff_t mfpg_model_tensors(const mfpg_model *model);
mfpg_tensor mfpg_model_tensor(const mfpg_model *model, ptrdiff_t index);
int mfpg_model_is_classifier(const mfpg_model *model);
ptrdiff_t mfpg_model_classes(const mfpg_model *model); /* labels are 0 .. classes-1; 0: regression */
int mfpg_model_sums_rows(
    const mfpg_model *model); /* 1: the loss of a set is a sum over its rows, not a mean */

/** A public bound on the Hessian's norm where |x|^2 + bias <= norm2 for every example; NAN where there is none.
 *  Logistic: norm2/4. Softmax: norm2/2. Linear: norm2. Quadratic, mlp: NAN (declare it). */
double mfpg_model_curvature(const mfpg_model *model, double norm2);

/** Floats of workspace that the calls below need for a set of that many rows; the same for 256 rows and more. */
ptrdiff_t mfpg_model_workspace(const mfpg_model *model, ptrdiff_t rows);

/** Fills w with the start. he 1: weights of a layer with n inputs are normal with variance 2/n (He), from the streams
 *  (START, round 0, client: number of the layer), biases zero. A model without hidden layers starts at zero either way;
 *  one with hidden layers learns no weights from there. */
void mfpg_model_start(const mfpg_model *model, const mfpg_key *key, int he, float *w);

/** grad = (1/divisor) sum over the batch of the examples' loss gradients at w.
 *  @param[in]  rows     batch: row numbers, count of them; NULL: all rows of data, count ignored
 *  @param[in]  divisor  a public constant > 0, never the realised size of the batch. The gradient of the model's own
 *                       loss on all rows has divisor rows where the loss is a mean, 1 where it sums its rows
 *  @param[out] grad     mfpg_model_parameters entries; may hold non-finite values where the data or w do
 *  @param      work     mfpg_model_workspace(model, rows in use) floats
 *  An empty batch gives zeros, an absent row adds exact zeros. Threads: safe. Memory: allocates nothing. */
void mfpg_model_gradient(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    const int32_t *rows, ptrdiff_t count, double divisor, float *grad, float *work);

/** out = w - rate * grad, with the gradient at w on the batch: the same bits as mfpg_model_gradient and then the step. out
 *  may be w. grad is room for mfpg_model_parameters floats, which may stay unused. */
void mfpg_model_descend(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    const int32_t *rows, ptrdiff_t count, double divisor, float rate, float *out, float *grad, float *work);

/** The same as mfpg_model_gradient with every example's gradient scaled to norm at most clip (flattened vector, bias included), through
 *  per-example norms. An example whose gradient is not finite counts as zero.
 *  @return the number of such examples. */
int64_t mfpg_model_clipped_gradient(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    const int32_t *rows, ptrdiff_t count, double clip, double divisor, float *grad, float *work);

/** The largest power of two that is at most 2^-40 clip, or 2^-60 places clip for more than 2^20 places: the unit of the sums
 *  below, with which no entry of a sum over so many rows reaches 2^62 units. NAN unless clip is in [2^-500, 2^500].
 *  @param[in] places  a public bound on the rows of the set, below 2^31 */
double mfpg_model_sum_unit(double clip, ptrdiff_t places);

/** sum = sum over the drawn rows of the examples' loss gradients at w, each scaled to norm at most clip (flattened vector,
 *  bias included), in whole multiples of unit; divided by nothing. An example whose gradient is not finite counts as
 *  zero. Rows have their places in the set: if one is drawn or not, or is zero or not, and all others keep their places,
 *  sum times unit moves by at most clip (1 + mfpg_model_sum_rounding) in the 2-norm; if one is replaced by another, by
 *  twice that. The proof is in src/models/clipped_sum.c.
 *  @param[in]  rows   drawn rows, count of them, strictly ascending; NULL: all rows of data, count ignored
 *  @param[in]  unit   mfpg_model_sum_unit(clip, places), with places >= data->rows. For any other unit, and if clip is out of
 *                     range, every example counts as zero and as not finite
 *  @param[out] sum    mfpg_model_parameters entries, each below 2^62 in magnitude, as is their 2-norm
 *  @param      work   mfpg_model_workspace(model, rows in use) floats
 *  @return the number of examples that are not finite. Threads: safe. Memory: allocates nothing. */
int64_t mfpg_model_clipped_sum(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    const int32_t *rows, ptrdiff_t count, double clip, double unit, int64_t *sum, float *work);

/** rho of mfpg_model_clipped_sum, rounded up: what the rounding of floating-point sums, and of these to multiples of the
 *  unit, adds to the clip. About 4.9e-4 for mlp, below 1e-6 for the other models up to 10^5 parameters. */
double mfpg_model_sum_rounding(const mfpg_model *model);

/** Sum over all rows of the examples' losses at w, each cut to [0, clip] and rounded down to whole multiples of unit, at most
 *  mfpg_model_clipped_loss_most; one that is no number, and an absent row, counts as half of that. Exact: one example, whatever it becomes,
 *  moves the sum by at most that number, and by at most half of it if it counted as half before or after.
 *  @param  unit  mfpg_model_sum_unit(clip, places) with places >= data->rows; the sum is then below 2^62
 *  @param  work  mfpg_model_workspace(model, data->rows) floats. Threads: safe. Memory: allocates nothing. */
int64_t mfpg_model_clipped_loss(
    const mfpg_model *model, const float *w, const mfpg_dataset *data, double clip, double unit, float *work);

/** The largest even number of units that is at most clip. */
int64_t mfpg_model_clipped_loss_most(double clip, double unit);

/** Sum over all rows of the examples' losses at w, unclipped, absent rows left out; not finite if one of them is not.
 *  @param  work  as above. Threads: safe. Memory: allocates nothing. */
double mfpg_model_loss(const mfpg_model *model, const float *w, const mfpg_dataset *data, float *work);

/** A bound on the norm of the Hessian of any one example's loss in its own features at w, whatever its features and label,
 *  rounded up; the loss is then convex in them. Quadratic, linear: |v|^2 with v the weights of the features; logistic: a
 *  quarter of it; softmax: half the squared operator norm of the weights. +INFINITY where none is known: mlp, whose
 *  loss has kinks, and parameters that are not finite. */
double mfpg_model_input_smoothness(const mfpg_model *model, const float *w);

/** out = gradient of one example's loss in its features x at w, in double. Only for models that
 *  mfpg_model_input_smoothness has a bound for.
 *  @param work  mfpg_model_input_workspace doubles. Threads: safe. */
void mfpg_model_input_gradient(
    const mfpg_model *model, const float *w, const float *x, float y, double *out, double *work);
ptrdiff_t mfpg_model_input_workspace(const mfpg_model *model);

/** Loss, accuracy, AUC and majority rate on the rows of a set that are not absent (none: loss NAN). MFPG_ERR_MEMORY only. */
mfpg_status mfpg_model_evaluate(
    mfpg_context *ctx, const mfpg_model *model, const float *w, const mfpg_dataset *data, mfpg_metrics *out);

/** What is fixed by the name of a model, as bits. */
enum {
    MFPG_MODEL_TAKES_CLASSES = 1, /* reads classes of its options */
    MFPG_MODEL_TAKES_HIDDEN = 2, /* reads the hidden layers of its options, which do not leave zero weights */
    MFPG_MODEL_BINARY = 4,       /* labels are 0 and 1 */
    MFPG_MODEL_SUMS_ROWS = 8,    /* as mfpg_model_sums_rows */
    MFPG_MODEL_OF_MARGIN = 16,   /* an example's loss is a function of one margin, linear in its features */
    MFPG_MODEL_SQUARES = 32,     /* and is half the squared error, so that the loss is quadratic */
    MFPG_MODEL_SMOOTH = 64 /* mfpg_model_input_smoothness knows a bound, and an example's loss is smooth */
};

/** The bits of that model; 0 for NULL and unknown names. */
int mfpg_model_facts(const char *kind);

/** Names and help of models.def; NULL past the end. */
const char *mfpg_model_kind_name(ptrdiff_t index);
const char *mfpg_model_kind_help(ptrdiff_t index);

#endif
