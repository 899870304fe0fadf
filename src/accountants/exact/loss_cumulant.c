#include "loss_cumulant.h"

#include <math.h>

/* Shares of the strip's width in one step of the rule: its error is about e^-EXPONENT. */
#define EXPONENT 26.0
#define REACHED  12.0 /* phi falls by e^-72 over so many standard deviations */
#define TOP      600.0
enum { MOST_NODES = 4096 };

/* q e^x / (1 + v): the derivative of l in x. */
static double share_of(const sampled_step *kind, double u) {
    double x = kind->reach * u - 0.5 * kind->reach * kind->reach;
    return kind->rate / (kind->rate + (1.0 - kind->rate) * exp(-x));
}

/* A point that is not below the last peak of phi (1+v)^power |v|^2: log phi(u) + power l has the derivative
 * -u + power w share(u), that of log |v|^2 is at most 3.2 w + 1/2 on the strip, and share grows with u, so that the map
 * below comes down to its largest fixed point. */
static double last_peak(const sampled_step *kind, double power) {
    double own = 3.2 * kind->reach + 0.5, u = power * kind->reach + own;
    for (int i = 0; i < 60; i++) {
        double next = power * kind->reach * share_of(kind, u) + own;
        if (!(next < u - 0.05)) return next;
        u = next;
    }
    return u;
}

/* A point that is not above the peak of phi (1+v)^-power, which is where u = -power w share(u). */
static double first_peak(const sampled_step *kind, double power) {
    double low = -power * kind->reach * share_of(kind, 0.0), high = 0.0;
    while (high - low > 0.1) {
        double middle = 0.5 * (low + high);
        if (middle + power * kind->reach * share_of(kind, middle) > 0.0)
            high = middle;
        else
            low = middle;
    }
    return low;
}

loss_window loss_window_at(const sampled_step *kind, loss_direction direction, double c) {
    if (direction == LOSS_REMOVE)
        return (loss_window){-REACHED, fmax(0.0, last_peak(kind, 1.0 + c)) + REACHED};
    return (loss_window){fmin(0.0, first_peak(kind, 1.0 + c)) - REACHED, 3.2 * kind->reach + 0.5 + REACHED};
}

double loss_strip(double reach) {
    return fmin(0.48 * M_PI / reach, 1.6);
}

/* e^t - 1 - t. */
static double second_order_exp(double t) {
    if (fabs(t) > 0.5) return expm1(t) - t;
    double sum = 0.0;
    for (int n = 14; n >= 3; n--) sum = (sum + 1.0) * t / n;
    return 0.5 * t * t * (1.0 + sum);
}

/* (1+v) l - v, and v - l. */
static double entropy_of(double v, double l, loss_direction direction) {
    double sum = 0.0;
    if (fabs(v) > 0.1) return direction == LOSS_REMOVE ? (1.0 + v) * l - v : v - l;
    for (int n = 14; n >= 2; n--) sum = 1.0 / (direction == LOSS_REMOVE ? n * (n - 1.0) : n) - v * sum;
    return v * v * sum;
}

typedef struct sums {
    double excess, slope, curve; /* M - 1 and its derivatives */
} sums;

/* Adds one node. Of E[e^(c L)] - 1 the part of first order in the loss L is taken out, as in the complex sum. */
static int add_node(const sampled_step *kind, loss_direction direction, double c, double u, sums *to) {
    double q = kind->rate, x = kind->reach * u - 0.5 * kind->reach * kind->reach, v = q * expm1(x);
    double l = v > 1e10   ? log(q) + x + log1p((1.0 - q) / q * exp(-x))
               : v < -0.5 ? log((1.0 - q) + q * exp(x))
                          : log1p(v);
    double own = direction == LOSS_REMOVE ? l : 0.0, loss = direction == LOSS_REMOVE ? l : -l, t = c * loss;
    double weight = -0.5 * u * u;
    if (weight + own + t > TOP) return 0;
    double kl = v > 1e10 ? exp(weight + l) * (direction == LOSS_REMOVE ? l - 1.0 : 1.0)
                         : exp(weight) * entropy_of(v, l, direction);
    if (fabs(t) > 0.5) {
        double plain = exp(weight + own), tilted = exp(weight + own + t);
        to->excess += tilted - plain * (1.0 + t) + c * kl;
        to->slope += loss * (tilted - plain) + kl;
        to->curve += loss * loss * tilted;
    } else {
        double plain = exp(weight + own);
        to->excess += plain * second_order_exp(t) + c * kl;
        to->slope += loss * plain * expm1(t) + kl;
        to->curve += loss * loss * plain * exp(t);
    }
    return 1;
}

loss_moments loss_moments_at(const sampled_step *kind, loss_direction direction, double c) {
    const loss_moments unknown = {(double)INFINITY, (double)INFINITY, (double)INFINITY};
    loss_window window = loss_window_at(kind, direction, c);
    double step = 2.0 * M_PI * loss_strip(kind->reach) / EXPONENT, count = (window.high - window.low) / step;
    if (!(count < MOST_NODES)) return unknown;
    sums all = {0};
    for (int n = 0; n <= (int)count; n++)
        if (!add_node(kind, direction, c, window.low + n * step, &all)) return unknown;
    double scale = step / sqrt(2.0 * M_PI), m = 1.0 + scale * all.excess;
    double mean = scale * all.slope / m;
    if (!(m > 0.0 && isfinite(m))) return unknown;
    return (loss_moments){log1p(scale * all.excess), mean, fmax(0.0, scale * all.curve / m - mean * mean)};
}

double loss_most(const sampled_step *kind, loss_direction direction) {
    return direction == LOSS_REMOVE ? (double)INFINITY : -log1p(-kind->rate);
}
