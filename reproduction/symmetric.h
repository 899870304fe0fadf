/* Small symmetric matrices in double, row-major without padding: a system, and all eigenvalues. For sizes up to a few
 * hundred; nothing is allocated, and the matrix is used up. Threads: safe. */
#ifndef MFPG_NUMERICS_LINALG_SYMMETRIC_H
#define MFPG_NUMERICS_LINALG_SYMMETRIC_H

#include <stddef.h>

/* Solves A x = b by Cholesky's factorisation; x overwrites b. 0, with b undefined, where A is not positive definite to
 * within n roundings of its diagonal. */
int mfpg_symmetric_solve(ptrdiff_t n, double *a, double *b);

/* The eigenvalues of A, ascending, by Jacobi's cyclic rotations: absolute errors of some roundings of |A|. */
void mfpg_symmetric_eigenvalues(ptrdiff_t n, double *a, double *value);

#endif
