/* What a mechanism implements, and what other folders of the library use in addition to the public header. A
 * local update (local_update.c) turns data into a displacement of the weights, clipped and without noise.
 * The mechanism determines how the state moves, how much noise an action means, and what follows the noise. */
#ifndef MFPG_MECHANISMS_MECHANISM_OPS_H
#define MFPG_MECHANISMS_MECHANISM_OPS_H

#include "mfpg/mechanism.h"

#include "optimisers/optimiser.h"

/* What a local update observed. It is private and serves metrics and diagnostics only. */
typedef struct mfpg_update_report {
    /* number of examples (or client gradients, or updates) that were not finite and became zero */
    int64_t nonfinite;
    int64_t steps;
    double signal_norm; /* norm of the sum of the clipped displacements, without noise and regularisers */
    /* of the projections of all steps; they are computed from noised parameters */
    mfpg_transport_report transport;
} mfpg_update_report;

/* One client's part in one round. All pointers are borrowed. */
typedef struct mfpg_local_round {
    const mfpg_dataset *data;
    /* declared public row count, as given to mfpg_mechanism_release; data may hold fewer or more rows */
    ptrdiff_t rows;
    /* What this round releases, as accountants and ledger record it: the noise that is added has sd noise_sd
     * and is on the grid `grid`. */
    const mfpg_release *release;
    /* grid of the local steps before the last one in a round with a share; 0: mfpg_grid_for of the noise */
    double inner_grid;
    /* stream of (NOISE, round, client), whose vector s is for step s; for records, of (RECORDS, ...) */
    const mfpg_stream *noise;
    const mfpg_stream *batch; /* stream of (BATCH, round, client); used if batch_rate < 1 */
    int64_t *share;           /* parameters integers, or NULL in view local */
} mfpg_local_round;

typedef struct mfpg_mechanism_ops {
    const char *name, *help;
    mfpg_control control; /* control of its actions; NONE: nothing is clipped and no noise is added */
    /* 1: it moves by the entropic flow, so the flow's options apply and its step size is `step` instead of
     * learning_rate */
    int flow;
    /* Returns how far weights move in one step per unit of gradient: eta or tau. */
    double (*rate)(const mfpg_mechanism_options *options);
    /* Computes the noise of one released step in weight units. The action has the mechanism's own control or
     * is a multiplier, and its number is positive and finite. release->sensitivity is filled. NULL: no
     * noise. */
    mfpg_status (*noise_sd)(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release,
        ptrdiff_t rows, double *sd);
    /* Returns the action whose noise is noise_sd at this sensitivity (weight units). NULL: the mechanism has
     * no actions. */
    mfpg_action (*action_for)(
        const mfpg_mechanism *mechanism, double noise_sd, double sensitivity, ptrdiff_t rows);
    /* Moves the n weights x by the terms that need no data; the displacement and the noise are added
     * afterwards. NULL: there are no such terms. */
    void (*drift)(const mfpg_mechanism *mechanism, const mfpg_release *release, ptrdiff_t n, float *x);
    /* Returns the coefficients of the same terms: -rate (decay x + penalty (x - mean x)). Set if drift is
     * set, otherwise NULL. */
    void (*pull)(
        const mfpg_mechanism *mechanism, const mfpg_release *release, double *decay, double *penalty);
    /* Post-processes the noised state x; NULL: no post-processing. */
    mfpg_status (*project)(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model,
        float *x, mfpg_update_report *report);

    mfpg_particles particles; /* what is noised */
    /* The same mechanism over data; NULL: it has only one form. */
    const struct mfpg_mechanism_ops *of_data;
    /* For data only; both are set, or both are NULL if records do not move. map moves a record of n features
     * by its loss's gradient and towards the mean of the client's records. contraction returns its Lipschitz
     * constant at the start, over all records of a client together; release->noise_sd is filled. */
    void (*map)(const mfpg_mechanism *mechanism, double noise_sd, ptrdiff_t n, const double *gradient,
        const double *mean, double *x);
    double (*contraction)(const mfpg_mechanism *mechanism, const mfpg_release *release);
} mfpg_mechanism_ops;

