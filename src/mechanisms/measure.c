/* What a client measures so as to choose an action, and how far its data can move that (theory S4). */
#include "mfpg/private_action.h"

#include <math.h>
#include <string.h>

#include "models/clip_factor.h"
#include "numerics/linalg/linalg.h"
#include "ops.h"

enum {
    BLOCK = 256,   /* rows whose gradients are summed in float; blocks are summed in double */
    ALIGNMENT = 16 /* parts of the workspace begin at multiples of this many floats */
};

/* Rows stay in their places between neighbours, so that one block differs and all others have the same bits. In that
 * one, each of at most 256 additions to a sum of norm at most 256 C/n loses 2^-24 of it: 2^-8 C/n a run. */
#define GRADIENT_ROUNDING (1.0 + 0x1p-6)

/* The sum of the losses is exact to a few units of 2^-53, of at most 2^31 terms where one moves. */
#define LOSS_ROUNDING (1.0 + 0x1p-18)

static ptrdiff_t aligned(ptrdiff_t count) {
    return (count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* A sum in double, a block's sum in float, and the model's own. */
ptrdiff_t mfpg_measure_workspace(const mfpg_model *model, ptrdiff_t rows) {
    ptrdiff_t n = aligned(mfpg_model_parameters(model));
    return 3 * n + mfpg_model_workspace(model, rows);
}

static int unit_is_example(const mfpg_mechanism *mechanism) {
    return mechanism->options.promise.unit == MFPG_UNIT_EXAMPLE;
}

/* Norm of the mean over the declared rows of the examples' clipped gradients. */
static double norm_of_clipped_mean(const mfpg_model *model, const mfpg_dataset *data, ptrdiff_t rows,
    double clip, const float *w, float *work) {
    ptrdiff_t n = mfpg_model_parameters(model);
    double *sum = (double *)(void *)work, norm2 = 0.0;
    float *part = work + 2 * aligned(n), *model_work = part + aligned(n);
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (ptrdiff_t first = 0; first < data->rows; first += BLOCK) {
        ptrdiff_t left = data->rows - first;
        mfpg_dataset block = {.rows = left < BLOCK ? left : BLOCK,
            .features = data->features,
            .x = data->x + first * data->features,
            .y = data->y + first,
            .norm2 = data->norm2 ? data->norm2 + first : NULL};
        mfpg_model_clipped_gradient(model, w, &block, NULL, 0, clip, (double)rows, part, model_work);
        for (ptrdiff_t i = 0; i < n; i++) sum[i] += (double)part[i];
    }
    for (ptrdiff_t i = 0; i < n; i++) norm2 += sum[i] * sum[i];
    return sqrt(norm2);
}

/* Norm of the client's gradient, which is clipped as a whole: the one that its update follows. */
static double norm_of_client(
    const mfpg_model *model, const mfpg_dataset *data, ptrdiff_t rows, const float *w, float *work) {
    ptrdiff_t n = mfpg_model_parameters(model);
    double divisor = mfpg_model_sums_rows(model) ? 1.0 : (double)rows;
    mfpg_model_gradient(model, w, data, NULL, 0, divisor, work, work + aligned(n));
    double norm = mfpg_vector_norm(n, work);
    return isfinite(norm) ? norm : 0.0;
}

double mfpg_measure_gradient_norm(const mfpg_mechanism *mechanism, const mfpg_model *model,
    const mfpg_dataset *data, ptrdiff_t rows, const float *w, float *work) {
    double clip = mechanism->options.clip, norm = 0.5 * clip;
    if (unit_is_example(mechanism))
        norm = norm_of_clipped_mean(model, data, rows, clip, w, work);
    else if (data->rows > 0)
        norm = norm_of_client(model, data, rows, w, work);
    return fmin(norm, clip);
}

double mfpg_measure_loss(const mfpg_model *model, const mfpg_dataset *data, ptrdiff_t rows, double loss_clip,
    const float *w, float *work) {
    double middle = 0.5 * loss_clip;
    double sum = mfpg_model_clipped_loss(model, w, data, loss_clip, work) - (double)data->rows * middle;
    return fmin(fmax(middle + sum / (double)rows, 0.0), loss_clip);
}

mfpg_measurement mfpg_measurement_most(const mfpg_mechanism *mechanism, double loss_clip) {
    return (mfpg_measurement){loss_clip, mechanism->options.clip};
}

mfpg_measurement mfpg_measurement_change(
    const mfpg_mechanism *mechanism, ptrdiff_t rows, double loss_clip, mfpg_adjacency adjacency) {
    double clip = mechanism->options.clip, n = (double)rows;
    mfpg_measurement replace = unit_is_example(mechanism)
                                   ? (mfpg_measurement){loss_clip / n, 2.0 * clip / n * GRADIENT_ROUNDING}
                                   : (mfpg_measurement){loss_clip, clip};
    replace.loss *= LOSS_ROUNDING;
    switch (adjacency) {
    case MFPG_ADJACENCY_REPLACE: return replace;
    case MFPG_ADJACENCY_ZERO_OUT: return (mfpg_measurement){0.5 * replace.loss, 0.5 * replace.gradient_norm};
    case MFPG_ADJACENCY_ADD:
    case MFPG_ADJACENCY_REMOVE: break;
    }
    return (mfpg_measurement){(double)INFINITY, (double)INFINITY};
}

/* change/noise, up; 0 for what is not released. */
static double ratio_up(double change, double noise) {
    if (change == 0.0) return 0.0;
    return change > 0.0 && noise > 0.0 ? change / noise * (1.0 + 0x1p-51) : (double)INFINITY;
}

double mfpg_measurement_mu(const mfpg_measurement *change, const mfpg_measurement *noise) {
    double loss = ratio_up(change->loss, noise->loss),
           norm = ratio_up(change->gradient_norm, noise->gradient_norm);
    return hypot(loss, norm) * (1.0 + 0x1p-50);
}

static double blurred(double value, double noise, double most, float draw) {
    return fmin(fmax(value + noise * (double)draw, 0.0), most);
}

mfpg_measurement mfpg_measurement_blur(const mfpg_measurement *measured, const mfpg_measurement *noise,
    const mfpg_measurement *most, const mfpg_stream *stream) {
    float draw[2];
    mfpg_stream_gaussian(stream, 0, 2, draw);
    return (mfpg_measurement){
        .loss = blurred(measured->loss, noise->loss, most->loss, draw[0]),
        .gradient_norm = blurred(measured->gradient_norm, noise->gradient_norm, most->gradient_norm, draw[1]),
    };
}
