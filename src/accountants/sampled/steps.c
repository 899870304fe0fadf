#include "steps.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Rounds x > 0 up to a mantissa of so many bits; with bits 0 and less, to a power of 2 whose exponent is a multiple of
 * 2^-bits. */
static double rounded_up(double x, int bits) {
    int exponent;
    double mantissa = frexp(x, &exponent);
    if (bits > 0) return ldexp(ceil(ldexp(mantissa, bits)), exponent - bits);
    if (mantissa == 0.5) exponent--; /* x = 2^exponent exactly */
    double unit = ldexp(1.0, -bits);
    return fmin(DBL_MAX, ldexp(1.0, (int)(ceil(exponent / unit) * unit)));
}

/* One after the other loses bits down to FEW, the reach first, as one client's rate seldom varies; then both do. */
static sampled_step on_grid(const sampled_step *step, int dropped) {
    enum { FEW = 6, SPAN = SAMPLED_STEPS_BITS - FEW };
    if (dropped < 0) return *step;
    int of_reach = dropped < SPAN ? dropped : SPAN,
        of_rate = dropped - of_reach < SPAN ? dropped - of_reach : SPAN;
    int of_both = dropped - of_reach - of_rate;
    return (sampled_step){.rate = fmin(1.0, rounded_up(step->rate, SAMPLED_STEPS_BITS - of_rate - of_both)),
        .reach = rounded_up(step->reach, SAMPLED_STEPS_BITS - of_reach - of_both),
        .count = step->count};
}

static int compare(const sampled_step *a, const sampled_step *b) {
    if (a->rate != b->rate) return a->rate < b->rate ? -1 : 1;
    if (a->reach != b->reach) return a->reach < b->reach ? -1 : 1;
    return 0;
}

/* The kind's place in the list: where it stands, or where it belongs. */
static int place_of(const sampled_steps *steps, const sampled_step *step, int *found) {
    int low = 0, high = steps->used;
    while (low < high) {
        int middle = (low + high) / 2, order = compare(&steps->kind[middle], step);
        if (order == 0) {
            *found = 1;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = 0;
    return low;
}

/* There is room for one more kind. Returns 0 where the counts' sum is out of range. */
static int insert(sampled_steps *steps, const sampled_step *step) {
    int found, at = place_of(steps, step, &found);
    if (found) {
        if (step->count > INT64_MAX - steps->kind[at].count) return 0;
        steps->kind[at].count += step->count;
        return 1;
    }
    memmove(&steps->kind[at + 1], &steps->kind[at], (size_t)(steps->used - at) * sizeof *step);
    steps->kind[at] = *step;
    steps->used++;
    return 1;
}

static int most_kinds(const sampled_steps *steps) {
    return steps->many ? SAMPLED_STEPS_MANY : SAMPLED_STEPS_MOST;
}

static int make_room(sampled_steps *steps) {
    if (steps->used < steps->room) return 1;
    int most = most_kinds(steps), room = steps->room == 0         ? 2
                                         : steps->room < most / 2 ? 2 * steps->room
                                                                  : most + 1;
    sampled_step *kind = mfpg_resize(steps->kind, room, sizeof *kind);
    if (!kind) return 0;
    steps->kind = kind;
    steps->room = room;
    return 1;
}

/* Grids nest: what is rounded up on a fine one and then on a coarse one is rounded up on the coarse one. */
static int coarsen(sampled_steps *steps) {
    sampled_step old[SAMPLED_STEPS_MANY + 1];
    int count = steps->used;
    memcpy(old, steps->kind, (size_t)count * sizeof *old);
    steps->used = 0;
    steps->dropped_bits++;
    for (int i = 0; i < count; i++) {
        sampled_step step = on_grid(&old[i], steps->dropped_bits);
        if (!insert(steps, &step)) return 0;
    }
    return 1;
}

int sampled_steps_add(sampled_steps *steps, double rate, double reach, int64_t count) {
    sampled_step step = {.rate = rate, .reach = reach, .count = count};
    step = on_grid(&step, steps->dropped_bits);
    if (!make_room(steps) || !insert(steps, &step)) return 0;
    while (steps->used > most_kinds(steps))
        if (!coarsen(steps)) return 0;
    return 1;
}

int sampled_steps_copy(const sampled_steps *steps, sampled_steps *out) {
    *out = *steps;
    if (!steps->kind) return 1;
    out->kind = mfpg_alloc(steps->room, sizeof *out->kind);
    if (!out->kind) {
        *out = (sampled_steps){0};
        return 0;
    }
    memcpy(out->kind, steps->kind, (size_t)steps->used * sizeof *out->kind);
    return 1;
}

void sampled_steps_clear(sampled_steps *steps) {
    free(steps->kind);
    *steps = (sampled_steps){0};
}

int sampled_steps_cover(const sampled_steps *a, const sampled_steps *b) {
    if (b->used != a->used) return b->used == 0;
    for (int i = 0; i < b->used; i++) {
        const sampled_step *more = &a->kind[i], *less = &b->kind[i];
        if (!(less->rate <= more->rate && less->reach <= more->reach && less->count <= more->count)) return 0;
    }
    return 1;
}
