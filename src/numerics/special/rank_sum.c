#include "rank_sum.h"

#include <math.h>
#include <stdlib.h>

#include "normal.h"

#define ONE_OVER_TWO_PI 0.15915494309189533577
#define ROOT_HALF       0.70710678118654752440
#define ROOT_THIRD      0.57735026918962576451

enum { POINTS = 10 };
/* Gauss and Legendre's rule with 20 points on [-1, 1], which is even: abscissae and weights (Abramowitz and Stegun 25.4). */
static const double node[POINTS] = {0.0765265211334973, 0.2277858511416451, 0.3737060887154195,
    0.5108670019508271, 0.6360536807265150, 0.7463319064601508, 0.8391169718222188, 0.9122344282513259,
    0.9639719272779138, 0.9931285991850949};
static const double gauss_weight[POINTS] = {0.1527533871307258, 0.1491729864726037, 0.1420961093183820,
    0.1316886384491766, 0.1181945319615184, 0.1019301198172404, 0.0832767415767048, 0.0626720483341091,
    0.0406014298003869, 0.0176140071391521};

/* exp(-h^2 (1 + x^2)/2) / (1 + x^2) is smooth; where h is large only x below about 9/h counts. */
double mfpg_owen(double h, double a) {
    double end = fmin(a, 9.0 / fmax(fabs(h), 1e-300)), sum = 0.0;
    enum { PIECES = 4 };
    double half = 0.5 * end / PIECES;
    for (int piece = 0; piece < PIECES; piece++) {
        double middle = (2 * piece + 1) * half;
        for (int i = 0; i < 2 * POINTS; i++) {
            double x = middle + (i < POINTS ? half : -half) * node[i % POINTS];
            sum += gauss_weight[i % POINTS] * exp(-0.5 * h * h * (1.0 + x * x)) / (1.0 + x * x);
        }
    }
    return ONE_OVER_TWO_PI * half * sum;
}

/* Of U = sum over pairs 1(x1 > x0) / (n0 n1): pairs that share a member are correlated as two normal numbers with
 * correlation 1/2 are, P(both) = mean - 2 T(shift/sqrt 2, 1/sqrt 3). */
mfpg_rank_sum mfpg_rank_sum_law(double shift, double n0, double n1) {
    double h = shift * ROOT_HALF, mean = mfpg_normal_cdf(h), rest = mfpg_normal_cdf(-h);
    double both = fmax(mean * rest - 2.0 * mfpg_owen(h, ROOT_THIRD), 0.0);
    double variance = (mean * rest + (n0 + n1 - 2.0) * both) / (n0 * n1);
    return (mfpg_rank_sum){mean, sqrt(variance) * (1.0 + 1e-12)};
}

/* The trapezoidal rule: for smooth functions that vanish at both ends its error falls faster than any power of the step. The
 * integrand is some tenths wide at least (the largest of n normal numbers spreads by 1/sqrt(2 log n)). */
double mfpg_rank_separation(double shift, double n0, double n1) {
    const double step = 1.0 / 64;
    double sum = 0.0, to = 10.0 + shift;
    for (double z = -10.0; z <= to; z += step)
        sum += exp(log(n0) + (n0 - 1.0) * mfpg_normal_log_cdf(z) + n1 * mfpg_normal_log_cdf(shift - z)) *
               mfpg_normal_density(z);
    return fmin(sum * step * (1.0 + 1e-9), 1.0);
}

int mfpg_scored_compare(const void *a, const void *b) {
    const mfpg_scored *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? 1 : -1;
    return (x->tie > y->tie) - (x->tie < y->tie);
}

double mfpg_rank_share(mfpg_scored *x0, ptrdiff_t n0, mfpg_scored *x1, ptrdiff_t n1) {
    qsort(x0, (size_t)n0, sizeof *x0, mfpg_scored_compare);
    qsort(x1, (size_t)n1, sizeof *x1, mfpg_scored_compare);
    double wins = 0.0; /* whole numbers: exact below 2^53 pairs */
    ptrdiff_t below = 0;
    for (ptrdiff_t i = 0; i < n1; i++) {
        while (below < n0 && mfpg_scored_compare(&x0[below], &x1[i]) < 0) below++;
        wins += (double)below;
    }
    return wins / ((double)n0 * (double)n1);
}
