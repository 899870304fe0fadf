/* The loss of one example as a function of its features, for flows of the records themselves (theory S5.2). With margins
 * W x + b its Hessian is W' A W, A that in the margins: at most margin_curvature |W|^2, whatever x. */
#include <assert.h>
#include <float.h>
#include <math.h>

#include "ops.h"

double mfpg_model_input_smoothness(const mfpg_model *model, const float *w) {
    if (!model->ops->weights_norm2) return (double)INFINITY;
    double bound = model->ops->margin_curvature * model->ops->weights_norm2(model, w);
    return isfinite(bound) ? bound * (1.0 + 4.0 * DBL_EPSILON) : (double)INFINITY;
}

ptrdiff_t mfpg_model_input_workspace(const mfpg_model *model) {
    return model->ops->input_gradient ? model->classes : 0;
}

void mfpg_model_input_gradient(
    const mfpg_model *model, const float *w, const float *x, float y, double *out, double *work) {
    assert(model->ops->input_gradient);
    model->ops->input_gradient(model, w, x, y, out, work);
}
