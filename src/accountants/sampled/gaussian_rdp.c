/* With the likelihood ratio 1 + v, v = q (e^x - 1), x = w u - w^2/2, w = 1/z and u standard normal, the divergence at
 * order a = 1 + c is log(A)/c with
 *     A - 1 = E[(1+v)^a] - 1 = E[G],   G(v) = (1+v)^a - 1 - a v = (1+v) (e^(c l) - 1 - c l) + c ((1+v) l - v),   l = log(1+v),
 * as E[v] = 0. G is not negative and neither is any part of the second form: nothing cancels, however small the rate.
 * Integer orders are the binomial sum of Mironov, Talwar and Zhang (2019, section 3.3), whose terms are positive once
 * the first two are taken off. Real orders are the trapezoid rule on E[G], with its error bounded below. */
#include "sampled_steps.h"

#include <float.h>
#include <math.h>

enum { LARGEST_INTEGER = 1 << 14, MOST_NODES = 6000 };
#define LEFT_END  11.0 /* nodes begin at -LEFT_END */
#define PAST_PEAK 9.0  /* and end beyond the last peak by at least this */
#define STRIP     50.0 /* the trapezoid rule's error is about e^-STRIP of the answer */
#define SMALLEST  1e-25

/* ---- functions without cancellation ---- */

/* log(1 + e^t). */
static double log_one_plus(double t) {
    return t > 0.0 ? t + log1p(exp(-t)) : log1p(exp(t));
}

/* log(e^t - 1), t > 0. */
static double log_exp_less_one(double t) {
    return t > 1.0 ? t + log1p(-exp(-t)) : log(expm1(t));
}

static double log_factorial(double n) {
    int sign;
    return lgamma_r(n + 1.0, &sign);
}

/* ---- integer orders ---- */

/* A bound of log A for the order n >= 2: A - 1 = sum over k >= 2 of C(n,k) (1-q)^(n-k) q^k (e^(k(k-1)w^2/2) - 1). The
 * logarithm of a term is a sum of five numbers, each off by a few roundings of its own size. */
static double log_moment_integer(double q, double w, int n) {
    double log_q = log(q), log_rest = log1p(-q), whole = log_factorial(n), top = -(double)INFINITY, sum = 0.0;
    for (int k = 2; k <= n; k++) {
        double exponent = 0.5 * k * (k - 1.0) * w * w;
        double term = whole - log_factorial(k) - log_factorial(n - k) + k * log_q + (n - k) * log_rest +
                      log_exp_less_one(exponent);
        if (!(term < (double)INFINITY)) return (double)INFINITY;
        if (term > top) {
            sum = sum * exp(top - term) + 1.0;
            top = term;
        } else {
            sum += exp(term - top);
        }
    }
    double sizes = 3.0 * whole - n * (log_q + log_rest) + 0.5 * n * n * w * w + n + 16.0;
    double log_sum = top + log(sum) + 4.0 * DBL_EPSILON * sizes;
    return log_one_plus(log_sum) * (1.0 + 4.0 * DBL_EPSILON) + DBL_TRUE_MIN;
}

/* ---- real orders ---- */

/* The trapezoid rule on the line for f(u) = phi(u) G(v(u)) / c.
 *
 * f is analytic for |Im u| < pi z / 2. On Im u = eta, theta = w eta < pi/2, G(v) = a c int (1-s) (1+sv)^(a-2) v^2 ds over
 * [0, 1] gives |G| <= K G(v_r) |v|^2 / v_r^2 with v_r = q (e^x - 1) at the real part and K = 1 for a >= 2, sqrt 2 below:
 * |1 + s v| lies between (1 + s v_r)/sqrt 2 and 1 + s v_r. Also |v|^2 <= v_r^2 + 2 q^2 e^x. If e^x > 1 + t the last
 * is at most 2 v_r^2 (1+t)/t^2; elsewhere G(v_r)/v_r^2 <= a c e once t <= 1/(q a). So the integral of |f| over either
 * line is at most K e^(eta^2/2) ((1 + 2 (1+t)/t^2) E[G]/c + 2 q^2 (1+t) a e), and the rule with step h is off by at most
 * twice that over e^(2 pi eta/h) - 1 (Trefethen, Weideman 2014, theorem 5.1). */
typedef struct rule {
    double first, step; /* nodes first + j step */
    double relative;    /* E[G]/c <= (sum + absolute) / (1 - relative) */
    double absolute;
    double peak; /* beyond this point f falls at least like e^(-(u - peak)^2/2) */
} rule;

static rule rule_for(double q, double w, double a) {
    double eta = fmin(1.57 / w, 6.0), exponent = STRIP + 0.5 * eta * eta + 2.0 * log1p(q * a);
    double t = fmin(1.0, 1.0 / (q * a)), off = 2.0 * M_SQRT2 * exp(0.5 * eta * eta) / expm1(exponent);
    return (rule){.first = -LEFT_END,
        .step = 2.0 * M_PI * eta / exponent,
        .relative = off * (1.0 + 2.0 * (1.0 + t) / (t * t)),
        .absolute = off * 2.0 * q * q * (1.0 + t) * a * M_E,
        .peak = fmax(a, 2.0) * w};
}

