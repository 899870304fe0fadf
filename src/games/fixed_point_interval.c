#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "best_response.h"
#include "compensated.h"
#include "fixed_point.h"
#include "monotone_root.h"

enum { LOW, HIGH }; /* the steps: leaving the lower end, reaching the upper end */

/* Mean of the answers to s less s, between two passings: ends + roots/sqrt(1 + slope s) - s. */
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

static excess excess_of(const mfpg_crowd *crowd, const mfpg_standing *standing, double roots) {
    const mfpg_action_set *set = &crowd->play->game->actions;
    double n = (double)crowd->play->game->clients;
    double at_low = (double)standing->below[LOW], at_high = n - (double)standing->below[HIGH];
    double ends = at_low > 0.0 ? at_low * set->low : 0.0;
    if (at_high > 0.0) ends += at_high * set->high;
    int inside = standing->below[HIGH] > standing->below[LOW];
    return (excess){.ends = ends / n, .roots = inside ? fmax(roots, 0.0) / n : 0.0, .slope = crowd->slope};
}

static double mean(const mfpg_crowd *crowd, const mfpg_standing *standing, double s) {
    excess g = excess_of(crowd, standing, standing->roots);
    return g.ends + answer(g.roots, g.slope, s);
}

/* The excess followed from left to right. Two neighbouring pieces may round it to either side of 0 where they meet: that is
 * a root too. */
typedef struct trace {
    mfpg_landings *landings;
    double last; /* the excess where the trace stands */
} trace;

static void add(trace *t, double root) {
    mfpg_landings_add(t->landings, (mfpg_landing){.mean = root, .edge = root});
}

static void step_to(trace *t, double at, double value) {
    if (value == 0.0 || (t->last > 0.0 && value < 0.0) || (t->last < 0.0 && value > 0.0)) add(t, at);
    t->last = value;
}

/* Along a part of g that falls or rises. */
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

/* slope > 0: g falls. slope < 0 with roots: g is convex, with its least value where
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
    const mfpg_crowd *crowd, const mfpg_bracket *bracket, mfpg_standing *standing, mfpg_landings *landings) {
    mfpg_compensated roots = {.sum = standing->roots};
    double left = bracket->low, end = mean(crowd, bracket->at_high, bracket->high) - bracket->high;
    trace t = {landings, mean(crowd, bracket->at_low, left) - left};
    /* More passings than can be listed lie between two neighbouring doubles: nothing is to be followed. */
    for (ptrdiff_t i = 0; bracket->passing;) {
        double right = i < bracket->count ? bracket->passing[i].at : bracket->high;
        excess g = excess_of(crowd, standing, mfpg_compensated_value(&roots));
        follow_piece(&t, &g, left, right);
        if (i == bracket->count) break;
        for (; i < bracket->count && bracket->passing[i].at == right; i++) {
            int falls = crowd->slope > 0.0, step = (int)bracket->passing[i].step;
            standing->below[step] += falls ? 1 : -1;
            /* falls: below HIGH is inside, below LOW no longer; rises: the other way round */
            mfpg_compensated_add(
                &roots, (step == HIGH) == falls ? bracket->passing[i].root : -bracket->passing[i].root);
        }
        left = right;
    }
    step_to(&t, bracket->high, end);
}

typedef struct answering {
    const mfpg_crowd *crowd;
    double mean, *action;
} answering;

static void answer_chunk(void *arg, ptrdiff_t index, ptrdiff_t first, ptrdiff_t count) {
    const answering *a = arg;
    const mfpg_action_set *set = &a->crowd->play->game->actions;
    double ratio[MFPG_BLOCK], price = 1.0 + a->crowd->slope * a->mean;
    (void)index;
    for (ptrdiff_t i = 0; i < count; i += MFPG_BLOCK) {
        ptrdiff_t n = count - i < MFPG_BLOCK ? count - i : MFPG_BLOCK;
        a->crowd->ratios(a->crowd->play, first + i, n, ratio);
        for (ptrdiff_t j = 0; j < n; j++) {
            double free_answer = price > 0.0 ? sqrt(ratio[j]) / sqrt(price) : (double)INFINITY;
            a->action[first + i + j] = mfpg_clamp(free_answer, set->low, set->high);
        }
    }
}

/* The range that holds every fixed point: the answer to no ambient noise bounds them from one side; from the other, where
 * they fall, the answer to that, and where they rise the end of the interval or of positive prices. */
static mfpg_status find_range(mfpg_context *ctx, const mfpg_crowd *crowd, double *low, double *high) {
    const double margin = 0x1p-40; /* rounding of sums */
    ptrdiff_t below[2];
    mfpg_standing standing = {.below = below};
    mfpg_crowd_stand(crowd, 0.0, &standing);
    double first = mean(crowd, &standing, 0.0);
    if (crowd->slope > 0.0) {
        *high = first * (1.0 + margin);
        mfpg_crowd_stand(crowd, *high, &standing);
        *low = mean(crowd, &standing, *high) * (1.0 - margin);
    } else {
        *low = first * (1.0 - margin);
        *high = isfinite(crowd->play->game->actions.high) ? crowd->play->game->actions.high * (1.0 + margin)
                                                          : -1.0 / crowd->slope;
    }
    if (*low > 0.0 && isfinite(*high)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
        "the mean of the best responses leaves the range of numbers; bound the actions or rescale the game");
}

static mfpg_status search(mfpg_context *ctx, const mfpg_crowd *crowd, mfpg_landings *landings, int *passes) {
    double low, high;
    mfpg_status status = find_range(ctx, crowd, &low, &high);
    landings->one = crowd->slope > 0.0;
    if (!status && low <= high) status = mfpg_fixed_points_find(ctx, crowd, low, high, landings, passes);
    if (status || landings->count) return status;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "no fixed point: with interaction below 0 the strengths raise each other past every bound; bound the "
        "actions");
}

mfpg_status mfpg_fixed_point_interval(
    mfpg_context *ctx, mfpg_crowd *crowd, double *action, mfpg_field *field, mfpg_report *report) {
    const mfpg_action_set *set = &crowd->play->game->actions;
    double product[] = {set->low * set->low, set->high * set->high};
    mfpg_landings *landings = mfpg_alloc(1, sizeof *landings);
    if (!landings) return mfpg_fail_memory(ctx);
    crowd->steps = 2;
    crowd->product = product;
    crowd->mean = mean;
    crowd->walk = walk;
    mfpg_status status = search(ctx, crowd, landings, &report->iterations);
    if (!status) status = mfpg_field_fill(ctx, landings, field, report);
    if (!status) {
        answering a = {crowd, field->mean, action};
        mfpg_chunks_run(ctx, crowd->play->game->clients, answer_chunk, &a);
    }
    free(landings);
    return status;
}
