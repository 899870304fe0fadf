/* Text columns with a public list of values: 0/1 indicators of all values but the first. */
#ifndef MFPG_DATA_CATEGORIES_H
#define MFPG_DATA_CATEGORIES_H

#include "mfpg/context.h"
#include "mfpg/dataset.h"

#include "lookup.h"
#include "table.h"

/* All zero is an empty one. */
typedef struct mfpg_category_values {
    const mfpg_category *listed;
    mfpg_lookup numbers; /* a value's place in the list */
} mfpg_category_values;

/* MFPG_ERR_INPUT for an empty list or a value listed twice. */
mfpg_status mfpg_category_open(
    mfpg_context *ctx, const mfpg_category *listed, mfpg_category_values *category);
void mfpg_category_close(mfpg_category_values *category);

/* Writes the indicators (all listed values but the first) of one cell. MFPG_ERR_INPUT for a value that is not listed. */
mfpg_status mfpg_category_read(mfpg_context *ctx, const mfpg_category_values *category,
    const mfpg_table *table, ptrdiff_t row, ptrdiff_t column, float *indicators);

#endif
