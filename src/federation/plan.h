/* The plan gives, for a round in which all clients take part, what each client will release, its weight p_k,
 * and the noise that the view grants it. It uses public numbers alone; nothing is released. If cohorts are
 * drawn (clients_per_round, client_rate), the view is kept local, which is an upper bound for the others.
 * The data are kept once for all clients that release the same. */
#ifndef MFPG_FEDERATION_PLAN_H
#define MFPG_FEDERATION_PLAN_H

#include "mfpg/federation.h"

#include "accountants/view_noise.h"
#include "mechanisms/mechanism_ops.h"

/* What clients with the same mechanism, action and number of rows have in common. There may be as many
 * classes as clients. */
typedef struct plan_class {
    /* Control and number of the action as it was given. An mfpg_action would take twice as much memory. */
    mfpg_control control;
    double value;
    /* includes its weight and the noise of the local view; its `client` is one of the class */
    mfpg_release release;
} plan_class;

/* What the releases of a round have in common: the sum of its members' weights, and what the view grants of
 * their noise. */
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
    plan_class *class; /* the classes; a client whose action changes from round to round has its own */
    ptrdiff_t classes;
    /* 1 if a mechanism projects its states. The noise of other clients hides a client in a sum only if it
     * reaches the sum unchanged. With projections every client therefore keeps the certificate of the local
     * view, which is an upper bound for the others. */
    int projects;
    double weights;       /* sum over clients of the numbers to which their weights are proportional */
    mfpg_view_noise view; /* noise in a round in which all clients take part; local if cohorts are drawn */
    double grid;          /* grid of shares in the views of sums; 0: every client has its own grid */
    double inner_grid;    /* grid of local steps before the last one; 0: the client's own */
} mfpg_plan;

/* Creates a plan. Options, data and mechanism (one pointer per client) are borrowed for the life of the
 * plan, actions are copied. Returns MFPG_OK, or the error of the first client whose action its mechanism
 * refuses, with the client named. */
mfpg_status mfpg_plan_create(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_federated_data *data, const mfpg_mechanism *const *mechanism, const mfpg_action *action,
    mfpg_plan **out);
void mfpg_plan_destroy(mfpg_plan *plan);

/* Returns what client k, from 0, will release; its round is 0. */
mfpg_release mfpg_plan_release(const mfpg_plan *plan, ptrdiff_t client);

/* certificates.c: computes the largest epsilon of any client after all rounds of a plan, at the delta and by
 * the accountant of the options. It is +INFINITY if no bound exists, and on failure: MFPG_ERR_INPUT for
 * particles that the accountant does not support. */
mfpg_status mfpg_plan_largest_epsilon(mfpg_context *ctx, const mfpg_plan *plan, double *epsilon);

/* Returns the largest ratio of the signal of a whole run to the expected norm of its noise, from public
 * numbers alone: sqrt(T) sum_k p_k K_k D_k / sqrt(d sum_k p_k^2 K_k sd_k^2), with D_k the largest clipped
 * displacement of one step; +INFINITY without noise, NAN for data particles. Below 1 the noise exceeds any
 * signal. */
double mfpg_plan_signal_to_noise(const mfpg_plan *plan, ptrdiff_t dimension);

/* Returns the action as it was given, in the mechanism's own unit. */
mfpg_action mfpg_plan_action(const mfpg_plan *plan, ptrdiff_t client);

/* Returns the release with its weight and with the noise of the local view. */
mfpg_release mfpg_plan_local(const mfpg_plan *plan, ptrdiff_t client);

/* mfpg_plan_terms returns what the releases of the members order[0 .. count) have in common (order NULL: all
 * clients). dropped: flags of the clients that drop out of the round, or NULL; they keep their weight, and unless the
 * sum is secure, their noise is missing. A secure sum has threshold 0 if so few cannot hold it. The next function returns what client k releases on such terms; its round is 0. */
round_terms mfpg_plan_terms(
    const mfpg_plan *plan, const ptrdiff_t *order, ptrdiff_t count, const unsigned char *dropped);
mfpg_release mfpg_plan_release_on(const mfpg_plan *plan, const round_terms *terms, ptrdiff_t client);

/* Returns the threshold of a secure sum of so many members, of whom so many are named as colluders; 0 if none above half of
 * members and colluders is at most `members`, or if they are too few. Fewer members never have one where more have none. */
int mfpg_plan_sum_threshold(const mfpg_plan *plan, ptrdiff_t members, ptrdiff_t named);

/* Gives the same client another action; the options must have acting. */
mfpg_status mfpg_plan_change(mfpg_context *ctx, mfpg_plan *plan, ptrdiff_t client, mfpg_action action);

/* Chooses the grids that a hidden state needs in that many dimensions; nothing else changes. MFPG_ERR_INPUT
 * if no noise can be drawn on such fine grids. */
mfpg_status mfpg_plan_refine_grid(mfpg_context *ctx, mfpg_plan *plan, ptrdiff_t dimension);

/* round_contraction.c: if a hidden state is assumed, computes the effect of a round on it. MFPG_ERR_INPUT
 * with the reason if the state is not hidden. */
mfpg_status mfpg_plan_hide(mfpg_context *ctx, mfpg_plan *plan);

#endif
