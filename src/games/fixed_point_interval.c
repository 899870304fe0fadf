#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "fixed_point.h"
#include "monotone_root.h"

enum { LOW, HIGH }; /* the two steps: leaving the lower end, reaching the upper end */

/* The mean of the answers to s, minus s, between two passages: ends + roots/sqrt(1 + slope s) - s. */
typedef struct excess {
    double ends, roots, slope; /* means, not sums */
} excess;

static double answer(double root, double slope, double s) {
    double price = 1.0 + slope * s;
    if (root == 0.0) return 0.0;
    return price > 0.0 ? root / sqrt(price) : (double)INFINITY;
}

static double excess_at(double s, const void *arg) {
    const excess *g = arg;
    return g->ends + answer(g->roots, g->slope, s) - s;
}

static excess excess_of(const mfpg_steps *steps, const mfpg_step_counts *counts, double roots) {
    const mfpg_action_set *set = &steps->play->game->actions;
    double n = (double)steps->play->game->clients;
    double at_low = (double)counts->below[LOW], at_high = n - (double)counts->below[HIGH];
    double ends = at_low > 0.0 ? at_low * set->low : 0.0;
    if (at_high > 0.0) ends += at_high * set->high;
    int inside = counts->below[HIGH] > counts->below[LOW];
    return (excess){.ends = ends / n, .roots = inside ? fmax(roots, 0.0) / n : 0.0, .slope = steps->slope};
}

static double mean(const mfpg_steps *steps, const mfpg_step_counts *counts, double s) {
    excess g = excess_of(steps, counts, counts->roots);
    return g.ends + answer(g.roots, g.slope, s);
}

/* Follows the excess from left to right. Two neighbouring pieces may round it to either side of 0 where they
 * meet; that is a root too. */
typedef struct trace {
    mfpg_landings *landings;
    double last; /* the excess at its end */
} trace;

static void add(trace *t, double root) {
    mfpg_landings_add(t->landings, (mfpg_landing){.mean = root, .edge = root});
}

static void step_to(trace *t, double at, double value) {
    if (value == 0.0 || (t->last > 0.0 && value < 0.0) || (t->last < 0.0 && value > 0.0)) add(t, at);
    t->last = value;
}

/* Follows a monotone part of g. */
static void follow(trace *t, const excess *g, double left, double right) {
    double at_right = excess_at(right, g);
    step_to(t, left, excess_at(left, g));
    int rising = t->last < 0.0;
    if ((rising && at_right > 0.0) || (t->last > 0.0 && at_right < 0.0)) {
        add(t, mfpg_monotone_root(excess_at, g, left, right, rising).low);
        t->last = at_right;
    }
    step_to(t, right, at_right);
}

/* slope > 0: g falls. slope < 0 with roots: g is convex, with its least value at the s with
 * (roots |slope|/2) (1 + slope s)^(-3/2) = 1. */
static void follow_piece(trace *t, const excess *g, double left, double right) {
    double turn = left;
    if (g->slope < 0.0 && g->roots > 0.0) {
        double least = (1.0 - pow(-0.5 * g->roots * g->slope, 2.0 / 3.0)) / -g->slope;
        turn = fmax(left, fmin(least, right));
    }
    follow(t, g, left, turn);
    follow(t, g, turn, right);
}

static void walk(
    const mfpg_steps *steps, const mfpg_bracket *bracket, mfpg_step_counts *counts, mfpg_landings *landings) {
    mfpg_compensated roots = {.sum = counts->roots};
    double left = bracket->low, end = mean(steps, bracket->at_high, bracket->high) - bracket->high;
    trace t = {landings, mean(steps, bracket->at_low, left) - left};
    /* If more passages than can be listed are between two neighbouring doubles, there is nothing to follow. */
    for (ptrdiff_t i = 0; bracket->passage;) {
        double right = i < bracket->count ? bracket->passage[i].at : bracket->high;
        excess g = excess_of(steps, counts, mfpg_compensated_value(&roots));
        follow_piece(&t, &g, left, right);
        if (i == bracket->count) break;
        for (; i < bracket->count && bracket->passage[i].at == right; i++) {
            int falls = steps->slope > 0.0, step = (int)bracket->passage[i].step;
            counts->below[step] += falls ? 1 : -1;
            /* falls: below HIGH is inside, below LOW no longer; rises: the other way round */
            mfpg_compensated_add(
                &roots, (step == HIGH) == falls ? bracket->passage[i].root : -bracket->passage[i].root);
        }
        left = right;
    }
    step_to(&t, bracket->high, end);
}

typedef struct answering {
    const mfpg_steps *steps;
    double mean, *action;
} answering;

static void answer_block(void *arg, ptrdiff_t chunk, ptrdiff_t first, ptrdiff_t count) {
    const answering *a = arg;
    const mfpg_action_set *set = &a->steps->play->game->actions;
    double ratio[MFPG_BLOCK], price = 1.0 + a->steps->slope * a->mean;
    (void)chunk;
    a->steps->ratios(a->steps->play, first, count, ratio);
    for (ptrdiff_t i = 0; i < count; i++) {
        double free_answer = price > 0.0 ? sqrt(ratio[i]) / sqrt(price) : (double)INFINITY;
        a->action[first + i] = mfpg_clamp(free_answer, set->low, set->high);
    }
}

/* Finds a range that contains every fixed point. The answer to no ambient noise bounds them from one side.
 * The other bound is the answer to that if answers fall, and otherwise the end of the interval or of
 * positive prices. */
static mfpg_status find_range(mfpg_context *ctx, const mfpg_steps *steps, double *low, double *high) {
    const double margin = 0x1p-40; /* rounding of sums */
    ptrdiff_t below[2];
    mfpg_step_counts counts = {.below = below};
    mfpg_steps_count(steps, 0.0, &counts);
    double first = mean(steps, &counts, 0.0);
    if (steps->slope > 0.0) {
        *high = first * (1.0 + margin);
        mfpg_steps_count(steps, *high, &counts);
        *low = mean(steps, &counts, *high) * (1.0 - margin);
    } else {
        *low = first * (1.0 - margin);
        *high = isfinite(steps->play->game->actions.high) ? steps->play->game->actions.high * (1.0 + margin)
                                                          : -1.0 / steps->slope;
    }
    if (*low > 0.0 && isfinite(*high)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
        "the mean of the best responses leaves the range of numbers; bound the actions or rescale the game");
}

mfpg_status mfpg_fixed_point_interval(
    mfpg_context *ctx, mfpg_steps *steps, double *action, mfpg_field *field, mfpg_report *report) {
    const mfpg_action_set *set = &steps->play->game->actions;
    double product[] = {set->low * set->low, set->high * set->high};
    mfpg_landings *landings = mfpg_alloc(1, sizeof *landings);
    if (!landings) return mfpg_fail_memory(ctx);
    steps->count = 2;
    steps->product = product;
    steps->mean = mean;
    steps->walk = walk;
    double low, high;
    mfpg_status status = find_range(ctx, steps, &low, &high);
    landings->one = steps->slope > 0.0;
    if (!status && low <= high)
        status = mfpg_fixed_points_find(ctx, steps, low, high, landings, &report->iterations);
    if (!status && !landings->count)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "no fixed point: with interaction below 0 the strengths raise each other past every bound; bound "
            "the actions");
    if (!status) status = mfpg_field_fill(ctx, landings, field, report);
    if (!status) {
        answering a = {steps, field->mean, action};
        mfpg_blocks_run(&steps->play->chunks, answer_block, &a);
    }
    free(landings);
    return status;
}
