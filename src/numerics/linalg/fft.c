/* Pairs of real numbers are taken for complex ones; their transform, of half the length m = n/2, is that of Cooley and Tukey
 * with radix 2, whose parts are finished one after the other so that they stay in the cache; a last pass separates the two
 * interleaved transforms (Press et al., section 12.3). The inverse runs the same steps backwards.
 *
 * Rounding, u = 2^-53. One butterfly is a + w b. The stored w is off by at most 3 u: its angle, taken in the first eighth of
 * the circle, by 2 u pi/4, its two parts by one unit each. A complex product is off by sqrt(5) u (Brent, Percival, Zimmermann
 * 2007), a sum by u: 6.3 u a pass. Every output is a sum of inputs each of which went through log2(m) passes, whence the
 * bound by the 1-norm; and a pass is sqrt 2 times a unitary map, whence that by the 2-norm (Higham 2002, theorem 24.2). The
 * last pass adds 9 u and can turn an error e of both transforms into sqrt(2) e. 12 u (log2(n) + 2) covers all that, the
 * products of errors included. */
#include "linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { SMALL = 1 << 10 }; /* number of complex numbers: a part of this size is transformed pass by pass */

struct mfpg_fft {
    ptrdiff_t m;   /* complex numbers */
    double *turns; /* for lengths 2, 4, ... m: e^(-2 pi i j / length), j < length/2, at length/2 - 1 + j */
    double *split; /* e^(-2 pi i j / n), j <= m/2 */
};

/* e^(-2 pi i j / n) for 0 <= j <= n/2, n >= 8 a multiple of 8 or n in {2, 4}. */
static void turn(ptrdiff_t j, ptrdiff_t n, double *out) {
    int mirrored = 4 * j > n;
    ptrdiff_t k = mirrored ? n / 2 - j : j; /* in the first quarter now */
    int swapped = 8 * k > n;
    double angle = 2.0 * M_PI * ((swapped ? (double)n / 4.0 - (double)k : (double)k) / (double)n);
    double c = cos(angle), s = sin(angle), x = swapped ? s : c, y = swapped ? c : s;
    out[0] = mirrored ? -x : x;
    out[1] = -y;
}

static void fill(mfpg_fft *fft) {
    ptrdiff_t m = fft->m;
    for (ptrdiff_t j = 0; j < m / 2; j++) turn(j, m, fft->turns + 2 * (m / 2 - 1 + j));
    for (ptrdiff_t half = m / 4; half >= 1; half /= 2) /* every second one of the length above */
        for (ptrdiff_t j = 0; j < half; j++)
            memcpy(
                fft->turns + 2 * (half - 1 + j), fft->turns + 2 * (2 * half - 1 + 2 * j), 2 * sizeof(double));
    for (ptrdiff_t j = 0; j <= m / 2; j++) turn(j, 2 * m, fft->split + 2 * j);
}

mfpg_fft *mfpg_fft_create(ptrdiff_t n) {
    if (n < 4 || (n & (n - 1)) != 0) return NULL;
    mfpg_fft *fft = mfpg_alloc(1, sizeof *fft);
    if (!fft) return NULL;
    fft->m = n / 2;
    fft->turns = mfpg_alloc(n, sizeof *fft->turns);
    fft->split = mfpg_alloc(n / 2 + 2, sizeof *fft->split);
    if (fft->turns && fft->split) {
        fill(fft);
        return fft;
    }
    mfpg_fft_destroy(fft);
    return NULL;
}

void mfpg_fft_destroy(mfpg_fft *fft) {
    if (!fft) return;
    free(fft->turns);
    free(fft->split);
    free(fft);
}

static void reverse_bits(double *z, ptrdiff_t m) {
    for (ptrdiff_t i = 1, j = 0; i < m; i++) {
        ptrdiff_t bit = m >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i >= j) continue;
        for (int part = 0; part < 2; part++) {
            double kept = z[2 * i + part];
            z[2 * i + part] = z[2 * j + part];
            z[2 * j + part] = kept;
        }
    }
}

