/* Makes updates from other systems private: one joint clip of an update, or of every example's update, and
 * one noise (theory S0, 15). */
#include "mfpg/privatise.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/grid_noise.h"
#include "base/memory.h"
#include "models/clip_factor.h"
#include "movement.h"
#include "mechanism_ops.h"

/* Numbers are converted to integers in units of 2^-20 of a step of the grid. */
#define UNIT 0x1p-20

/* Squares are summed in blocks, so that the error of a sum of 2^40 numbers is far below the margin of
 * MFPG_CLIP_SHRINK. */
enum { BLOCK = 4096 };

static double number_at(const mfpg_buffer *buffer, ptrdiff_t i) {
    return buffer->element == MFPG_ELEMENT_FLOAT32 ? (double)((const float *)buffer->values)[i]
                                                   : ((const double *)buffer->values)[i];
}

/* ---- the norm ---- */

/* Returns the largest |x|, or NaN or infinity if there is such a number. */
static double find_largest(const mfpg_buffer *buffer, ptrdiff_t count) {
    double largest = 0.0;
    for (ptrdiff_t b = 0; b < count; b++)
        for (ptrdiff_t i = 0; i < buffer[b].count; i++) {
            double size = fabs(number_at(&buffer[b], i));
            if (!isfinite(size)) return size;
            largest = fmax(largest, size);
        }
    return largest;
}

/* Returns the norm of all arrays together divided by the largest number, so that no square leaves the range
 * of a double. */
static double norm_over_largest(const mfpg_buffer *buffer, ptrdiff_t count, double largest) {
    double sum = 0.0, part = 0.0;
    ptrdiff_t in_part = 0;
    if (largest == 0.0) return 0.0;
    for (ptrdiff_t b = 0; b < count; b++)
        for (ptrdiff_t i = 0; i < buffer[b].count; i++) {
            double x = number_at(&buffer[b], i) / largest;
            part += x * x;
            if (++in_part < BLOCK) continue;
            sum += part;
            part = 0.0;
            in_part = 0;
        }
    return sqrt(sum + part);
}

/* ---- the integers ---- */

/* How a vector becomes integers: clipped to norm clip, multiplied by a public weight, in units. */
typedef struct conversion {
    double clip, weight, unit;
    unsigned __int128 most; /* the largest sum of squares that the result may have */
} conversion;

static conversion convert_to(double clip, double weight, double unit, double sensitivity) {
    double largest = fmin(clip * weight, sensitivity);
    return (conversion){clip, weight, unit, mfpg_whole_square(largest / unit)};
}

/* A number in units, towards zero. */
static double whole(double x, double scale) {
    return trunc(scale * x);
}

static int fits(const mfpg_buffer *buffer, ptrdiff_t count, double scale, unsigned __int128 most) {
    unsigned __int128 squares = 0;
    for (ptrdiff_t b = 0; b < count; b++)
        for (ptrdiff_t i = 0; i < buffer[b].count; i++) {
            __int128 x = (__int128)whole(number_at(&buffer[b], i), scale);
            squares += (unsigned __int128)(x * x);
            if (squares > most) return 0;
        }
    return 1;
}

/* Returns the factor that turns a vector into integers whose norm is verified not to exceed the clip; 0 for
 * a vector that is not finite. */
static double find_scale(const mfpg_buffer *buffer, ptrdiff_t count, const conversion *to) {
    double largest = find_largest(buffer, count);
    if (!isfinite(largest)) return 0.0;
    double relative = norm_over_largest(buffer, count, largest), norm = largest * relative;
    double factor =
        isfinite(norm) ? mfpg_clip_factor(norm, to->clip) : to->clip * MFPG_CLIP_SHRINK / relative / largest;
    double scale = factor * to->weight / to->unit;
    while (!fits(buffer, count, scale, to->most)) scale *= 1.0 - 0x1p-20;
    return scale;
}

/* ---- the noise ---- */

/* A walk over all arrays as if they were one. The numbers that are noised are the arrays' own, times scale,
 * or those of a sum. */
