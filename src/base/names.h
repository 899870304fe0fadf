/* Names that users type: what the library needs beside the public part. */
#ifndef MFPG_BASE_NAMES_H
#define MFPG_BASE_NAMES_H

#include "mfpg/names.h"

/* Writes "a, b, c" (cut to size with "...") and returns out. */
char *mfpg_names_join(const char *const *names, ptrdiff_t count, char *out, size_t size);

/* 1 where the text is UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF). */
int mfpg_text_is_utf8(const char *text);

#endif
