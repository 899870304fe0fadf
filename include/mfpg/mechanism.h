/** Mechanisms: how a client turns data into a privatised update (LocalUpdate of Algorithm 1).
 *  none: plain gradient steps. gaussian: Algorithm 2. entropic: Algorithm 3, over the parameters or over the records.
 *  input: noise on the records. Mechanisms of data particles noise each record once; what follows is plain training. */
#ifndef MFPG_MECHANISM_H
#define MFPG_MECHANISM_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "dataset.h"
#include "model.h"
#include "optimiser.h"
#include "random.h"
#include "release.h"
#include "transport.h"

typedef enum mfpg_clip_at { MFPG_CLIP_STEP = 0, MFPG_CLIP_UPDATE } mfpg_clip_at;
typedef enum mfpg_noise_law {
    /* gradient noise sd S_r/b, S_r the replace sensitivity: mu a step is b (replace), b/2 (zero-out) */
    MFPG_LAW_GAME = 0,
    MFPG_LAW_CLASSICAL /* gradient noise sd S_z sqrt(2 ln(1.25/delta))/b, S_z the zero-out sensitivity */
} mfpg_noise_law;
typedef enum mfpg_strength_scale {
    MFPG_SCALE_ABSOLUTE = 0, /* e is the strength */
    MFPG_SCALE_SENSITIVITY /* e is strength x S^2 in the decay and in the noise, S the sensitivity under the promise */
} mfpg_strength_scale;

typedef struct mfpg_mechanism_options {
    const char *kind; /* name in mechanisms.def */
    mfpg_promise promise;
    mfpg_particles particles; /* entropic: what flows. input always noises data, the others never do */
    double
        clip; /* C > 0: norm bound of a gradient (clip_at step), of the update (weight units), or of a record's features */
    mfpg_clip_at clip_at; /* parameters only */
    double delta;         /* of the classical law, in (0,1) */
    mfpg_noise_law law;
    double learning_rate;    /* eta: gaussian, none, and the training on noised records */
    double step;             /* tau: entropic */
    double prior_variance;   /* sigma^2 > 0: entropic */
    double variance_penalty; /* lambda >= 0: entropic */
    double
        input_smoothness; /* M0 >= 0: entropic over data; public bound on mfpg_model_input_smoothness at the start */
    mfpg_strength_scale scale;
    /* Of the Sinkhorn projection of each tensor after each entropic step; value 0: none. */
    mfpg_regularisation regularisation;
    ptrdiff_t transport_cap; /* tensors with more entries are not projected; 0: no cap */
    int64_t local_steps;     /* K_loc >= 1 */
    /* of the local steps of a round */
    mfpg_local_optimiser_options optimiser;
    double batch_rate; /* Poisson rate q in (0,1]; 1: all rows, nothing drawn */
    double
        grid; /* step of the grid of releases, weight units (features for records); 0: mfpg_grid_for of the noise */
    /* rho: what the rounding of a sum over examples may add to the clip, relative (mfpg_model_sum_rounding of the model that will
     * be trained); updates refuse a model whose own is larger */
    double sum_rounding;
} mfpg_mechanism_options;

/** The paper's: gaussian, client, zero-out, local, parameters, clip 1 at the step, delta 1e-5, law game, eta .01, tau .1,
 *  prior variance 1, penalty .01, input smoothness 0, absolute, no projection, cap 512, one step of sgd, all rows, own grid, sum rounding
 *  2^-10, which is enough for every built-in model. */
mfpg_mechanism_options mfpg_mechanism_options_default(void);

typedef struct mfpg_mechanism mfpg_mechanism;

/** Makes a mechanism; options are copied. MFPG_ERR_INPUT: unknown kind or optimiser, example unit with clip_at update, particles data
 *  for a mechanism that has no such form, or together with a Sinkhorn projection.
 *  MFPG_ERR_DOMAIN: a number out of range or NaN. */
mfpg_status mfpg_mechanism_create(
    mfpg_context *ctx, const mfpg_mechanism_options *options, mfpg_mechanism **out);
void mfpg_mechanism_destroy(mfpg_mechanism *mechanism);
/** What one round of a client releases under an action, from public numbers alone (rows is its declared public row
 *  count). Fills unit, clipped, sensitivity and rounding (the example unit's sensitivity is raised by 1 + sum_rounding), noise_sd,
 *  last_sd (= noise_sd), grid, steps, sampling_rate (the batch rate for the example unit;
 *  1 for the client unit, which its own batches do not amplify), particles, contraction, action; round, client and
 *  weight are left 0. For data particles it is what the one push releases. Mechanism none clips nothing: its sensitivity
 *  is nominal and its noise_sd 0.
 *  MFPG_ERR_DOMAIN, and then a release that certifies nothing: an action of another control, one that is not a positive
 *  finite number, noise outside the range of float, a grid that does not fit it (mfpg_grid_fault), an unstable entropic step
 *  (tau (e/sigma^2 + lambda) > 2; over data tau (e/sigma^2 + lambda + M0) > 2). */
