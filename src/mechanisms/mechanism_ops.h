/* What a mechanism implements, and what other folders of the library ask of one beyond the public header. A local update
 * (local_update.c) turns data into a displacement of the weights, clipped and free of noise; the mechanism says how the
 * state moves under it, how much noise an action means, and what follows. */
#ifndef MFPG_MECHANISMS_MECHANISM_OPS_H
#define MFPG_MECHANISMS_MECHANISM_OPS_H

#include "mfpg/mechanism.h"

#include "optimisers/optimiser.h"

typedef struct mfpg_mechanism_ops {
    const char *name, *help;
    mfpg_control control; /* of its actions; NONE: nothing is clipped and no noise is added */
    int flow; /* 1: it moves by the entropic flow, whose options count: step, not learning_rate, is its step */
    /* Weights moved by a unit of gradient in one step: eta or tau. */
    double (*rate)(const mfpg_mechanism_options *options);
    /* Noise of one released step in weight units; action is of the mechanism's own control or a multiplier, and its
     * number positive and finite. release->sensitivity is filled. NULL: no noise. */
    mfpg_status (*noise_sd)(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release,
        ptrdiff_t rows, double *sd);
    /* The action whose noise is noise_sd if the sensitivity (weight units) is this one. NULL: no action. */
    mfpg_action (*action_for)(
        const mfpg_mechanism *mechanism, double noise_sd, double sensitivity, ptrdiff_t rows);
    /* Moves the n weights x by the terms that need no data; the displacement and the noise follow. NULL: none. */
    void (*drift)(const mfpg_mechanism *mechanism, const mfpg_release *release, ptrdiff_t n, float *x);
    /* The same terms as numbers: -rate (decay x + penalty (x - mean x)). With drift, or NULL. */
    void (*pull)(
        const mfpg_mechanism *mechanism, const mfpg_release *release, double *decay, double *penalty);
    /* Post-processing of the noised state x; NULL: none. */
    mfpg_status (*project)(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model,
        float *x, mfpg_update_report *report);

    mfpg_particles particles; /* what is noised */
    /* The same mechanism over data; NULL: it has no such form, or no other. */
    const struct mfpg_mechanism_ops *of_data;
    /* Data only, both or neither; NULL: records do not move. map: a record of n features moves by its loss's
     * gradient and towards the mean of the client's records. contraction: its Lipschitz constant at the start, over all
     * records of a client together; release->noise_sd is filled. */
    void (*map)(const mfpg_mechanism *mechanism, double noise_sd, ptrdiff_t n, const double *gradient,
        const double *mean, double *x);
    double (*contraction)(const mfpg_mechanism *mechanism, const mfpg_release *release);
} mfpg_mechanism_ops;

struct mfpg_mechanism {
    const mfpg_mechanism_ops *ops;
    const mfpg_local_optimiser *optimiser;
    mfpg_mechanism_options options;
};

/* MFPG_ERR_INPUT with the key if steps depend on earlier ones of the round, which `what` does not know. */
mfpg_status mfpg_mechanism_check_memoryless(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, const char *what);

/* 1: gradients or updates are clipped, as parameters are what is noised. */
static inline int mfpg_mechanism_clips(const mfpg_mechanism *mechanism) {
    return mechanism->ops->control != MFPG_CONTROL_NONE &&
           mechanism->ops->particles == MFPG_PARTICLES_PARAMETERS;
}

/* 1: one release a round, of the clipped update; 0: every local step is a release. */
static inline int mfpg_mechanism_clips_update(const mfpg_mechanism *mechanism) {
    return mfpg_mechanism_clips(mechanism) && mechanism->options.clip_at == MFPG_CLIP_UPDATE;
}

/* Noised steps of the model in a round. */
static inline int64_t mfpg_mechanism_steps(const mfpg_mechanism *mechanism) {
    return mfpg_mechanism_clips_update(mechanism) ? 1 : mechanism->options.local_steps;
}

/* ---- what it is (mechanism.c) ---- */

