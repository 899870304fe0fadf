#include "labels.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/names.h"

enum { MOST_SEEN = 16 };

/* A label without blanks around it and without one dot at its end: ">50K." is ">50K". */
static mfpg_slice bare_label(mfpg_slice text) {
    text = mfpg_slice_trim(text);
    if (text.length > 1 && text.at[text.length - 1] == '.') text.length--;
    return text;
}

static mfpg_status fail_label(mfpg_context *ctx, const mfpg_table *table, ptrdiff_t row, ptrdiff_t column,
    mfpg_slice text, const char *what) {
    char shown[MFPG_SHOWN_SIZE];
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%u: label column \"%s\": %s %s", table->path,
        mfpg_table_line(table, row), table->names.keys[column], mfpg_slice_show(text, shown), what);
}

mfpg_status mfpg_label_read(mfpg_context *ctx, const mfpg_data_options *options, const mfpg_table *table,
    ptrdiff_t row, ptrdiff_t column, mfpg_lookup *seen, float *label) {
    char number[MFPG_NUMBER_SIZE];
    double value;
    mfpg_slice text = mfpg_table_text(table, row, column, number);
    if (options->positive) {
        text = bare_label(text);
        *label = mfpg_slice_equal(text, bare_label(mfpg_slice_of(options->positive))) ? 1.0f : 0.0f;
        /* Beyond the first few, only the positive text itself matters. */
        if (seen->count >= MOST_SEEN && *label == 0.0f) return MFPG_OK;
        return mfpg_lookup_add(seen, text) < 0 ? mfpg_fail_memory(ctx) : MFPG_OK;
    }
    if (!mfpg_table_number(table, row, column, &value))
        return fail_label(ctx, table, row, column, text,
            "is not a finite number; data.label.positive names the text that means 1");
    if (!isnan(options->positive_above)) value = value > options->positive_above ? 1 : 0;
    *label = (float)value;
    if (!isfinite(*label)) return fail_label(ctx, table, row, column, text, "is too large");
    return MFPG_OK;
}

mfpg_status mfpg_label_check_positive(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_lookup *seen) {
    mfpg_slice positive = bare_label(mfpg_slice_of(options->positive));
    if (seen->count == 0 || mfpg_lookup_find(seen, positive) >= 0) return MFPG_OK;
    char list[256];
    const char *const *labels = (const char *const *)seen->keys;
    mfpg_names_join(labels, seen->count, list, sizeof list);
    mfpg_text_flatten(list, strlen(list));
    if (seen->count == 1) {
        mfpg_warn(ctx, "data.label.positive: no row has the label \"%s\"; every label is \"%s\"",
            options->positive, list);
        return MFPG_OK;
    }
    const char *nearest = mfpg_names_nearest(options->positive, labels, seen->count);
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "data.label.positive: no row has the label \"%s\"%s%s%s; labels: %s", options->positive,
        nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "", list);
}

/* The first row whose label is value, or -1. */
static ptrdiff_t first_row_with(const mfpg_frame *frame, float value) {
    for (ptrdiff_t i = 0; i < frame->rows; i++)
        if (frame->y[i] == value) return i;
    return -1;
}

mfpg_status mfpg_label_make_binary(mfpg_context *ctx, mfpg_frame *frame) {
    char place[MFPG_PLACE_SIZE], other[MFPG_PLACE_SIZE], number[MFPG_NUMBER_SIZE];
    for (ptrdiff_t i = 0; i < frame->rows; i++) {
        float y = frame->y[i];
        if (y == 0.0f || y == 1.0f || y == -1.0f || (frame->absent[i] && isinf(y))) continue;
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: label %s is not 0 or 1 (nor -1 or 1); data.label.positive_above or data.label.positive says "
            "which "
            "labels mean 1",
            mfpg_frame_place(frame, i, place), mfpg_number_format((double)y, number));
    }
    ptrdiff_t zero = first_row_with(frame, 0.0f), minus = first_row_with(frame, -1.0f);
    if (minus < 0) return MFPG_OK;
    if (zero >= 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: label -1, but %s: label 0; binary labels are 0 and 1, or -1 and 1",
            mfpg_frame_place(frame, minus, place), mfpg_frame_place(frame, zero, other));
    for (ptrdiff_t i = 0; i < frame->rows; i++)
        if (!isinf(frame->y[i])) frame->y[i] = frame->y[i] > 0 ? 1.0f : 0.0f;
    return MFPG_OK;
}
