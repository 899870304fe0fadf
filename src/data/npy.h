/* One array in NumPy's format, versions 1.0 to 3.0, from any source of bytes: magic, version, the length of a header, the
 * header (a Python dictionary that names type, order and shape), and the values. */
#ifndef MFPG_DATA_NPY_H
#define MFPG_DATA_NPY_H

#include "bytes.h"

enum { MFPG_NPY_DIMENSIONS = 8, MFPG_NPY_SHOWN = 160 };

typedef struct mfpg_npy_array {
    mfpg_binary binary; /* kind 0: a type that is not a plain number */
    int columns_first;  /* fortran_order: the first index is the fastest */
    int dimensions;
    ptrdiff_t shape[MFPG_NPY_DIMENSIONS];
    ptrdiff_t rows, columns; /* the first dimension, and the product of the others: a row */
    char type[16];           /* as the header writes it, cut */
} mfpg_npy_array;

/* Reads magic and header. It accepts any type and shape, including those that cannot become a table. */
mfpg_status mfpg_npy_read_header(mfpg_byte_source *source, mfpg_npy_array *array);

/* Returns why an array cannot become a table, or NULL. */
const char *mfpg_npy_fault(const mfpg_npy_array *array);

/* Reads header and values, row by row, up to the end of the source, and names the columns; a fault is an error. Bytes in
 * three or more dimensions are images, with the public bounds 0 and 255, as in the format IDX. */
mfpg_status mfpg_npy_read_table(mfpg_byte_source *source, mfpg_npy_array *array, mfpg_table *table);

/* Reads a NumPy file that holds a vector of exactly count finite float32 numbers (free it). MFPG_ERR_INPUT says what the
 * file holds instead. */
mfpg_status mfpg_npy_read_vector(mfpg_context *ctx, const char *path, ptrdiff_t count, float **w);

/* Writes "type f4, 100 x 28 x 28". Returns buffer. */
const char *mfpg_npy_show(const mfpg_npy_array *array, char buffer[MFPG_NPY_SHOWN]);

#endif
