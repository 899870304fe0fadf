/* Linear regression: 1/2 mean (x.w + bias - y)^2. */
#include "glm.h"
#include "squared_loss.h"

static const mfpg_glm glm = {
    .bias = 1, .squares = 1, .residual = squared_residual, .slope = squared_slope, .loss = squared_loss};

const mfpg_model_ops mfpg_model_linear = {
    .name = "linear",
    .help = "linear regression with bias, half the mean squared error",
    .curvature = 1.0,
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
    .margin_curvature = 1.0,
    .weights_norm2 = mfpg_glm_weights_norm2,
    .input_gradient = mfpg_glm_input_gradient,
    .first_layer = mfpg_glm_first_layer,
};
