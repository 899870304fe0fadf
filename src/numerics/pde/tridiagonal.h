/* The matrices I - dt A of one implicit step, A the generator of a Markov chain that moves to neighbours. */
#ifndef MFPG_PDE_TRIDIAGONAL_H
#define MFPG_PDE_TRIDIAGONAL_H

#include <stddef.h>

/* Its factors, n numbers each: row i of the matrix is (-down_i, 1 + down_i + up_i, -up_i), rates times dt. */
typedef struct mfpg_chain {
    ptrdiff_t n;
    double *up, *down; /* the caller sets them, >= 0, outward ones at the ends 0 */
    double *pivot;     /* set by factor */
} mfpg_chain;

/* LU without a subtraction: every number is a sum, product or quotient of numbers >= 0, so that solutions of right sides
 * >= 0 are >= 0 and have small relative errors in every entry, whatever the rates. */
void mfpg_chain_factor(mfpg_chain *chain);

/* x <- (I - dt A)^-1 x. */
void mfpg_chain_solve(const mfpg_chain *chain, double *x);

/* x <- (I - dt A^T)^-1 x, by the same factors. Keeps the sum of x, because the rows of A sum to 0. */
void mfpg_chain_solve_transposed(const mfpg_chain *chain, double *x);

/* x <- T^-1 x for any tridiagonal T, row i (low_i, diagonal_i, high_i), without pivoting; diagonal is overwritten. */
void mfpg_tridiagonal_solve(ptrdiff_t n, const double *low, double *diagonal, const double *high, double *x);

#endif
