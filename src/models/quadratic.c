/* Least squares as the paper's quadratic task: 1/2 |A w - b|^2 summed over the rows, no bias. */
#include "glm.h"

#include <math.h>

#include "squared_loss.h"

static const mfpg_glm glm = {
    .bias = 0, .squares = 1, .residual = squared_residual, .slope = squared_slope, .loss = squared_loss};

const mfpg_model_ops mfpg_model_quadratic = {
    .name = "quadratic",
    .help = "half the squared error summed over the rows, no bias",
    .sums_rows = 1,
    .curvature = NAN, /* |A'A| is the data's own; a public bound has to be declared */
    .glm = &glm,
    .double_sums = 1,
    .tensors = mfpg_glm_tensors,
    .shape = mfpg_glm_shape,
    .workspace = mfpg_glm_workspace,
    .backward = mfpg_glm_backward,
    .clip = mfpg_glm_clip,
    .add_clipped = mfpg_glm_add_clipped,
    .accumulate = mfpg_glm_accumulate,
    .predict = mfpg_glm_predict,
    .margin_curvature = 1.0,
    .weights_norm2 = mfpg_glm_weights_norm2,
    .input_gradient = mfpg_glm_input_gradient,
};
