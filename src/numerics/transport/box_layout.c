#include "box_layout.h"

#include <math.h>

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

/* Mirrored points have the same distance: C_lk = (-1)^(k+l) C_kl; of a box with itself C is symmetric, too. */
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
