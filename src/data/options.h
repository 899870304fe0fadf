/* Which options go together. */
#ifndef MFPG_DATA_OPTIONS_H
#define MFPG_DATA_OPTIONS_H

#include "mfpg/context.h"
#include "mfpg/dataset.h"

int mfpg_data_is_synthetic(const mfpg_data_options *options);

/* MFPG_ERR_INPUT, naming the key, for what no data could satisfy. */
mfpg_status mfpg_data_options_check(mfpg_context *ctx, const mfpg_data_options *options);

/* 1 where a range was given. */
int mfpg_data_has_range(const mfpg_data_options *options);

#endif
