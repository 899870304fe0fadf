/* The cumulant K(s) = sum of T log E[e^(s loss)] by the trapezoid rule, and the choice of the grid from it. */
#include "pld.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "numerics/special/normal.h"

#define EXPONENT_MOST 500.0 /* of e^(s loss) for one step */
#define LOSS_MOST     600.0 /* sampled steps with larger losses are not put on a grid */
#define REACH_MOST    60.0  /* sampled steps with less noise than this are not either */
/* the tilted mass outside the window is about e^-14 at either end, or less if that is much */
#define WINDOW 14.0
/* the error that discretisation may add to epsilon, relative to min(epsilon, 1) */
#define ACCURACY       2e-4
#define DELTA_ACCURACY 2e-3   /* the same relative to delta, if delta is requested */
#define CUT_HIGH       1e-7   /* probability, relative to delta, of a loss above the range that is kept */
#define CUT_LOW        1e-9   /* probability of a loss below the range that is kept; such a loss is raised */
#define SMALLEST_DELTA 1e-240 /* densities are still normal numbers there */

enum {
    POINTS_MOST = 1 << 22,
    POINTS_LEAST = 1 << 8,
    POINTS_OF_ALL_KINDS = 1 << 24,
    CELLS_MOST = 1 << 22,
    POINTS_FOR_KINKS = 1 << 16
};

/* One kind of step: losses and their probabilities, starting at `first`; without them, a Gaussian step. */
typedef struct table {
    sampled_step kind;
    ptrdiff_t first, count;
    double farthest; /* the largest |loss| */
    double range;    /* of the losses */
} table;

typedef struct guide {
    pld_side side;
    int kinds;
    table table[PLD_KINDS];
    double *loss, *weight;
    double tilt_most;
} guide;

int pld_kinds(const pld_mechanism *mechanism) {
    return mechanism->used + (mechanism->mu > 0.0);
}

sampled_step pld_kind(const pld_mechanism *mechanism, pld_side side, int at) {
    sampled_step kind = {.rate = 1.0, .reach = mechanism->mu, .count = 1};
    if (at < mechanism->used) kind = mechanism->sampled[at];
    if (side == PLD_REPLACE) kind.reach *= 2.0;
    return kind;
}

/* ---- the range of u that is kept ---- */

/* Returns the x with Phi(-x) = p, or 0 from p = 1/2 on. */
static double far(double p) {
    return p < 0.5 ? -mfpg_normal_quantile(p) : 0.0;
}

static void cut(
    const sampled_step *kind, pld_side side, double high_mass, double low_mass, double *low, double *high) {
    double count = (double)kind->count, q = kind->rate, w = kind->reach;
    if (side == PLD_ADD && q < 1.0) {
        *low = -far(high_mass / count);
        *high = far(low_mass / count);
        return;
    }
    double apart = q < 1.0 ? far(0.5 * high_mass / count) : -(double)INFINITY;
    *high = fmax(apart, w + far(0.5 * high_mass / (count * q)));
    double below = q < 1.0 ? -far(0.5 * low_mass / (count * (1.0 - q))) : (double)INFINITY;
    *low = fmin(below, w - far(0.5 * low_mass / (count * q)));
    if (side == PLD_REPLACE && q < 1.0) *low = 0.5 * w;
}

static int cut_all(guide *g, double delta, pld_setting *out) {
    double share = delta * CUT_HIGH / g->kinds;
    for (int i = 0; i < g->kinds; i++) {
        table *t = &g->table[i];
        cut(&t->kind, g->side, share, CUT_LOW / g->kinds, &out->kind[i].low, &out->kind[i].high);
        double v, first = sampled_loss(t->kind.rate, t->kind.reach, out->kind[i].low, &v),
                  last = sampled_loss(t->kind.rate, t->kind.reach, out->kind[i].high, &v);
        t->farthest = fmax(fabs(first), fabs(last));
        t->range = (last - first) * (g->side == PLD_REPLACE && t->kind.rate < 1.0 ? 2.0 : 1.0);
        if (t->kind.rate < 1.0 && !(t->farthest < LOSS_MOST && t->kind.reach < REACH_MOST)) return 0;
    }
    return 1;
}

/* ---- the cumulant ---- */

/* Tilted integrands may rise steeply up to the end where u is cut off, so the ends are nodes and nodes are
 * close together. */
static ptrdiff_t nodes_for(const table *t, double low, double high) {
    return 2 + (ptrdiff_t)((high - low) / 0.0625 * fmax(1.0, 0.5 * t->kind.reach));
}

