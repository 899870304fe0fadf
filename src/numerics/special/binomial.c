#include "binomial.h"

#include <math.h>

#include "roots.h"
#include "saddle.h"

#define LOG_TWO_PI 1.83787706640934548356

/* log P(X = k), with q = 1 - p given as well: near an end one of the two is the accurate one. */
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

/* log P(X >= k), 1 <= k <= n, by the side of the mean on which k lies. */
static double log_upper(double k, double n, double p, double q) {
    if (p <= 0.0) return -(double)INFINITY;
    if (q <= 0.0) return 0.0;
    if (k > n * p) return log_mass(k, n, p, q) + log(terms_from(k, n, p, q));
    double failures = n - k + 1.0; /* at least so many where X < k */
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

int64_t mfpg_binomial_quantile(double level, int64_t n, double p) {
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

/* A search for the p of one tail probability; at is log(p/q) so that both ends of (0, 1) are far. */
typedef struct search {
    double k, n, log_alpha;
} search;

static double excess(double at, const void *arg) {
    const search *s = arg;
    double e = exp(-fabs(at)), small = e / (1.0 + e), large = 1.0 / (1.0 + e);
    return log_upper(s->k, s->n, at < 0.0 ? small : large, at < 0.0 ? large : small) - s->log_alpha;
}

/* The largest p known to have P(X >= k) <= alpha: an error of the logit of e moves p by at most e of itself. */
static double lower_bound(double k, double n, double alpha) {
    const search s = {k, n, log(alpha) - MFPG_BINOMIAL_ERROR};
    mfpg_root root = mfpg_root_bracket(excess, &s, -740.0, 40.0, 1e-15);
    double e = exp(-fabs(root.low)), p = root.low < 0.0 ? e / (1.0 + e) : 1.0 / (1.0 + e);
    return p * (1.0 - 1e-13);
}

double mfpg_proportion_lower(int64_t k, int64_t n, double alpha) {
    if (!(alpha > 0.0 && alpha < 1.0) || n < 1 || k < 1 || k > n) return 0.0;
    return lower_bound((double)k, (double)n, alpha);
}

/* The upper bound is one minus the lower bound of the failures, which alone is accurate near 1. Near 0 it has to be found by
 * itself: P(X <= k) = 1 - P(X >= k+1). */
static double upper_excess(double at, const void *arg) {
    const search *s = arg;
    double e = exp(-fabs(at)), small = e / (1.0 + e), large = 1.0 / (1.0 + e);
    double p = at < 0.0 ? small : large, q = at < 0.0 ? large : small;
    return s->log_alpha - log_upper(s->n - s->k, s->n, q, p);
}

double mfpg_proportion_upper(int64_t k, int64_t n, double alpha) {
    if (!(alpha > 0.0 && alpha < 1.0) || n < 1 || k < 0 || k >= n) return 1.0;
    const search s = {(double)k, (double)n, log(alpha) - MFPG_BINOMIAL_ERROR};
    mfpg_root root = mfpg_root_bracket(upper_excess, &s, -740.0, 40.0, 1e-15);
    double e = exp(-fabs(root.high)), p = root.high < 0.0 ? e / (1.0 + e) : 1.0 / (1.0 + e);
    return fmin(p * (1.0 + 1e-13), 1.0);
}
