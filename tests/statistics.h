/* Laws with which tests judge counts and noise: the chi-square law, and quantiles of the binomial one. */
#ifndef MFPG_TESTS_STATISTICS_H
#define MFPG_TESTS_STATISTICS_H

#include <math.h>

#include "numerics/special/laws.h"
#include "numerics/special/roots.h"

/* Returns the smallest k with P(X <= k) >= level, 0 < level < 1, for X ~ Bin(n, p). */
static inline int64_t binomial_quantile(double level, int64_t n, double p) {
    int64_t low = -1, high = n; /* P(X <= low) < level <= P(X <= high) */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (mfpg_binomial_lower_tail(middle, n, p) >= level)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Returns x^a e^-x / Gamma(a+1), the Poisson density at a with mean x. */
static inline double chi_density(double a, double x) {
    return exp(-mfpg_stirling_rest(a) - mfpg_deviance(a, x) - 0.5 * (1.83787706640934548356 + log(a)));
}

/* P(a,x) / density = 1 + x/(a+1) + x^2/((a+1)(a+2)) + ..., for x < a + 1. */
static inline double chi_series(double a, double x) {
    double term = 1.0, sum = 1.0;
    for (double i = 1.0; term > sum * 0x1p-54; i += 1.0) {
        term *= x / (a + i);
        sum += term;
    }
    return sum;
}

/* (1 - P(a,x)) / density = a / (x + 1 - a - 1(1-a)/(x + 3 - a - ...)), Lentz's way, for x >= a + 1. */
static inline double chi_fraction(double a, double x) {
    double b = x + 1.0 - a, c = 1e300, d = 1.0 / b, value = d;
    for (int i = 1; i < 1000000; i++) {
        double m = i, term = -m * (m - a);
        b += 2.0;
        d = 1.0 / (term * d + b);
        c = b + term / c;
        value *= d * c;
        if (fabs(d * c - 1.0) < 0x1p-52) break;
    }
    return a * value;
}

/* P(X <= x) of chi-square with dof > 0 degrees of freedom; relative error below 1e-11 for dof <= 1e6 (measured: 5e-14).
 * x <= 0: 0; NaN stays. */
static inline double chi_square_lower(double x, double dof) {
    double a = 0.5 * dof, half = 0.5 * x;
    if (isnan(x) || x <= 0.0) return isnan(x) ? x : 0.0;
    if (half < a + 1.0) return fmin(chi_density(a, half) * chi_series(a, half), 1.0);
    return 1.0 - chi_density(a, half) * chi_fraction(a, half);
}

typedef struct chi_search {
    double p, dof;
} chi_search;

static inline double chi_excess(double x, const void *arg) {
    const chi_search *s = arg;
    return chi_square_lower(x, s->dof) - s->p;
}

/* Returns the x with P(X <= x) = p, 0 < p < 1. */
static inline double chi_square_quantile(double p, double dof) {
    const chi_search s = {p, dof};
    double high = dof + 10.0;
    while (chi_square_lower(high, dof) < p) high *= 2.0;
    mfpg_root root = mfpg_root_bracket(chi_excess, &s, 0.0, high, 1e-14);
    return 0.5 * (root.low + root.high);
}

#endif
