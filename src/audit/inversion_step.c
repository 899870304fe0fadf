/* The step that is attacked: a batch through the library's clip, noise and movement of the weights, at each level of noise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inversion.h"
#include "mechanisms/mechanism_ops.h"
#include "numerics/linalg/linalg.h"

static mfpg_inversion_clip kind_of(const mfpg_mechanism *mechanism) {
    if (!mfpg_mechanism_clips(mechanism)) return MFPG_INVERSION_PLAIN;
    if (mfpg_mechanism_clips_update(mechanism)) return MFPG_INVERSION_UPDATE;
    return mechanism->options.promise.unit == MFPG_UNIT_EXAMPLE ? MFPG_INVERSION_EXAMPLES
                                                                : MFPG_INVERSION_CLIENT;
}

static void no_noise(const mfpg_inversion_subject *s, mfpg_inversion_step *step) {
    const mfpg_mechanism_options *o = &s->mechanism->options;
    *step = (mfpg_inversion_step){.mu = INFINITY,
        .kind = kind_of(s->mechanism),
        .clip = mfpg_mechanism_clips(s->mechanism) ? o->clip : (double)INFINITY,
        .rate = s->mechanism->ops->rate(o)};
}

/* Everything of the step that is public, with the noise at mu. */
static mfpg_status add_noise(mfpg_context *ctx, const mfpg_inversion_subject *s,
    const mfpg_mechanism_options *options, ptrdiff_t rows, double mu, mfpg_inversion_step *step) {
    no_noise(s, step);
    step->mu = mu;
    step->rows = rows;
    mfpg_status status = mfpg_mechanism_create(ctx, options, &step->mechanism);
    if (status != MFPG_OK) return status;
    mfpg_action action = mfpg_mechanism_action_for(step->mechanism, 1.0 / mu, rows);
    status = mfpg_mechanism_release(ctx, step->mechanism, action, rows, &step->release);
    if (status != MFPG_OK) return status;
    step->unit = step->release.sensitivity / (1.0 + step->release.rounding) / step->clip;
    step->sd = step->release.noise_sd / step->unit;
    step->rest = mfpg_alloc_floats(s->parameters);
    if (!step->rest) return mfpg_fail_memory(ctx);
    memcpy(step->rest, s->w, (size_t)s->parameters * sizeof *step->rest);
    if (step->mechanism->ops->drift)
        step->mechanism->ops->drift(step->mechanism, &step->release, s->parameters, step->rest);
    return MFPG_OK;
}

/* The client's own step: one of its local steps, on all of its rows, before any projection. Of the example unit everybody
 * else's gradients are known and taken off; a client of the other unit has the batch and nothing else. */
static mfpg_status own_step(
    mfpg_context *ctx, const mfpg_inversion_subject *s, double mu, mfpg_inversion_step *step) {
    mfpg_mechanism_options options = s->mechanism->options;
    options.local_steps = 1;
    options.batch_rate = 1.0;
    options.regularisation.value = 0.0;
    ptrdiff_t rows = options.promise.unit == MFPG_UNIT_EXAMPLE ? s->rows : s->options->batch;
    return add_noise(ctx, s, &options, rows, mu, step);
}

/* Gaussian noise behind the same clip. The rate matters only where the update is what is clipped. */
static mfpg_status gaussian_step(
    mfpg_context *ctx, const mfpg_inversion_subject *s, double mu, mfpg_inversion_step *step) {
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    const mfpg_mechanism_options *own = &s->mechanism->options;
    options.promise = own->promise;
    options.clip = own->clip;
    options.clip_at = own->clip_at;
    options.learning_rate = 1.0;
    if (kind_of(s->mechanism) == MFPG_INVERSION_UPDATE) options.learning_rate = s->mechanism->ops->rate(own);
    return add_noise(ctx, s, &options, s->options->batch, mu, step);
}

/* The least noise at which a frontier begins: pixels come back to two digits. Not so little that the
 * rounding of the weights to float would drown it: 2^-16 of the largest. */
