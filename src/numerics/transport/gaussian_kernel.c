/* Entries of the kernel, and its table between two boxes. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/wide.h"
#include "kernels.h"

/* exp(-t), 0 <= t <= 1000. t = k log 2 + r with |r| <= log(2)/2; exp(-r) by its series to degree 13, whose rest is below
 * 1e-17; then the exponent -k is put in place. */
static inline __attribute__((always_inline)) double exp_minus(double t) {
    /* adding this number rounds to an integer, which is then in the low bits */
    const double shift = 0x1.8p52;
    double shifted = t * 0x1.71547652b82fep0 + shift;
    double k = shifted - shift;
    double r = (k * 0x1.62e42fefa3800p-1 - t) + k * 0x1.ef35793c76730p-45; /* log 2 in two parts; -r */
    /* by pairs and then pairs of pairs: 6 dependent products instead of 13 */
    double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    double low = (1.0 + r) + r2 * (0.5 + r * (1.0 / 6.0));
    double middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5040.0));
    double high = (1.0 / 40320.0 + r * (1.0 / 362880.0)) + r2 * (1.0 / 3628800.0 + r * (1.0 / 39916800.0));
    double last = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0);
    double p = (low + r4 * middle) + r8 * (high + r4 * last);
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = ((uint64_t)1023 << 52) - (bits << 52);
    double power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

MFPG_WIDE static void fill_row(
    ptrdiff_t n, const double *restrict x, double at, double inverse, double *restrict out) {
    for (ptrdiff_t j = 0; j < n; j++) out[j] = exp_minus(mfpg_gaussian_exponent(at, x[j], inverse));
}

void mfpg_gaussian_row(ptrdiff_t n, const double *x, double at, double inverse, double *out) {
    fill_row(n, x, at, inverse, out);
}

MFPG_WIDE static void fill_entries(ptrdiff_t n, double *entry) {
    for (ptrdiff_t j = 0; j < n; j++) entry[j] = exp_minus(entry[j]);
}

void mfpg_gaussian_entries(ptrdiff_t n, double *entry) {
    fill_entries(n, entry);
}

/* Chebyshev coefficients of `order` values at the nodes cos(pi (i + 1/2)/order), in place of them; stride between them. */
static void to_coefficients(int order, double *values, ptrdiff_t stride, const double *cosine) {
    double out[MFPG_BOX_MOST_ORDER];
    for (int k = 0; k < order; k++) {
        out[k] = 0.0;
        for (int i = 0; i < order; i++) out[k] += cosine[k * order + i] * values[i * stride];
        out[k] *= (k == 0 ? 1.0 : 2.0) / order;
    }
    for (int k = 0; k < order; k++) values[k * stride] = out[k];
}

/* Mirrored points have the same distance, so C_lk = (-1)^(k+l) C_kl; for a box with itself C is also
 * symmetric. */
static void make_symmetric(int order, double *table, int self) {
    for (int k = 0; k < order; k++)
        for (int l = k; l < order; l++) {
            int odd = (k + l) % 2;
            double *above = &table[k * order + l], *below = &table[l * order + k];
            double mean = 0.5 * (*above + (odd ? -*below : *below));
            *above = self && odd ? 0.0 : mean;
            *below = odd ? -*above : *above;
        }
}

void mfpg_box_table(int order, double width, int m, double *table) {
    double node[MFPG_BOX_MOST_ORDER], cosine[MFPG_BOX_MOST_ORDER * MFPG_BOX_MOST_ORDER];
    const double pi = 3.14159265358979323846;
    for (int i = 0; i < order; i++) {
        node[i] = cos(pi * (i + 0.5) / order);
        for (int k = 0; k < order; k++) cosine[k * order + i] = cos(pi * k * (i + 0.5) / order);
    }
    for (int i = 0; i < order; i++)
        for (int j = 0; j < order; j++) {
            double apart = width * m + 0.5 * width * (node[i] - node[j]);
            table[i * order + j] = exp(-apart * apart);
        }
    for (int i = 0; i < order; i++) to_coefficients(order, &table[i * order], 1, cosine);
    for (int j = 0; j < order; j++) to_coefficients(order, &table[j], order, cosine);
    make_symmetric(order, table, m == 0);
}
