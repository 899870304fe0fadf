/* The attacker's data: a linear loss, whose gradient is the same at every model, along one direction. What clips, noises,
 * averages and accounts for it is the product's own. */
#ifndef MFPG_AUDIT_CANARY_H
#define MFPG_AUDIT_CANARY_H

#include "mfpg/dataset.h"
#include "mfpg/mechanism.h"
#include "mfpg/model.h"

/* A model with the tensors of another: an example (x, y) has the loss -x y <w, v> and therefore the gradient -x y v. v is a
 * unit vector with as many entries above 0 as below (one entry may be 0; a single parameter has v = 1), so that its mean
 * is 0. Free it with mfpg_model_destroy. */
mfpg_status mfpg_canary_model_create(mfpg_context *ctx, const mfpg_model *like, mfpg_model **out);

/* <w, v>. */
double mfpg_canary_project(ptrdiff_t n, const float *w);

/* Entry i of v, of n. */
float mfpg_canary_direction(ptrdiff_t i, ptrdiff_t n);

/* One canary a client among as many rows as it has: nothing but zeros until a label is set. */
typedef struct mfpg_canary_data {
    mfpg_federated_data data; /* what a federation borrows */
    ptrdiff_t *hot;           /* clients: how many rows carry the canary, from the first on */
} mfpg_canary_data;

/* Raw gradients are `excess` times what is clipped to: the clip has to do the work. The names are borrowed. */
mfpg_status mfpg_canary_data_create(mfpg_context *ctx, const mfpg_federated_data *like,
    const mfpg_mechanism *const *mechanism, double excess, mfpg_canary_data *out);
void mfpg_canary_data_clear(mfpg_canary_data *canaries);

/* Client k moves by value in [-1, 1] times its whole clip along v from now on. Only -1, 0 and 1 are exact. */
void mfpg_canary_set(mfpg_canary_data *canaries, ptrdiff_t k, double value);

#endif
