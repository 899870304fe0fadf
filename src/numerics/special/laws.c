#include "laws.h"

#include <math.h>
#include <stdlib.h>

#include "normal.h"
#include "roots.h"

#define LOG_TWO_PI      1.83787706640934548356
#define ONE_OVER_TWO_PI 0.15915494309189533577
#define ROOT_HALF       0.70710678118654752440
#define ROOT_THIRD      0.57735026918962576451

/* ---- parts of the saddle-point form of binomial, Poisson and gamma densities (Loader 2000, "Fast and accurate computation of
 * binomial probabilities"), in which nothing large is subtracted from anything large ---- */

/* Stirling's series; what is left out is below 691/(360360 n^11), 2e-16 from 15 on. Below that the recurrence
 * rest(n) = rest(n+1) + (n + 1/2) log1p(1/n) - 1 climbs until the series serves: every step rounds by a unit of 1. */
double mfpg_stirling_rest(double n) {
    double climbed = 0.0;
    for (; n < 15.0; n += 1.0) climbed += (n + 0.5) * log1p(1.0 / n) - 1.0;
    double inverse2 = 1.0 / (n * n);
    return climbed +
           (1.0 / 12 -
               inverse2 * (1.0 / 360 - inverse2 * (1.0 / 1260 - inverse2 * (1.0 / 1680 - inverse2 / 1188)))) /
               n;
}

/* Near m the terms cancel to second order: with v = (x-m)/(x+m) the value is (x-m) v + 2 x sum_j v^(2j+1)/(2j+1), j >= 1. */
double mfpg_deviance(double x, double m) {
    if (x == 0.0) return m;
    if (!(fabs(x - m) < 0.1 * (x + m))) return x * log(x / m) + m - x;
    double v = (x - m) / (x + m), sum = (x - m) * v, term = 2.0 * x * v;
    for (int j = 1; j < 1000; j++) {
        double before = sum;
        term *= v * v;
        sum += term / (2 * j + 1);
        if (sum == before) break;
    }
    return sum;
}

/* ---- binomial ---- */

/* Returns log P(X = k), with q = 1 - p given too, because near an end only one of the two is accurate. */
static double log_mass(double k, double n, double p, double q) {
    if (k == 0.0) return p < 0.5 ? n * log1p(-p) : n * log(q);
    if (k == n) return q < 0.5 ? n * log1p(-q) : n * log(p);
    double rest = mfpg_stirling_rest(n) - mfpg_stirling_rest(k) - mfpg_stirling_rest(n - k);
    double deviance = mfpg_deviance(k, n * p) + mfpg_deviance(n - k, n * q);
    return rest - deviance + 0.5 * (log(n / (k * (n - k))) - LOG_TWO_PI);
}

/* P(X >= k) / P(X = k) for k above the mean: terms that fall by (n-j)/(j+1) p/q, some tens of standard deviations of them. */
static double terms_from(double k, double n, double p, double q) {
    double term = 1.0, sum = 1.0, odds = p / q;
    for (double j = k; j < n && term > sum * 0x1p-60; j += 1.0) {
        term *= (n - j) / (j + 1.0) * odds;
        sum += term;
    }
    return sum;
}

/* Returns log P(X >= k), 1 <= k <= n, computed from the side of the mean on which k lies. */
static double log_upper(double k, double n, double p, double q) {
    if (p <= 0.0) return -(double)INFINITY;
    if (q <= 0.0) return 0.0;
    if (k > n * p) return log_mass(k, n, p, q) + log(terms_from(k, n, p, q));
    double failures = n - k + 1.0; /* at least so many if X < k */
    return log1p(-fmin(exp(log_mass(failures, n, q, p)) * terms_from(failures, n, q, p), 1.0));
}

double mfpg_binomial_mass(int64_t k, int64_t n, double p) {
    if (p <= 0.0 || p >= 1.0) return (p <= 0.0 ? k == 0 : k == n) ? 1.0 : 0.0;
    return exp(log_mass((double)k, (double)n, p, 1.0 - p));
}

double mfpg_binomial_upper_tail(int64_t k, int64_t n, double p) {
    if (k <= 0) return 1.0;
    return k > n ? 0.0 : exp(log_upper((double)k, (double)n, p, 1.0 - p));
}

double mfpg_binomial_lower_tail(int64_t k, int64_t n, double p) {
    if (k >= n) return 1.0;
    return k < 0 ? 0.0 : exp(log_upper((double)(n - k), (double)n, 1.0 - p, p)); /* of the failures */
}

/* A search for the p of one tail probability; at is log(p/q) so that both ends of (0, 1) are far. upper 0: the p of
 * P(X >= k) = alpha, 1: that of P(X <= k) = alpha, which has to be found by itself near 0. */
typedef struct tail_search {
    double k, n, log_alpha;
    int upper;
} tail_search;

static double tail_excess(double at, const void *arg) {
    const tail_search *s = arg;
    double e = exp(-fabs(at)), small = e / (1.0 + e), large = 1.0 / (1.0 + e);
    double p = at < 0.0 ? small : large, q = at < 0.0 ? large : small;
    if (s->upper) return s->log_alpha - log_upper(s->n - s->k, s->n, q, p);
    return log_upper(s->k, s->n, p, q) - s->log_alpha;
}

/* The end of the bracket on the safe side: an error of the logit of e moves p by at most e of itself. */
static double tail_bound(double k, double n, double alpha, int upper) {
    const tail_search s = {k, n, log(alpha) - MFPG_BINOMIAL_ERROR, upper};
    mfpg_root root = mfpg_root_bracket(tail_excess, &s, -740.0, 40.0, 1e-15);
    double at = upper ? root.high : root.low, e = exp(-fabs(at));
    return (at < 0.0 ? e / (1.0 + e) : 1.0 / (1.0 + e)) * (upper ? 1.0 + 1e-13 : 1.0 - 1e-13);
}

double mfpg_proportion_lower(int64_t k, int64_t n, double alpha) {
    if (!(alpha > 0.0 && alpha < 1.0) || n < 1 || k < 1 || k > n) return 0.0;
    return tail_bound((double)k, (double)n, alpha, 0);
}

double mfpg_proportion_upper(int64_t k, int64_t n, double alpha) {
    if (!(alpha > 0.0 && alpha < 1.0) || n < 1 || k < 0 || k >= n) return 1.0;
    return fmin(tail_bound((double)k, (double)n, alpha, 1), 1.0);
}

/* ---- rank sums ---- */

enum { POINTS = 10 };
/* The Gauss-Legendre rule with 20 points on [-1, 1], which is even: abscissae and weights (Abramowitz and
 * Stegun 25.4). */
static const double node[POINTS] = {0.0765265211334973, 0.2277858511416451, 0.3737060887154195,
    0.5108670019508271, 0.6360536807265150, 0.7463319064601508, 0.8391169718222188, 0.9122344282513259,
    0.9639719272779138, 0.9931285991850949};
static const double gauss_weight[POINTS] = {0.1527533871307258, 0.1491729864726037, 0.1420961093183820,
    0.1316886384491766, 0.1181945319615184, 0.1019301198172404, 0.0832767415767048, 0.0626720483341091,
    0.0406014298003869, 0.0176140071391521};

/* exp(-h^2 (1 + x^2)/2) / (1 + x^2) is smooth; for large h only x below about 9/h counts. */
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