typedef struct walk {
    const mfpg_buffer *buffer;
    ptrdiff_t at; /* in the present buffer */
    double scale, grid;
    const int64_t *sum; /* NULL: the numbers of the arrays */
    double unit;        /* unit of the integers, in steps of the grid: a power of two */
} walk;

static void next(walk *w) {
    while (w->at >= w->buffer->count) {
        w->buffer++;
        w->at = 0;
    }
}

static void give(ptrdiff_t first, ptrdiff_t n, double *x, void *arg) {
    walk w = *(walk *)arg; /* the same numbers are written afterwards */
    for (ptrdiff_t i = 0; i < n; i++, w.at++) {
        next(&w);
        if (w.sum)
            x[i] = (double)w.sum[first + i] * w.unit;
        else
            x[i] = w.scale == 0.0 ? 0.0 : whole(number_at(w.buffer, w.at), w.scale) * w.unit;
    }
}

static void take(ptrdiff_t first, ptrdiff_t n, const double *k, void *arg) {
    walk *w = arg;
    (void)first;
    for (ptrdiff_t i = 0; i < n; i++, w->at++) {
        next(w);
        if (w->buffer->element == MFPG_ELEMENT_FLOAT32)
            ((float *)w->buffer->values)[w->at] = (float)(k[i] * w->grid);
        else
            ((double *)w->buffer->values)[w->at] = k[i] * w->grid;
    }
}

static void noise_all(walk *w, const mfpg_release *release, const mfpg_stream *noise, ptrdiff_t total) {
    mfpg_grid_noise_visit(
        mfpg_widest_registers(), noise, 0, total, release->noise_sd / release->grid, give, take, w);
}

/* ---- what may be released ---- */

static mfpg_status check_mechanism(mfpg_context *ctx, const mfpg_mechanism *mechanism) {
    if (mechanism->ops->particles == MFPG_PARTICLES_PARAMETERS && mfpg_mechanism_clips_update(mechanism))
        return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "mechanism %s does not clip a whole update; allowed: gaussian or entropic over parameters, with "
        "clip_at update",
        mechanism->ops->name);
}

static mfpg_status check_of_examples(mfpg_context *ctx, const mfpg_mechanism *mechanism) {
    const mfpg_mechanism_options *o = &mechanism->options;
    if (mfpg_mechanism_clips(mechanism) && mechanism->ops->control == MFPG_CONTROL_BUDGET &&
        o->promise.unit == MFPG_UNIT_EXAMPLE && o->clip_at == MFPG_CLIP_STEP && o->local_steps == 1 &&
        o->batch_rate == 1.0)
        return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "mechanism %s does not clip the examples of one step over all rows; allowed: gaussian over "
        "parameters, unit example, clip_at step, one local step, batch rate 1",
        mechanism->ops->name);
}

static mfpg_status check_numbers(
    mfpg_context *ctx, const mfpg_buffer *buffer, ptrdiff_t count, ptrdiff_t *total) {
    *total = 0;
    for (ptrdiff_t b = 0; b < count; b++) *total += buffer[b].count;
    if (*total > 0) return MFPG_OK;
    return mfpg_fail(
        ctx, MFPG_ERR_INPUT, "the update has no floating-point number, so there is nothing to privatise");
}

mfpg_status mfpg_privatise(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release,
    const mfpg_stream *noise, const mfpg_buffer *buffer, ptrdiff_t count, int *zeroed) {
    ptrdiff_t total = 0;
    mfpg_status status = check_mechanism(ctx, mechanism);
    if (status == MFPG_OK) status = mfpg_mechanism_check_release(ctx, mechanism, release, 1);
    if (status == MFPG_OK) status = check_numbers(ctx, buffer, count, &total);
    if (status != MFPG_OK) return status;
    conversion to = convert_to(mechanism->options.clip, 1.0, release->grid * UNIT, release->sensitivity);
    walk w = {.buffer = buffer, .scale = find_scale(buffer, count, &to), .grid = release->grid, .unit = UNIT};
    *zeroed = w.scale == 0.0;
    noise_all(&w, release, noise, total);
    return MFPG_OK;
}

