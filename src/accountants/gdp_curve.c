/* delta(epsilon) of a mu-GDP mechanism and its two inverses (theory S2.1), as valid bounds.
 *
 * With x = epsilon/mu - mu/2 and b = x + mu the two normal densities satisfy phi(x) = e^epsilon phi(b), so
 * delta = Phi(-x) - e^epsilon Phi(-b) = phi(x) (R(x) - R(b)),   R(t) = Phi(-t)/phi(t) (Mills ratio).
 * This form has no exponential of epsilon that could overflow, and only one well-conditioned difference. */
#include <float.h>
#include <math.h>

#include "accounting.h"
#include "numerics/special/normal.h"
#include "numerics/special/roots.h"

enum { GRID_BITS = 41 };
/* below this mu, R(x) - R(b) is computed as an integral, because the difference would cancel */
#define SMALL_MU   0.0625
#define BEYOND     39.0    /* phi(39) is below every double */
#define CLOSE      0x1p-45 /* relative distance between the two ends of an accepted root */
#define CALIBRATED 0x1p-43 /* relative distance that a calibrated mu keeps from the grid */

typedef struct curve_point {
    double delta;      /* not below the true value */
    double complement; /* not above 1 - delta; it has full relative accuracy if delta is near 1 */
    double density;    /* phi(x), the derivative of delta in mu */
    double tail;       /* phi(x) R(b), minus the derivative of delta in epsilon */
} curve_point;

/* Computes R(x) - R(b), the integral of 1 - t R(t) over [x, x + mu], by Gauss-Legendre with 5 nodes. For mu
 * <= 1/16 the rule's error, 4e-13 mu^10 times the tenth derivative (at most 4000 times the function), is far
 * below one rounding. The result is rounded up by the stated error of the integrand. */
static double mills_drop(double x, double mu) {
    static const double node[5] = {
        0.04691007703066800360, 0.23076534494715845448, 0.5, 0.76923465505284154552, 0.95308992296933199640};
    static const double weight[5] = {0.11846344252809454376, 0.23931433524968323402, 0.28444444444444444444,
        0.23931433524968323402, 0.11846344252809454376};
    double sum = 0.0;
    for (int i = 0; i < 5; i++) {
        double t = x + mu * node[i], slope = mfpg_normal_mills_slope(t);
        sum += weight[i] * (slope + MFPG_NORMAL_ERROR * (t < 4.0 ? 2.0 : slope)); /* |t| R(t) < 1 */
    }
    return mu * sum;
}

/* Returns the safety margin. x is accurate to 3 units of 2^-53 relative: its quotient is corrected by the
 * exact remainder, and if epsilon/mu and mu/2 cancel, their difference is exact. That changes phi(x) by 3
 * x^2 units. phi and R carry at most MFPG_NORMAL_ERROR = 16 units each; a third 16 units cover the few
 * remaining roundings and the quadrature. */
static double margin(double x) {
    return MFPG_NORMAL_ERROR * (3.0 + 0.25 * x * x);
}

/* mu > 0 and epsilon >= 0, both finite. */
static curve_point curve_at(double mu, double epsilon) {
    double quotient = epsilon / mu, half = 0.5 * mu;
    if (!(quotient - half < BEYOND))
        return (curve_point){.delta = DBL_TRUE_MIN, .complement = 1.0 - DBL_EPSILON};
    double x = (quotient - half) + fma(-quotient, mu, epsilon) / mu, b = x + mu;
    double mills_b = mfpg_normal_mills(b), density = mfpg_normal_density(x);
    curve_point point = {.density = density, .tail = density * mills_b};
    if (mu > SMALL_MU && x < 0.0) { /* 1 - delta = phi(x) (R(-x) + R(b)) */
        point.complement = density * (mfpg_normal_mills(-x) + mills_b) * (1.0 - margin(x));
        point.delta = (1.0 - point.complement) * (1.0 + DBL_EPSILON);
        return point;
    }
    double drop;
    if (mu > SMALL_MU) {
        double mills_x = mfpg_normal_mills(x);
        drop = (mills_x - mills_b) + MFPG_NORMAL_ERROR * (mills_x + mills_b);
    } else {
        drop = mills_drop(x, mu);
    }
    point.delta = density * drop * (1.0 + margin(x)) + DBL_TRUE_MIN; /* the last for subnormal results */
    point.complement = (1.0 - point.delta) * (1.0 - DBL_EPSILON);
    return point;
}

double mfpg_gdp_delta(double mu, double epsilon) {
    if (!(mu >= 0.0 && epsilon >= 0.0)) return (double)INFINITY;
    if (mu == 0.0) return 0.0;
    if (isinf(mu)) return 1.0;
    if (isinf(epsilon)) return 0.0;
    return fmin(1.0, curve_at(mu, epsilon).delta);
}

/* ---- inverses: roots of the excess of delta over its target, in logarithms ---- */

