/* Names that users type. */
#ifndef MFPG_BASE_NAMES_H
#define MFPG_BASE_NAMES_H

#include <stddef.h>

/* The name nearest to word among count names (edit distance, at most a third of the word's length and at least 1), or NULL. */
const char *mfpg_names_nearest(const char *word, const char *const *names, ptrdiff_t count);

/* Writes "a, b, c" (cut to size with "...") and returns out. */
char *mfpg_names_join(const char *const *names, ptrdiff_t count, char *out, size_t size);

#endif
