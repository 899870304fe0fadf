/* Scaling of features: by public bounds, or by the clients' own rows. */
#ifndef MFPG_DATA_SCALE_H
#define MFPG_DATA_SCALE_H

#include "mfpg/context.h"

#include "frame.h"

/* Clips every value to the frame's bounds and maps them to a range, low and high. No value may be NAN any more. */
void mfpg_scale_by_bounds(const double range[2], mfpg_frame *frame);

/* Shortens every row that is longer than norm > 0 to that norm, whatever the other rows are; the bound then holds of the
 * floats. */
void mfpg_scale_to_norm(double norm, mfpg_frame *frame);

/* Subtracts the mean and divides by the standard deviation (divisor: the number of rows) of all training rows; a
 * feature that is constant there becomes 0. Marks the frame as fitted on private data. */
mfpg_status mfpg_scale_from_data(mfpg_context *ctx, mfpg_frame *frame);

#endif
