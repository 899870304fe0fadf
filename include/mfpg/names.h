/** Names that users type, and what to say to a wrong one. */
#ifndef MFPG_NAMES_H
#define MFPG_NAMES_H

#include <stddef.h>

#include "context.h"

/** The name nearest to word among count names (edit distance, at most a third of the word's length and at least 1), or
 *  NULL. Threads: safe. */
const char *mfpg_names_nearest(const char *word, const char *const *names, ptrdiff_t count);

/** Fails with MFPG_ERR_INPUT: unknown NOUN "word", the nearest name if one is near, and all that are allowed. word may be
 *  NULL. Every list of built-in kinds answers a wrong name with this one wording. */
mfpg_status mfpg_names_unknown(
    mfpg_context *ctx, const char *noun, const char *word, const char *const *names, ptrdiff_t count);

#endif
