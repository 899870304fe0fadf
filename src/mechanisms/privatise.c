/* A foreign update made private in place: one joint clip, one noise (theory S0, 15; Algorithm 2 with clip_at update). */
#include "mfpg/privatise.h"

#include <math.h>

#include "base/error.h"
#include "base/random_gaussian.h"
#include "base/wide.h"
#include "models/clip_factor.h"
#include "ops.h"

/* Squares are summed in blocks, so that the sum of 2^40 numbers is still off by far less than MFPG_CLIP_SHRINK leaves. */
enum { BLOCK = 4096 };

static double number_at(const mfpg_buffer *buffer, ptrdiff_t i) {
    return buffer->element == MFPG_ELEMENT_FLOAT32 ? (double)((const float *)buffer->values)[i]
                                                   : ((const double *)buffer->values)[i];
}

static const char *element_name(const mfpg_buffer *buffer) {
    return buffer->element == MFPG_ELEMENT_FLOAT32 ? "float32" : "float64";
}

/* ---- the norm ---- */

/* The largest |x|, or the status of the first number that is none. */
static mfpg_status find_largest(
    mfpg_context *ctx, const mfpg_buffer *buffer, ptrdiff_t count, double *largest, ptrdiff_t *total) {
    *largest = 0.0;
    *total = 0;
    for (ptrdiff_t b = 0; b < count; b++) {
        for (ptrdiff_t i = 0; i < buffer[b].count; i++) {
            double x = number_at(&buffer[b], i);
            if (!isfinite(x))
                return mfpg_fail(ctx, MFPG_ERR_INPUT,
                    "array %td (%s), number %td: %s; an update that is not finite is not released", b + 1,
                    element_name(&buffer[b]), i + 1, isnan(x) ? "NaN" : "infinity");
            *largest = fmax(*largest, fabs(x));
        }
        *total += buffer[b].count;
    }
    if (*total > 0) return MFPG_OK;
    return mfpg_fail(
        ctx, MFPG_ERR_INPUT, "the update holds no floating-point number: there is nothing to privatise");
}

/* Of all arrays together; divided by the largest, no square leaves the range of a double. */
static double joint_norm(const mfpg_buffer *buffer, ptrdiff_t count, double largest) {
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
    return largest * sqrt(sum + part);
}

/* ---- the noise ---- */

/* A walk over all arrays as if they were one. */
typedef struct walk {
    const mfpg_buffer *buffer;
    ptrdiff_t at; /* in the present buffer */
    double factor, noise_sd;
} walk;

static void blur(ptrdiff_t first, ptrdiff_t n, const float *z, void *arg) {
    walk *w = arg;
    (void)first;
    for (ptrdiff_t i = 0; i < n; i++) {
        while (w->at >= w->buffer->count) {
            w->buffer++;
            w->at = 0;
        }
        double x = number_at(w->buffer, w->at);
        float noised = (float)(w->factor * x + w->noise_sd * (double)z[i]);
        if (w->buffer->element == MFPG_ELEMENT_FLOAT32)
            ((float *)w->buffer->values)[w->at] = noised;
        else
            ((double *)w->buffer->values)[w->at] = (double)noised;
        w->at++;
    }
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

static mfpg_status check_release(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release) {
    double clip = mechanism->options.clip;
    if (release->noise_sd >= 0x1p-17 * clip) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
        "mechanism %s: noise of standard deviation %.3g is lost in the rounding of numbers as large as %.3g",
        mechanism->ops->name, release->noise_sd, clip);
}

mfpg_status mfpg_privatise(mfpg_context *ctx, const mfpg_mechanism *mechanism, mfpg_action action,
    const mfpg_stream *noise, const mfpg_buffer *buffer, ptrdiff_t count, mfpg_release *release) {
    mfpg_release made;
    double largest;
    ptrdiff_t total;
    mfpg_status status = check_mechanism(ctx, mechanism);
    if (status == MFPG_OK) status = mfpg_mechanism_release(ctx, mechanism, action, 1, &made);
    if (status == MFPG_OK) status = check_release(ctx, mechanism, &made);
    if (status == MFPG_OK) status = find_largest(ctx, buffer, count, &largest, &total);
    if (status != MFPG_OK) return status;
    walk w = {.buffer = buffer,
        .factor = mfpg_clip_factor(joint_norm(buffer, count, largest), mechanism->options.clip),
        .noise_sd = made.noise_sd};
    mfpg_stream_gaussian_visit(mfpg_widest_registers(), noise, 0, total, blur, &w);
    made.weight = 1.0;
    *release = made;
    return MFPG_OK;
}
