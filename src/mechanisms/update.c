/* LocalUpdate of Algorithm 1, common to all mechanisms: data become a displacement of the weights without noise, then
 * the mechanism moves the state and noise goes in, once. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/random_gaussian.h"
#include "base/wide.h"
#include "batch.h"
#include "clip.h"
#include "models/clip_factor.h"
#include "movement.h"
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
    float *displacement; /* n; of the step at hand, without noise, up to `factor` */
    double factor;       /* what it is still to be multiplied by */
    float *total;        /* n; of all steps so far; the same memory where there is one step */
    int32_t *rows;       /* of a Poisson batch */
    float *model_work;
    mfpg_update_report report;
} local;

static ptrdiff_t aligned(ptrdiff_t count) {
    return (count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

ptrdiff_t mfpg_mechanism_workspace(const mfpg_mechanism *mechanism, const mfpg_model *model, ptrdiff_t rows) {
    ptrdiff_t vector = aligned(mfpg_model_parameters(model));
    ptrdiff_t vectors = mfpg_mechanism_steps(mechanism) > 1 ? 2 * vector : vector;
    ptrdiff_t list = mechanism->options.batch_rate < 1.0 ? aligned(rows) : 0;
    ptrdiff_t training = vectors + list + mfpg_model_workspace(model, rows);
    if (mechanism->ops->particles == MFPG_PARTICLES_PARAMETERS) return training;
    return aligned(training) + mfpg_records_workspace(model); /* the flow beside the steps */
}

static void divide_workspace(local *u, float *work) {
    u->displacement = u->total = work;
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

static ptrdiff_t draw_batch(local *u, int64_t step) {
    double rate = u->mechanism->options.batch_rate;
    return u->rows ? mfpg_batch_draw(u->batch, step, u->data->rows, rate, u->rows) : 0;
}

/* displacement = gradient at x on the batch of the step, its examples clipped where they are the unit of privacy. */
static void gradient(local *u, int64_t step, const float *x) {
    const mfpg_mechanism_options *o = &u->mechanism->options;
    ptrdiff_t count = draw_batch(u, step);
    if (o->promise.unit == MFPG_UNIT_EXAMPLE && mfpg_mechanism_clips(u->mechanism)) {
        u->report.nonfinite += mfpg_model_clipped_gradient(
            u->model, x, u->data, u->rows, count, o->clip, u->divisor, u->displacement, u->model_work);
    } else {
        mfpg_model_gradient(u->model, x, u->data, u->rows, count, u->divisor, u->displacement, u->model_work);
    }
}

/* factor displacement = -rate times the clipped gradient. */
static void clipped_step(local *u, int64_t step, const float *x) {
    const mfpg_mechanism_options *o = &u->mechanism->options;
    double rate = u->mechanism->ops->rate(o);
    gradient(u, step, x);
    u->factor = (double)(float)-rate;
    if (o->promise.unit == MFPG_UNIT_CLIENT && mfpg_mechanism_clips(u->mechanism))
        u->factor = mfpg_clip_joint_factor(u->n, u->displacement, o->clip, -rate, &u->report.nonfinite);
}

MFPG_WIDE static void moved_from(
    ptrdiff_t n, const float *restrict x, const float *restrict w, float *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] - w[i];
}

/* x = free steps from w; x - w is then the displacement, up to the factor that clips it. */
static void clipped_update(local *u, const float *w, float *x) {
    const mfpg_mechanism_options *o = &u->mechanism->options;
    float rate = (float)u->mechanism->ops->rate(o);
    for (int64_t step = 0; step < o->local_steps; step++) {
        ptrdiff_t count = draw_batch(u, step);
        mfpg_model_descend(u->model, step == 0 ? w : x, u->data, u->rows, count, u->divisor, rate, x,
            u->displacement, u->model_work);
    }
    u->factor = mfpg_clip_factor(mfpg_vector_distance(u->n, x, w), o->clip);
    if (u->factor > 0.0) return;
    memcpy(x, w, (size_t)u->n * sizeof *x); /* not finite: it counts as no movement */
    u->report.nonfinite++;
    u->factor = 1.0;
}

static void move(ptrdiff_t first, ptrdiff_t n, const float *z, void *arg) {
    mfpg_movement_pass(arg, first, n, z);
}

/* Noise must stand above the grid of the floats that carry it: 2^6 units of the largest weight. */
static mfpg_status check_noise_shows(mfpg_context *ctx, const local *u, double largest) {
    if (u->release.noise_sd == 0.0 || u->release.noise_sd >= 0x1p-17 * largest) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_NUMERIC,
        "mechanism %s: noise of standard deviation %.3g is lost in the rounding of weights as large as %.3g",
        u->mechanism->ops->name, u->release.noise_sd, largest);
}

/* One release: the state `from` moves by what needs no data, by the displacement and by noise vector number `vector`, and
 * is projected. The result is x, which may be `from`. */
static mfpg_status release_step(mfpg_context *ctx, local *u, int64_t vector, const float *from, float *x) {
    const mfpg_mechanism_ops *ops = u->mechanism->ops;
    int moved = mfpg_mechanism_clips_update(u->mechanism); /* x is already from + displacement / factor */
    if (ops->drift) {
        if (moved) moved_from(u->n, x, from, u->displacement);
        if (from != x) memcpy(x, from, (size_t)u->n * sizeof *x);
        ops->drift(u->mechanism, &u->release, u->n, x);
        from = x;
        moved = 0;
    }
    mfpg_movement m = {.from = from,
        .displacement = moved ? NULL : u->displacement,
        .factor = u->factor,
        .total = u->total != u->displacement ? u->total : NULL,
        .noise_sd = u->release.noise_sd,
        .to = x};
    if (u->release.noise_sd > 0.0)
        mfpg_stream_gaussian_visit(mfpg_widest_registers(), u->noise, (uint64_t)vector, u->n, move, &m);
    else
        for (ptrdiff_t first = 0; first < u->n; first += MFPG_MOVEMENT_PIECE)
            move(first, u->n - first < MFPG_MOVEMENT_PIECE ? u->n - first : MFPG_MOVEMENT_PIECE, NULL, &m);
    double largest = (double)m.largest;
    u->report.signal_norm = m.total ? 0.0 : mfpg_movement_norm(&m);
    if (!isfinite(largest))
        return mfpg_fail(ctx, MFPG_ERR_NUMERIC,
            "mechanism %s: the weights are no longer finite in local step %lld; a smaller rate may help",
            ops->name, (long long)vector + 1);
    mfpg_status status = check_noise_shows(ctx, u, largest);
    return status == MFPG_OK && ops->project ? ops->project(ctx, u->mechanism, u->model, x, &u->report)
                                             : status;
}

static mfpg_status run_steps(mfpg_context *ctx, local *u, const float *w, float *x) {
    for (int64_t step = 0; step < u->release.steps; step++) {
        const float *from = step == 0 ? w : x;
        clipped_step(u, step, from);
        mfpg_status status = release_step(ctx, u, step, from, x);
        if (status != MFPG_OK) return status;
    }
    return MFPG_OK;
}

static mfpg_status run_update(mfpg_context *ctx, local *u, const float *w, float *x) {
    clipped_update(u, w, x);
    return release_step(ctx, u, 0, w, x);
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
    if (u.total != u.displacement) u.report.signal_norm = mfpg_vector_norm(u.n, u.total);
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
        status = release_step(ctx, &u, step, out, out);
    }
    u.report.steps = mechanism->options.local_steps;
    if (u.total != u.displacement) u.report.signal_norm = mfpg_vector_norm(u.n, u.total);
    if (report) *report = u.report;
    return status;
}
