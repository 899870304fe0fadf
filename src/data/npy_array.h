/* One array in NumPy's format, versions 1.0 to 3.0, from any source of bytes: magic, version, the length of a header, the
 * header (a Python dictionary that names type, order and shape), and the values. */
#ifndef MFPG_DATA_NPY_ARRAY_H
#define MFPG_DATA_NPY_ARRAY_H

#include "bytes.h"
#include "table.h"

enum { MFPG_NPY_DIMENSIONS = 8 };

typedef struct mfpg_npy_array {
    char kind;         /* f, i, u or b; 0 for a type that holds no plain numbers */
    int size;          /* bytes a value */
    int big;           /* big-endian */
    int columns_first; /* fortran_order: the first index is the fastest */
    int dimensions;
    ptrdiff_t shape[MFPG_NPY_DIMENSIONS];
    ptrdiff_t rows, columns; /* the first dimension, and the product of the others: a row */
    char type[16];           /* as the header writes it, cut */
} mfpg_npy_array;

/* Reads magic and header. Any type and shape will do: what no table can be made of fails in mfpg_npy_check. */
mfpg_status mfpg_npy_read_header(mfpg_bytes *source, mfpg_npy_array *array);

/* What keeps an array from being a table, or NULL where nothing does. */
const char *mfpg_npy_fault(const mfpg_npy_array *array);

/* The fault as an error. */
mfpg_status mfpg_npy_check(const mfpg_bytes *source, const mfpg_npy_array *array);

/* The values of a checked array, row by row, into *numbers (as mfpg_bytes_read_values), up to the end of the source. */
mfpg_status mfpg_npy_read_values(mfpg_bytes *source, const mfpg_npy_array *array, float **numbers);

/* Names and numbers the columns of a table that holds the values. Bytes in three or more dimensions are images, with
 * the public bounds 0 and 255, as in the format IDX. */
mfpg_status mfpg_npy_describe_table(mfpg_context *ctx, const mfpg_npy_array *array, mfpg_table *table);

/* Reads a NumPy file that holds a vector of exactly count finite float32 numbers (free it). MFPG_ERR_INPUT says what the
 * file holds instead. */
mfpg_status mfpg_npy_read_vector(mfpg_context *ctx, const char *path, ptrdiff_t count, float **w);

enum { MFPG_NPY_SHOWN = 160 };

/* "f4, 100 x 28 x 28". Returns buffer. */
const char *mfpg_npy_show(const mfpg_npy_array *array, char buffer[MFPG_NPY_SHOWN]);

#endif
