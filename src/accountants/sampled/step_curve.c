#include "sampled_steps.h"

#include <math.h>

#include "mfpg/accountant.h"

/* ---- functions without cancellation ---- */

double second_order_exp(double t) {
    if (fabs(t) > 0.5) return expm1(t) - t;
    double sum = 0.0;
    for (int n = 16; n >= 3; n--) sum = (sum + 1.0) * t / n; /* 1 + t/3 (1 + t/4 (...)) less the 1 */
    return 0.5 * t * t * (1.0 + sum);
}

double loss_entropy(double v, double l, loss_direction direction) {
    double sum = 0.0;
    if (fabs(v) > 0.1) return direction == LOSS_REMOVE ? (1.0 + v) * l - v : v - l;
    for (int n = 17; n >= 2; n--) sum = 1.0 / (direction == LOSS_REMOVE ? n * (n - 1.0) : n) - v * sum;
    return v * v * sum;
}

/* ---- the curve ---- */

/* With G the curve of the Gaussian mechanism of mu = w, removing has
 *     delta(e) = q G(log(1 + (e^e - 1)/q)),
 * and adding, as long as e^-e > 1 - q (beyond it delta is 0),
 *     delta(e) = (1 - (1-q) e^e) G(-log(1 - (1 - e^-e)/q)):
 * the two terms of G at a ratio of densities r are those of the mixture at 1 - q + q r, times q. */
/* the lower end is that of a mu smaller by this share: more than the amount by which G is rounded up */
#define APART 1e-10
#define SMALL 1e-13 /* more than the relative error of the factors */

static double removed(const sampled_step *kind, double epsilon, double mu, double outward) {
    double ratio = epsilon > 36.0 ? epsilon - log(kind->rate) : log1p(expm1(epsilon) / kind->rate);
    return kind->rate * mfpg_gdp_delta(mu, ratio * (1.0 - outward)) * (1.0 + outward);
}

static double added(const sampled_step *kind, double epsilon, double mu, double outward) {
    /* (1 - e^-e)/q; delta is q e^e times its distance from 1. Its own error is a few relative roundings. */
    double part = -expm1(-epsilon) / kind->rate * (outward > 0.0 ? 1.0 - 8e-16 : 1.0 + 8e-16);
    if (!(part < 1.0)) return 0.0;
    double factor = kind->rate * (1.0 - part) * exp(epsilon);
    return factor * mfpg_gdp_delta(mu, -log1p(-part) * (1.0 - outward)) * (1.0 + outward);
}

static double delta_at(const sampled_step *kind, loss_direction direction, double epsilon, int upper) {
    double mu = upper ? kind->reach : kind->reach * (1.0 - APART), outward = upper ? SMALL : -SMALL;
    double delta =
        direction == LOSS_REMOVE ? removed(kind, epsilon, mu, outward) : added(kind, epsilon, mu, outward);
    return fmin(1.0, delta);
}

mfpg_bounds sampled_step_delta(const sampled_step *kind, loss_direction direction, double epsilon) {
    return (mfpg_bounds){delta_at(kind, direction, epsilon, 0), delta_at(kind, direction, epsilon, 1)};
}

/* Returns the point at which one bound of the decreasing curve crosses delta, on the safe side. */
static double crossing(const sampled_step *kind, loss_direction direction, double delta, int upper) {
    double low = 0.0, high = 1.0;
    if (delta_at(kind, direction, 0.0, upper) <= delta) return 0.0;
    while (delta_at(kind, direction, high, upper) > delta) {
        low = high;
        high *= 2.0;
        if (high > 1e300) return (double)INFINITY;
    }
    for (;;) {
        double middle = 0.5 * (low + high);
        if (!(middle > low && middle < high)) return upper ? high : low;
        if (delta_at(kind, direction, middle, upper) > delta)
            low = middle;
        else
            high = middle;
    }
}

mfpg_bounds sampled_step_epsilon(const sampled_step *kind, loss_direction direction, double delta) {
    double upper = crossing(kind, direction, delta, 1);
    return (mfpg_bounds){fmin(upper, crossing(kind, direction, delta, 0)), upper};
}
