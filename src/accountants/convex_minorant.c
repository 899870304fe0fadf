/* Theory S2.3. Of the gap between two runs a_k is paid at step k, at the price (a_k/s_k)^2, and what is unpaid goes on
 * through the next map: z <- c z + Delta - a, with z 0 at the end. With w_k the product of all later c, everything is
 * measured at the end: the bill grows by w_k Delta_k (the "gap" of a step), and a payment is cheap if w_k^2 s_k^2 (its
 * "noise") is large. The cheapest payments follow the greatest convex minorant of the bill over the noise, which
 * pooling of neighbours finds: a step whose gap a unit of noise exceeds that of the next one leaves the excess to it. Only
 * positive numbers are added, so that nothing cancels. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "accounting.h"
#include "numerics/special/geometric.h"

#define SPAN 150.0 /* logarithms of w in one window: w^2 stays far inside the doubles */

enum { MOST_SINGLE = 65536 }; /* steps with c > 1 that are taken one by one */

typedef struct block {
    double gap, noise;
} block;

/* The runs of steps, and those that a window holds: `times` steps of run `first` and all later runs. */
typedef struct window {
    const mfpg_hidden_step *step;
    ptrdiff_t count, first;
    int64_t times;
    double *level; /* count: log w of the last step of each run */
    double top;    /* the largest log w in the window, which is scaled to 0 */
    double travel; /* sum of the steps' |log c|, which rounding is measured by */
    block *stack;  /* slopes ascend */
    ptrdiff_t depth, pushed;
    double paid; /* mu^2 of what was cut off */
    double unit; /* the largest noise, which lengths are measured in */
} window;

/* ---- the window: from the end backwards, as far as all w are comparable ---- */

/* How many last steps of a run with log w from `level` on, rising or falling by |slope|, stay within SPAN of the rest. */
static int64_t fitting(const mfpg_hidden_step *run, double level, double slope, double low, double high) {
    double below = level - (high - SPAN), above = low + SPAN - level, room = slope < 0.0 ? below : above;
    if (below < 0.0 || above < 0.0) return 0;
    if (slope == 0.0 || run->times == 1) return run->times;
    double steps = 1.0 + floor(room / fabs(slope));
    return steps < (double)run->times ? (int64_t)steps : run->times;
}

static void choose_window(window *w) {
    double level = 0.0, low = 0.0, high = 0.0;
    w->first = w->count;
    for (ptrdiff_t i = w->count - 1; i >= 0; i--) {
        const mfpg_hidden_step *run = &w->step[i];
        double slope = mfpg_log_ratio(run->contraction);
        int64_t steps = fitting(run, level, slope, low, high);
        if (steps == 0) break;
        w->first = i;
        w->times = steps;
        w->level[i] = level;
        double farthest = steps > 1 ? level + (double)(steps - 1) * slope : level;
        low = fmin(low, farthest);
        high = fmax(high, farthest);
        w->travel += fabs(farthest - level);
        if (steps < run->times || run->contraction == 0.0) break;
        level = farthest + slope;
        w->travel += fabs(slope);
    }
    w->top = high;
}

/* What is unpaid at the beginning of the window, if nothing was paid before. */
static double gap_before(const window *w, double start_gap) {
    double z = start_gap;
    for (ptrdiff_t i = 0; i <= w->first; i++) {
        const mfpg_hidden_step *run = &w->step[i];
        double n = (double)(i < w->first ? run->times : run->times - w->times);
        if (n == 0.0) break;
        double kept = z > 0.0 && run->contraction > 0.0 ? z * exp(n * mfpg_log_ratio(run->contraction)) : 0.0;
        z = kept + (run->shift > 0.0 ? run->shift * mfpg_geometric_sum(run->contraction, n) : 0.0);
    }
    return z;
}

static double squared_ratio(double a, double b) {
    if (a == 0.0) return 0.0;
    return b > 0.0 ? a / b * (a / b) : (double)INFINITY;
}

/* mu^2 of n steps that are paid in full, the first of them with the gap before it. */
static double in_full(const mfpg_hidden_step *run, double n, double gap) {
    if (n == 0.0) return 0.0;
    double carried = gap > 0.0 && run->contraction > 0.0 ? run->contraction * gap : 0.0;
    double rest = n > 1.0 ? (n - 1.0) * squared_ratio(run->shift, run->noise_sd) : 0.0;
    return squared_ratio(carried + run->shift, run->noise_sd) + rest;
}

