/* Names that users type: what the library needs beside the public part. */
#ifndef MFPG_BASE_NAMES_H
#define MFPG_BASE_NAMES_H

#include "mfpg/names.h"

/* Writes "a, b, c" (cut to size with "...") and returns out. */
char *mfpg_names_join(const char *const *names, ptrdiff_t count, char *out, size_t size);

#endif
