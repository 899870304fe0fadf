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

extern const mfpg_kinds mfpg_models; /**< the kinds of model (models.def) */

#endif