/* ---- a share of a sum ---- */

static void gather(const mfpg_buffer *buffer, ptrdiff_t count, float *v) {
    for (ptrdiff_t b = 0; b < count; b++)
        for (ptrdiff_t i = 0; i < buffer[b].count; i++) *v++ = (float)number_at(&buffer[b], i);
}

/* The movement is that of a local update (local_update.c), so that both make the same integers. The state that
 * it moves is not used: the sum is counted from a model that the receiver has. */
static mfpg_status make_share(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release,
    const mfpg_stream *noise, float *v, ptrdiff_t total, int64_t *share, int *zeroed) {
    int64_t nonfinite = 0;
    double factor = mfpg_clip_joint_factor(total, v, mechanism->options.clip, 1.0, &nonfinite);
    mfpg_movement m = {.from = v,
        .displacement = v,
        .factor = factor,
        .noise_sd = release->noise_sd,
        .grid = release->grid,
        .sensitivity = release->sensitivity,
        .to = v,
        .weight = release->weight,
        .origin = v,
        .share = share};
    *zeroed = nonfinite > 0;
    if (mfpg_movement_pass(&m, noise, 0, total)) return MFPG_OK;
    return mfpg_fail(
        ctx, MFPG_ERR_NUMERIC, "mechanism %s: a clipped update exceeds its clip", mechanism->ops->name);
}

mfpg_status mfpg_privatise_share(mfpg_context *ctx, const mfpg_mechanism *mechanism,
    const mfpg_release *release, const mfpg_stream *noise, const mfpg_buffer *buffer, ptrdiff_t count,
    int64_t *share, int *zeroed) {
    double weight = release->weight;
    ptrdiff_t total = 0;
    mfpg_status status = check_mechanism(ctx, mechanism);
    if (status == MFPG_OK && !(weight > 0.0 && weight <= 1.0))
        status = mfpg_fail(ctx, MFPG_ERR_DOMAIN, "weight %g; allowed: above 0, up to 1", weight);
    if (status == MFPG_OK) status = mfpg_mechanism_check_release(ctx, mechanism, release, 1);
    if (status == MFPG_OK)
        status = mfpg_mechanism_check_grid(
            ctx, mechanism, release->grid, weight * release->noise_sd, weight * release->sensitivity);
    if (status == MFPG_OK) status = check_numbers(ctx, buffer, count, &total);
    if (status != MFPG_OK) return status;
    float *v = mfpg_alloc(total, sizeof *v);
    if (!v) return mfpg_fail_memory(ctx);
    gather(buffer, count, v);
    status = make_share(ctx, mechanism, release, noise, v, total, share, zeroed);
    free(v);
    return status;
}

/* ---- examples ---- */

/* Sums of integers are clamped to this, so that they are exact doubles. Clamping never increases the
 * difference of two sums. */
#define LARGEST_SUM ((int64_t)1 << 53)

/* Number of bits of the integers below a step of the grid: as many as keep the sum over the declared rows
 * below 2^52. */
enum { FEWEST_BITS = 10, MOST_BITS = 40 };

static mfpg_status choose_unit(
    mfpg_context *ctx, const mfpg_release *release, double moved, ptrdiff_t rows, double *unit) {
    int exponent;
    frexp((double)rows * (moved / release->grid), &exponent);
    int bits = 51 - exponent < MOST_BITS ? 51 - exponent : MOST_BITS;
    *unit = ldexp(1.0, -bits);
    if (bits >= FEWEST_BITS) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
        "the grid %g is too fine for exact sums of %td rows: they have more than 2^%d steps", release->grid,
        rows, 51 - FEWEST_BITS);
}