static void fill(const guide *g, table *t, double low, double high) {
    double q = t->kind.rate, w = t->kind.reach, du = (high - low) / (double)(t->count - 1), sum = 0.0;
    for (ptrdiff_t j = 0; j < t->count; j++) {
        ptrdiff_t at = t->first + j;
        double v, u = low + du * (double)j, loss = sampled_loss(q, w, u, &v);
        double part = j == 0 || j == t->count - 1 ? 0.5 * du : du;
        double absent = part * mfpg_normal_density(u);
        double present = (1.0 - q) * absent + q * part * mfpg_normal_density(u - w);
        g->loss[at] = g->side == PLD_ADD ? -loss : loss;
        g->weight[at] = g->side == PLD_ADD ? absent : present;
        sum += g->weight[at];
        if (g->side != PLD_REPLACE) continue;
        g->loss[at + t->count] = -loss; /* the mirror image; at the loss 0 nothing changes */
        g->weight[at + t->count] = absent;
    }
    if (g->side == PLD_REPLACE) t->count *= 2;
    if (g->side == PLD_REPLACE) return;
    for (ptrdiff_t j = 0; j < t->count; j++) g->weight[t->first + j] /= sum;
}

/* 1, or -1 without memory. */
static int tabulate(guide *g, const pld_setting *cuts) {
    ptrdiff_t total = 0;
    g->tilt_most = 1e9;
    for (int i = 0; i < g->kinds; i++) {
        table *t = &g->table[i];
        t->first = total;
        t->count = 0;
        if (t->kind.rate == 1.0) continue;
        t->count = nodes_for(t, cuts->kind[i].low, cuts->kind[i].high);
        total += (g->side == PLD_REPLACE ? 2 : 1) * t->count;
        g->tilt_most = fmin(g->tilt_most, EXPONENT_MOST / t->farthest);
    }
    free(g->loss);
    free(g->weight);
    g->loss = mfpg_alloc(total, sizeof *g->loss);
    g->weight = mfpg_alloc(total, sizeof *g->weight);
    if (!g->loss || !g->weight) return -1;
    for (int i = 0; i < g->kinds; i++)
        if (g->table[i].count > 0) fill(g, &g->table[i], cuts->kind[i].low, cuts->kind[i].high);
    return 1;
}

static double log_moment(const guide *g, const table *t, double s, double *slope) {
    if (t->kind.rate == 1.0) {
        double square = t->kind.reach * t->kind.reach;
        *slope = (s + 0.5) * square;
        return 0.5 * s * (s + 1.0) * square;
    }
    double excess = 0.0, first = 0.0;
    for (ptrdiff_t j = t->first; j < t->first + t->count; j++) {
        double rise = expm1(s * g->loss[j]), part = g->weight[j] * g->loss[j];
        excess += g->weight[j] * rise;
        first += part + part * rise;
    }
    *slope = first / (1.0 + excess);
    return log1p(excess);
}

static double cumulant(const guide *g, double s, double *slope) {
    double sum = 0.0, one;
    *slope = 0.0;
    for (int i = 0; i < g->kinds; i++) {
        double count = (double)g->table[i].kind.count;
        sum += count * log_moment(g, &g->table[i], s, &one);
        *slope += count * one;
    }
    return sum;
}

/* ---- the saddle ---- */

/* Returns s log s - (1+s) log(1+s), the logarithm of the largest (1 - e^-x) e^(-s x). */
static double entropy_of(double s) {
    return -s * log1p(1.0 / s) - log1p(s);
}

/* Increases with s; its root is the best s of Chernoff's bound, which is K(s) - s epsilon + s log s - (1+s)
 * log(1+s) for log delta. */
static double condition(const guide *g, pld_aim aim, double s) {
    double slope, value = cumulant(g, s, &slope);
    if (aim.delta > 0.0 && aim.epsilon == 0.0) return s * slope - value + log(aim.delta) + log1p(s);
    return slope - aim.epsilon - log1p(1.0 / s);
}

static double saddle(const guide *g, pld_aim aim) {
    double low = log(1e-12), high = log(g->tilt_most);
    for (int i = 0; i < 14; i++) {
        double middle = 0.5 * (low + high);
        if (condition(g, aim, exp(middle)) < 0.0)
            low = middle;
        else
            high = middle;
    }
    return exp(0.5 * (low + high));
}

/* Chooses the tilt, and estimates the number that is not given. */
static void aim_at(const guide *g, pld_aim aim, pld_setting *out) {
    double slope, s = saddle(g, aim), k = cumulant(g, s, &slope), epsilon = aim.epsilon;
    if (aim.delta > 0.0 && epsilon == 0.0) epsilon = (k - log(aim.delta) + entropy_of(s)) / s;
    if (epsilon < 0.0) { /* what matters is delta at 0 */
        s = saddle(g, (pld_aim){0});
        k = cumulant(g, s, &slope);
        epsilon = aim.delta = 0.0;
    }
    double bound = k - s * epsilon + entropy_of(s);
    out->tilt = s;
    out->epsilon = epsilon;
    out->delta = aim.delta > 0.0 ? aim.delta : fmin(0.5, exp(bound));
    out->loose = aim.delta > 0.0 ? fmax(0.0, bound - log(aim.delta)) : 0.0;
}

/* ---- window and grid ---- */

/* Returns the best t > 0 of Chernoff's bound for the tilted loss above (sign 1) or below (-1) an end, and
 * that end. For the upper end t is limited so that (s + t) h stays below 1/10, because the grid's own
 * moments must be close to those of the loss. */
