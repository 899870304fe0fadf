/** Names that users type, and the messages for unknown ones. */
#ifndef MFPG_NAMES_H
#define MFPG_NAMES_H

#include <stddef.h>

#include "context.h"

/** Returns the name nearest to word among count names (edit distance at most a third of the word's length,
 *  and at least 1 allowed), or NULL. Threads: safe. */
const char *mfpg_names_nearest(const char *word, const char *const *names, ptrdiff_t count);

/** Fails with MFPG_ERR_INPUT and the message: unknown NOUN "word", the nearest name if one is similar, and
 *  all that are allowed. word may be NULL. Every list of built-in kinds uses this message for an unknown
 *  name. */
mfpg_status mfpg_names_unknown(
    mfpg_context *ctx, const char *noun, const char *word, const char *const *names, ptrdiff_t count);

/** A list of built-in kinds, such as the models; the headers of the kinds declare their lists. */
typedef struct mfpg_kinds {
    const void *const *kind; /* count tables, each of which begins with the name and a line of help */
    ptrdiff_t count;
} mfpg_kinds;

/** Returns the name that users type, or the line of help; NULL past the end. */
const char *mfpg_kind_name(const mfpg_kinds *kinds, ptrdiff_t index);
const char *mfpg_kind_help(const mfpg_kinds *kinds, ptrdiff_t index);

#endif
