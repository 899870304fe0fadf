/* Dense vectors and matrices as the models use them: float, row-major without padding.
 *
 * Own loops at every size, not BLAS: against OpenBLAS on one thread they take half its time for narrow matrices (8 to 64
 * columns), the same for broad ones in the cache, and up to a quarter more if memory decides (bench_linalg). They
 * start no threads of their own inside a task, whichever BLAS is installed, and fix the order of every sum: the same
 * bits on every x86-64, and the same for a row alone as among others. Threads: safe. Sizes may be 0. Nothing is
 * allocated; outputs overlap no input. */
#ifndef MFPG_NUMERICS_LINALG_H
#define MFPG_NUMERICS_LINALG_H

#include <stddef.h>
#include <stdint.h>

/* Computes y_i = (row list[i] of A).x + bias for i < rows; list NULL: row i. A has cols columns, x has cols
 * entries, y has rows. */
void mfpg_matrix_apply(ptrdiff_t rows, ptrdiff_t cols, const float *a, const int32_t *list, const float *x,
    float bias, float *y);

/* Computes y += sum over i < rows of x_i (row list[i] of A); list NULL: row i. x has rows entries, y has
 * cols. A row whose x_i is 0 is skipped whatever it holds, including NaN. */
void mfpg_matrix_add_transposed(
    ptrdiff_t rows, ptrdiff_t cols, const float *a, const int32_t *list, const float *x, float *y);

/* y += factor * x. */
void mfpg_vector_axpy(ptrdiff_t n, float factor, const float *x, float *y);

/* Computes x_i = by x_i in double, rounded once. If `by` is a float, these are the bits of a product of
 * floats. */
void mfpg_vector_scale(ptrdiff_t n, double by, float *x);

/* Does the same, but the result is 0 if it is not a normal float. NaN stays NaN. */
void mfpg_vector_scale_normal(ptrdiff_t n, double by, float *x);

/* Returns the sum of x_i y_i in double. It is finite if all entries are: products of floats, and sums of
 * 2^63 of them, are within the range of doubles. */
double mfpg_vector_dot(ptrdiff_t n, const float *x, const float *y);

/* The order in which products are summed: entry i goes to lane i modulo 8, the lanes are added as here, then come the
 * entries after the last whole eight, one by one. For callers that sum while they pass over a vector. */
enum { MFPG_SUM_LANES = 8 };
static inline double mfpg_lanes_sum(const double s[MFPG_SUM_LANES]) {
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* Returns |x| in double, accurate to rounding from the smallest to the largest floats without scaling. It is
 * infinite or NaN if and only if an entry is, so isfinite() of the result tests the whole vector. */
double mfpg_vector_norm(ptrdiff_t n, const float *x);

/* |x - y| in double, of differences rounded to float: the same bits as the norm of the vector of these. */
double mfpg_vector_distance(ptrdiff_t n, const float *x, const float *y);

/* Returns the largest |x_i|, NaN if an entry is NaN, 0 without entries. */
float mfpg_vector_largest(ptrdiff_t n, const float *x);

/* ---- the discrete Fourier transform of real numbers in double, with a bound of its rounding (fft.c) ---- */

/* Tables for one length; any number of threads may share them. */
typedef struct mfpg_fft mfpg_fft;

/* Creates tables for n real numbers, n >= 4 a power of two: about 1.25 n doubles. NULL for another n or if
 * memory is exhausted. */
mfpg_fft *mfpg_fft_create(ptrdiff_t n);

void mfpg_fft_destroy(mfpg_fft *fft);

/* In place: x_0 ... x_(n-1) becomes X_j = sum_k x_k e^(-2 pi i j k / n), stored as Re X_0, Re X_(n/2) (both are real), then
 * Re X_j, Im X_j for j = 1 ... n/2 - 1; the other half is conjugate. */
void mfpg_fft_forward(const mfpg_fft *fft, double *data);

/* In place: the inverse, 1/n included. */
void mfpg_fft_inverse(const mfpg_fft *fft, double *data);

/* eta, which bounds the rounding of either direction in two ways:
 *   |X_j - exact| <= eta sum_k |x_k| for every j, and the 2-norm of the error is at most eta times that of X;
 *   |x_k - exact| <= eta sum_j |X_j| / n over all n, and the same for the 2-norms.
 * No overflow or underflow assumed. Contraction of products and sums has to be off, as it is in this tree. */
double mfpg_fft_error(ptrdiff_t n);

#endif
