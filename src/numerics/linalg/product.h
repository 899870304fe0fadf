/* Products of matrices in float, as the layers of a network need them.
 *
 * Own loops, not BLAS: they start no threads inside a task, and every entry is one chain of multiplications and
 * additions in the order of the depth, uncontracted. So a row has the same bits alone as among others, in any place,
 * with every processor. Compared with OpenBLAS on one thread they reach 0.95 to 1.3 of its speed with AVX-512 registers
 * (bench_product), less at those of a few thousand operations; fastest if B and C begin at a cache line. Threads: safe.
 * Nothing is allocated. */
#ifndef MFPG_NUMERICS_LINALG_PRODUCT_H
#define MFPG_NUMERICS_LINALG_PRODUCT_H

#include <stddef.h>

#include "base/wide.h"

/* A matrix given by its strides: entry (i, j) is at[i * down + j * across]. The transpose has the strides
 * exchanged. */
typedef struct mfpg_matrix {
    const float *at;
    ptrdiff_t down, across;
} mfpg_matrix;

/* Computes C += A B, where C is rows x cols, row-major without padding, A is rows x depth, and B is depth x
 * cols. Sizes may be 0. C overlaps neither A nor B. */
void mfpg_matrix_add_product(
    ptrdiff_t rows, ptrdiff_t cols, ptrdiff_t depth, mfpg_matrix a, mfpg_matrix b, float *c);

/* C = S + A B: the same bits as C = S, C += A B. S is a row of cols entries for all rows of C, or NULL: zero. */
void mfpg_matrix_product(
    ptrdiff_t rows, ptrdiff_t cols, ptrdiff_t depth, mfpg_matrix a, mfpg_matrix b, const float *s, float *c);

/* C = S + factor (A B): the same bits as D = A B, C = S + factor D. S has the shape of C and may be C. depth <=
 * MFPG_PRODUCT_DEPTH. */
void mfpg_matrix_add_scaled_product(ptrdiff_t rows, ptrdiff_t cols, ptrdiff_t depth, mfpg_matrix a,
    mfpg_matrix b, float factor, const float *s, float *c);

enum { MFPG_PRODUCT_DEPTH = 256 };

/* What the three functions share, with the registers to use, which the processor must have. */
typedef struct mfpg_product {
    ptrdiff_t rows, cols, depth;
    mfpg_matrix a, b;
    const float *start; /* entry (i, j) of S is start[i * start_down + j]; NULL, unless scaled: zero */
    ptrdiff_t start_down;
    int scaled; /* 1: C = S + factor (A B); 0: C = S + A B, with sums that start from S */
    float factor;
    float *c;
} mfpg_product;
void mfpg_matrix_product_by(mfpg_registers registers, const mfpg_product *product);

#endif
