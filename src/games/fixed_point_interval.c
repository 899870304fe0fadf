#include "fixed_point.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "best_response.h"
#include "compensated.h"
#include "monotone_root.h"

/* At ambient noise `at` a client's answer reaches or leaves an end of the interval: the sum of the answers at the ends
 * changes by `ends`, the sum of sqrt R over the clients inside by `roots`. */
typedef struct event {
    double at, ends, roots;
    int inside;
} event;

/* Sum of all answers between two events: ends + roots/sqrt(1 + slope s). */
typedef struct piece {
    mfpg_compensated ends, roots;
    ptrdiff_t inside;
} piece;

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

static int by_position(const void *a, const void *b) {
    double x = ((const event *)a)->at, y = ((const event *)b)->at;
    return (x > y) - (x < y);
}

static void move(piece *at, double ends, double roots, int inside) {
    mfpg_compensated_add(&at->ends, ends);
    mfpg_compensated_add(&at->roots, roots);
    at->inside += inside;
}

/* Puts one client into its state at s = 0 and appends its later events: as s rises it enters the interval at one end
 * and leaves it at the other. */
static ptrdiff_t add_client(
    double ratio, double slope, const mfpg_action_set *set, piece *start, event *events) {
    double first_end = slope > 0.0 ? set->high : set->low, last_end = slope > 0.0 ? set->low : set->high;
    double root = sqrt(ratio);
    double enters =
        (ratio / (first_end * first_end) - 1.0) / slope; /* first_end 0 or infinite: before s = 0 */
    double leaves = (ratio / (last_end * last_end) - 1.0) / slope;
    int bounded_last = last_end > 0.0 && isfinite(last_end);
    int outside_first = first_end > 0.0 && isfinite(first_end) && enters > 0.0;
    ptrdiff_t count = 0;
    if (outside_first) {
        move(start, first_end, 0.0, 0);
        events[count++] = (event){.at = enters, .ends = -first_end, .roots = root, .inside = 1};
    } else if (bounded_last && leaves <= 0.0) {
        move(start, last_end, 0.0, 0);
        return 0;
    } else {
        move(start, 0.0, root, 1);
    }
    if (bounded_last) events[count++] = (event){.at = leaves, .ends = last_end, .roots = -root, .inside = -1};
    return count;
}

static excess excess_of(const piece *at, const mfpg_ratios *clients) {
    double n = (double)clients->count;
    return (excess){.ends = mfpg_compensated_value(&at->ends) / n,
        .roots = at->inside ? mfpg_compensated_value(&at->roots) / n : 0.0,
        .slope = clients->slope};
}

/* Whether the excess, positive at left, crosses 0 before right, and a point *end where it has. slope < 0 with roots: it
 * is convex, with its minimum where (roots |slope|/2) (1 + slope s)^(-3/2) = 1. Otherwise it falls: the answer to left
 * is an upper bound of the root, and a root before right needs no evaluation there that rounding could spoil. */
static int crosses(const excess *g, double left, double right, double *end) {
    int convex = g->slope < 0.0 && g->roots > 0.0;
    double least = convex ? (1.0 - pow(-0.5 * g->roots * g->slope, 2.0 / 3.0)) / -g->slope
                          : g->ends + answer(g->roots, g->slope, left);
    *end = fmax(left, fmin(least, right));
    return (!convex && least < right) || excess_at(*end, g) <= 0.0;
}

/* Where no excess can be positive beyond `right` any more, there is no second fixed point. */
static int rises_again(
    const mfpg_ratios *clients, piece at, const event *events, ptrdiff_t i, ptrdiff_t count) {
    for (;;) {
        excess g = excess_of(&at, clients);
        double right = i < count ? events[i].at : g.roots > 0.0 ? -1.0 / clients->slope : (double)INFINITY;
        if (excess_at(right, &g) > 0.0) return 1;
        if (i == count) return 0;
        for (; i < count && events[i].at == right; i++)
            move(&at, events[i].ends, events[i].roots, events[i].inside);
    }
}

/* Raises s from 0, where the excess is positive, through the events to the first s where it is not. */
static mfpg_status sweep(mfpg_context *ctx, const mfpg_ratios *clients, piece at, const event *events,
    ptrdiff_t count, double *mean, mfpg_report *report) {
    double left = 0.0;
    for (ptrdiff_t i = 0;;) {
        excess g = excess_of(&at, clients);
        double right = i < count ? events[i].at : (double)INFINITY, end;
        if (crosses(&g, left, right, &end)) {
            mfpg_monotone_result root = mfpg_monotone_root(excess_at, &g, left, end, 0);
            *mean = root.low;
            *report = (mfpg_report){.converged = root.converged, .iterations = root.iterations};
            report->unique = clients->slope > 0.0 || !rises_again(clients, at, events, i, count);
            return MFPG_OK;
        }
        if (i == count)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "no fixed point: with interaction below 0 the strengths raise each other past every bound; "
                "bound the "
                "actions");
        for (; i < count && events[i].at == right; i++)
            move(&at, events[i].ends, events[i].roots, events[i].inside);
        left = right;
    }
}

mfpg_status mfpg_fixed_point_interval(mfpg_context *ctx, const mfpg_ratios *clients,
    const mfpg_action_set *set, double *action, mfpg_field *field, mfpg_report *report) {
    if (clients->count > PTRDIFF_MAX / 2) return mfpg_fail_memory(ctx);
    event *events = mfpg_alloc(2 * clients->count, sizeof *events);
    if (!events) return mfpg_fail_memory(ctx);
    piece start = {0};
    ptrdiff_t count = 0;
    for (ptrdiff_t k = 0; k < clients->count; k++)
        count += add_client(clients->ratio[k], clients->slope, set, &start, events + count);
    qsort(events, (size_t)count, sizeof *events, by_position);
    mfpg_status status = sweep(ctx, clients, start, events, count, &field->mean, report);
    free(events);
    if (status) return status;
    for (ptrdiff_t k = 0; k < clients->count; k++)
        action[k] =
            mfpg_clamp(answer(sqrt(clients->ratio[k]), clients->slope, field->mean), set->low, set->high);
    return MFPG_OK;
}
