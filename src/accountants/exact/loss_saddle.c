/* The composed privacy loss on the real line: its moments, the saddle of its curve, Chernoff's bound, and
 * the vertical line along which its transform is inverted. */
#include "loss.h"

#include <math.h>

/* ---- moments of one step ---- */

/* Shares of the strip's width in one step of the rule: its error is about e^-EXPONENT. */
#define EXPONENT 26.0
#define REACHED  12.0 /* phi falls by e^-72 over this many standard deviations */
#define TOP      600.0
enum { MOST_NODES = 4096 };

/* Returns q e^x / (1 + v), the derivative of l in x. */
static double share_of(const sampled_step *kind, double u) {
    double x = kind->reach * u - 0.5 * kind->reach * kind->reach;
    return kind->rate / (kind->rate + (1.0 - kind->rate) * exp(-x));
}

/* Returns a point that is not below the last peak of phi (1+v)^power |v|^2. The derivative of log phi(u) +
 * power l is -u + power w share(u), that of log |v|^2 is at most 3.2 w + 1/2 on the strip, and share grows
 * with u, so that iterating the map below decreases to its largest fixed point. */
static double last_peak(const sampled_step *kind, double power) {
    double own = 3.2 * kind->reach + 0.5, u = power * kind->reach + own;
    for (int i = 0; i < 60; i++) {
        double next = power * kind->reach * share_of(kind, u) + own;
        if (!(next < u - 0.05)) return next;
        u = next;
    }
    return u;
}

/* Returns a point that is not above the peak of phi (1+v)^-power, which is at u = -power w share(u). */
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

typedef struct sums {
    double excess, slope, curve; /* M - 1 and its derivatives */
} sums;

/* Adds one node. The part of E[e^(c L)] - 1 that is of first order in the loss L is removed, as in the
 * complex sum. */
