/* Text of any origin: which bytes are characters, and how a terminal may show them. */
#ifndef MFPG_BASE_UTF8_H
#define MFPG_BASE_UTF8_H

#include <stddef.h>
#include <stdio.h>

/* The length in bytes, 1 to 4, of the character that text begins with, or 0 where that is none (RFC 3629: no overlong forms,
 * no surrogates, nothing above U+10FFFF). length: bytes that there are, at least 1. */
size_t mfpg_utf8_length(const char *text, size_t length);

/* 1 where the character of that length is a control: C0 but for tab and line end, DEL, C1. */
int mfpg_utf8_is_control(const char *text, size_t length);

/* Prints what a terminal does not obey: controls, and bytes that are no UTF-8, as \xNN. Cut with "..." where it is wider than
 * width columns (taking each character for one), and filled up with blanks where it is narrower. */
void mfpg_terminal_text(const char *text, int width, FILE *out);

/* The columns that it takes. */
int mfpg_terminal_width(const char *text);

#endif
