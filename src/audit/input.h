/* Input canaries: a row of data of the kind that people have, long and mislabelled, under the configured model. Its gradient
 * fades as the model learns it, so that it is realistic, and no worst case. */
#ifndef MFPG_AUDIT_INPUT_H
#define MFPG_AUDIT_INPUT_H

#include "canary.h"
#include "models/model_ops.h"

/* The row x with one label or the other. Of a generalised linear model, the gradient is residual(margin, y) x~, x~ = (x, 1)
 * where there is a bias: along one direction v = x~/|x~|, and of either sign by the label. The margin is |x~| <w, v>. */
typedef struct mfpg_input_canary {
    const mfpg_glm *glm;
    ptrdiff_t features;
    float *row;     /* features */
    double norm;    /* |x~| */
    float label[2]; /* whose gradient moves the model against v, and along v */
    int sums_rows;
} mfpg_input_canary;

/* How strong a gradient is: its norm before the clip, and how much of it the clip leaves. */
typedef struct mfpg_input_pull {
    double norm, factor;
    double moves; /* of the whole clip, by how much the model moves along v: in [-1, 1] */
} mfpg_input_pull;

/* MFPG_ERR_INPUT for a model that is no generalised linear one. */
mfpg_status mfpg_input_canary_check(mfpg_context *ctx, const mfpg_model *model);

/* spread: how far <w, v> strays from 0 in a run, a guess. Fails as the check does. */
mfpg_status mfpg_input_canary_create(mfpg_context *ctx, const mfpg_model *model,
    const mfpg_mechanism *mechanism, double spread, mfpg_input_canary *out);
void mfpg_input_canary_clear(mfpg_input_canary *input);

/* <w, v>. */
double mfpg_input_project(const mfpg_input_canary *input, const float *w);

/* As many rows as each client has. Of one, or of all where the unit is a client, the canary; all others are absent. */
mfpg_status mfpg_input_data_create(mfpg_context *ctx, const mfpg_input_canary *input,
    const mfpg_federated_data *like, const mfpg_mechanism *const *mechanism, mfpg_canary_data *out);

/* Client k sends from now on: -1 and 1 either label, 0 nothing: what is not finite counts as no gradient, as everywhere. */
void mfpg_input_set(const mfpg_input_canary *input, mfpg_canary_data *canaries, ptrdiff_t k, double value);

/* What that does to a client of so many rows at a model whose <w, v> is given. */
mfpg_input_pull mfpg_input_pull_at(const mfpg_input_canary *input, const mfpg_mechanism *mechanism,
    ptrdiff_t rows, double value, double along);

#endif