static double paid_before(const window *w, double start_gap) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i <= w->first; i++) {
        const mfpg_hidden_step *run = &w->step[i];
        double n = (double)(i < w->first ? run->times : run->times - w->times);
        sum += in_full(run, n, i == 0 ? start_gap : 0.0);
    }
    return sum;
}

/* ---- pooling ---- */

static double slope_of(const block *b) {
    return b->noise > 0.0 ? b->gap / b->noise : (double)INFINITY;
}

/* The stack has room for every run and MOST_SINGLE steps. */
static void push(window *w, double gap, double noise) {
    block b = {gap, noise};
    w->pushed++;
    if (gap == 0.0 && noise == 0.0) return;
    while (w->depth > 0 && slope_of(&w->stack[w->depth - 1]) >= slope_of(&b)) {
        const block *before = &w->stack[--w->depth];
        b.gap += before->gap;
        b.noise += before->noise;
    }
    w->stack[w->depth++] = b;
}

static double price(window *w) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < w->depth; i++)
        if (w->stack[i].gap > 0.0) sum += slope_of(&w->stack[i]) * w->stack[i].gap;
    w->depth = 0;
    return sum;
}

/* Within a run with c <= 1 the bill over the noise is concave, so that the minorant touches it at the ends only. */
static void push_run(window *w, ptrdiff_t i, double n, double gap) {
    const mfpg_hidden_step *run = &w->step[i];
    double c = run->contraction, last = exp(w->level[i] - w->top), sd = run->noise_sd / w->unit;
    double owed = run->shift > 0.0 ? last * mfpg_geometric_sum(c, n) * (run->shift / w->unit) : 0.0;
    if (gap > 0.0 && c > 0.0) owed += last * exp(n * mfpg_log_ratio(c)) * (gap / w->unit);
    push(w, owed, last * last * mfpg_geometric_sum_squares(c, n) * (sd * sd));
}

/* With c > 1 it is convex: every step counts. */
static void push_singly(window *w, ptrdiff_t i, double n, double gap) {
    const mfpg_hidden_step *run = &w->step[i];
    double slope = mfpg_log_ratio(run->contraction), sd = run->noise_sd / w->unit;
    for (double left = n - 1.0; left >= 0.0; left--) {
        double own = exp(w->level[i] + left * slope - w->top);
        double carried = left == n - 1.0 && gap > 0.0 ? run->contraction * gap : 0.0;
        push(w, own * ((carried + run->shift) / w->unit), own * own * (sd * sd));
    }
}

/* mu^2 of a window that begins with that gap. */
static double solve(window *w, double gap) {
    ptrdiff_t left = MOST_SINGLE;
    w->depth = 0;
    w->paid = 0.0;
    for (ptrdiff_t i = w->first; i < w->count; i++) {
        double n = (double)(i == w->first ? w->times : w->step[i].times);
        double before = i == w->first ? gap : 0.0;
        if (w->step[i].contraction <= 1.0) {
            push_run(w, i, n, before);
        } else if (n <= (double)left) {
            left -= (ptrdiff_t)n;
            push_singly(w, i, n, before);
        } else { /* settle all that is owed so far, then these steps: dear, but never too little */
            w->paid += price(w) + in_full(&w->step[i], n, before);
        }
    }
    return w->paid + price(w);
}

/* Room for the runs, and for the steps that may be taken one by one. */
static int allocate(window *w) {
    ptrdiff_t singles = 0;
    for (ptrdiff_t i = 0; i < w->count && singles < MOST_SINGLE; i++)
        if (w->step[i].contraction > 1.0)
            singles += w->step[i].times < MOST_SINGLE ? (ptrdiff_t)w->step[i].times : MOST_SINGLE;
    w->level = mfpg_alloc(w->count, sizeof *w->level);
    w->stack = mfpg_alloc(w->count + singles + 1, sizeof *w->stack);
    return w->level && w->stack;
}

/* The root, raised by what rounding can have cost: the logarithms lose some units of their way, sums one unit a term. */
static double root_raised(const window *w, double square) {
    double units = 64.0 + 2.0 * (double)w->pushed + 16.0 * w->travel;
    return sqrt(square) * (1.0 + units * DBL_EPSILON);
}

