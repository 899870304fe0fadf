/** Mechanisms turn a client's data into a privatised update (LocalUpdate of Algorithm 1).
 *  none: plain gradient steps. gaussian: Algorithm 2. entropic: Algorithm 3, over the parameters or over the
 *  records.
 *  input: noise on the records. Mechanisms of data particles noise each record once; afterwards training is
 *  plain. */
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
    /* gradient noise sd S_r/b with S_r the replace sensitivity: mu per step is b (replace) or b/2 (zero-out) */
    MFPG_LAW_GAME = 0,
    MFPG_LAW_CLASSICAL /* gradient noise sd S_z sqrt(2 ln(1.25/delta))/b, S_z the zero-out sensitivity */
} mfpg_noise_law;
typedef enum mfpg_strength_scale {
    MFPG_SCALE_ABSOLUTE = 0, /* e is the strength */
    /* e is strength x S^2 in both the decay and the noise, where S is the sensitivity under the promise */
    MFPG_SCALE_SENSITIVITY
} mfpg_strength_scale;

typedef struct mfpg_mechanism_options {
    const char *kind; /* name in mechanisms.def */
    mfpg_promise promise;
    /* entropic: what is noised. input always noises data, the other mechanisms never do */
    mfpg_particles particles;
    /* C > 0: the norm bound of a gradient (clip_at step), of the update (weight units), or of a record's
     * features */
    double clip;
    mfpg_clip_at clip_at; /* parameters only */
    double delta;         /* of the classical law, in (0,1) */
    mfpg_noise_law law;
    double learning_rate;    /* eta of gaussian, of none, and of the training on noised records */
    double step;             /* tau: entropic */
    double prior_variance;   /* sigma^2 > 0: entropic */
    double variance_penalty; /* lambda >= 0: entropic */
    /* M0 >= 0: entropic over data; a public bound on mfpg_model_input_smoothness at the start */
    double input_smoothness;
    mfpg_strength_scale scale;
    /* The Sinkhorn projection of each tensor after each entropic step; value 0: no projection. */
    mfpg_regularisation regularisation;
    ptrdiff_t transport_cap; /* tensors with more entries are not projected; 0: no limit */
    int64_t local_steps;     /* K_loc >= 1 */
    /* of the local steps of a round */
    mfpg_local_optimiser_options optimiser;
    double batch_rate; /* Poisson rate q in (0,1]; 1: all rows are used and nothing is drawn */
    /* step of the grid of releases, in weight units (for records, in features); 0: mfpg_grid_for of the
     * noise */
    double grid;
    /* rho: the most that rounding of a sum over examples may add to the clip, relative
     * (mfpg_model_sum_rounding of the model that will be trained); updates refuse a model whose value is
     * larger */
    double sum_rounding;
} mfpg_mechanism_options;

/** Returns the paper's settings: gaussian, client, zero-out, local, parameters, clip 1 at the step, delta
 *  1e-5, law game, eta .01, tau .1, prior variance 1, penalty .01, input smoothness 0, absolute, no
 *  projection, cap 512, one step of sgd, all rows, grid by the noise, sum rounding 2^-10, which is enough for
 *  every built-in model. */
mfpg_mechanism_options mfpg_mechanism_options_default(void);

typedef struct mfpg_mechanism mfpg_mechanism;

/** Creates a mechanism; options are copied. MFPG_ERR_INPUT: unknown kind or optimiser, example unit with
 *  clip_at update, or data particles for a mechanism that does not support them or together with a Sinkhorn
 *  projection.
 *  MFPG_ERR_DOMAIN: a number out of range or NaN. */
mfpg_status mfpg_mechanism_create(
    mfpg_context *ctx, const mfpg_mechanism_options *options, mfpg_mechanism **out);
