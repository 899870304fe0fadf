#include "loss_saddle.h"

#include <math.h>

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

/* log M from above; the moments are within 1e-9 of M - 1, and log_m near it where M is near 1. */
static double log_m_above(double log_m) {
    return log_m * (1.0 + 1e-7) + 1e-13;
}

/* The largest loss there can be; +INFINITY for removing. */
double loss_sum_most(const loss_sum *sum) {
    if (sum->gauss > 0.0) return (double)INFINITY;
    double most = 0.0;
    for (int b = 0; b < sum->kinds; b++)
        most += (double)sum->kind[b].count * loss_most(&sum->kind[b], sum->direction);
    return most * (1.0 + 1e-12);
}

/* c log c - (1+c) log(1+c) < 0: the largest value of (1 - e^-x)_+ e^(-cx). */
static double kernel(double c) {
    return -c * log1p(1.0 / c) - log1p(c);
}

/* delta(e) <= M(c) e^(-ce) e^kernel, solved for e. */
static double chernoff_epsilon(const loss_moments *at, double c, double log_delta) {
    return fmax(0.0, (log_m_above(at->log_m) + kernel(c) * (1.0 - 1e-12) - log_delta) / c) * (1.0 + 1e-12);
}

/* The curve's point that belongs to the saddle c, to a few per cent. */
static loss_saddle point_of(const loss_moments *at, double c) {
    double epsilon = at->mean - 1.0 / c - 1.0 / (1.0 + c);
    double bend = at->variance + 1.0 / (c * c) + 1.0 / ((1.0 + c) * (1.0 + c));
    return (loss_saddle){.c = c,
        .epsilon = epsilon,
        .log_delta = at->log_m - c * epsilon - log(c) - log1p(c) - 0.5 * log(2.0 * M_PI * bend)};
}

/* Finds the saddle whose epsilon, or log delta, is the one asked for: both are monotone in c. The search is in log c. */
static loss_saddle find_saddle(const loss_sum *sum, int for_epsilon, double target) {
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

loss_saddle loss_saddle_for_delta(const loss_sum *sum, double log_delta) {
    return find_saddle(sum, 0, log_delta);
}

loss_saddle loss_saddle_for_epsilon(const loss_sum *sum, double epsilon) {
    return find_saddle(sum, 1, epsilon);
}

/* ---- the line ---- */

enum { GRID = LOSS_LINE_RIGHT + 20 };

/* How long a step may be so that the aliases stay below log_allowed: m < 0 allow cap, m > 0 (with the best f) the rest. */
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
        /* The price: digits lost beyond the dozen that extended precision has to spare, and the number of terms. */
        double lost = log_m[i] - c[i] * epsilon - log_delta,
               price = 0.5 * fmax(0.0, lost - 20.0) - log(line.h);
        if (price < lowest) {
            lowest = price;
            best = line;
        }
        if (line.h > 0.9 * cap) break; /* further left the cap falls with c */
    }
    return best;
}
