/* The core shared by models whose loss is a function of one margin x.w (+ bias). */
#ifndef MFPG_MODELS_GLM_H
#define MFPG_MODELS_GLM_H

#include "ops.h"

ptrdiff_t mfpg_glm_tensors(const mfpg_model_options *options);
void mfpg_glm_shape(const mfpg_model_options *options, ptrdiff_t *size);
void mfpg_glm_shape_bias(const mfpg_model_options *options, ptrdiff_t *size);
mfpg_layer mfpg_glm_first_layer(const mfpg_model *model); /* with bias only */
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

#endif
