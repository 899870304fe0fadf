#include "renyi.h"

#include <float.h>
#include <math.h>

/* ---- at one order ---- */

/* Each formula has a handful of terms, each correct to a few units of DBL_EPSILON, so 8 DBL_EPSILON times
 * the sum of their sizes exceeds all rounding errors together. */
#define ROUNDINGS (8.0 * DBL_EPSILON)

static int out_of_range(double rdp, double order, double delta) {
    return !(rdp >= 0.0 && order > 1.0 && delta >= 0.0 && delta < 1.0);
}

/* Returns the smaller of sqrt(KL/2) (Pinsker) and sqrt(1 - exp(-KL)) (Bretagnolle, Huber), where KL <= rdp. */
double mfpg_rdp_distance(double rdp) {
    return fmin(1.0, fmin(sqrt(0.5 * rdp), sqrt(-expm1(-rdp))) * (1.0 + ROUNDINGS));
}

/* Canonne, Kamath, Steinke 2020, proposition 12. */
double mfpg_rdp_epsilon(double rdp, double order, double delta) {
    if (out_of_range(rdp, order, delta)) return (double)INFINITY;
    if (mfpg_rdp_distance(rdp) <= delta) return 0.0;
    if (isinf(order)) return rdp; /* pure differential privacy */
    if (delta == 0.0) return (double)INFINITY;
    double gain = log1p(-1.0 / order), odds = (log(delta) + log(order)) / (order - 1.0);
    double size = rdp - gain + (fabs(log(delta)) + log(order)) / (order - 1.0);
    return fmax(0.0, rdp + gain - odds + ROUNDINGS * size);
}

/* Mironov 2017, proposition 3. */
double mfpg_rdp_epsilon_classic(double rdp, double order, double delta) {
    if (out_of_range(rdp, order, delta)) return (double)INFINITY;
    if (isinf(order)) return rdp;
    return (rdp - log(delta) / (order - 1.0)) * (1.0 + ROUNDINGS);
}

double mfpg_rdp_log_delta(double rdp, double order, double epsilon) {
    double c = order - 1.0, gain = order * log1p(-1.0 / order), size = c * (rdp + epsilon) - gain;
    return c * (rdp - epsilon) + gain - log(c) + ROUNDINGS * (size + fabs(log(c)));
}

double mfpg_rdp_delta(double rdp, double order, double epsilon) {
    if (!(rdp >= 0.0 && order > 1.0 && epsilon >= 0.0)) return (double)INFINITY;
    double least = mfpg_rdp_distance(rdp);
    if (isinf(order)) return rdp <= epsilon ? 0.0 : least;
    if (isinf(epsilon)) return 0.0;
    if (isinf(rdp)) return 1.0;
    double tail = exp(mfpg_rdp_log_delta(rdp, order, epsilon)) * (1.0 + ROUNDINGS) + DBL_TRUE_MIN;
    return fmin(least, tail);
}

/* ---- at the best order ---- */

enum { OCTAVE = 128, FIRST = -16 * OCTAVE, LAST = 15 * OCTAVE, BEGIN = 3 * OCTAVE };

typedef struct search {
    double (*bound)(double order, const void *arg);
    const void *arg;
    double enough, best;
    int at;
} search;

static double order_at(int place) {
    return 1.0 + exp2((double)place / OCTAVE);
}

/* Returns 1 if the place is better than the best so far, which it then replaces. */
static int try(search *s, int place) {
    if (place < FIRST || place > LAST) return 0;
    double value = s->bound(order_at(place), s->arg);
    if (!(value < s->best)) return 0;
    s->best = value;
    s->at = place;
    return 1;
}

/* Goes downhill in steps of an octave, then of half an octave, and so on down to neighbours. */
double mfpg_order_search(double (*bound)(double order, const void *arg), const void *arg, double enough) {
    search s = {.bound = bound, .arg = arg, .enough = enough, .best = (double)INFINITY, .at = BEGIN};
    try(&s, BEGIN);
    for (int step = OCTAVE; step >= 1 && s.best > enough; step /= 2) {
        int direction = try(&s, s.at - step) ? -1 : 1;
        while (s.best > enough && try(&s, s.at + direction * step) && step == OCTAVE) continue;
    }
    return s.best;
}
