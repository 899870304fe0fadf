/* Theory S2.3. Each step pays a_k of the gap between two runs, at the price (a_k/s_k)^2, and the unpaid rest
 * passes through the next map: z <- c z + Delta - a, with z 0 at the end. Let w_k be the product of all
 * later c. Measured at the end, step k increases the bill by w_k Delta_k (its "gap"), and a payment is cheap
 * if w_k^2 s_k^2 (its "noise") is large. The cheapest payments follow the greatest convex minorant of the
 * bill as a function of the noise. Pooling of neighbours computes it: if a step has more gap per unit of
 * noise than the next step, it passes the excess on to that step. Only positive numbers are added, so there
 * is no cancellation. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "accounting.h"
#include "numerics/special/geometric.h"

/* range of the logarithms of w in one window, so that w^2 stays far inside the range of doubles */
#define SPAN 150.0

enum { MOST_SINGLE = 65536 }; /* number of steps with c > 1 that are treated one by one */

typedef struct block {
    double gap, noise;
} block;

/* The runs of equal steps, and the part of them in a window: the last `times` steps of run `first` and all
 * later runs. */
typedef struct window {
    const mfpg_hidden_step *step;
    ptrdiff_t count, first;
    int64_t times;
    double *level; /* one per run: log w of its last step */
    double top;    /* the largest log w in the window; it is scaled to 0 */
    double travel; /* sum of |log c| over the steps, from which the rounding error is bounded */
    block *stack;  /* slopes ascend */
    ptrdiff_t depth, pushed;
    double paid; /* mu^2 of what was cut off */
    double unit; /* the largest noise, which is the unit of length */
} window;

/* ---- the window: it extends backwards from the end as long as all w are comparable ---- */

/* Returns how many of a run's last steps, whose log w starts at `level` and rises or falls by |slope| per
 * step, stay within SPAN of the rest. */
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

/* Returns the unpaid gap at the beginning of the window if nothing was paid before it. */
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

/* Returns mu^2 of n steps that are paid in full, the first one including the gap before it. */
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

/* Pushes a step; the stack has room for every run and MOST_SINGLE steps. */
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

/* Within a run with c <= 1 the bill is a concave function of the noise, so the minorant touches it only at
 * the ends. */
static void push_run(window *w, ptrdiff_t i, double n, double gap) {
    const mfpg_hidden_step *run = &w->step[i];
    double c = run->contraction, last = exp(w->level[i] - w->top), sd = run->noise_sd / w->unit;
    double owed = run->shift > 0.0 ? last * mfpg_geometric_sum(c, n) * (run->shift / w->unit) : 0.0;
    if (gap > 0.0 && c > 0.0) owed += last * exp(n * mfpg_log_ratio(c)) * (gap / w->unit);
    push(w, owed, last * last * mfpg_geometric_sum_squares(c, n) * (sd * sd));
}

/* With c > 1 the bill is convex, so every step matters. */
static void push_singly(window *w, ptrdiff_t i, double n, double gap) {
    const mfpg_hidden_step *run = &w->step[i];
    double slope = mfpg_log_ratio(run->contraction), sd = run->noise_sd / w->unit;
    for (double left = n - 1.0; left >= 0.0; left--) {
        double own = exp(w->level[i] + left * slope - w->top);
        double carried = left == n - 1.0 && gap > 0.0 ? run->contraction * gap : 0.0;
        push(w, own * ((carried + run->shift) / w->unit), own * own * (sd * sd));
    }
}

/* Returns mu^2 of a window that begins with that gap. */
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
            /* pay everything owed so far and then these steps in full: expensive, but never too little */
        } else {
            w->paid += price(w) + in_full(&w->step[i], n, before);
        }
    }
    return w->paid + price(w);
}

/* Allocates room for the runs and for the steps that may be treated one by one. */
static int allocate(window *w) {
    ptrdiff_t singles = 0;
    for (ptrdiff_t i = 0; i < w->count && singles < MOST_SINGLE; i++)
        if (w->step[i].contraction > 1.0)
            singles += w->step[i].times < MOST_SINGLE ? (ptrdiff_t)w->step[i].times : MOST_SINGLE;
    w->level = mfpg_alloc(w->count, sizeof *w->level);
    w->stack = mfpg_alloc(w->count + singles + 1, sizeof *w->stack);
    return w->level && w->stack;
}

/* Returns the root, increased by a bound on the rounding errors: the logarithms lose some units of their
 * total change, sums one unit per term. */
static double root_raised(const window *w, double square) {
    double units = 64.0 + 2.0 * (double)w->pushed + 16.0 * w->travel;
    return sqrt(square) * (1.0 + units * DBL_EPSILON);
}

/* Computes mu of count >= 1 runs whose numbers were checked. Returns 0 if memory runs out. */
static int minorant_mu(const mfpg_hidden_step *step, ptrdiff_t count, double start_gap, double *mu) {
    window w = {.step = step, .count = count};
    for (ptrdiff_t i = 0; i < count; i++) w.unit = fmax(w.unit, step[i].noise_sd);
    if (w.unit == 0.0) w.unit = 1.0;
    int enough = allocate(&w);
    *mu = (double)INFINITY;
    if (enough) {
        choose_window(&w);
        /* Steps before the window either have negligible weight at the end (their gap is carried on) or far
         * more weight than all that follow (they are paid in full). Both are valid bounds, and the smaller
         * one is used. */
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
    if (count == 0) { /* no step was made, so the start itself is seen */
        *mu = start_gap == 0.0 ? 0.0 : (double)INFINITY;
        return MFPG_OK;
    }
    return minorant_mu(step, count, start_gap, mu) ? MFPG_OK : mfpg_fail_memory(ctx);
}

/* Returns mu of the last `times` steps, which begin with the whole diameter between the runs; +INFINITY if
 * memory is exhausted. */
static double mu_of_last(const mfpg_hidden_step *step, double diameter, int64_t times) {
    mfpg_hidden_step last = *step;
    double mu = (double)INFINITY;
    last.times = times;
    minorant_mu(&last, 1, diameter, &mu);
    return mu;
}

/* Any number of last steps gives a valid bound. The best number is searched among powers of two and then
 * between the neighbours of the best power. */
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
