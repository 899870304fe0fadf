/* Numbers as text, independent of the process's locale: strtod and printf depend on it, but files must not. */
#ifndef MFPG_BASE_NUMBER_H
#define MFPG_BASE_NUMBER_H

#include "mfpg/program.h"

enum { MFPG_NUMBER_SIZE = 32 };

/* Parses the whole of text[0..length) as a finite decimal number: optional sign, digits with or without a point
 * (".7", "63.", "3.38e-005"). Returns 1 and sets *value, or 0 for anything else: empty, blanks, hexadecimal, nan, inf,
 * a number too large for a double. */
int mfpg_number_parse(const char *text, size_t length, double *value);

/* Writes the shortest decimal text that reads back to the same double, or "inf", "-inf", "nan". Returns
 * buffer. */
char *mfpg_number_format(double value, char buffer[MFPG_NUMBER_SIZE]);

#endif
