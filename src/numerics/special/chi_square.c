#include "chi_square.h"

#include <math.h>

#include "roots.h"
#include "saddle.h"

#define LOG_TWO_PI 1.83787706640934548356

/* x^a e^-x / Gamma(a+1), the Poisson density at a of mean x. */
static double density(double a, double x) {
    return exp(-mfpg_stirling_rest(a) - mfpg_deviance(a, x) - 0.5 * (LOG_TWO_PI + log(a)));
}

/* P(a,x) / density = 1 + x/(a+1) + x^2/((a+1)(a+2)) + ..., for x < a + 1. */
static double series(double a, double x) {
    double term = 1.0, sum = 1.0;
    for (double i = 1.0; term > sum * 0x1p-54; i += 1.0) {
        term *= x / (a + i);
        sum += term;
    }
    return sum;
}

/* (1 - P(a,x)) / density = a / (x + 1 - a - 1(1-a)/(x + 3 - a - ...)), Lentz's way, for x >= a + 1. */
static double fraction(double a, double x) {
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

double mfpg_chi_square_lower(double x, double dof) {
    double a = 0.5 * dof, half = 0.5 * x;
    if (isnan(x) || x <= 0.0) return isnan(x) ? x : 0.0;
    if (half < a + 1.0) return fmin(density(a, half) * series(a, half), 1.0);
    return 1.0 - density(a, half) * fraction(a, half);
}

double mfpg_chi_square_upper(double x, double dof) {
    double a = 0.5 * dof, half = 0.5 * x;
    if (isnan(x) || x <= 0.0) return isnan(x) ? x : 1.0;
    if (half < a + 1.0) return 1.0 - fmin(density(a, half) * series(a, half), 1.0);
    return density(a, half) * fraction(a, half);
}

typedef struct search {
    double p, dof;
} search;

static double excess(double x, const void *arg) {
    const search *s = arg;
    return mfpg_chi_square_lower(x, s->dof) - s->p;
}

double mfpg_chi_square_quantile(double p, double dof) {
    const search s = {p, dof};
    double high = dof + 10.0;
    while (mfpg_chi_square_lower(high, dof) < p) high *= 2.0;
    mfpg_root root = mfpg_root_bracket(excess, &s, 0.0, high, 1e-14);
    return 0.5 * (root.low + root.high);
}
