/* Small symmetric matrices in double, row-major without padding: solving a system, and all eigenvalues. For
 * sizes up to a few hundred. Nothing is allocated, and the matrix is overwritten. Threads: safe. */
#ifndef MFPG_NUMERICS_LINALG_SYMMETRIC_H
#define MFPG_NUMERICS_LINALG_SYMMETRIC_H

#include <stddef.h>

/* Solves A x = b by Cholesky's factorisation; x overwrites b. Returns 0, with b undefined, if A is not
 * positive definite to within n roundings of its diagonal. */
int mfpg_symmetric_solve(ptrdiff_t n, double *a, double *b);

/* Computes the eigenvalues of A, ascending, by Jacobi's cyclic rotations; the absolute errors are some
 * roundings of |A|. */
void mfpg_symmetric_eigenvalues(ptrdiff_t n, double *a, double *value);

#endif
