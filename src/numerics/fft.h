/* The discrete Fourier transform of real numbers, with a bound of its rounding. */
#ifndef MFPG_NUMERICS_FFT_H
#define MFPG_NUMERICS_FFT_H

#include <stddef.h>

/* Tables for one length; shared by any number of threads. */
typedef struct mfpg_fft mfpg_fft;

/* Tables for n real numbers, n >= 4 a power of two: about 1.25 n doubles. NULL for another n or without memory. */
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
