/** Models compute loss, gradient and scores. A model holds shapes only; the parameters are the caller's flat
 *  float vector w of mfpg_model_parameters(model) entries. */
#ifndef MFPG_MODEL_H
#define MFPG_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "dataset.h"
#include "names.h"

typedef struct mfpg_model mfpg_model;

typedef struct mfpg_model_options {
    const char *kind;   /* name in models.def */
    ptrdiff_t features; /* columns of x, >= 1 */
    /* softmax, mlp: labels are 0 .. classes-1, with 2 to 65536 classes; other kinds ignore it */
    ptrdiff_t classes;
    const ptrdiff_t *hidden; /* mlp: units of every hidden layer, 1 to 65536, in order from the input */
    ptrdiff_t hidden_layers; /* mlp: 1 to 64 */
} mfpg_model_options;

typedef struct mfpg_metrics {
    double loss;     /* mean over rows (quadratic: the sum 1/2 |Aw-b|^2 of the set) */
    double accuracy; /* share of right classes; NAN for regression */
    /* area under the ROC curve, where ties count half; NAN with one class or for regression */
    double auc;
    /* share of the most frequent class, which a constant prediction reaches; NAN for regression */
    double majority_rate;
    ptrdiff_t rows; /* without the absent ones */
} mfpg_metrics;

/** Creates a model; options are copied. MFPG_ERR_INPUT for an unknown kind (names the nearest),
 *  MFPG_ERR_DOMAIN for invalid shapes. */
mfpg_status mfpg_model_create(mfpg_context *ctx, const mfpg_model_options *options, mfpg_model **out);
void mfpg_model_destroy(mfpg_model *model);

ptrdiff_t mfpg_model_parameters(const mfpg_model *model); /* biases included */

/** Returns the number of floats of workspace that gradients need for a set of that many rows; it is the
 *  same for 256 rows and more. */
ptrdiff_t mfpg_model_workspace(const mfpg_model *model, ptrdiff_t rows);

/** grad = (1/divisor) sum over the batch of the examples' loss gradients at w.
 *  @param[in]  rows     batch: row numbers, count of them; NULL: all rows of data, count ignored
 *  @param[in]  divisor  a public constant > 0, never the realised size of the batch. The gradient of the model's own
 *                       loss on all rows has divisor rows if the loss is a mean, 1 if it sums its rows
 *  @param[out] grad     mfpg_model_parameters entries; may hold non-finite values if the data or w do
 *  @param      work     mfpg_model_workspace(model, rows in use) floats
 *  An empty batch gives zeros, an absent row adds exact zeros. Threads: safe. Memory: allocates nothing. */
void mfpg_model_gradient(const mfpg_model *model, const float *w, const mfpg_dataset *data,
    const int32_t *rows, ptrdiff_t count, double divisor, float *grad, float *work);

extern const mfpg_kinds mfpg_models; /**< the kinds of model (models.def) */

#endif