typedef struct question {
    int for_mu;                /* 1: mu is unknown, 0: epsilon */
    double mu, epsilon, delta; /* the unknown one is ignored */
} question;

static curve_point point_at(const question *asked, double unknown) {
    return asked->for_mu ? curve_at(unknown, asked->epsilon) : curve_at(asked->mu, unknown);
}

/* Returns log(delta(epsilon)/target). For targets above 1/2 it computes the same sign from the complements,
 * which are then the accurate numbers. */
static double excess(double unknown, const void *arg) {
    const question *asked = arg;
    curve_point point = point_at(asked, unknown);
    return asked->delta > 0.5 ? log((1.0 - asked->delta) / point.complement)
                              : log(point.delta / asked->delta);
}

/* Returns an upper bound of the normal quantile of 1 - delta: Phi(-z) <= exp(-z^2/2)/2. */
static double quantile_bound(double delta) {
    return delta < 0.5 ? sqrt(-2.0 * log(2.0 * delta)) : 0.0;
}

/* Newton's method (for mu, in its logarithm). The result is only a guess, which the caller brackets. */
static double guess_from(const question *asked, double start) {
    double x = start;
    for (int i = 0; i < 40; i++) {
        curve_point point = point_at(asked, x);
        double off = excess(x, asked) * (asked->delta > 0.5 ? point.complement : point.delta);
        double next = asked->for_mu ? x * exp(-off / (point.density * x)) : x + off / point.tail;
        if (!(next > 0.0)) next = 0.5 * x;
        if (!isfinite(next) || fabs(next - x) <= 1e-9 * x) return next;
        x = next;
    }
    return x;
}

/* Rounds mu to 41 bits. The relative change of epsilon(mu) is at least that of mu, and its relative error is
 * far below 2^-41. On this grid, therefore, rounding can never give a larger mu a smaller epsilon. */
static double on_grid(double mu, double (*to_integer)(double)) {
    int exponent;
    double mantissa = frexp(mu, &exponent);
    return ldexp(to_integer(ldexp(mantissa, GRID_BITS)), exponent - GRID_BITS);
}

double mfpg_gdp_epsilon(double mu, double delta) {
    if (!(mu >= 0.0 && delta >= 0.0 && delta < 1.0)) return (double)INFINITY;
    if (mu == 0.0) return 0.0;
    if (delta == 0.0 || isinf(mu)) return (double)INFINITY;
    question asked = {.mu = on_grid(mu, ceil), .delta = delta};
    if (excess(0.0, &asked) <= 0.0) return 0.0;
    double start = asked.mu * (0.5 * asked.mu + quantile_bound(delta)); /* delta(epsilon) < Phi(-x) */
    if (isinf(start)) return (double)INFINITY;
    double guess = guess_from(&asked, start), low = guess * (1.0 - CLOSE), high = guess * (1.0 + CLOSE);
    if (excess(high, &asked) <= 0.0 && excess(low, &asked) > 0.0) return high;
    for (high = start; excess(high, &asked) > 0.0;) high *= 2.0;
    mfpg_root root = mfpg_root_bracket(excess, &asked, 0.0, high, CLOSE);
    return root.converged ? root.high : (double)INFINITY;
}

static double largest_mu(const question *asked) {
    double z = quantile_bound(asked->delta), reach = hypot(z, M_SQRT2 * sqrt(asked->epsilon));
    /* Two lower bounds: delta < Phi(-x), and delta(epsilon) <= delta(0) < mu/sqrt(2 pi). */
    double start = asked->delta / 0.3989422804014327;
    if (asked->epsilon > 0.0) start = fmax(start, 2.0 * (asked->epsilon / (z + reach)));
    double guess = guess_from(asked, start), low = guess * (1.0 - CLOSE), high = guess * (1.0 + CLOSE);
    if (excess(low, asked) <= 0.0 && excess(high, asked) > 0.0) return low;
    for (low = start; excess(low, asked) > 0.0;) low *= 0.5;
    for (high = start; excess(high, asked) <= 0.0;) high *= 2.0;
    mfpg_root root = mfpg_root_bracket(excess, asked, low, high, CLOSE);
    return root.converged ? root.low : 0.0;
}

/* The result lies a little below the grid of mfpg_gdp_epsilon. If noise of sd S/mu is accounted step by
 * step, the resulting mu differs by a few roundings and is still rounded up to the same grid point, so its
 * epsilon is at most the requested one. A calibration therefore never exceeds its target. */
double mfpg_gdp_mu(double epsilon, double delta) {
    if (!(epsilon >= 0.0 && delta > 0.0 && delta < 1.0)) return 0.0;
    if (isinf(epsilon)) return (double)INFINITY;
    question asked = {.for_mu = 1, .epsilon = epsilon, .delta = delta};
    return on_grid(largest_mu(&asked) * (1.0 - 0x1p-44), floor) * (1.0 - CALIBRATED);
}