/* What is fixed by the name of a mechanism; zeros, that is no noise, for NULL and unknown names. */
typedef struct mfpg_mechanism_kind {
    mfpg_control control;     /* of its actions; NONE: it adds no noise and promises nothing */
    mfpg_particles particles; /* what it noises unless its options say data */
    int of_data;              /* 1: its options may say data (entropic.particles) */
    int flow;                 /* as in its ops */
} mfpg_mechanism_kind;

mfpg_mechanism_kind mfpg_mechanism_kind_of(const char *name);

/* The control that its actions carry, and what it noises. Data: the caller keeps noised records for each client
 * (mfpg_mechanism_push, once) and trains on them (mfpg_mechanism_update_records); mfpg_mechanism_update is then refused. */
static inline mfpg_control mfpg_mechanism_control(const mfpg_mechanism *mechanism) {
    return mechanism->ops->control;
}

static inline mfpg_particles mfpg_mechanism_particles(const mfpg_mechanism *mechanism) {
    return mechanism->ops->particles;
}

/* 1 if every step's noised state passes a projection (Sinkhorn). What a sum of clients then hides of one of them is
 * not the noise of the others: the sum no longer holds their noise as it was added. */
static inline int mfpg_mechanism_projects(const mfpg_mechanism *mechanism) {
    return mechanism->ops->project && mechanism->options.regularisation.value > 0.0;
}

/* The flow of an entropic mechanism: tau, sigma^2 and lambda of its options. Strength e of a release is noise_sd^2/(2
 * tau). */
typedef struct mfpg_flow {
    double step, prior_variance, variance_penalty;
} mfpg_flow;

/* 1 and the flow if the mechanism is entropic, over parameters or data; 0 and zeros if it has none. */
int mfpg_mechanism_flow(const mfpg_mechanism *mechanism, mfpg_flow *out);

/* One local step as a map of the state x: x - rate [g + decay x + penalty (x - mean of the entries of x)] + noise, g the
 * clipped gradient. */
typedef struct mfpg_step_map {
    double rate, decay, penalty;
    double batch_rate;  /* Poisson rate that gradients are divided by */
    int clips_examples; /* 1: every example's gradient is clipped by itself; 0: their mean or sum */
} mfpg_step_map;

/* The map of a step whose release is given: what arguments about hidden states start from (theory S2.4). MFPG_ERR_INPUT if
 * it is none: records, no noise, a clip of the whole update, states projected by Sinkhorn. */
mfpg_status mfpg_mechanism_step_map(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release, mfpg_step_map *out);

/* ---- actions to noise and back, from public numbers alone (noise_of_action.c) ---- */

/* The zero-out sensitivity S_z of the quantity that is clipped. Data particles: C for an example, C sqrt(rows) for a
 * client. Parameters: C for a client or an update; C/rows for an example with all rows, C/(rate rows) with Poisson
 * batches. rows is the declared public row count: gradients are divided by rate x rows, never by the realised size of a
 * batch. (The client unit on a model whose loss sums its rows divides by the rate alone: its clip comes after the sum.) */
double mfpg_mechanism_sensitivity(const mfpg_mechanism *mechanism, ptrdiff_t rows);

/* What data can move in one release, in the units of what is noised, the rounding of sums over examples included
 * (zero-out). */
double mfpg_mechanism_state_sensitivity(const mfpg_mechanism *mechanism, ptrdiff_t rows);

/* The action that gives noise_sd / sensitivity = multiplier (both as in mfpg_release) for a client of that many rows:
 * a budget or a strength, under the mechanism's own law and scale. multiplier > 0, else the action is NaN, which
 * mfpg_mechanism_release refuses. Mechanism none: control NONE. */
mfpg_action mfpg_mechanism_action_for(const mfpg_mechanism *mechanism, double multiplier, ptrdiff_t rows);

/* MFPG_ERR_DOMAIN with the reason if the grid does not fit the noise (mfpg_grid_fault). */
mfpg_status mfpg_mechanism_check_grid(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, double grid, double sd, double sensitivity);