struct mfpg_mechanism {
    const mfpg_mechanism_ops *ops;
    const mfpg_local_optimiser *optimiser;
    mfpg_mechanism_options options;
};

/* Fails with MFPG_ERR_INPUT and the key if steps depend on earlier steps of the round, which the feature
 * `what` does not support. */
mfpg_status mfpg_mechanism_check_memoryless(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, const char *what);

/* Returns 1 if gradients or updates are clipped, because the parameters are noised. */
static inline int mfpg_mechanism_clips(const mfpg_mechanism *mechanism) {
    return mechanism->ops->control != MFPG_CONTROL_NONE &&
           mechanism->ops->particles == MFPG_PARTICLES_PARAMETERS;
}

/* Returns 1 if a round makes one release, of the clipped update, and 0 if every local step is a release. */
static inline int mfpg_mechanism_clips_update(const mfpg_mechanism *mechanism) {
    return mfpg_mechanism_clips(mechanism) && mechanism->options.clip_at == MFPG_CLIP_UPDATE;
}

/* Returns the number of noised steps of the model in a round. */
static inline int64_t mfpg_mechanism_steps(const mfpg_mechanism *mechanism) {
    return mfpg_mechanism_clips_update(mechanism) ? 1 : mechanism->options.local_steps;
}

/* ---- what it is (mechanism.c) ---- */

/* The facts that follow from the name of a mechanism; all zero (no noise) for NULL and unknown names. */
typedef struct mfpg_mechanism_kind {
    mfpg_control control;     /* control of its actions; NONE: it adds no noise and promises nothing */
    mfpg_particles particles; /* what it noises if its options do not select data */
    int of_data;              /* 1: its options may select data (entropic.particles) */
    int flow;                 /* as in its ops */
} mfpg_mechanism_kind;

mfpg_mechanism_kind mfpg_mechanism_kind_of(const char *name);

/* Returns the control of its actions; the next function returns what it noises. For data, the caller keeps
 * noised records for each client (mfpg_mechanism_push, once) and trains on them
 * (mfpg_mechanism_update_records); mfpg_mechanism_update is then refused. */
static inline mfpg_control mfpg_mechanism_control(const mfpg_mechanism *mechanism) {
    return mechanism->ops->control;
}

static inline mfpg_particles mfpg_mechanism_particles(const mfpg_mechanism *mechanism) {
    return mechanism->ops->particles;
}

/* Returns 1 if every step's noised state is projected (Sinkhorn). In a sum of clients the noise of the
 * others then does not hide a client, because the sum no longer contains their noise unchanged. */
static inline int mfpg_mechanism_projects(const mfpg_mechanism *mechanism) {
    return mechanism->ops->project && mechanism->options.regularisation.value > 0.0;
}

/* The flow of an entropic mechanism: tau, sigma^2 and lambda of its options. The strength e of a release is
 * noise_sd^2/(2 tau). */
typedef struct mfpg_flow {
    double step, prior_variance, variance_penalty;
} mfpg_flow;

/* Returns 1 and the flow if the mechanism is entropic, over parameters or data; otherwise 0 and zeros. */
int mfpg_mechanism_flow(const mfpg_mechanism *mechanism, mfpg_flow *out);

/* One local step as a map of the state x: x - rate [g + decay x + penalty (x - mean of the entries of x)] +
 * noise, with g the clipped gradient. */
typedef struct mfpg_step_map {
    double rate, decay, penalty;
    double batch_rate; /* Poisson rate by which gradients are divided */
    /* 1: every example's gradient is clipped separately; 0: their mean or sum is clipped */
    int clips_examples;
} mfpg_step_map;

/* Computes the map of a step from its release; arguments about hidden states use it (theory S2.4). Fails
 * with MFPG_ERR_INPUT if the step is not such a map: records, no noise, a clip of the whole update, states
 * projected by Sinkhorn. */
