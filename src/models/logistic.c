/* Logistic regression: mean log-loss, labels 0 and 1, with bias. With s = 2y - 1 the loss is ln(1 + exp(-s m)), which
 * needs no case for the label and stays exact in both tails. */
#include "glm.h"

#include <math.h>

static float residual(float margin, float y) {
    float s = 2.0F * y - 1.0F, t = -s * margin; /* -s sigmoid(t) */
    float decay = expf(-fabsf(t)), larger = 1.0F / (1.0F + decay);
    return -s * (t >= 0.0F ? larger : decay * larger);
}

static double slope(double margin, double y) {
    if (!(y >= 0.0 && y <= 1.0)) return (double)NAN; /* no label, and no bound on the curvature either */
    double s = 2.0 * y - 1.0, t = -s * margin;
    double decay = exp(-fabs(t)), larger = 1.0 / (1.0 + decay);
    return -s * (t >= 0.0 ? larger : decay * larger);
}

static double loss(float margin, float y) {
    double t = -(2.0 * (double)y - 1.0) * (double)margin;
    if (isnan(t)) return NAN;
    return fmax(t, 0.0) + log1p(exp(-fabs(t)));
}

static const mfpg_glm glm = {.bias = 1, .residual = residual, .slope = slope, .loss = loss};

const mfpg_model_ops mfpg_model_logistic = {
    .name = "logistic",
    .help = "logistic regression with bias, mean log-loss, labels 0 and 1",
    .classes = 2,
    .curvature = 0.25, /* sigmoid' <= 1/4 */
    .glm = &glm,
    .double_sums = 1,
    .tensors = mfpg_glm_tensors,
    .shape = mfpg_glm_shape_bias,
    .workspace = mfpg_glm_workspace,
    .backward = mfpg_glm_backward,
    .clip = mfpg_glm_clip,
    .add_clipped = mfpg_glm_add_clipped,
    .accumulate = mfpg_glm_accumulate,
    .predict = mfpg_glm_predict,
    .margin_curvature = 0.25,
    .weights_norm2 = mfpg_glm_weights_norm2,
    .input_gradient = mfpg_glm_input_gradient,
    .first_layer = mfpg_glm_first_layer,
};
