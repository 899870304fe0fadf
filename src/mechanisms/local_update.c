/* LocalUpdate of Algorithm 1, common to all mechanisms. Data become a displacement of the weights without
 * noise; then the mechanism moves the state, and noise is added once. */
#include "mechanism_ops.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/wide.h"
#include "base/grid_noise.h"
#include "models/clip_factor.h"
#include "models/losses.h"
#include "movement.h"
#include "numerics/linalg/linalg.h"

/* ---- batches and clips ---- */

enum { CHUNK = 64 };

ptrdiff_t mfpg_batch_draw(
    const mfpg_stream *stream, int64_t step, ptrdiff_t rows, double rate, int32_t *out) {
    double coin[CHUNK];
    ptrdiff_t count = 0;
    for (ptrdiff_t first = 0; first < rows; first += CHUNK) {
        ptrdiff_t here = rows - first < CHUNK ? rows - first : CHUNK;
        mfpg_stream_uniform(stream, ((uint64_t)step << 31) + (uint64_t)first, here, coin);
        for (ptrdiff_t i = 0; i < here; i++) {
            out[count] = (int32_t)(first + i); /* always written, but counted only if the coin is 1 */
            count += coin[i] < rate;
        }
    }
    return count;
}

double mfpg_clip_joint_factor(ptrdiff_t n, float *v, double clip, double scale, int64_t *nonfinite) {
    double factor = mfpg_clip_factor(mfpg_vector_norm(n, v), clip);
    if (factor > 0.0) return factor * scale;
    memset(v, 0, (size_t)n * sizeof *v);
    ++*nonfinite;
    return scale;
}

int mfpg_clip_joint(ptrdiff_t n, float *v, double clip, double scale) {
    int64_t nonfinite = 0;
    mfpg_vector_scale(n, mfpg_clip_joint_factor(n, v, clip, scale, &nonfinite), v);
    return (int)nonfinite;
}

/* ---- one local update ---- */

/* Parts of the workspace begin at multiples of this many floats, so that a part can be used as another type. */
enum { ALIGNMENT = 16 };

typedef struct local {
    const mfpg_mechanism *mechanism;
    const mfpg_model *model;
    const mfpg_dataset *data;
    const mfpg_local_round *round;
    int64_t steps;       /* noised, or plain */
    double divisor;      /* divisor of gradients: declared, never the actual size of a batch */
    ptrdiff_t n;         /* parameters */
    const float *origin; /* n: the broadcast model */
    /* n; displacement of the current step without noise, up to `factor`; NULL if sums are used */
    float *displacement;
    double factor; /* the factor by which it must still be multiplied */
    int64_t *sum;  /* n; memory for a sum of the examples' clipped gradients; NULL if floats are used */
    mfpg_clipped_sum made; /* sum of the current step, in units of sum_unit */
    double sum_unit;
    float *total; /* n; what data added in all steps so far; NULL if there is one step */
    /* vectors x n numbers that the optimiser keeps, and n that it adds to a step; NULL if it has no memory */
    float *memory, *carried;
    int32_t *rows; /* of a Poisson batch */
    float *model_work;
    mfpg_update_report report;
} local;

