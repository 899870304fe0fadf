/* A plan from inside: what every client will release, kept as its action alone. */
#ifndef MFPG_FEDERATION_PLAN_H
#define MFPG_FEDERATION_PLAN_H

#include "mfpg/federation.h"

struct mfpg_plan {
    const mfpg_federation_options *options;
    const mfpg_federated_data *data;
    const mfpg_mechanism *const *mechanism;
    ptrdiff_t clients;
    double *value;          /* clients: the number of the action's control */
    unsigned char *control; /* clients: which one it is */
    double weights;         /* sum over clients of what their weights are in proportion to */
    mfpg_view_noise view;   /* of a round in which everybody takes part; local where cohorts are drawn */
    double grid;            /* of shares, in the views of sums; 0: every client has a grid of its own */
    double inner_grid;      /* of local steps before the last; 0: the client's own */
    double *hidden_shift;   /* clients; NULL where no hidden state is assumed */
    double hidden_contraction;
};

/* Neighbours are often planned alike: what the last release was made of. Begins with client -1. */
typedef struct mfpg_plan_cursor {
    ptrdiff_t client;
    mfpg_release release;
} mfpg_plan_cursor;

mfpg_action mfpg_plan_action(const mfpg_plan *plan, ptrdiff_t client);

/* p_k of a round in which everybody takes part. */
double mfpg_plan_weight(const mfpg_plan *plan, ptrdiff_t client);

/* The release with its weight, and the noise of the local view. */
mfpg_release mfpg_plan_local(const mfpg_plan *plan, ptrdiff_t client, mfpg_plan_cursor *cursor);

/* 1 where the noise of all clients stands in their sum as it was added, so that the average view's formula holds. */
int mfpg_plan_noise_adds_up(const mfpg_plan *plan);

/* The same client with another action. */
mfpg_status mfpg_plan_change(mfpg_context *ctx, mfpg_plan *plan, ptrdiff_t client, mfpg_action action);

/* The grids that a hidden state needs in that many dimensions; nothing else changes. MFPG_ERR_INPUT where no noise can be drawn on
 * grids so fine. */
mfpg_status mfpg_plan_refine_grid(mfpg_context *ctx, mfpg_plan *plan, ptrdiff_t dimension);

/* hidden.c: where a hidden state is assumed, what a round does to it. MFPG_ERR_INPUT with the reason where it is not hidden. */
mfpg_status mfpg_plan_hide(mfpg_context *ctx, mfpg_plan *plan);

#endif
