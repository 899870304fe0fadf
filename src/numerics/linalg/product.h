/* Products of matrices in float, as the layers of a network need them.
 *
 * Own loops, not BLAS: they start no threads inside a task, and every entry is one chain of multiplications and
 * additions in the order of the depth, uncontracted. So a row has the same bits alone as among others, wherever it
 * stands, with every processor. Beside OpenBLAS on one thread they reach 0.8 to 1.05 of its speed at the large products
 * of a network, less at those of a few thousand operations (bench_product). Threads: safe. Nothing is allocated. */
#ifndef MFPG_NUMERICS_LINALG_PRODUCT_H
#define MFPG_NUMERICS_LINALG_PRODUCT_H

#include <stddef.h>

/* A matrix by its steps: entry (i, j) is at[i * down + j * across]. The transpose has the steps exchanged. */
typedef struct mfpg_matrix {
    const float *at;
    ptrdiff_t down, across;
} mfpg_matrix;

/* C += A B, C of rows x cols, row-major without padding, A of rows x depth, B of depth x cols. Sizes may be 0. C overlaps
 * neither A nor B. */
void mfpg_matrix_add_product(
    ptrdiff_t rows, ptrdiff_t cols, ptrdiff_t depth, mfpg_matrix a, mfpg_matrix b, float *c);

#endif
