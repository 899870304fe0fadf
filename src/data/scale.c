#include "scale.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"

void mfpg_scale_by_bounds(const double range[2], mfpg_frame *frame) {
    double width = range[1] - range[0];
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        float *x = frame->x + i * frame->features;
        for (ptrdiff_t j = 0; j < frame->features; j++) {
            double low = frame->low[j], high = frame->high[j];
            double value = (double)x[j], clipped = value < low ? low : value > high ? high : value;
            x[j] = (float)(range[0] + width * ((clipped - low) / (high - low)));
        }
    }
}

/* Rounding of a factor and of every entry to float could pass the norm by 2^-24 of it. */
void mfpg_scale_to_norm(double norm, mfpg_frame *frame) {
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        float *x = frame->x + i * frame->features;
        double sum = 0.0;
        for (ptrdiff_t j = 0; j < frame->features; j++) sum += (double)x[j] * (double)x[j];
        if (sum <= norm * norm) continue;
        double factor = norm / sqrt(sum) * (1.0 - 0x1p-22);
        for (ptrdiff_t j = 0; j < frame->features; j++) x[j] = (float)(factor * (double)x[j]);
    }
}

static int is_measured(const mfpg_frame *frame, ptrdiff_t row) {
    return !frame->test[row] && !frame->absent[row];
}

/* Means and standard deviations over the training rows, in two passes. The sum of up to 2^29 equal floats is exact in
 * double, and so is their mean: a constant feature has deviation 0. */
static void measure(const mfpg_frame *frame, double *mean, double *deviation) {
    ptrdiff_t features = frame->features, count = 0;
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        const float *x = frame->x + i * features;
        if (!is_measured(frame, i)) continue;
        count++;
        for (ptrdiff_t j = 0; j < features; j++) mean[j] += (double)x[j];
    }
    if (count == 0) return;
    for (ptrdiff_t j = 0; j < features; j++) mean[j] /= (double)count;
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        const float *x = frame->x + i * features;
        if (!is_measured(frame, i)) continue;
        for (ptrdiff_t j = 0; j < features; j++)
            deviation[j] += ((double)x[j] - mean[j]) * ((double)x[j] - mean[j]);
    }
    for (ptrdiff_t j = 0; j < features; j++) deviation[j] = sqrt(deviation[j] / (double)count);
}

static mfpg_status standardise(
    mfpg_context *ctx, mfpg_frame *frame, const double *mean, const double *deviation) {
    char place[MFPG_PLACE_SIZE], number[MFPG_NUMBER_SIZE];
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        float *x = frame->x + i * frame->features;
        for (ptrdiff_t j = 0; j < frame->features && !frame->absent[i]; j++) {
            x[j] = deviation[j] > 0 ? (float)(((double)x[j] - mean[j]) / deviation[j]) : 0.0f;
            if (!isfinite(x[j]))
                return mfpg_fail(ctx, MFPG_ERR_INPUT,
                    "%s: column \"%s\" is too large beside its standard deviation %s",
                    mfpg_frame_place(frame, i, place), frame->feature_names[j],
                    mfpg_number_format(deviation[j], number));
        }
    }
    return MFPG_OK;
}

mfpg_status mfpg_scale_from_data(mfpg_context *ctx, mfpg_frame *frame) {
    mfpg_status status = MFPG_OK;
    double *mean = mfpg_alloc(frame->features, sizeof *mean);
    double *deviation = mfpg_alloc(frame->features, sizeof *deviation);
    if (mean && deviation) {
        measure(frame, mean, deviation);
        status = standardise(ctx, frame, mean, deviation);
        frame->fitted_on_private = 1;
    } else {
        status = mfpg_fail_memory(ctx);
    }
    free(mean);
    free(deviation);
    return status;
}