static int add_node(const sampled_step *kind, loss_direction direction, double c, double u, sums *to) {
    double v, l = sampled_loss(kind->rate, kind->reach, u, &v);
    double own = direction == LOSS_REMOVE ? l : 0.0, loss = direction == LOSS_REMOVE ? l : -l, t = c * loss;
    double weight = -0.5 * u * u;
    if (weight + own + t > TOP) return 0;
    double kl = v > 1e10 ? exp(weight + l) * (direction == LOSS_REMOVE ? l - 1.0 : 1.0)
                         : exp(weight) * loss_entropy(v, l, direction);
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

/* ---- the sum ---- */

static loss_moments moments_of(const loss_sum *sum, double c) {
    loss_moments all = {0.5 * sum->gauss * c * (c + 1.0), sum->gauss * (c + 0.5), sum->gauss};
    for (int b = 0; b < sum->kinds; b++) {
        loss_moments own = loss_moments_at(&sum->kind[b], sum->direction, c);
        double count = (double)sum->kind[b].count;
        all.log_m += count * own.log_m;
        all.mean += count * own.mean;
        all.variance += count * own.variance;
    }
    return all;
}

/* Returns an upper bound of log M; the moments are within 1e-9 of M - 1, and log_m is as accurate if M is
 * near 1. */
static double log_m_above(double log_m) {
    return log_m * (1.0 + 1e-7) + 1e-13;
}

double loss_sum_most(const loss_sum *sum) {
    if (sum->gauss > 0.0 || (sum->kinds > 0 && sum->direction == LOSS_REMOVE)) return (double)INFINITY;
    double most = 0.0;
    for (int b = 0; b < sum->kinds; b++) most -= (double)sum->kind[b].count * log1p(-sum->kind[b].rate);
    return most * (1.0 + 1e-12);
}

/* Returns c log c - (1+c) log(1+c) < 0, the logarithm of the largest value of (1 - e^-x)_+ e^(-cx). */
static double kernel(double c) {
    return -c * log1p(1.0 / c) - log1p(c);
}

/* Solves delta(e) <= M(c) e^(-ce) e^kernel for e. */
static double chernoff_epsilon(const loss_moments *at, double c, double log_delta) {
    return fmax(0.0, (log_m_above(at->log_m) + kernel(c) * (1.0 - 1e-12) - log_delta) / c) * (1.0 + 1e-12);
}

/* Returns the curve's point that belongs to the saddle c, accurate to a few per cent. */
static loss_saddle point_of(const loss_moments *at, double c) {
    double epsilon = at->mean - 1.0 / c - 1.0 / (1.0 + c);
    double bend = at->variance + 1.0 / (c * c) + 1.0 / ((1.0 + c) * (1.0 + c));
    return (loss_saddle){.c = c,
        .epsilon = epsilon,
        .log_delta = at->log_m - c * epsilon - log(c) - log1p(c) - 0.5 * log(2.0 * M_PI * bend)};
}

/* Searches in log c; epsilon and log delta are monotone in c. */
loss_saddle loss_saddle_for(const loss_sum *sum, int for_epsilon, double target) {
    double low = -30.0, high = 30.0, at = 0.0, step = 2.0;
    loss_saddle best = {.chernoff = (double)INFINITY}, found = {0};
    int bracketed_low = 0, bracketed_high = 0;
    for (int i = 0; i < 80; i++) {
        double c = exp(at);
        loss_moments moments = moments_of(sum, c);
        int beyond = !(moments.log_m < (double)INFINITY);
        if (!beyond) {
            found = point_of(&moments, c);
            double bound = for_epsilon ? log_m_above(moments.log_m) - c * target * (1.0 - 1e-15) + kernel(c)
                                       : chernoff_epsilon(&moments, c, target);
            double chernoff = fmin(best.chernoff, bound);
            best = found;
            best.chernoff = chernoff;
            beyond = for_epsilon ? found.epsilon > target : found.log_delta < target;
            double miss = for_epsilon ? fabs(found.epsilon - target) : fabs(found.log_delta - target);
            if (miss < (for_epsilon ? 0.01 * (fabs(target) + 1.0 / c) : 0.05)) break;
        }
        if (beyond) {
            high = at;
            bracketed_high = 1;
        } else {
            low = at;
            bracketed_low = 1;
        }
        if (bracketed_low && bracketed_high) {
            if (high - low < 0.01) break;
            at = 0.5 * (low + high);
        } else {
            at += beyond ? -step : step;
            step *= 1.5;
            if (fabs(at) > 45.0) break;
        }
    }
    return best;
}

/* ---- the line ---- */

enum { GRID = LOSS_LINE_RIGHT + 20 };

/* Returns the longest step for which the aliases stay below log_allowed: those with m < 0 limit it to cap,
 * those with m > 0 (with the best f) further. */
static double step_for(const double *log_m, double c, double epsilon, double log_allowed, double cap) {
    double upper = 0.0, f = 1.0;
    for (int i = 1; i <= LOSS_LINE_RIGHT; i++) {
        f *= LOSS_LINE_RATIO;
        double room = log_m[i] - f * c * epsilon - log_allowed;
        if (room < (double)INFINITY) upper = fmax(upper, (f - 1.0) * 2.0 * M_PI * c / fmax(room, 1e-3));
    }
    return fmin(cap, upper);
}

loss_line loss_line_for(
    const loss_sum *sum, double saddle, double epsilon, double log_delta, double accuracy) {
    double c[GRID], log_m[GRID], log_allowed = log_delta + log(0.25 * accuracy);
    double lowest = (double)INFINITY;
    loss_line best = {0};
    for (int i = 0; i < GRID; i++) {
        c[i] = saddle * pow(LOSS_LINE_RATIO, LOSS_LINE_RIGHT - i);
        loss_moments at = moments_of(sum, c[i]);
        log_m[i] = log_m_above(at.log_m);
        if (i < LOSS_LINE_RIGHT || !(log_m[i] < (double)INFINITY)) continue;
        loss_line line = {.c = c[i], .accuracy = accuracy};
        for (int k = 0; k <= LOSS_LINE_RIGHT; k++) line.log_m[k] = log_m[i - k];
        double cap = 2.0 * M_PI * c[i] / -log_allowed;
        line.h = step_for(line.log_m, c[i], epsilon, log_allowed, cap);
        /* The cost: digits lost beyond the dozen that extended precision has in reserve, and the number of
         * terms. */
        double lost = log_m[i] - c[i] * epsilon - log_delta,
               price = 0.5 * fmax(0.0, lost - 20.0) - log(line.h);
        if (price < lowest) {
            lowest = price;
            best = line;
        }
        if (line.h > 0.9 * cap) break; /* further to the left the cap falls with c */
    }
    return best;
}