static ptrdiff_t aligned(ptrdiff_t count) {
    return (count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Returns 1 if the gradients of examples are clipped one by one and added as integers. */
static int sums_examples(const mfpg_mechanism *mechanism) {
    return mechanism->options.promise.unit == MFPG_UNIT_EXAMPLE && mfpg_mechanism_clips(mechanism);
}

ptrdiff_t mfpg_mechanism_workspace(const mfpg_mechanism *mechanism, const mfpg_model *model, ptrdiff_t rows) {
    ptrdiff_t vector = aligned(mfpg_model_parameters(model));
    /* an integer of 64 bits needs the space of two floats */
    ptrdiff_t vectors = sums_examples(mechanism) ? 2 * vector : vector;
    if (mfpg_mechanism_steps(mechanism) > 1) vectors += vector;
    if (mechanism->optimiser->carry) vectors += (mechanism->optimiser->vectors + 1) * vector;
    ptrdiff_t list = mechanism->options.batch_rate < 1.0 ? aligned(rows) : 0;
    ptrdiff_t training = vectors + list + mfpg_model_workspace(model, rows);
    if (mechanism->ops->particles == MFPG_PARTICLES_PARAMETERS) return training;
    return aligned(training) + mfpg_records_workspace(model); /* for the flow, after the steps */
}

static void divide_workspace(local *u, float *work) {
    if (sums_examples(u->mechanism)) {
        u->sum = (int64_t *)(void *)work;
        work += 2 * aligned(u->n);
    } else {
        u->displacement = work;
        work += aligned(u->n);
    }
    if (u->steps > 1) {
        u->total = work;
        memset(u->total, 0, (size_t)u->n * sizeof *u->total);
        work += aligned(u->n);
    }
    if (u->mechanism->optimiser->carry) {
        u->memory = work;
        u->carried = u->memory + u->mechanism->optimiser->vectors * aligned(u->n);
        work = u->carried + aligned(u->n);
    }
    if (u->mechanism->options.batch_rate < 1.0) {
        u->rows = (int32_t *)(void *)work;
        work += aligned(u->data->rows);
    }
    u->model_work = work;
}

/* For the client unit on a model whose loss sums its rows, the gradient is that of this loss; in all other
 * cases it is that of the mean over the declared rows. A Poisson batch estimates either by its sum divided
 * by the rate. */
static double declared_divisor(const mfpg_mechanism *mechanism, const mfpg_model *model, ptrdiff_t rows) {
    int sum = mechanism->options.promise.unit == MFPG_UNIT_CLIENT && mfpg_model_sums_rows(model);
    return mechanism->options.batch_rate * (sum ? 1.0 : (double)rows);
}

static ptrdiff_t draw_batch(local *u, int64_t step) {
    double rate = u->mechanism->options.batch_rate;
    return u->rows ? mfpg_batch_draw(u->round->batch, step, u->data->rows, rate, u->rows) : 0;
}

/* Computes what data add in a step from x: the sum of the clipped gradients of the batch's examples, or
 * -rate times the gradient, which is clipped as a whole if the client is the unit. */
static void clipped_step(local *u, int64_t step, const float *x) {
    const mfpg_mechanism_options *o = &u->mechanism->options;
    double rate = u->mechanism->ops->rate(o);
    ptrdiff_t count = draw_batch(u, step);
    if (u->sum) {
        u->made = mfpg_model_clipped_sum_as_made(
            u->model, x, u->data, u->rows, count, o->clip, u->sum_unit, u->sum, u->model_work);
        u->report.nonfinite += u->made.nonfinite;
        return;
    }
    mfpg_model_gradient(u->model, x, u->data, u->rows, count, u->divisor, u->displacement, u->model_work);
    u->factor = mfpg_mechanism_clips(u->mechanism)
                    ? mfpg_clip_joint_factor(u->n, u->displacement, o->clip, -rate, &u->report.nonfinite)
                    : (double)(float)-rate;
}

MFPG_WIDE static void moved_from(
    ptrdiff_t n, const float *restrict x, const float *restrict w, float *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = x[i] - w[i];
}

/* Computes what the optimiser adds to a step from that state; does nothing if it has no memory. */
static void find_carried(local *u, int64_t step, const float *from) {
    if (u->carried)
        u->mechanism->optimiser->carry(
            &u->mechanism->options.optimiser, step, u->n, from, u->memory, u->carried);
}

static void add_carried(const local *u, float *x) {
    for (ptrdiff_t i = 0; u->carried && i < u->n; i++) x[i] += u->carried[i];
}

/* Computes x = w after the steps without noise; x - w is then the displacement, up to the factor that clips
 * it. */
static void clipped_update(local *u, const float *w, float *x) {
    const mfpg_mechanism_options *o = &u->mechanism->options;
    float rate = (float)u->mechanism->ops->rate(o);
    for (int64_t step = 0; step < o->local_steps; step++) {
        ptrdiff_t count = draw_batch(u, step);
        const float *from = step == 0 ? w : x;
        find_carried(u, step, from);
        mfpg_model_descend(
            u->model, from, u->data, u->rows, count, u->divisor, rate, x, u->displacement, u->model_work);
        add_carried(u, x);
    }
    u->factor = mfpg_clip_factor(mfpg_vector_distance(u->n, x, w), o->clip);
    if (u->factor > 0.0) return;
    memcpy(x, w, (size_t)u->n * sizeof *x); /* an update that is not finite counts as no movement */
    u->report.nonfinite++;
    u->factor = 1.0;
}

/* Makes one release: the state `from` moves by the terms that need no data, by what data add and by noise
 * vector number `step`, and is then projected. The result is x, which may be `from`. */
static mfpg_status release_step(mfpg_context *ctx, local *u, int64_t step, const float *from, float *x) {
    const mfpg_mechanism_ops *ops = u->mechanism->ops;
    const mfpg_release *release = u->round->release;
    int moved = mfpg_mechanism_clips_update(u->mechanism); /* x already equals from + displacement / factor */
    int last = step == u->steps - 1, shares = u->round->share && last;
    if (!moved) find_carried(u, step, from);
    if (ops->drift || (u->carried && !moved)) {
        if (moved) moved_from(u->n, x, from, u->displacement);
        if (from != x) memcpy(x, from, (size_t)u->n * sizeof *x);
        if (ops->drift) ops->drift(u->mechanism, release, u->n, x);
        if (!moved) add_carried(u, x);
        from = x;
        moved = 0;
    }
    mfpg_movement m = {.from = from,
        .displacement = moved ? NULL : u->displacement,
        .factor = u->factor,
        .sum = u->made.integers,
        .sum_floats = u->made.floats,
        .rate = -u->mechanism->ops->rate(&u->mechanism->options) * u->sum_unit / u->divisor,
        .noise_sd = ops->particles == MFPG_PARTICLES_PARAMETERS ? release->noise_sd : 0.0,
        .grid = u->round->share && !shares ? u->round->inner_grid : release->grid,
        .sensitivity = release->sensitivity,
        .total = u->total,
        .to = x};
    if (u->round->share && !shares && m.grid == 0.0) m.grid = mfpg_grid_for(m.noise_sd);
    if (shares) {
        m.weight = release->weight;
        m.origin = u->origin;
        m.share = u->round->share;
    }
    int within = mfpg_movement_pass(&m, u->round->noise, (uint64_t)step, u->n);
    double largest = (double)m.largest;
    u->report.signal_norm = u->total ? 0.0 : sqrt(m.signal2);
    if (!within || !isfinite(largest))
        return mfpg_fail(ctx, MFPG_ERR_NUMERIC,
            within
                ? "mechanism %s: the weights are no longer finite in local step %lld; a smaller rate may help"
                : "mechanism %s: a clipped update exceeds its clip in local step %lld; nothing was released",
            ops->name, (long long)step + 1);
    return ops->project ? ops->project(ctx, u->mechanism, u->model, x, &u->report) : MFPG_OK;
}

static mfpg_status run_steps(mfpg_context *ctx, local *u, const float *w, float *x) {
    for (int64_t step = 0; step < u->steps; step++) {
        const float *from = step == 0 ? w : x;
        clipped_step(u, step, from);
        mfpg_status status = release_step(ctx, u, step, from, x);
        if (status != MFPG_OK) return status;
    }
    return MFPG_OK;
}

static mfpg_status check(mfpg_context *ctx, const local *u) {
    const mfpg_mechanism *mechanism = u->mechanism;
    const mfpg_release *release = u->round->release;
    const char *name = mechanism->ops->name;
    double rho = mfpg_model_sum_rounding(u->model), weight = release->weight;
    if (mechanism->ops->particles != MFPG_PARTICLES_PARAMETERS)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "mechanism %s trains on noised records, never on raw ones", name);
    mfpg_status status = mfpg_mechanism_check_release(ctx, mechanism, release, u->round->rows);
    if (status != MFPG_OK) return status;
    if (u->round->share && (!mfpg_mechanism_clips(mechanism) || mfpg_mechanism_projects(mechanism)))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "mechanism %s: states that are projected or have no noise give no share of a sum", name);
    if (u->round->share)
        status = mfpg_mechanism_check_grid(
            ctx, mechanism, release->grid, weight * release->noise_sd, weight * release->sensitivity);
    if (status == MFPG_OK && sums_examples(mechanism) && !(rho <= mechanism->options.sum_rounding))
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "mechanism %s: sums over examples of model %s round by up to %.3g of the clip; the options say "
            "%.3g",
            name, mfpg_model_name(u->model), rho, mechanism->options.sum_rounding);
    return status;
}

