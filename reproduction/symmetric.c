#include "symmetric.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

int mfpg_symmetric_solve(ptrdiff_t n, double *a, double *b) {
    for (ptrdiff_t j = 0; j < n; j++) {
        double pivot = a[j * n + j], whole = pivot;
        for (ptrdiff_t k = 0; k < j; k++) pivot -= a[j * n + k] * a[j * n + k];
        if (!(pivot > (double)n * DBL_EPSILON * whole)) return 0;
        a[j * n + j] = sqrt(pivot);
        for (ptrdiff_t i = j + 1; i < n; i++) {
            double entry = a[i * n + j];
            for (ptrdiff_t k = 0; k < j; k++) entry -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = entry / a[j * n + j];
        }
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        for (ptrdiff_t k = 0; k < i; k++) b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
    for (ptrdiff_t i = n - 1; i >= 0; i--) {
        for (ptrdiff_t k = i + 1; k < n; k++) b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
    return 1;
}

/* Applies the rotation of rows and columns p and q that makes entry (p, q) zero. */
static void rotate(ptrdiff_t n, double *a, ptrdiff_t p, ptrdiff_t q) {
    double off = a[p * n + q], theta = (a[q * n + q] - a[p * n + p]) / (2.0 * off);
    double t = copysign(1.0, theta) / (fabs(theta) + hypot(theta, 1.0));
    double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (ptrdiff_t k = 0; k < n; k++) {
        double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (ptrdiff_t k = 0; k < n; k++) {
        double x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
    }
    a[p * n + q] = a[q * n + p] = 0.0;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sweeps converge quadratically, so 30 are far more than needed. */
void mfpg_symmetric_eigenvalues(ptrdiff_t n, double *a, double *value) {
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0.0, whole = 0.0;
        for (ptrdiff_t i = 0; i < n * n; i++) {
            whole = fmax(whole, fabs(a[i]));
            if (i / n != i % n) off = fmax(off, fabs(a[i]));
        }
        if (!(off > 0x1p-60 * whole)) break;
        for (ptrdiff_t p = 0; p < n; p++)
            for (ptrdiff_t q = p + 1; q < n; q++)
                if (a[p * n + q] != 0.0) rotate(n, a, p, q);
    }
    for (ptrdiff_t i = 0; i < n; i++) value[i] = a[i * n + i];
    qsort(value, (size_t)n, sizeof *value, ascending);
}
