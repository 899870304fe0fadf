/* How near a picture comes to another. */
#include "mfpg/inversion.h"

#include <math.h>

enum { WINDOW = 11 };
static const double WINDOW_SD = 1.5;

/* Moments of two weighted sets of entries; weights sum to 1. */
typedef struct moments {
    double x, y, xx, yy, xy;
} moments;

static void count(moments *m, double weight, double x, double y) {
    m->x += weight * x;
    m->y += weight * y;
    m->xx += weight * x * x;
    m->yy += weight * y * y;
    m->xy += weight * x * y;
}

/* (0.01 L)^2 and (0.03 L)^2 with the range L = 1. */
static double similarity(const moments *m) {
    const double of_means = 1e-4, of_variances = 9e-4;
    double vx = m->xx - m->x * m->x, vy = m->yy - m->y * m->y, covariance = m->xy - m->x * m->y;
    return (2.0 * m->x * m->y + of_means) * (2.0 * covariance + of_variances) /
           ((m->x * m->x + m->y * m->y + of_means) * (vx + vy + of_variances));
}

double mfpg_picture_psnr(ptrdiff_t n, const double *x, const double *y) {
    const double most = 100.0;
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    double value = -10.0 * log10(sum / (double)n);
    return value < most ? value : sum >= 0.0 ? most : (double)NAN;
}

static double similarity_of_all(ptrdiff_t n, const double *x, const double *y) {
    moments m = {0};
    for (ptrdiff_t i = 0; i < n; i++) count(&m, 1.0 / (double)n, x[i], y[i]);
    return similarity(&m);
}

/* One-dimensional weights, whose products are those of the window. */
static void window_weights(double weight[WINDOW]) {
    double sum = 0.0;
    for (int i = 0; i < WINDOW; i++) {
        double z = (i - WINDOW / 2) / WINDOW_SD;
        sum += weight[i] = exp(-0.5 * z * z);
    }
    for (int i = 0; i < WINDOW; i++) weight[i] /= sum;
}

static double similarity_at(ptrdiff_t width, const double *x, const double *y, const double weight[WINDOW]) {
    moments m = {0};
    for (int r = 0; r < WINDOW; r++)
        for (int c = 0; c < WINDOW; c++) count(&m, weight[r] * weight[c], x[r * width + c], y[r * width + c]);
    return similarity(&m);
}

double mfpg_picture_ssim(ptrdiff_t width, ptrdiff_t height, const double *x, const double *y) {
    if (width < WINDOW || height < WINDOW) return similarity_of_all(width * height, x, y);
    double weight[WINDOW], sum = 0.0;
    window_weights(weight);
    ptrdiff_t down = height - WINDOW + 1, across = width - WINDOW + 1;
    for (ptrdiff_t r = 0; r < down; r++)
        for (ptrdiff_t c = 0; c < across; c++)
            sum += similarity_at(width, x + r * width + c, y + r * width + c, weight);
    return sum / (double)(down * across);
}

double mfpg_picture_pearson(ptrdiff_t n, const double *x, const double *y) {
    double mx = 0.0, my = 0.0, xx = 0.0, yy = 0.0, xy = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    double product = sqrt(xx) * sqrt(yy);
    return product > 0.0 ? fmax(-1.0, fmin(xy / product, 1.0)) : 0.0;
}