/* A sum that stores its terms divided by e^shift, so that moments beyond the largest double can be
 * represented. */
typedef struct scaled_sum {
    double value, shift;
} scaled_sum;

/* Adds e^(-u^2/2) G / c of one node. */
static void add_node(double q, double w, double a, double u, scaled_sum *sum) {
    double v, l = sampled_loss(q, w, u, &v), c = a - 1.0, weight = -0.5 * u * u - sum->shift, part, entropy;
    double rise = weight + a * l;
    if (rise > 500.0) {
        sum->value *= exp(-rise);
        sum->shift += rise;
        weight -= rise;
    }
    double scale = exp(weight);
    if (l > 1.0) {
        double ratio = exp(weight + l);
        part = c * l > 1.0 ? exp(weight + a * l) - ratio * (1.0 + c * l) : ratio * second_order_exp(c * l);
        entropy = ratio * (l - 1.0) + scale;
    } else {
        part = scale * (1.0 + v) * second_order_exp(c * l);
        entropy = scale * loss_entropy(v, l, LOSS_REMOVE);
    }
    sum->value += entropy + (c > 0.0 ? part / c : 0.0);
}

/* Returns the log of (a/2) e^(-u^2/2) v^2 (1+v)^(max(a,2)-2), a bound of a term if v > 0, in the sum's
 * scale. */
static double log_term_bound(double q, double w, double a, double u, const scaled_sum *sum) {
    double v, l = sampled_loss(q, w, u, &v);
    return -0.5 * u * u - sum->shift + 2.0 * log_exp_less_one(l) + fmax(a - 2.0, 0.0) * l + log(0.5 * a);
}

/* Returns an upper bound of the divergence at a real order a >= 1, or NaN if too many nodes would be needed.
 * Beyond the last node log_term_bound has slope at most -u + a w + 2/(u - w/2) < -8; before the first one G
 * <= a c q^2. */
static double rdp_real(double q, double w, double a) {
    rule r = rule_for(q, w, a);
    double enough = (r.peak + PAST_PEAK + LEFT_END) / r.step + 64.0;
    if (!(enough < MOST_NODES)) return (double)NAN;
    scaled_sum sum = {0};
    double u = r.first, c = a - 1.0, last = (double)INFINITY;
    int nodes = 0;
    while (last > log(SMALLEST * sum.value)) {
        u = r.first + r.step * nodes;
        add_node(q, w, a, u, &sum);
        if (++nodes > 2 * MOST_NODES || !(sum.value < DBL_MAX)) return (double)NAN;
        if (u > r.peak + PAST_PEAK) last = log_term_bound(q, w, a, u, &sum);
    }
    double rest = exp(-sum.shift), tails = exp(last) / 8.0 + 1e-26 * a * q * q * rest;
    double rounding = DBL_EPSILON * (64.0 + nodes + 8.0 * (0.5 * u * u + a * w * u));
    double mean = (sum.value * r.step * (1.0 + rounding) + tails) * 0.3989422804014328; /* 1/sqrt(2 pi), up */
    mean = (mean + r.absolute * rest) / (1.0 - r.relative);
    if (c == 0.0) return mean;
    double log_moment = sum.shift > 0.0 ? sum.shift + log(c * mean + rest) : log1p(c * mean);
    return log_moment / c * (1.0 + 8.0 * DBL_EPSILON) + DBL_TRUE_MIN;
}

/* ---- the better of the routes ---- */

/* The logarithm of the moment is convex in the order and 0 at order 1, so its chord between whole orders is
 * an upper bound. */
static double rdp_whole(double q, double w, double a) {
    if (a > LARGEST_INTEGER) return (double)INFINITY;
    int below = (int)a;
    double upper = log_moment_integer(q, w, below + 1), part = a - below;
    if (part == 0.0 && below >= 2) return log_moment_integer(q, w, below) / (a - 1.0) * (1.0 + DBL_EPSILON);
    double lower = below >= 2 ? log_moment_integer(q, w, below) : 0.0;
    return ((1.0 - part) * lower + part * upper) / (a - 1.0) * (1.0 + 4.0 * DBL_EPSILON);
}

double mfpg_sampled_gaussian_rdp(double rate, double reach, double order) {
    if (!(rate >= 0.0 && rate <= 1.0 && reach >= 0.0 && order >= 1.0 && isfinite(order)))
        return (double)INFINITY;
    if (rate == 0.0 || reach == 0.0) return 0.0;
    double plain = 0.5 * order * reach * reach * (1.0 + 2.0 * DBL_EPSILON); /* nobody is sampled away */
    if (rate == 1.0 || isinf(plain)) return plain;
    int whole = order == floor(order) && order >= 2.0;
    double bound = (double)NAN;
    if (!whole || order > 64.0) bound = rdp_real(rate, reach, order);
    if (isnan(bound) && order > 1.0) bound = rdp_whole(rate, reach, order);
    return bound < plain ? bound : plain;
}
