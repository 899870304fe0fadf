#include "variance.h"

#include "base/wide.h"

/* Side by side: a sum one after the other waits for every addition. */
enum { PARTS = 16 };

static inline __attribute__((always_inline)) double sum_of(const double part[PARTS]) {
    double sum = 0.0;
    for (int k = 0; k < PARTS; k++) sum += part[k];
    return sum;
}

MFPG_WIDE static double sum_from(ptrdiff_t n, const double *x, double from) {
    double part[PARTS] = {0};
    ptrdiff_t i = 0;
    for (; i + PARTS <= n; i += PARTS)
        for (int k = 0; k < PARTS; k++) part[k] += x[i + k] - from;
    for (; i < n; i++) part[0] += x[i] - from;
    return sum_of(part);
}

MFPG_WIDE static double squares_from(ptrdiff_t n, const double *x, double from, double mean) {
    double part[PARTS] = {0};
    ptrdiff_t i = 0;
    for (; i + PARTS <= n; i += PARTS)
        for (int k = 0; k < PARTS; k++) {
            double apart = (x[i + k] - from) - mean;
            part[k] += apart * apart;
        }
    for (; i < n; i++) part[0] += ((x[i] - from) - mean) * ((x[i] - from) - mean);
    return sum_of(part);
}

double mfpg_variance_of(ptrdiff_t n, const double *x) {
    double mean = sum_from(n, x, x[0]) / (double)n;
    return squares_from(n, x, x[0], mean) / (double)n;
}
