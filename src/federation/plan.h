/* What each client will release in a round in which everybody takes part, its weight p_k, and the noise the view grants it: from public
 * numbers alone; nothing is released. If cohorts are drawn (clients_per_round, client_rate) the view is kept local, which bounds the
 * others from above. It is kept once for all clients that release the same. */
#ifndef MFPG_FEDERATION_PLAN_H
#define MFPG_FEDERATION_PLAN_H

#include "mfpg/federation.h"

#include "accountants/view_noise.h"
#include "mechanisms/mechanism_ops.h"

/* What clients with the same mechanism, action and number of rows have in common. There may be as many classes as clients. */
typedef struct plan_class {
    mfpg_control control; /* of the action as it was given, and its number: an action itself takes twice as much */
    double value;
    mfpg_release release; /* with its weight, and the noise of the local view; its client is one of them */
} plan_class;

/* What the releases of a round have in common: the sum of its members' weights, and what the view makes of their noise. */
typedef struct round_terms {
    double weights;
    mfpg_view_noise view;
} round_terms;

typedef struct mfpg_plan {
    const mfpg_federation_options *options;
    const mfpg_federated_data *data;
    const mfpg_mechanism *const *mechanism;
    ptrdiff_t clients;
    int32_t *class_of; /* clients */
    plan_class *class; /* classes; a client whose action changes from round to round has its own */
    ptrdiff_t classes;
    /* 1 if a mechanism projects its states. The others' noise hides a client in a sum only if it is there as it was added, so that
     * every client then keeps the certificate of the local view, which bounds the others. */
    int projects;
    double weights;       /* sum over clients of what their weights are in proportion to */
    mfpg_view_noise view; /* of a round in which everybody takes part; local if cohorts are drawn */
    double grid;          /* of shares, in the views of sums; 0: every client has a grid of its own */
    double inner_grid;    /* of local steps before the last; 0: the client's own */
} mfpg_plan;

/* Options, data and mechanism (clients pointers) are borrowed for the life of the plan, actions are copied.
 * Returns MFPG_OK, or the error of the first client whose action its mechanism refuses, the client named. */
mfpg_status mfpg_plan_create(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_federated_data *data, const mfpg_mechanism *const *mechanism, const mfpg_action *action,
    mfpg_plan **out);
void mfpg_plan_destroy(mfpg_plan *plan);

/* What client k, from 0, will release; round 0. */
mfpg_release mfpg_plan_release(const mfpg_plan *plan, ptrdiff_t client);

/* certificates.c: the largest epsilon of a client after all rounds of a plan, at the delta and by the accountant of the options.
 * +INFINITY if there is none, and on failure: MFPG_ERR_INPUT for particles that the accountant does not know. */
mfpg_status mfpg_plan_largest_epsilon(mfpg_context *ctx, const mfpg_plan *plan, double *epsilon);

/* The largest signal that a whole run can carry over the expected norm of its noise, from public numbers alone:
 * sqrt(T) sum_k p_k K_k D_k / sqrt(d sum_k p_k^2 K_k sd_k^2), D_k the largest clipped displacement of one step; +INFINITY without
 * noise, NAN for data particles. Below 1 the noise drowns whatever there is to learn. */
double mfpg_plan_signal_to_noise(const mfpg_plan *plan, ptrdiff_t dimension);

/* The action as it was given, in the mechanism's own unit. */
mfpg_action mfpg_plan_action(const mfpg_plan *plan, ptrdiff_t client);

/* The release with its weight, and the noise of the local view. */
mfpg_release mfpg_plan_local(const mfpg_plan *plan, ptrdiff_t client);

/* What the releases of the members order[0 .. count) have in common; order NULL: of all clients. And what client k releases on such
 * terms; round 0. */
round_terms mfpg_plan_terms(const mfpg_plan *plan, const ptrdiff_t *order, ptrdiff_t count);
mfpg_release mfpg_plan_release_on(const mfpg_plan *plan, const round_terms *terms, ptrdiff_t client);

/* The same client with another action; the options have acting. */
mfpg_status mfpg_plan_change(mfpg_context *ctx, mfpg_plan *plan, ptrdiff_t client, mfpg_action action);

/* The grids that a hidden state needs in that many dimensions; nothing else changes. MFPG_ERR_INPUT if no noise can be drawn on grids
 * so fine. */
mfpg_status mfpg_plan_refine_grid(mfpg_context *ctx, mfpg_plan *plan, ptrdiff_t dimension);

/* round_contraction.c: if a hidden state is assumed, what a round does to it. MFPG_ERR_INPUT with the reason if it is not hidden. */
mfpg_status mfpg_plan_hide(mfpg_context *ctx, mfpg_plan *plan);

#endif