static double tail(const guide *g, double s, double sign, double window, double *best) {
    double unused, middle = cumulant(g, s, &unused), slope;
    double most = sign > 0.0 ? fmin(fmax(g->tilt_most - s, 0.1 * s), 2.0 * (1.0 + s)) : g->tilt_most + s;
    double low = log(1e-9 * most), high = log(most);
    for (int i = 0; i < 12; i++) {
        double at = 0.5 * (low + high), t = exp(at);
        double rise = cumulant(g, s + sign * t, &slope) - middle;
        if (sign * t * slope - rise < window)
            low = at;
        else
            high = at;
    }
    *best = exp(high);
    return sign * (cumulant(g, s + sign * *best, &slope) - middle + window) / *best;
}

static double few_bits_up(double h) {
    int exponent;
    double mantissa = frexp(h, &exponent);
    return ldexp(ceil(ldexp(mantissa, 20)), exponent - 20);
}

/* Returns the largest of the steps' mean |loss|, as a mean of roots, so that rare large losses have little
 * influence. */
static double typical_loss(const guide *g) {
    double largest = 0.0;
    for (int i = 0; i < g->kinds; i++) {
        const table *t = &g->table[i];
        double mean = t->kind.rate == 1.0 ? sqrt(t->kind.reach) : 0.0;
        for (ptrdiff_t j = t->first; j < t->first + t->count; j++)
            mean += g->weight[j] * sqrt(fabs(g->loss[j]));
        largest = fmax(largest, mean * mean);
    }
    return largest;
}

/* Discretisation increases the variance of a step by h^2/6 and K by s (s+1) h^2/12 per step, and so epsilon
 * by (s+1) h^2/12. With few steps the accuracy of the curve itself matters: it falls like e^(-s epsilon) or
 * a few times as fast, and has kinks where a step's loss ends. */
static double wanted_step(const guide *g, pld_aim aim, const pld_setting *set, double span) {
    double steps = 0.0, room = DELTA_ACCURACY / set->tilt, few = 0.025 / (1.0 + set->tilt);
    for (int i = 0; i < g->kinds; i++) steps += (double)g->table[i].kind.count;
    if (aim.delta > 0.0 && aim.epsilon == 0.0 && set->epsilon > 0.0)
        room = ACCURACY * fmin(1.0, set->epsilon);
    else
        few = fmin(few, fmax(0.05 * typical_loss(g), span / POINTS_FOR_KINKS));
    return fmin(sqrt(12.0 * room / ((set->tilt + 1.0) * steps)), few);
}

static int choose_grid(const guide *g, pld_aim aim, pld_setting *set) {
    double downward, cells = 0.0, around = fmin(1.0, 2.0 / set->tilt),
                     high = tail(g, set->tilt, 1.0, WINDOW + set->loose, &set->more_tilt);
    set->low = fmin(tail(g, set->tilt, -1.0, WINDOW, &downward), set->epsilon - around);
    double span = fmax(high, set->epsilon + around) - set->low;
    double h = wanted_step(g, aim, set, span);
    ptrdiff_t most = POINTS_MOST;
    while (most > POINTS_OF_ALL_KINDS / g->kinds) most /= 2;
    set->n = POINTS_LEAST;
    while (set->n < most && !(span <= h * (double)(set->n - 8))) set->n *= 2;
    for (int i = 0; i < g->kinds; i++) cells += g->table[i].range;
    set->h = few_bits_up(fmax(span / (double)(set->n - 8), cells / CELLS_MOST));
    return set->h > 0.0 && set->h < 1.0 && isfinite(set->low);
}

static int choose(guide *g, pld_aim aim, pld_setting *out) {
    double delta = aim.delta > 0.0 ? aim.delta : 1e-12;
    for (int pass = 0; pass < 4;
         pass++) { /* the range that is kept depends on delta, which may not be known yet */
        if (!(delta >= SMALLEST_DELTA) || !cut_all(g, delta, out)) return 0;
        if (tabulate(g, out) < 0) return -1;
        aim_at(g, aim, out);
        if (out->delta >= 0.1 * delta && out->delta <= 10.0 * delta) break;
        delta = out->delta;
    }
    if (!choose_grid(g, aim, out)) return 0;
    for (int i = 0; i < g->kinds; i++) {
        double slope;
        out->kind[i].log_moment = log_moment(g, &g->table[i], out->tilt, &slope);
        out->kind[i].log_moment_further = log_moment(g, &g->table[i], out->tilt + out->more_tilt, &slope);
        if (!isfinite(out->kind[i].log_moment + out->kind[i].log_moment_further)) return 0;
    }
    return 1;
}

int pld_set_up(const pld_mechanism *mechanism, pld_side side, pld_aim aim, pld_setting *out) {
    guide *g = mfpg_alloc(1, sizeof *g);
    if (!g) return -1;
    g->side = side;
    g->kinds = pld_kinds(mechanism);
    for (int i = 0; i < g->kinds; i++) g->table[i].kind = pld_kind(mechanism, side, i);
    int done = g->kinds > 0 ? choose(g, aim, out) : 0;
    free(g->loss);
    free(g->weight);
    free(g);
    return done;
}
