/* LocalUpdate of Algorithm 1, common to all mechanisms: data become a displacement of the weights without noise, then
 * the mechanism moves the state and noise goes in, once. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/wide.h"
#include "batch.h"
#include "clip.h"
#include "numerics/linalg/linalg.h"
#include "ops.h"

/* Parts of the workspace begin at multiples of this many floats, so that a part may serve as another type. */
enum { ALIGNMENT = 16 };

typedef struct local {
    const mfpg_mechanism *mechanism;
    const mfpg_model *model;
    const mfpg_dataset *data;
    const mfpg_stream *noise, *batch;
    mfpg_release release;
    double divisor;      /* of gradients: declared, never the realised size of a batch */
    ptrdiff_t n;         /* parameters */
    float *displacement; /* n; of the step at hand, without noise */
    float *total;        /* n; of all steps so far; the same memory where there is one step */
    float *draw;         /* n; the noise of the step at hand, standard normal */
    int32_t *rows;       /* of a Poisson batch */
    float *model_work;
    mfpg_update_report report;
} local;

static ptrdiff_t aligned(ptrdiff_t count) {
    return (count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

ptrdiff_t mfpg_mechanism_workspace(const mfpg_mechanism *mechanism, const mfpg_model *model, ptrdiff_t rows) {
    ptrdiff_t vector = aligned(mfpg_model_parameters(model));
    ptrdiff_t vectors = mfpg_mechanism_steps(mechanism) > 1 ? 3 * vector : 2 * vector;
    ptrdiff_t list = mechanism->options.batch_rate < 1.0 ? aligned(rows) : 0;
    ptrdiff_t training = vectors + list + mfpg_model_workspace(model, rows);
    if (mechanism->ops->particles == MFPG_PARTICLES_PARAMETERS) return training;
    return aligned(training) + mfpg_records_workspace(model); /* the flow beside the steps */
}

static void divide_workspace(local *u, float *work) {
    u->displacement = u->total = work;
    work += aligned(u->n);
    u->draw = work;
    work += aligned(u->n);
    if (mfpg_mechanism_steps(u->mechanism) > 1) {
        u->total = work;
        memset(u->total, 0, (size_t)u->n * sizeof *u->total);
        work += aligned(u->n);
    }
    if (u->mechanism->options.batch_rate < 1.0) {
        u->rows = (int32_t *)(void *)work;
        work += aligned(u->data->rows);
    }
    u->model_work = work;
}

/* The client unit on a model whose loss sums its rows follows that loss; all others follow the mean over the declared
 * rows. A Poisson batch estimates either by its sum over the rate. */
static double declared_divisor(const mfpg_mechanism *mechanism, const mfpg_model *model, ptrdiff_t rows) {
    int sum = mechanism->options.promise.unit == MFPG_UNIT_CLIENT && mfpg_model_sums_rows(model);
    return mechanism->options.batch_rate * (sum ? 1.0 : (double)rows);
}

/* displacement = gradient at x on the batch of the step, its examples clipped where they are the unit of privacy. */
static void gradient(local *u, int64_t step, const float *x) {
    const mfpg_mechanism_options *o = &u->mechanism->options;
    ptrdiff_t count = 0;
    if (u->rows) count = mfpg_batch_draw(u->batch, step, u->data->rows, o->batch_rate, u->rows);
    if (o->promise.unit == MFPG_UNIT_EXAMPLE && mfpg_mechanism_clips(u->mechanism)) {
        u->report.nonfinite += mfpg_model_clipped_gradient(
            u->model, x, u->data, u->rows, count, o->clip, u->divisor, u->displacement, u->model_work);
    } else {
        mfpg_model_gradient(u->model, x, u->data, u->rows, count, u->divisor, u->displacement, u->model_work);
    }
}

static void scale(ptrdiff_t n, float by, float *v) {
    for (ptrdiff_t i = 0; i < n; i++) v[i] *= by;
}

/* displacement = -rate times the clipped gradient. */
static void clipped_step(local *u, int64_t step, const float *x) {
    const mfpg_mechanism_options *o = &u->mechanism->options;
    double rate = u->mechanism->ops->rate(o);
    gradient(u, step, x);
    if (o->promise.unit == MFPG_UNIT_CLIENT && mfpg_mechanism_clips(u->mechanism)) {
        u->report.nonfinite += mfpg_clip_joint(u->n, u->displacement, o->clip, -rate);
    } else {
        scale(u->n, (float)-rate, u->displacement);
    }
}

/* displacement = clipped sum of free steps from w; x is scratch. */
static void clipped_update(local *u, const float *w, float *x) {
    const mfpg_mechanism_options *o = &u->mechanism->options;
    float rate = (float)u->mechanism->ops->rate(o);
    memcpy(x, w, (size_t)u->n * sizeof *x);
    for (int64_t step = 0; step < o->local_steps; step++) {
        gradient(u, step, x);
        for (ptrdiff_t i = 0; i < u->n; i++) x[i] -= rate * u->displacement[i];
    }
    for (ptrdiff_t i = 0; i < u->n; i++) u->displacement[i] = x[i] - w[i];
    u->report.nonfinite += mfpg_clip_joint(u->n, u->displacement, o->clip, 1.0);
}

/* x <- x + displacement + sd z in double, rounded once: the sum of data and noise is then what the certificate is about,
 * and its rounding to float is post-processing. Rounded before the noise goes in, two neighbouring states could come to
 * lie a whole unit of a large weight apart. */
MFPG_WIDE static void add_in_double(ptrdiff_t n, const float *restrict displacement, double sd,
    const float *restrict draw, float *restrict x) {
    for (ptrdiff_t i = 0; i < n; i++)
        x[i] = (float)((double)x[i] + (double)displacement[i] + sd * (double)draw[i]);
}

static void add_noise(local *u, int64_t vector, float *x) {
    mfpg_stream_gaussian(u->noise, (uint64_t)vector, u->n, u->draw);
    add_in_double(u->n, u->displacement, u->release.noise_sd, u->draw, x);
}

/* Noise must stand above the grid of the floats that carry it: 2^6 units of the largest weight. */
static mfpg_status check_noise_shows(mfpg_context *ctx, const local *u, double largest) {
    if (u->release.noise_sd == 0.0 || u->release.noise_sd >= 0x1p-17 * largest) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_NUMERIC,
        "mechanism %s: noise of standard deviation %.3g is lost in the rounding of weights as large as %.3g",
        u->mechanism->ops->name, u->release.noise_sd, largest);
}

/* One release: the state x moves by what needs no data, by the displacement and by noise vector number `vector`, and is
 * projected. */
static mfpg_status release_step(mfpg_context *ctx, local *u, int64_t vector, float *x) {
    const mfpg_mechanism_ops *ops = u->mechanism->ops;
    if (u->total != u->displacement)
        for (ptrdiff_t i = 0; i < u->n; i++) u->total[i] += u->displacement[i];
    if (ops->drift) ops->drift(u->mechanism, &u->release, u->n, x);
    if (u->release.noise_sd > 0.0)
        add_noise(u, vector, x);
    else
        for (ptrdiff_t i = 0; i < u->n; i++) x[i] += u->displacement[i];
    double largest = (double)mfpg_vector_largest(u->n, x);
    if (!isfinite(largest))
        return mfpg_fail(ctx, MFPG_ERR_NUMERIC,
            "mechanism %s: the weights are no longer finite in local step %lld; a smaller rate may help",
            ops->name, (long long)vector + 1);
    mfpg_status status = check_noise_shows(ctx, u, largest);
    return status == MFPG_OK && ops->project ? ops->project(ctx, u->mechanism, u->model, x, &u->report)
                                             : status;
}

static mfpg_status run_steps(mfpg_context *ctx, local *u, const float *w, float *x) {
    memcpy(x, w, (size_t)u->n * sizeof *x);
    for (int64_t step = 0; step < u->release.steps; step++) {
        clipped_step(u, step, x);
        mfpg_status status = release_step(ctx, u, step, x);
        if (status != MFPG_OK) return status;
    }
    return MFPG_OK;
}

static mfpg_status run_update(mfpg_context *ctx, local *u, const float *w, float *x) {
    clipped_update(u, w, x);
    memcpy(x, w, (size_t)u->n * sizeof *x);
    return release_step(ctx, u, 0, x);
}

mfpg_status mfpg_mechanism_update(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_dataset *data, ptrdiff_t rows, mfpg_action action, const mfpg_stream *noise,
    const mfpg_stream *batch, const float *w, float *out, float *work, mfpg_update_report *report) {
    local u = {
        .mechanism = mechanism,
        .model = model,
        .data = data,
        .noise = noise,
        .batch = batch,
        .n = mfpg_model_parameters(model),
        .divisor = declared_divisor(mechanism, model, rows),
        .report = {.variance_ratio = 1.0, .transport_converged = 1},
    };
    if (mechanism->ops->particles != MFPG_PARTICLES_PARAMETERS)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "mechanism %s trains on noised records, never on raw ones",
            mechanism->ops->name);
    mfpg_status status = mfpg_mechanism_release(ctx, mechanism, action, rows, &u.release);
    if (status != MFPG_OK) return status;
    divide_workspace(&u, work);
    status =
        mfpg_mechanism_clips_update(mechanism) ? run_update(ctx, &u, w, out) : run_steps(ctx, &u, w, out);
    u.report.steps = u.release.steps;
    u.report.signal_norm = mfpg_vector_norm(u.n, u.total);
    if (report) *report = u.report;
    return status;
}

