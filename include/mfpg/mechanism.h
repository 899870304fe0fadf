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
#include "names.h"
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

/** Numbers for the two measurements of a client that a choice of action depends on (theory S4): their values,
 *  their sensitivities, their noise, or their largest possible values. */
typedef struct mfpg_measurement {
    double loss; /* mean over the declared rows of the examples' losses, each clipped to [0, loss clip] */
    double gradient_norm; /* norm of the mean clipped gradient, in [0, clip] */
} mfpg_measurement;

extern const mfpg_kinds mfpg_mechanisms; /**< mechanisms.def */

#endif