/* MFPG_ERR_INPUT or MFPG_ERR_DOMAIN unless the release is one that this mechanism makes for so many declared rows. */
mfpg_status mfpg_mechanism_check_release(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release, ptrdiff_t rows);

/* The Lipschitz constant c of one step of the entropic flow over records (theory S5.2), rounded up: max(|1 - step decay|,
 * |1 - step (input_smoothness + decay + variance_penalty)|), decay = e/sigma^2, input_smoothness M0 >= 0 a public bound on
 * the Hessian of every example's loss in its features, in which the loss is convex, at the model of the step. +INFINITY for
 * NaN, negative and infinite numbers. Above 1 the flow is unstable. */
double mfpg_flow_contraction(double step, double decay, double variance_penalty, double input_smoothness);

/* ---- local updates (local_update.c) ---- */

/* Writes the rows of a Poisson batch, ascending, and returns how many. The coin of row i in step s is uniform number 2^31 s
 * + i of the stream, so that it depends on nothing but its place. rows < 2^31, rate in (0,1]; out has room for all rows. */
ptrdiff_t mfpg_batch_draw(const mfpg_stream *stream, int64_t step, ptrdiff_t rows, double rate, int32_t *out);

/* Joint clip of a flattened vector, all tensors together (theory S0, 15: a clip of each part lets the whole exceed it):
 * v *= scale min(1, clip/|v|). A zero vector stays zero; one that is not finite becomes zero, and 1 is returned (else
 * 0). The result's norm does not exceed |scale| clip, its rounding to float included. */
int mfpg_clip_joint(ptrdiff_t n, float *v, double clip, double scale);

/* The same, but the factor for v, in double, is returned, and the multiplication left to the next pass over v. If v is not
 * finite it becomes zero, the factor is scale and *nonfinite rises by 1. */
double mfpg_clip_joint_factor(ptrdiff_t n, float *v, double clip, double scale, int64_t *nonfinite);

/* Data particles: mfpg_mechanism_update from noised records alone: local steps from w, each a step of the records' flow at
 * the model at hand (entropic) and a plain gradient step on them. Nothing here is a release. pushed: the push belongs to
 * this round, and was the flow of the first local step. Vector number step x rows + i of the noise is that of row i. */
mfpg_status mfpg_mechanism_update_records(mfpg_context *ctx, const mfpg_mechanism *mechanism,
    const mfpg_model *model, mfpg_dataset *records, int pushed, const mfpg_local_round *round, const float *w,
    float *out, float *work, mfpg_update_report *report);

/* ---- data particles (record_noise.c) ---- */

/* May this start be used? MFPG_ERR_INPUT if the first map needs a bound on the loss's curvature in the features and the
 * model has none, or the one at w exceeds input_smoothness. MFPG_OK for parameters. */
mfpg_status mfpg_mechanism_check_start(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model, const float *w);

/* The one release of a client's records, round->data: each is clipped to norm C (what is not finite becomes zero), mapped
 * with the gradients at the public start, which mfpg_mechanism_check_start accepted, and noised on the release's grid by
 * vector number i for row i. noised->x and noised->norm2 are filled, with y the public labels; they never share memory with
 * the data. MFPG_ERR_INPUT for a mechanism of parameters or a release that is not this mechanism's, MFPG_ERR_DOMAIN for a
 * grid that does not fit, MFPG_ERR_NUMERIC if a mapped record is not finite (its label is not a class). */
mfpg_status mfpg_mechanism_push(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_local_round *round, const float *start, mfpg_dataset *noised, float *work,
    mfpg_update_report *report);

/* One step of the flow of noised records, noise included. step counts from 0 in the round. */
mfpg_status mfpg_records_flow(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_local_round *round, int64_t step, const float *w, mfpg_dataset *records, float *work);

/* Floats of workspace that a push and the flow need. */
ptrdiff_t mfpg_records_workspace(const mfpg_model *model);

#endif
