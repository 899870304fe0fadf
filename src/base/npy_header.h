/* The head of a NumPy file, format 1.0: what stands before the numbers. */
#ifndef MFPG_BASE_NPY_HEADER_H
#define MFPG_BASE_NPY_HEADER_H

#include <stddef.h>
#include <stdio.h>

/* Writes 128 bytes, so that the numbers start at a multiple of 64. type is NumPy's, such as <f4; rank 1 to 3, C order. */
void mfpg_npy_write_header(FILE *stream, const char *type, const ptrdiff_t *shape, int rank);

#endif
