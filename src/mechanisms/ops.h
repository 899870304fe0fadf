/* What a mechanism implements. A local update (update.c) turns data into a displacement of the weights, clipped and
 * free of noise; the mechanism says how the state moves under it, how much noise an action means, and what follows. */
#ifndef MFPG_MECHANISMS_OPS_H
#define MFPG_MECHANISMS_OPS_H

#include "mfpg/mechanism.h"

typedef struct mfpg_mechanism_ops {
    const char *name, *help;
    mfpg_control control; /* of its actions; NONE: nothing is clipped and no noise is added */
    int flow;             /* as in mfpg_mechanism_kind */
    /* Weights moved by a unit of gradient in one step: eta or tau. */
    double (*rate)(const mfpg_mechanism_options *options);
    /* Noise of one released step in weight units; action is of the mechanism's own control or a multiplier, and its
     * number positive and finite. release->sensitivity is filled. NULL: no noise. */
    mfpg_status (*noise_sd)(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release,
        ptrdiff_t rows, double *sd);
    /* The action whose noise is noise_sd where the sensitivity (weight units) is given. NULL: no action. */
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
    /* Data only, both or neither; NULL: records stay where they are. map: a record of n features moves by its loss's
     * gradient and towards the mean of the client's records. contraction: its Lipschitz constant at the start, over all
     * records of a client together; release->noise_sd is filled. */
    void (*map)(const mfpg_mechanism *mechanism, double noise_sd, ptrdiff_t n, const double *gradient,
        const double *mean, double *x);
    double (*contraction)(const mfpg_mechanism *mechanism, const mfpg_release *release);
} mfpg_mechanism_ops;

struct mfpg_mechanism {
    const mfpg_mechanism_ops *ops;
    mfpg_mechanism_options options;
};

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

/* What data can move in one release, in the units of what is noised, the rounding of sums over examples included (zero-out). */
double mfpg_mechanism_state_sensitivity(const mfpg_mechanism *mechanism, ptrdiff_t rows);

/* MFPG_ERR_DOMAIN with the reason if the grid does not fit the noise (mfpg_grid_fault). */
mfpg_status mfpg_mechanism_check_grid(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, double grid, double sd, double sensitivity);

/* MFPG_ERR_INPUT or MFPG_ERR_DOMAIN unless the release is one that this mechanism makes for so many declared rows. */
mfpg_status mfpg_mechanism_check_release(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release, ptrdiff_t rows);

/* Data particles: one step of the flow of noised records, noise included; records.c. step counts from 0 in the round. */
mfpg_status mfpg_records_flow(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_local_round *round, int64_t step, const float *w, mfpg_dataset *records, float *work);

/* Floats of workspace that a push and the flow need. */
ptrdiff_t mfpg_records_workspace(const mfpg_model *model);

/* MFPG_ERR_INPUT or MFPG_ERR_DOMAIN with the option named. */
mfpg_status mfpg_mechanism_options_validate(mfpg_context *ctx, const mfpg_mechanism_options *options);

#endif
