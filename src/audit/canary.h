/* The attacker's data: a linear loss, whose gradient is the same at every model, along a direction. What clips, noises,
 * averages and accounts for it is the product's own. */
#ifndef MFPG_AUDIT_CANARY_H
#define MFPG_AUDIT_CANARY_H

#include "mfpg/dataset.h"
#include "mfpg/mechanism.h"
#include "mfpg/model.h"

/* Directions: of n parameters, m unit vectors v_0, ..., v_{m-1} that share no entry, each with as many entries above 0 as
 * below, so that its mean is 0 (a single parameter has v_0 = 1). The most that there are: */
ptrdiff_t mfpg_canary_most(ptrdiff_t n);

/* <w, v_j> of m directions; and where there is but one, v. */
double mfpg_canary_project_on(ptrdiff_t n, ptrdiff_t directions, ptrdiff_t j, const float *w);
double mfpg_canary_project(ptrdiff_t n, const float *w);

/* Entry i of v_j. */
double mfpg_canary_entry(ptrdiff_t n, ptrdiff_t directions, ptrdiff_t j, ptrdiff_t i);

/* Direction j has the entries from its first to that of j + 1, exclusive, all of one size. */
ptrdiff_t mfpg_canary_first(ptrdiff_t n, ptrdiff_t directions, ptrdiff_t j);

/* A model with the tensors of another: an example (size, j, m; y) has the loss -size y <w, v_j> and therefore the gradient
 * -size y v_j. Free it with mfpg_model_destroy. */
mfpg_status mfpg_canary_model_create(mfpg_context *ctx, const mfpg_model *like, mfpg_model **out);

/* One canary a client among as many rows as it has: nothing but zeros until a label is set. */
typedef struct mfpg_canary_data {
    mfpg_federated_data data; /* what a federation borrows */
    ptrdiff_t *hot;           /* clients: how many rows carry the canary, from the first on */
} mfpg_canary_data;

/* Raw gradients are `excess` times what is clipped to: the clip has to do the work. The names are borrowed. */
mfpg_status mfpg_canary_data_create(mfpg_context *ctx, const mfpg_federated_data *like,
    const mfpg_mechanism *const *mechanism, double excess, mfpg_canary_data *out);

/* The same with many directions, at most 2^24. each > 1: the first rows of a client, that many or all it has, carry a canary
 * each, row j along v_j. each 1: one canary a client, that of client k along v_{k mod directions}. */
mfpg_status mfpg_canary_data_create_many(mfpg_context *ctx, const mfpg_federated_data *like,
    const mfpg_mechanism *const *mechanism, double excess, ptrdiff_t each, ptrdiff_t directions,
    mfpg_canary_data *out);
void mfpg_canary_data_clear(mfpg_canary_data *canaries);

/* Client k moves by value in [-1, 1] times its whole clip along v from now on. Only -1, 0 and 1 are exact. */
void mfpg_canary_set(mfpg_canary_data *canaries, ptrdiff_t k, double value);

/* Likewise its canary i of several; nothing where it has fewer rows. */
void mfpg_canary_set_one(mfpg_canary_data *canaries, ptrdiff_t k, ptrdiff_t i, double value);

#endif
