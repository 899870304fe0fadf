#include "roots.h"

#include <math.h>

static int narrow_enough(double low, double high, double tolerance) {
    if (high - low <= tolerance * fmax(fabs(low), fabs(high))) return 1;
    double middle = low + 0.5 * (high - low);
    return middle <= low || middle >= high;
}

/* The false position, kept strictly inside the bracket. */
static double interpolated(double low, double f_low, double high, double f_high) {
    double at = low - f_low * (high - low) / (f_high - f_low);
    double middle = low + 0.5 * (high - low);
    return at > low && at < high ? at : middle;
}

mfpg_root mfpg_root_bracket(
    mfpg_scalar_function f, const void *arg, double low, double high, double tolerance) {
    double f_low = f(low, arg), f_high = f(high, arg);
    mfpg_root root = {.low = low, .high = high};
    if (f_low == 0.0 || f_high == 0.0) {
        root.low = root.high = f_low == 0.0 ? low : high;
        root.converged = 1;
        return root;
    }
    root.residual = fmin(fabs(f_low), fabs(f_high));
    if (!((f_low < 0.0) != (f_high < 0.0)) || isnan(f_low) || isnan(f_high)) return root;
    int stalled = 0;
    while (!narrow_enough(root.low, root.high, tolerance)) {
        double width = root.high - root.low, middle = root.low + 0.5 * width;
        double at = stalled || isinf(f_low) || isinf(f_high)
                        ? middle
                        : interpolated(root.low, f_low, root.high, f_high);
        double value = f(at, arg);
        root.iterations++;
        if (isnan(value)) return root;
        if (value == 0.0) {
            root.low = root.high = at;
            root.residual = 0.0;
            root.converged = 1;
            return root;
        }
        if ((value < 0.0) == (f_low < 0.0)) {
            root.low = at;
            f_low = value;
        } else {
            root.high = at;
            f_high = value;
        }
        stalled = root.high - root.low > 0.5 * width; /* then the next step halves */
    }
    root.residual = fmin(fabs(f_low), fabs(f_high));
    root.converged = 1;
    return root;
}

/* ---- crossings ---- */

/* One search: the two ends with the values there, NaN if an end is not known yet. */
typedef struct search {
    mfpg_scalar_function f;
    const void *arg;
    const mfpg_crossing_options *options;
    double inside, f_inside, outside, f_outside;
    int evaluations;
} search;

/* Evaluates f and moves the end with the same sign; returns 0 for NaN. */
static int look(search *s, double at) {
    double value = s->f(at, s->arg);
    s->evaluations++;
    if (isnan(value)) return 0;
    if (value <= 0.0) {
        s->inside = at;
        s->f_inside = value;
    } else {
        s->outside = at;
        s->f_outside = value;
    }
    return 1;
}

/* ---- walking to the other sign ---- */

#define SHORTEST_STEP 1e-9 /* of the first one: positions beyond are taken to be out of range for good */

static void walk(search *s) {
    const mfpg_crossing_options *o = s->options;
    double direction = isnan(s->inside) ? 1.0 : -1.0, step = o->first_step, from = o->start;
    double shortest = o->whole ? 1.0 : SHORTEST_STEP * o->first_step;
    while (step >= shortest && (isnan(s->inside) || isnan(s->outside))) {
        double next = fmin(fmax(from + direction * step, o->low), o->high);
        if (o->whole) next = rint(next);
        if (next == from) return; /* the end of the range */
        if (look(s, next)) {
            from = next;
            step *= o->growth;
        } else {
            step *= 0.5;
        }
    }
}

/* ---- closing in ---- */

static int is_closed(const search *s, double width) {
    double middle = s->outside + 0.5 * width;
    if (s->options->whole) return width <= 1.0;
    return width <= s->options->tolerance || middle <= s->outside || middle >= s->inside;
}

/* The false position, put past the root as seen from the nearer end: if it is right the bracket then shrinks to what
 * lies between them. The weights lower the value at an end that has stayed (Illinois), so that it moves too. */
static double beyond_false_position(const search *s, double width, double outer_weight, double inner_weight) {
    double above = s->f_outside * outer_weight, below = -s->f_inside * inner_weight;
    double at = s->outside + width * (above / (above + below));
    double past = fmax(0.4 * s->options->tolerance, 4e-16 * (fabs(s->inside) + fabs(s->outside)));
    if (s->options->whole) past = 0.5;
    return at - s->outside < 0.5 * width ? at + past : at - past;
}

static double choose(const search *s, double width, int halve, double outer_weight, double inner_weight) {
    double middle = s->outside + 0.5 * width, at = middle;
    if (!halve && isfinite(s->f_inside) && isfinite(s->f_outside))
        at = beyond_false_position(s, width, outer_weight, inner_weight);
    if (s->options->whole) at = fmin(fmax(rint(at), s->outside + 1.0), s->inside - 1.0);
    return at > s->outside && at < s->inside ? at : middle;
}

static int close_in(search *s) {
    double outer_weight = 1.0, inner_weight = 1.0, before[2] = {INFINITY, INFINITY}; /* the last widths */
    int last = 0;
    for (double width = s->inside - s->outside; !is_closed(s, width); width = s->inside - s->outside) {
        double outside = s->outside;
        if (!look(s, choose(s, width, width > 0.5 * before[1], outer_weight, inner_weight))) return 0;
        int moved = s->outside != outside ? 1 : -1;
        inner_weight = moved == last && moved > 0 ? 0.5 * inner_weight : 1.0;
        outer_weight = moved == last && moved < 0 ? 0.5 * outer_weight : 1.0;
        last = moved;
        before[1] = before[0];
        before[0] = width;
    }
    return 1;
}

mfpg_crossing mfpg_crossing_find(
    mfpg_scalar_function f, const void *arg, const mfpg_crossing_options *options) {
    search s = {.f = f, .arg = arg, .options = options, .inside = NAN, .outside = NAN};
    mfpg_crossing_kind kind = MFPG_CROSSING_FOUND;
    if (!look(&s, options->start))
        kind = MFPG_CROSSING_UNDEFINED;
    else
        walk(&s);
    if (kind == MFPG_CROSSING_FOUND && isnan(s.outside))
        kind = MFPG_CROSSING_ALWAYS;
    else if (kind == MFPG_CROSSING_FOUND && isnan(s.inside))
        kind = MFPG_CROSSING_NEVER;
    else if (kind == MFPG_CROSSING_FOUND && !close_in(&s))
        kind = MFPG_CROSSING_UNDEFINED;
    return (mfpg_crossing){
        .kind = kind, .inside = s.inside, .outside = s.outside, .evaluations = s.evaluations};
}