mfpg_status mfpg_mechanism_step_map(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release, mfpg_step_map *out);

/* ---- actions to noise and back, from public numbers alone (noise_of_action.c) ---- */

/* Returns the zero-out sensitivity S_z of the quantity that is clipped. Data particles: C for an example, C
 * sqrt(rows) for a client. Parameters: C for a client or an update; C/rows for an example with all rows,
 * C/(rate rows) with Poisson batches. rows is the declared public row count: gradients are divided by rate x
 * rows, never by the actual size of a batch. (The client unit on a model whose loss sums its rows divides by
 * the rate alone, because its clip follows the sum.) */
double mfpg_mechanism_sensitivity(const mfpg_mechanism *mechanism, ptrdiff_t rows);

/* Returns how far data can move one release, in the units of what is noised, including the rounding of sums
 * over examples (zero-out). */
double mfpg_mechanism_state_sensitivity(const mfpg_mechanism *mechanism, ptrdiff_t rows);

/* Returns the action that gives noise_sd / sensitivity = multiplier (both as in mfpg_release) for a client
 * of that many rows: a budget or a strength, under the mechanism's own law and scale. If multiplier is not >
 * 0, the action is NaN, which mfpg_mechanism_release refuses. Mechanism none: control NONE. */
mfpg_action mfpg_mechanism_action_for(const mfpg_mechanism *mechanism, double multiplier, ptrdiff_t rows);

/* Fails with MFPG_ERR_DOMAIN and the reason if the grid does not fit the noise (mfpg_grid_fault). */
mfpg_status mfpg_mechanism_check_grid(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, double grid, double sd, double sensitivity);

/* Fails with MFPG_ERR_INPUT or MFPG_ERR_DOMAIN if this mechanism does not make such a release for that many
 * declared rows. */
mfpg_status mfpg_mechanism_check_release(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release, ptrdiff_t rows);

/* Returns the Lipschitz constant c of one step of the entropic flow over records (theory S5.2), rounded up:
 * max(|1 - step decay|, |1 - step (input_smoothness + decay + variance_penalty)|), with decay = e/sigma^2.
 * input_smoothness M0 >= 0 is a public bound on the Hessian of every example's loss in its features, at the
 * model of the step; the loss must be convex in the features. +INFINITY for NaN, negative and infinite
 * numbers. Above 1 the flow is unstable. */
double mfpg_flow_contraction(double step, double decay, double variance_penalty, double input_smoothness);

/* ---- local updates (local_update.c) ---- */

/* Writes the rows of a Poisson batch in ascending order and returns their number. The coin of row i in step
 * s is uniform number 2^31 s + i of the stream, so it depends only on its position. rows < 2^31, rate in
 * (0,1]; out has room for all rows. */
ptrdiff_t mfpg_batch_draw(const mfpg_stream *stream, int64_t step, ptrdiff_t rows, double rate, int32_t *out);

/* Clips a flattened vector, all tensors together (theory S0, 15: clipping each part would let the whole
 * exceed the bound): v *= scale min(1, clip/|v|). A zero vector stays zero; one that is not finite becomes
 * zero, and 1 is returned (otherwise 0). The result's norm does not exceed |scale| clip, including its
 * rounding to float. */
int mfpg_clip_joint(ptrdiff_t n, float *v, double clip, double scale);

/* Does the same, but returns the factor for v in double and leaves the multiplication to the next pass over
 * v. If v is not finite, it becomes zero, the factor is scale and *nonfinite is incremented. */
double mfpg_clip_joint_factor(ptrdiff_t n, float *v, double clip, double scale, int64_t *nonfinite);

/* For data particles: mfpg_mechanism_update from noised records alone. It takes local steps from w; each is
 * a step of the records' flow at the current model (entropic) and a plain gradient step on the records.
 * Nothing here is a release. pushed: the records were noised in this round, and that was the flow of the
 * first local step. Vector number step x rows + i of the noise belongs to row i. */
