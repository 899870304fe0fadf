#include "spacing_entropy.h"

#include <math.h>

/* The digamma function at a whole number k >= 1: -gamma + 1 + 1/2 + ... + 1/(k-1), for large k its series. */
static double digamma(ptrdiff_t k) {
    const double euler = 0.57721566490153286061;
    if (k >= 64) { /* the next term, 1/(252 k^6), is below 2^-43 / 252 */
        double x = (double)k, y = 1.0 / (x * x);
        return log(x) - 0.5 / x - y * (1.0 / 12.0 - y / 120.0);
    }
    double sum = -euler;
    for (ptrdiff_t i = 1; i < k; i++) sum += 1.0 / (double)i;
    return sum;
}

/* Vasicek (1976): H = (1/n) sum_i log(n/(2m) (x_(i+m) - x_(i-m))), x_(j) the first or last number beyond the ends. Of uniform
 * numbers the spacing over k of n + 1 gaps has E log = digamma(k) - digamma(n + 1), and k = 2m inside, i + m - 1 at the i-th
 * place from an end: the expectation of H, which is 0 for them, is known and taken off (Wieczorkowski, Grzegorzewski 1999). */
double mfpg_spacing_entropy(ptrdiff_t n, const float *sorted) {
    if (n < 3) return (double)NAN;
    ptrdiff_t m = (ptrdiff_t)(cbrt((double)n) + 0.5), most = (n - 1) / 2;
    if (m > most) m = most;
    double logs = 0.0, expected = (double)(n - 2 * m) * digamma(2 * m);
    for (ptrdiff_t i = 0; i < n; i++) {
        ptrdiff_t low = i > m ? i - m : 0, high = i + m < n ? i + m : n - 1;
        logs += log((double)sorted[high] - (double)sorted[low]);
    }
    for (ptrdiff_t i = m; i < 2 * m; i++) expected += 2.0 * digamma(i);
    return (logs - expected) / (double)n + digamma(n + 1);
}