void mfpg_mechanism_destroy(mfpg_mechanism *mechanism);
/** Computes what one round of a client releases under an action, from public numbers alone (rows is its
 *  declared public row count). Fills unit, clipped, sensitivity and rounding (the example unit's sensitivity
 *  is raised by 1 + sum_rounding), noise_sd, last_sd (= noise_sd), grid, steps, sampling_rate (the batch rate
 *  for the example unit; 1 for the client unit, which its own batches do not amplify), particles, contraction
 *  and action; round, client and weight are left 0. For data particles it describes the single release of the
 *  records. Mechanism none clips nothing: its sensitivity is nominal and its noise_sd is 0.
 *  MFPG_ERR_DOMAIN, and then a release that certifies nothing: an action of another control or one that is
 *  not a positive finite number, noise outside the range of float, a grid that does not fit it
 *  (mfpg_grid_fault), an unstable entropic step (tau (e/sigma^2 + lambda) > 2; over data tau (e/sigma^2 +
 *  lambda + M0) > 2). */
mfpg_status mfpg_mechanism_release(mfpg_context *ctx, const mfpg_mechanism *mechanism, mfpg_action action,
    ptrdiff_t rows, mfpg_release *out);

/** What a local update observed. It is private and serves metrics and diagnostics only. */
typedef struct mfpg_update_report {
    /* number of examples (or client gradients, or updates) that were not finite and became zero */
    int64_t nonfinite;
    int64_t steps;
    double signal_norm; /* norm of the sum of the clipped displacements, without noise and regularisers */
    /* of the projections of all steps; they are computed from noised parameters */
    mfpg_transport_report transport;
} mfpg_update_report;

/** Returns the number of floats of workspace for one local update on a data set of that many rows. The memory
 *  must be allocated (not a declared array), because parts of it are used as other types. */
ptrdiff_t mfpg_mechanism_workspace(const mfpg_mechanism *mechanism, const mfpg_model *model, ptrdiff_t rows);

/** One client's part in one round. All pointers are borrowed. */
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

/** Computes one client's local update of one round: out = the privatised local model after the local steps
 *  from w.
 *
 *  Each step takes the gradient at the current local model on all rows or on a Poisson batch and clips it (as
 *  a flattened vector, over all tensors together, with the norm in double; a zero gradient stays zero, a
 *  non-finite one becomes zero and is counted). After clipping it adds the regularisers, which do not depend
 *  on data, and what the optimiser keeps of earlier steps; then it adds noise. With clip_at update the steps
 *  have neither clip nor noise, and the update is clipped once and noised once.
 *
 *  The noise is added to an integer vector. It is the clipped displacement rounded towards zero in units of
 *  grid 2^-20, whose norm is checked in integers, or the integer sum of the clipped gradients of examples.
 *  The release is K = [(x + sd Z)/grid] (src/base/grid_noise.h), and the state moves by K grid.
 *
 *  round->share is the client's weighted share of the sum, p (out - w) on release->grid with p =
 *  release->weight. Its last noise is drawn on that grid: share_j = [p (s_j - w_j)/grid] + [(p x_j + p sd
 *  Z_j)/grid], where s is the state before the last step (or what its regularisers make of it) and x its
 *  data. In this case only the client itself may see out.
 *  @param[in]  w        mfpg_model_parameters floats, finite
 *  @param[out] out      the same number; must not alias w
 *  @param[out] report   may be NULL
 *  @return MFPG_OK; MFPG_ERR_INPUT for a release that is not this mechanism's (steps, a smaller sensitivity),
 *  a share of projected states or without noise, a model whose sums round more than sum_rounding;
 *  MFPG_ERR_DOMAIN for a grid that does not fit; MFPG_ERR_MEMORY (Sinkhorn); MFPG_ERR_NUMERIC if the weights
 *  are no longer finite or a projection does not converge.
 *  Threads: safe with separate work, out and share. */
mfpg_status mfpg_mechanism_update(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_local_round *round, const float *w, float *out, float *work, mfpg_update_report *report);

/** Numbers for the two measurements of a client that a choice of action depends on (theory S4): their values,
 *  their sensitivities, their noise, or their largest possible values. */
typedef struct mfpg_measurement {
    double loss; /* mean over the declared rows of the examples' losses, each clipped to [0, loss clip] */
    double gradient_norm; /* norm of the mean clipped gradient, in [0, clip] */
} mfpg_measurement;

/** Returns names and help of mechanisms.def; NULL past the end. */
const char *mfpg_mechanism_name(ptrdiff_t index);
const char *mfpg_mechanism_help(ptrdiff_t index);

#endif