mfpg_status mfpg_mechanism_update_records(mfpg_context *ctx, const mfpg_mechanism *mechanism,
    const mfpg_model *model, mfpg_dataset *records, int pushed, const mfpg_local_round *round, const float *w,
    float *out, float *work, mfpg_update_report *report);

/* ---- data particles (record_noise.c) ---- */

/* Checks whether this start may be used. Fails with MFPG_ERR_INPUT if the first map needs a bound on the
 * loss's curvature in the features and the model has none, or the one at w exceeds input_smoothness. Returns
 * MFPG_OK for parameters. */
mfpg_status mfpg_mechanism_check_start(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model, const float *w);

/* Makes the one release of a client's records, round->data. Each record is clipped to norm C (a record that
 * is not finite becomes zero), mapped with the gradients at the public start, which
 * mfpg_mechanism_check_start has accepted, and noised on the release's grid by vector number i for row i.
 * Fills noised->x and noised->norm2, with y the public labels; they never share memory with the data.
 * MFPG_ERR_INPUT for a mechanism of parameters or a release that is not this mechanism's, MFPG_ERR_DOMAIN
 * for a grid that does not fit, MFPG_ERR_NUMERIC if a mapped record is not finite (its label is not a
 * class). */
mfpg_status mfpg_mechanism_push(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_local_round *round, const float *start, mfpg_dataset *noised, float *work,
    mfpg_update_report *report);

/* Takes one step of the flow of noised records, including its noise. step counts from 0 in the round. */
mfpg_status mfpg_records_flow(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_local_round *round, int64_t step, const float *w, mfpg_dataset *records, float *work);

/* Returns the number of floats of workspace for noising records and for their flow. */
ptrdiff_t mfpg_records_workspace(const mfpg_model *model);

/* ---- a round of a client (local_update.c) ---- */

/* Returns the number of floats of workspace for one local update on a data set of that many rows. The memory
 * must be allocated (not a declared array), because parts of it are used as other types. */
ptrdiff_t mfpg_mechanism_workspace(const mfpg_mechanism *mechanism, const mfpg_model *model, ptrdiff_t rows);

/* Computes one client's local update of one round: out = the privatised local model after the local steps
 * from w.
 *
 * Each step takes the gradient at the current local model on all rows or on a Poisson batch and clips it (as
 * a flattened vector, over all tensors together, with the norm in double; a zero gradient stays zero, a
 * non-finite one becomes zero and is counted). After clipping it adds the regularisers, which do not depend
 * on data, and what the optimiser keeps of earlier steps; then it adds noise. With clip_at update the steps
 * have neither clip nor noise, and the update is clipped once and noised once.
 *
 * The noise is added to an integer vector. It is the clipped displacement rounded towards zero in units of
 * grid 2^-20, whose norm is checked in integers, or the integer sum of the clipped gradients of examples.
 * The release is K = [(x + sd Z)/grid] (src/base/grid_noise.h), and the state moves by K grid.
 *
 * round->share is the client's weighted share of the sum, p (out - w) on release->grid with p =
 * release->weight. Its last noise is drawn on that grid: share_j = [p (s_j - w_j)/grid] + [(p x_j + p sd
 * Z_j)/grid], where s is the state before the last step (or what its regularisers make of it) and x its
 * data. In this case only the client itself may see out.
 * @param[in]  w        mfpg_model_parameters floats, finite
 * @param[out] out      the same number; must not alias w
 * @param[out] report   may be NULL
 * @return MFPG_OK; MFPG_ERR_INPUT for a release that is not this mechanism's (steps, a smaller sensitivity),
 * a share of projected states or without noise, a model whose sums round more than sum_rounding;
 * MFPG_ERR_DOMAIN for a grid that does not fit; MFPG_ERR_MEMORY (Sinkhorn); MFPG_ERR_NUMERIC if the weights
 * are no longer finite or a projection does not converge.
 * Threads: safe with separate work, out and share. */
mfpg_status mfpg_mechanism_update(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_local_round *round, const float *w, float *out, float *work, mfpg_update_report *report);

#endif