/* Combines two transforms of half as many numbers into one. */
static void butterflies(double *restrict a, ptrdiff_t half, const double *restrict turns) {
    double *restrict b = a + 2 * half;
    for (ptrdiff_t j = 0; j < 2 * half; j += 2) {
        double x = turns[j] * b[j] - turns[j + 1] * b[j + 1], y = turns[j] * b[j + 1] + turns[j + 1] * b[j];
        b[j] = a[j] - x;
        b[j + 1] = a[j + 1] - y;
        a[j] += x;
        a[j + 1] += y;
    }
}

static void transform(const mfpg_fft *fft, double *z, ptrdiff_t length) {
    if (length > SMALL) {
        transform(fft, z, length / 2);
        transform(fft, z + length, length / 2);
        butterflies(z, length / 2, fft->turns + 2 * (length / 2 - 1));
        return;
    }
    for (ptrdiff_t half = 1; half < length; half *= 2)
        for (ptrdiff_t at = 0; at < length; at += 2 * half)
            butterflies(z + 2 * at, half, fft->turns + 2 * (half - 1));
}

/* With Z the transform of x_even + i x_odd: E_j = (Z_j + conj Z_(m-j))/2, O_j = (Z_j - conj Z_(m-j))/(2i), and
 * X_j = E_j + w_j O_j, X_(m-j) = conj(E_j - w_j O_j). */
void mfpg_fft_forward(const mfpg_fft *fft, double *data) {
    ptrdiff_t m = fft->m;
    reverse_bits(data, m);
    transform(fft, data, m);
    double first = data[0];
    data[0] = first + data[1];
    data[1] = first - data[1];
    for (ptrdiff_t j = 1; j <= m / 2; j++) {
        double *z = data + 2 * j, *mate = data + 2 * (m - j);
        const double *w = fft->split + 2 * j;
        double even_re = 0.5 * (z[0] + mate[0]), even_im = 0.5 * (z[1] - mate[1]);
        double odd_re = 0.5 * (z[1] + mate[1]), odd_im = -0.5 * (z[0] - mate[0]);
        double re = w[0] * odd_re - w[1] * odd_im, im = w[0] * odd_im + w[1] * odd_re;
        z[0] = even_re + re;
        z[1] = even_im + im;
        mate[0] = even_re - re;
        mate[1] = -(even_im - im);
    }
}

/* E and O follow from X in the same way; the complex inverse is the transform of the conjugate. */
void mfpg_fft_inverse(const mfpg_fft *fft, double *data) {
    ptrdiff_t m = fft->m;
    double first = data[0], scale = 1.0 / (double)m;
    data[0] = 0.5 * (first + data[1]);
    data[1] = 0.5 * (first - data[1]);
    for (ptrdiff_t j = 1; j <= m / 2; j++) {
        double *z = data + 2 * j, *mate = data + 2 * (m - j);
        const double *w = fft->split + 2 * j;
        double even_re = 0.5 * (z[0] + mate[0]), even_im = 0.5 * (z[1] - mate[1]);
        double re = 0.5 * (z[0] - mate[0]), im = 0.5 * (z[1] + mate[1]);
        double odd_re = w[0] * re + w[1] * im, odd_im = w[0] * im - w[1] * re; /* times conj w */
        z[0] = even_re - odd_im;
        z[1] = even_im + odd_re;
        mate[0] = even_re + odd_im;
        mate[1] = -(even_im - odd_re);
    }
    for (ptrdiff_t j = 0; j < m; j++) data[2 * j + 1] = -data[2 * j + 1];
    reverse_bits(data, m);
    transform(fft, data, m);
    for (ptrdiff_t j = 0; j < m; j++) {
        data[2 * j] *= scale;
        data[2 * j + 1] *= -scale;
    }
}

double mfpg_fft_error(ptrdiff_t n) {
    return 12.0 * 0x1p-53 * (log2((double)n) + 2.0);
}