/* Everything here reads noised records only: post-processing, neither clipped nor noised for privacy's sake. */
mfpg_status mfpg_mechanism_update_records(mfpg_context *ctx, const mfpg_mechanism *mechanism,
    const mfpg_model *model, mfpg_dataset *records, mfpg_action action, int pushed, const mfpg_stream *noise,
    const mfpg_stream *batch, const float *w, float *out, float *work, mfpg_update_report *report) {
    local u = {
        .mechanism = mechanism,
        .model = model,
        .data = records,
        .batch = batch,
        .n = mfpg_model_parameters(model),
        .divisor = declared_divisor(mechanism, model, records->rows),
        .report = {.variance_ratio = 1.0, .transport_converged = 1},
    };
    mfpg_release push;
    if (mechanism->ops->particles != MFPG_PARTICLES_DATA)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "mechanism %s noises no records", mechanism->ops->name);
    mfpg_status status = mfpg_mechanism_release(ctx, mechanism, action, records->rows, &push);
    float *flow_work =
        work + mfpg_mechanism_workspace(mechanism, model, records->rows) - mfpg_records_workspace(model);
    if (status != MFPG_OK) return status;
    divide_workspace(&u, work);
    memcpy(out, w, (size_t)u.n * sizeof *out);
    for (int64_t step = 0; step < mechanism->options.local_steps && status == MFPG_OK; step++) {
        if (mechanism->ops->map && !(pushed && step == 0))
            status =
                mfpg_records_flow(ctx, mechanism, model, push.noise_sd, noise, step, out, records, flow_work);
        if (status != MFPG_OK) break;
        clipped_step(&u, step, out);
        status = release_step(ctx, &u, step, out);
    }
    u.report.steps = mechanism->options.local_steps;
    u.report.signal_norm = mfpg_vector_norm(u.n, u.total);
    if (report) *report = u.report;
    return status;
}
