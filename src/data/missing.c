#include "missing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

int mfpg_text_is_missing(const mfpg_data_options *options, mfpg_slice text) {
    text = mfpg_slice_trim(text);
    if (text.length == 0) return 1;
    for (ptrdiff_t i = 0; i < options->missing_count; i++) {
        const char *mark = options->missing_values[i];
        if (mark[0] == text.at[0] && strlen(mark) == text.length && memcmp(mark, text.at, text.length) == 0)
            return 1;
    }
    return 0;
}

/* Sums and numbers of the known values over training rows, and of the unknown ones over all rows. */
static void count_values(const mfpg_frame *frame, double *sum, ptrdiff_t *known, ptrdiff_t *unknown) {
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        const float *x = frame->x + i * frame->features;
        for (ptrdiff_t j = 0; j < frame->features; j++) {
            if (isnan(x[j])) {
                unknown[j]++;
            } else if (!frame->test[i]) {
                sum[j] += (double)x[j];
                known[j]++;
            }
        }
    }
}

mfpg_status mfpg_missing_impute(mfpg_context *ctx, mfpg_frame *frame) {
    mfpg_status status = MFPG_OK;
    double *mean = mfpg_alloc(frame->features, sizeof *mean);
    ptrdiff_t *known = mfpg_alloc(frame->features, sizeof *known);
    ptrdiff_t *unknown = mfpg_alloc(frame->features, sizeof *unknown);
    if (!mean || !known || !unknown) {
        status = mfpg_fail_memory(ctx);
        goto done;
    }
    count_values(frame, mean, known, unknown);
    for (ptrdiff_t j = 0; j < frame->features; j++) {
        if (known[j] > 0) mean[j] /= (double)known[j];
        if (known[j] > 0 || unknown[j] == 0) continue;
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "column \"%s\": no training row has a value, so there is no mean for the %td missing ones",
            frame->feature_names[j], unknown[j]);
        goto done;
    }
    for (ptrdiff_t i = 0; i < frame->rows * frame->features; i++)
        if (isnan(frame->x[i])) frame->x[i] = (float)mean[i % frame->features];
    /* Also where nothing was missing: with other rows of the same clients something may have been. */
    frame->fitted_on_private = 1;
done:
    free(mean);
    free(known);
    free(unknown);
    return status;
}
