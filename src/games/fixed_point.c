#include "fixed_point.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { LISTED = 65536, DEPTH = 66 }; /* passings that are sorted at once; halvings of a range of doubles */

/* The brackets still to be looked at follow one another; each but the last was halved out of the one above it. */
typedef struct search {
    const mfpg_crowd *crowd;
    mfpg_landings *landings;
    mfpg_standing
        at[DEPTH +
            2]; /* [0]: at the lower end of the first bracket; [1]: scratch; then a stack of upper ends */
    double end[DEPTH + 2];
    int top; /* of the stack, the upper end of the first bracket */
    int passes;
    ptrdiff_t *counts; /* what at[] points into */
    mfpg_passing *passing;
} search;

/* All passings, or as many as are sorted at once. */
static ptrdiff_t listed(const mfpg_crowd *crowd) {
    ptrdiff_t clients = crowd->play->game->clients;
    if (crowd->steps == 0) return 0;
    return clients > LISTED / crowd->steps ? LISTED : clients * crowd->steps;
}

static mfpg_status begin(mfpg_context *ctx, const mfpg_crowd *crowd, mfpg_landings *landings, search *out) {
    *out = (search){.crowd = crowd, .landings = landings};
    if (crowd->steps > PTRDIFF_MAX / (DEPTH + 2)) return mfpg_fail_memory(ctx);
    out->counts = mfpg_alloc((DEPTH + 2) * crowd->steps, sizeof *out->counts);
    out->passing = mfpg_alloc(listed(crowd), sizeof *out->passing);
    if (!out->counts || !out->passing) return mfpg_fail_memory(ctx);
    for (int i = 0; i < DEPTH + 2; i++) out->at[i].below = out->counts + i * crowd->steps;
    return MFPG_OK;
}

static void stand(search *s, int slot, double where) {
    s->end[slot] = where;
    mfpg_crowd_stand(s->crowd, where, &s->at[slot]);
    s->passes++;
}

static void copy(search *s, int to, int from) {
    s->at[to].roots = s->at[from].roots;
    memcpy(s->at[to].below, s->at[from].below, (size_t)s->crowd->steps * sizeof *s->at[to].below);
}

static double mean_at(const search *s, int slot) {
    return s->crowd->mean(s->crowd, &s->at[slot], s->end[slot]);
}

/* On (low, high] the answers, mixed ones too, lie between the means at the two ends. */
static int can_hold_one(const search *s) {
    double low = s->end[0], high = s->end[s->top], a = mean_at(s, 0), b = mean_at(s, s->top);
    return fmin(a, b) <= high && fmax(a, b) >= low;
}

static ptrdiff_t passings(const search *s) {
    ptrdiff_t count = 0;
    for (ptrdiff_t i = 0; i < s->crowd->steps; i++) {
        ptrdiff_t moved = s->at[s->top].below[i] - s->at[0].below[i];
        count += moved < 0 ? -moved : moved;
    }
    return count;
}

/* The double in the middle of those between two positive ones; low itself where there is none. */
static double middle(double low, double high) {
    uint64_t a, b;
    double x;
    memcpy(&a, &low, sizeof a);
    memcpy(&b, &high, sizeof b);
    a += (b - a) / 2;
    memcpy(&x, &a, sizeof x);
    return x;
}

static void walk(search *s, ptrdiff_t count) {
    mfpg_bracket bracket = {s->end[0], s->end[s->top], &s->at[0], &s->at[s->top], NULL, count};
    if (count <= listed(s->crowd)) {
        if (count > 0) mfpg_crowd_list(s->crowd, bracket.low, bracket.high, count, s->passing);
        s->passes += count > 0;
        bracket.passing = s->passing;
    }
    copy(s, 1, 0);
    s->crowd->walk(s->crowd, &bracket, &s->at[1], s->landings);
}

/* The first bracket is done: the next one begins where it ends. */
static void advance(search *s) {
    s->end[0] = s->end[s->top];
    copy(s, 0, s->top);
    s->top--;
}

mfpg_status mfpg_fixed_points_find(mfpg_context *ctx, const mfpg_crowd *crowd, double low, double high,
    mfpg_landings *landings, int *passes) {
    search s;
    mfpg_status status = begin(ctx, crowd, landings, &s);
    if (status) goto done;
    stand(&s, 0, low);
    stand(&s, s.top = 2, high);
    while (s.top >= 2 && !landings->more && !(landings->one && landings->count)) {
        ptrdiff_t count = passings(&s);
        double half = middle(s.end[0], s.end[s.top]);
        if (!can_hold_one(&s)) {
            advance(&s);
        } else if (count <= listed(crowd) || half == s.end[0]) {
            walk(&s, count);
            advance(&s);
        } else {
            stand(&s, ++s.top, half);
        }
    }
    *passes = s.passes;
done:
    free(s.counts);
    free(s.passing);
    return status;
}

/* Where a bracket ends on a fixed point, the next one begins on it. */
void mfpg_landings_add(mfpg_landings *landings, mfpg_landing found) {
    const double same = 0x1p-44; /* what rounding of the means can tell apart */
    if (landings->count > 0) {
        const mfpg_landing *last = &landings->at[landings->count - 1];
        if (last->mixes == found.mixes && fabs(found.mean - last->mean) <= same * found.mean) return;
    }
    if (landings->one && landings->count) return;
    if (landings->count == MFPG_FIXED_POINTS_MOST)
        landings->more = 1;
    else
        landings->at[landings->count++] = found;
}

mfpg_status mfpg_field_fill(
    mfpg_context *ctx, const mfpg_landings *landings, mfpg_field *field, mfpg_report *report) {
    field->fixed_point = mfpg_alloc(landings->count, sizeof *field->fixed_point);
    if (!field->fixed_point) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < landings->count; i++)
        field->fixed_point[i] = (mfpg_fixed_point){landings->at[i].mean, landings->at[i].mixes};
    field->fixed_point_count = landings->count;
    field->fixed_point_more = landings->more;
    field->mean = landings->at[0].mean;
    report->converged = 1;
    report->unique = landings->count == 1 && !landings->more;
    report->selection = report->unique ? MFPG_CHOSEN_ONLY : MFPG_CHOSEN_SMALLEST;
    return MFPG_OK;
}