static mfpg_status check_sizes(
    mfpg_context *ctx, const mfpg_example_updates *examples, const mfpg_buffer *result, ptrdiff_t count) {
    if (examples->held < 0) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%td examples", examples->held);
    for (ptrdiff_t b = 0; b < count; b++) {
        ptrdiff_t found = examples->array[b].count, one = result[b].count;
        int alike =
            one == 0 || examples->held == 0 ? found == 0 : found % one == 0 && found / one == examples->held;
        if (!alike)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "array %td of the examples holds %td numbers; %td examples of %td numbers are expected",
                b + 1, found, examples->held, one);
    }
    return MFPG_OK;
}

/* Sets a view of one example's arrays within those of all. */
static void view_example(
    const mfpg_example_updates *examples, ptrdiff_t example, ptrdiff_t count, mfpg_buffer *view) {
    for (ptrdiff_t b = 0; b < count; b++) {
        size_t size = examples->array[b].element == MFPG_ELEMENT_FLOAT32 ? sizeof(float) : sizeof(double);
        view[b].element = examples->array[b].element;
        view[b].values = view[b].count == 0 ? NULL
                                            : (char *)examples->array[b].values +
                                                  (size_t)example * (size_t)view[b].count * size;
    }
}

static void add_example(const mfpg_buffer *view, ptrdiff_t count, double scale, int64_t *sum) {
    for (ptrdiff_t b = 0; b < count; b++)
        for (ptrdiff_t i = 0; i < view[b].count; i++, sum++) {
            *sum += (int64_t)whole(number_at(&view[b], i), scale);
            if (*sum > LARGEST_SUM) *sum = LARGEST_SUM;
            if (*sum < -LARGEST_SUM) *sum = -LARGEST_SUM;
        }
}

/* Adds the examples' integers and returns how many examples were not finite. */
static int64_t add_all(const mfpg_example_updates *examples, const conversion *to, mfpg_buffer *view,
    ptrdiff_t count, int64_t *sum) {
    int64_t zeroed = 0;
    for (ptrdiff_t i = 0; i < examples->held; i++) {
        view_example(examples, i, count, view);
        double scale = find_scale(view, count, to);
        if (scale == 0.0)
            zeroed++;
        else
            add_example(view, count, scale, sum);
    }
    return zeroed;
}

mfpg_status mfpg_privatise_examples(mfpg_context *ctx, const mfpg_mechanism *mechanism,
    const mfpg_release *release, const mfpg_stream *noise, const mfpg_example_updates *examples,
    const mfpg_buffer *result, ptrdiff_t count, int64_t *zeroed) {
    ptrdiff_t total = 0;
    double unit = 0.0;
    mfpg_status status = check_of_examples(ctx, mechanism);
    if (status == MFPG_OK && examples->rows < 1)
        status = mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%td declared rows; at least 1 is needed", examples->rows);
    if (status == MFPG_OK) status = mfpg_mechanism_check_release(ctx, mechanism, release, examples->rows);
    if (status == MFPG_OK) status = check_numbers(ctx, result, count, &total);
    if (status == MFPG_OK) status = check_sizes(ctx, examples, result, count);
    if (status != MFPG_OK) return status;
    double weight = mechanism->ops->rate(&mechanism->options) / (double)examples->rows;
    status = choose_unit(ctx, release, mechanism->options.clip * weight, examples->rows, &unit);
    if (status != MFPG_OK) return status;
    int64_t *sum = mfpg_alloc(total, sizeof *sum);
    mfpg_buffer *view = mfpg_alloc(count, sizeof *view);
    if (!sum || !view) {
        status = mfpg_fail_memory(ctx);
        goto done;
    }
    for (ptrdiff_t b = 0; b < count; b++) view[b].count = result[b].count;
    conversion to = convert_to(mechanism->options.clip, weight, release->grid * unit, release->sensitivity);
    *zeroed = add_all(examples, &to, view, count, sum);
    walk w = {.buffer = result, .grid = release->grid, .sum = sum, .unit = unit};
    noise_all(&w, release, noise, total);
done:
    free(view);
    free(sum);
    return status;
}
