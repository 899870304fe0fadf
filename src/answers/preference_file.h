/* Preferences of a file. */
#ifndef MFPG_ANSWERS_PREFERENCE_FILE_H
#define MFPG_ANSWERS_PREFERENCE_FILE_H

#include "mfpg/preference_law.h"

/* Reads a list from a CSV file with one row per client; column NULL: its only column. The status is that of
 * mfpg_population_parse, with file and line; in addition MFPG_ERR_IO. */
mfpg_status mfpg_population_read(
    mfpg_context *ctx, const char *path, const char *column, mfpg_population *out);

#endif
