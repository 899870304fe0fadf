/* Public bounds of features, from a CSV file with the columns column, low and high. */
#ifndef MFPG_DATA_BOUNDS_H
#define MFPG_DATA_BOUNDS_H

#include "mfpg/context.h"

#include "frame.h"
#include "schema.h"

/* Reads the bounds of all features into frame->low and frame->high. Indicators of categories are in [0, 1] unless the
 * file says otherwise. A feature without bounds, bounds that are not low < high, a column given twice and a name that
 * is no column are errors; other columns of the files (dropped ones, say) may be in it.
 * schema is NULL for synthetic data. */
mfpg_status mfpg_bounds_read(
    mfpg_context *ctx, const char *path, const mfpg_schema *schema, mfpg_frame *frame);

#endif