mfpg_status mfpg_mechanism_release(mfpg_context *ctx, const mfpg_mechanism *mechanism, mfpg_action action,
    ptrdiff_t rows, mfpg_release *out);

/** What a local update saw; private, for metrics and diagnostics only. */
typedef struct mfpg_update_report {
    int64_t nonfinite; /* examples (or client gradients, or updates) that were not finite and became zero */
    int64_t steps;
    double signal_norm; /* norm of the sum of the clipped displacements, without noise and regularisers */
    mfpg_transport_report transport; /* of the projections of all steps: read off noised parameters */
} mfpg_update_report;

/** Floats of workspace for one local update on a data set of that many rows. The memory has to be allocated (not a
 *  declared array), since parts of it serve as other types. */
ptrdiff_t mfpg_mechanism_workspace(const mfpg_mechanism *mechanism, const mfpg_model *model, ptrdiff_t rows);

/** One client's part in one round. Everything is borrowed. */
typedef struct mfpg_local_round {
    const mfpg_dataset *data;
    ptrdiff_t
        rows; /* declared public row count, as given to mfpg_mechanism_release; data may hold fewer or more */
    /* What this round releases, as accountants and ledger will hold it: the noise that is added is that of noise_sd, and
     * the grid is that of grid. */
    const mfpg_release *release;
    double
        inner_grid; /* of local steps before the last in a round with a share; 0: mfpg_grid_for of the noise */
    const mfpg_stream *noise; /* of (NOISE, round, client), vector s for step s; records: of (RECORDS, ...) */
    const mfpg_stream *batch; /* of (BATCH, round, client); used if batch_rate < 1 */
    int64_t *share;           /* parameters integers, or NULL in view local */
} mfpg_local_round;

/** One client's local update of one round: out = privatised local model after the local steps from w.
 *  Each step: gradient at the current local model on all rows or a Poisson batch; clipped (flattened vector, jointly
 *  over tensors, norm in double; a zero gradient stays zero, a non-finite one becomes zero and is counted); data-free
 *  regularisers, and what the optimiser keeps of earlier steps, after clipping; noise. clip_at update: the steps are free of clip and noise; then the update is
 *  clipped once and noised once.
 *
 *  What is noised is an integer vector: the clipped displacement rounded towards zero in units of grid 2^-20, its norm checked
 *  in integers, or the integer sum of the clipped gradients of examples. What leaves is K = [(x + sd Z)/grid] (src/base/grid_noise.h): the
 *  state moves by K grid.
 *
 *  round->share: the client's weighted share of the sum, p (out - w) on release->grid, with p = release->weight, its last noise drawn on
 *  that grid: share_j = [p (s_j - w_j)/grid] + [(p x_j + p sd Z_j)/grid], s the state before the last step (or what its regularisers
 *  make of it) and x its data. out is then for the client alone.
 *  @param[in]  w        mfpg_model_parameters floats, finite
 *  @param[out] out      the same number; never aliases w
 *  @param[out] report   NULL if nobody asks
 *  @return MFPG_OK, MFPG_ERR_INPUT for a release that is not this mechanism's (steps, a smaller sensitivity), a share of projected
 *  states or without noise, a model whose sums round more than sum_rounding; MFPG_ERR_DOMAIN for a grid that does not fit,
 *  MFPG_ERR_MEMORY (Sinkhorn), MFPG_ERR_NUMERIC if the weights are no longer finite or a projection does not converge.
 *  Threads: safe with separate work, out and share. */
mfpg_status mfpg_mechanism_update(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_local_round *round, const float *w, float *out, float *work, mfpg_update_report *report);

/** Numbers of the two measurements of a client that a choice of action answers to (theory S4): their values, how far they
 *  move, their noise, or the largest they can be. */
typedef struct mfpg_measurement {
    double loss; /* mean over the declared rows of the examples' losses, each cut to [0, loss clip] */
    double gradient_norm; /* norm of the mean clipped gradient, in [0, clip] */
} mfpg_measurement;

/** Names and help of mechanisms.def; NULL past the end. */
const char *mfpg_mechanism_name(ptrdiff_t index);
const char *mfpg_mechanism_help(ptrdiff_t index);

#endif
