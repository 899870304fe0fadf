/* Names that users type, and text of any origin: which bytes form characters, and how they may be printed on
 * a terminal. */
#ifndef MFPG_BASE_NAMES_H
#define MFPG_BASE_NAMES_H

#include <stdio.h>

#include "mfpg/names.h"

/* A list from the array of its tables. */
#define MFPG_KINDS(array)                                                                                    \
    { array, sizeof(array) / sizeof(array)[0] }

/* Returns the table of that name, or NULL; name may be NULL. */
const void *mfpg_kind_find(const mfpg_kinds *kinds, const char *name);

/* Does the same as mfpg_names_unknown, with the names of a list and one more name, or NULL. */
mfpg_status mfpg_kind_unknown(
    mfpg_context *ctx, const char *noun, const char *word, const mfpg_kinds *kinds, const char *more);

/* Writes "a, b, c" (cut to size with "...") and returns out. */
char *mfpg_names_join(const char *const *names, ptrdiff_t count, char *out, size_t size);

/* Returns the length in bytes, 1 to 4, of the character with which text begins, or 0 if it does not begin
 * with one (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF). length: number of available
 * bytes, at least 1. */
size_t mfpg_utf8_length(const char *text, size_t length);

/* 1 if the whole text is UTF-8. */
int mfpg_text_is_utf8(const char *text);

/* Returns 1 if the character of that length is a control: C0 except tab and line end, DEL, C1. */
int mfpg_utf8_is_control(const char *text, size_t length);

/* Prints text so that it cannot control the terminal: control characters, and bytes that are not UTF-8,
 * appear as \xNN. It is cut with "..." if it is wider than width columns (one per character), and padded
 * with blanks if it is narrower. */
void mfpg_terminal_text(const char *text, int width, FILE *out);

/* The columns that it takes. */
int mfpg_terminal_width(const char *text);

#endif