/* mu of count >= 1 runs whose numbers were checked. 0 if memory runs out. */
static int minorant_mu(const mfpg_hidden_step *step, ptrdiff_t count, double start_gap, double *mu) {
    window w = {.step = step, .count = count};
    for (ptrdiff_t i = 0; i < count; i++) w.unit = fmax(w.unit, step[i].noise_sd);
    if (w.unit == 0.0) w.unit = 1.0;
    int enough = allocate(&w);
    *mu = (double)INFINITY;
    if (enough) {
        choose_window(&w);
        /* Steps before the window weigh nothing at the end (what they owe is carried on), or far more than all that
         * follows (they are paid in full): both are allowed, the smaller is taken. */
        double carried = gap_before(&w, start_gap), best = (double)INFINITY;
        if (isfinite(carried)) best = solve(&w, carried);
        if (w.first > 0 || w.times < step[0].times) {
            double full = paid_before(&w, start_gap);
            if (full < best) best = fmin(best, full + solve(&w, 0.0));
        }
        if (!isnan(best)) *mu = root_raised(&w, best);
    }
    free(w.level);
    free(w.stack);
    return enough;
}

/* ---- checks, and the case of a bounded set ---- */

static int size(double value) {
    return value >= 0.0 && isfinite(value);
}

static const char *fault_of(const mfpg_hidden_step *step) {
    if (!size(step->contraction)) return "contraction is not a finite number >= 0";
    if (!size(step->shift)) return "shift is not a finite number >= 0";
    if (!size(step->noise_sd)) return "noise_sd is not a finite number >= 0";
    if (step->times < 1 || step->times > INT64_C(1) << 53) return "times is not from 1 to 2^53";
    return NULL;
}

mfpg_status mfpg_hidden_mu(
    mfpg_context *ctx, const mfpg_hidden_step *step, ptrdiff_t count, double start_gap, double *mu) {
    *mu = (double)INFINITY;
    if (count < 0) return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%td steps of a hidden state", count);
    if (!size(start_gap))
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "the gap at the start is %g; it must be a finite number >= 0", start_gap);
    for (ptrdiff_t i = 0; i < count; i++) {
        const char *fault = fault_of(&step[i]);
        if (fault) return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "step %td of a hidden state: %s", i, fault);
    }
    if (count == 0) { /* the start itself is what is seen */
        *mu = start_gap == 0.0 ? 0.0 : (double)INFINITY;
        return MFPG_OK;
    }
    return minorant_mu(step, count, start_gap, mu) ? MFPG_OK : mfpg_fail_memory(ctx);
}

/* The last `times` of the steps, begun with the whole diameter between the runs. +INFINITY without memory. */
static double mu_of_last(const mfpg_hidden_step *step, double diameter, int64_t times) {
    mfpg_hidden_step last = *step;
    double mu = (double)INFINITY;
    last.times = times;
    minorant_mu(&last, 1, diameter, &mu);
    return mu;
}

/* Every number of last steps gives a bound; the best is looked for among powers of two, then between its neighbours. */
static double best_restart(const mfpg_hidden_step *step, double diameter) {
    int64_t best = 1;
    double least = mu_of_last(step, diameter, 1);
    for (int64_t n = 2; n <= step->times; n *= 2) {
        double mu = mu_of_last(step, diameter, n);
        if (mu >= least) continue;
        least = mu;
        best = n;
    }
    int64_t low = best / 2 > 0 ? best / 2 : 1, high = best <= step->times / 2 ? 2 * best : step->times;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        double here = mu_of_last(step, diameter, middle), next = mu_of_last(step, diameter, middle + 1);
        least = fmin(least, fmin(here, next));
        if (here <= next)
            high = middle;
        else
            low = middle + 1;
    }
    return least;
}

mfpg_status mfpg_hidden_bounded_mu(
    mfpg_context *ctx, const mfpg_hidden_step *step, double diameter, double *mu) {
    mfpg_status status = mfpg_hidden_mu(ctx, step, 1, 0.0, mu);
    if (status != MFPG_OK) return status;
    if (!(diameter > 0.0 && isfinite(diameter))) {
        *mu = (double)INFINITY;
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "the diameter is %g; it must be a positive finite number", diameter);
    }
    *mu = fmin(*mu, best_restart(step, diameter));
    return MFPG_OK;
}
