/* Label rules: a threshold, a text that means 1, or plain numbers. */
#ifndef MFPG_DATA_LABELS_H
#define MFPG_DATA_LABELS_H

#include "mfpg/context.h"
#include "mfpg/dataset.h"

#include "frame.h"
#include "lookup.h"
#include "table.h"

/* Reads the label of one cell that is not missing. seen gathers the first few texts where options->positive is set. */
mfpg_status mfpg_label_read(mfpg_context *ctx, const mfpg_data_options *options, const mfpg_table *table,
    ptrdiff_t row, ptrdiff_t column, mfpg_lookup *seen, float *label);

/* Refuses a positive text that no row has although the rows have several others; warns where they have one other: a
 * client may well hold one class only. */
mfpg_status mfpg_label_check_positive(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_lookup *seen);

/* Refuses labels that are not all 0 or 1, or all -1 or 1; the latter become 0 and 1. */
mfpg_status mfpg_label_make_binary(mfpg_context *ctx, mfpg_frame *frame);

#endif