static double top_mu(const mfpg_inversion_subject *s) {
    const double clearly = 1000.0;
    double moved = s->mechanism->options.clip;
    if (kind_of(s->mechanism) == MFPG_INVERSION_EXAMPLES) moved /= (double)s->options->batch;
    double largest = (double)mfpg_vector_largest(s->parameters, s->w) + moved;
    return fmin(clearly, 0x1p16 * moved / largest);
}

mfpg_status mfpg_inversion_steps_create(
    mfpg_context *ctx, const mfpg_inversion_subject *subject, mfpg_inversion_step *step, int *count) {
    mfpg_release release;
    mfpg_status status =
        mfpg_mechanism_release(ctx, subject->mechanism, subject->action, subject->rows, &release);
    no_noise(subject, &step[0]);
    *count = 1;
    if (status != MFPG_OK || !(release.noise_sd > 0.0)) return status;
    double mu = release.sensitivity / release.noise_sd, top = top_mu(subject);
    int between = top > mu ? subject->options->levels - 2 : 0;
    for (int i = 0; i < between && status == MFPG_OK; i++)
        status = gaussian_step(ctx, subject, top * pow(mu / top, (double)i / between), &step[(*count)++]);
    if (status == MFPG_OK) status = own_step(ctx, subject, mu, &step[(*count)++]);
    return status;
}

void mfpg_inversion_steps_clear(mfpg_inversion_step *step, int count) {
    for (int i = 0; i < count; i++) {
        mfpg_mechanism_destroy(step[i].mechanism);
        free(step[i].rest);
    }
}

ptrdiff_t mfpg_inversion_workspace(
    const mfpg_inversion_subject *subject, const mfpg_inversion_step *step, int count) {
    ptrdiff_t most = mfpg_model_workspace(subject->model, subject->options->batch);
    for (int i = 0; i < count; i++) {
        if (!step[i].mechanism) continue;
        ptrdiff_t rows = step[i].rows > subject->options->batch ? step[i].rows : subject->options->batch;
        ptrdiff_t work = mfpg_mechanism_workspace(step[i].mechanism, subject->model, rows);
        if (work > most) most = work;
    }
    return most;
}

void mfpg_inversion_gradient(const mfpg_inversion_subject *subject, const mfpg_inversion_step *step,
    const mfpg_dataset *batch, float *gradient, float *work) {
    ptrdiff_t n = subject->parameters;
    if (step->kind == MFPG_INVERSION_EXAMPLES) {
        mfpg_model_clipped_gradient(
            subject->model, subject->w, batch, NULL, 0, step->clip, 1.0, gradient, work);
        return;
    }
    mfpg_model_gradient(subject->model, subject->w, batch, NULL, 0, (double)batch->rows, gradient, work);
    if (step->kind == MFPG_INVERSION_UPDATE) mfpg_vector_scale(n, step->rate, gradient);
    if (step->kind != MFPG_INVERSION_PLAIN) mfpg_clip_joint(n, gradient, step->clip, 1.0);
}

mfpg_status mfpg_inversion_release_step(mfpg_context *ctx, const mfpg_inversion_subject *subject,
    const mfpg_inversion_step *step, const mfpg_dataset *batch, const mfpg_stream *noise, float *gradient,
    float *work) {
    if (!step->mechanism) {
        mfpg_inversion_gradient(subject, step, batch, gradient, work);
        return MFPG_OK;
    }
    const mfpg_local_round round = {
        .data = batch, .rows = step->rows, .release = &step->release, .noise = noise, .batch = noise};
    mfpg_status status =
        mfpg_mechanism_update(ctx, step->mechanism, subject->model, &round, subject->w, gradient, work, NULL);
    if (status != MFPG_OK) return status;
    for (ptrdiff_t i = 0; i < subject->parameters; i++)
        gradient[i] = (float)(((double)step->rest[i] - (double)gradient[i]) / step->unit);
    return MFPG_OK;
}