static void finish_report(local *u, mfpg_update_report *report) {
    u->report.steps = u->steps;
    if (u->total) u->report.signal_norm = mfpg_vector_norm(u->n, u->total);
    if (report) *report = u->report;
}

mfpg_status mfpg_mechanism_update(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_local_round *round, const float *w, float *out, float *work, mfpg_update_report *report) {
    local u = {
        .mechanism = mechanism,
        .model = model,
        .data = round->data,
        .round = round,
        .steps = mfpg_mechanism_steps(mechanism),
        .n = mfpg_model_parameters(model),
        .origin = w,
        .divisor = declared_divisor(mechanism, model, round->rows),
        .sum_unit = mfpg_model_sum_unit(mechanism->options.clip, round->data->rows),
    };
    mfpg_status status = check(ctx, &u);
    if (status != MFPG_OK) return status;
    divide_workspace(&u, work);
    int whole = mfpg_mechanism_clips_update(mechanism);
    if (whole) clipped_update(&u, w, out);
    status = whole ? release_step(ctx, &u, 0, w, out) : run_steps(ctx, &u, w, out);
    finish_report(&u, report);
    return status;
}

/* Everything here reads only noised records. It is post-processing, so privacy requires neither clip nor
 * noise. */
mfpg_status mfpg_mechanism_update_records(mfpg_context *ctx, const mfpg_mechanism *mechanism,
    const mfpg_model *model, mfpg_dataset *records, int pushed, const mfpg_local_round *round, const float *w,
    float *out, float *work, mfpg_update_report *report) {
    local u = {
        .mechanism = mechanism,
        .model = model,
        .data = records,
        .round = round,
        .steps = mechanism->options.local_steps,
        .n = mfpg_model_parameters(model),
        .origin = w,
        .divisor = declared_divisor(mechanism, model, records->rows),
    };
    if (mechanism->ops->particles != MFPG_PARTICLES_DATA)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "mechanism %s noises no records", mechanism->ops->name);
    mfpg_status status = mfpg_mechanism_check_release(ctx, mechanism, round->release, records->rows);
    if (status != MFPG_OK) return status;
    float *flow_work =
        work + mfpg_mechanism_workspace(mechanism, model, records->rows) - mfpg_records_workspace(model);
    divide_workspace(&u, work);
    memcpy(out, w, (size_t)u.n * sizeof *out);
    for (int64_t step = 0; step < u.steps && status == MFPG_OK; step++) {
        if (mechanism->ops->map && !(pushed && step == 0))
            status = mfpg_records_flow(ctx, mechanism, model, round, step, out, records, flow_work);
        if (status != MFPG_OK) break;
        clipped_step(&u, step, out);
        status = release_step(ctx, &u, step, out, out);
    }
    finish_report(&u, report);
    return status;
}
