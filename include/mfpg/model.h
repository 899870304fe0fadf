/** Models: loss, gradient, scores. A model holds shapes only; parameters are the caller's flat float vector w of
 *  mfpg_model_parameters(model) entries. */
#ifndef MFPG_MODEL_H
#define MFPG_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "dataset.h"

typedef struct mfpg_model mfpg_model;

typedef struct mfpg_model_options {
    const char *kind;        /* name in models.def */
    ptrdiff_t features;      /* columns of x, >= 1 */
    ptrdiff_t classes;       /* softmax, mlp: labels are 0 .. classes-1, 2 to 65536; other kinds ignore it */
    const ptrdiff_t *hidden; /* mlp: units of every hidden layer, from the input on; 1 to 65536 */
    ptrdiff_t hidden_layers; /* mlp: 1 to 64 */
} mfpg_model_options;

typedef struct mfpg_metrics {
    double loss;          /* mean over rows (quadratic: the sum 1/2 |Aw-b|^2 of the set) */
    double accuracy;      /* share of right classes; NAN for regression */
    double auc;           /* area under the ROC curve, ties half; NAN with one class or for regression */
    double majority_rate; /* share of the commonest class: a constant answer's; NAN for regression */
    ptrdiff_t rows;       /* without the absent ones */
} mfpg_metrics;

/** Makes a model; options are copied. MFPG_ERR_INPUT for an unknown kind (names the nearest), MFPG_ERR_DOMAIN for bad shapes. */
mfpg_status mfpg_model_create(mfpg_context *ctx, const mfpg_model_options *options, mfpg_model **out);
void mfpg_model_destroy(mfpg_model *model);

ptrdiff_t mfpg_model_parameters(const mfpg_model *model); /* biases included */

/** Floats of workspace that the calls below need for a set of that many rows; the same for 256 rows and more. */
ptrdiff_t mfpg_model_workspace(const mfpg_model *model, ptrdiff_t rows);

/** Fills w with the start. he 1: weights of a layer with n inputs are normal with variance 2/n (He), from the streams
 *  (START, round 0, client: number of the layer), biases zero. A model without hidden layers starts at zero either way;
 *  one with hidden layers learns no weights from there. */
void mfpg_model_start(const mfpg_model *model, const mfpg_key *key, int he, float *w);

/** grad = (1/divisor) sum over the batch of the examples' loss gradients at w.
 *  @param[in]  rows     batch: row numbers, count of them; NULL: all rows of data, count ignored
 *  @param[in]  divisor  a public constant > 0, never the realised size of the batch. The gradient of the model's own
 *                       loss on all rows has divisor rows if the loss is a mean, 1 if it sums its rows
 *  @param[out] grad     mfpg_model_parameters entries; may hold non-finite values if the data or w do
 *  @param      work     mfpg_model_workspace(model, rows in use) floats
 *  An empty batch gives zeros, an absent row adds exact zeros. Threads: safe. Memory: allocates nothing. */
void mfpg_model_gradient(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    const int32_t *rows, ptrdiff_t count, double divisor, float *grad, float *work);

/** Loss, accuracy, AUC and majority rate on the rows of a set that are not absent (none: loss NAN). MFPG_ERR_MEMORY only. */
mfpg_status mfpg_model_evaluate(
    mfpg_context *ctx, const mfpg_model *model, const float *w, const mfpg_dataset *data, mfpg_metrics *out);

/** Names and help of the kinds of model (models.def); NULL past the end. */
const char *mfpg_model_kind_name(ptrdiff_t index);
const char *mfpg_model_kind_help(ptrdiff_t index);

#endif
