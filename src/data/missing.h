/* Missing values: what counts as one, and means in their place. */
#ifndef MFPG_DATA_MISSING_H
#define MFPG_DATA_MISSING_H

#include "mfpg/dataset.h"

#include "frame.h"
#include "slice.h"

/* 1 where the text, trimmed, is empty or one of the options' missing marks. */
int mfpg_text_is_missing(const mfpg_data_options *options, mfpg_slice text);

/* Puts the mean of a feature over all training rows where its value is NAN, and marks the frame as fitted on private
 * data. MFPG_ERR_INPUT, naming the feature, where no training row has a value. */
mfpg_status mfpg_missing_impute(mfpg_context *ctx, mfpg_frame *frame);

#endif
