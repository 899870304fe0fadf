/* Files that are named twice. */
#ifndef MFPG_DATA_SAME_FILE_H
#define MFPG_DATA_SAME_FILE_H

#include "mfpg/context.h"
#include "mfpg/dataset.h"

/* MFPG_ERR_INPUT, with both names, where two of data.files and data.test_files are one file, be it by another path or by
 * a link: its people would be in two clients, whose certificates count a person once, or be tested on what they were
 * trained on, unless the format keeps the two apart in one file (splits 1). Files that are not there are left to their
 * reader. */
mfpg_status mfpg_data_check_distinct(mfpg_context *ctx, const mfpg_data_options *options, int splits);

#endif
