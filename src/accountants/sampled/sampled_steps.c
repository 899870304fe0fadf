#include "sampled_steps.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ---- kinds ---- */

/* Rounds x > 0 up to a mantissa of that many bits; with bits 0 or less, to a power of 2 whose exponent is a
 * multiple of 2^-bits. */
static double rounded_up(double x, int bits) {
    int exponent;
    double mantissa = frexp(x, &exponent);
    if (bits > 0) return ldexp(ceil(ldexp(mantissa, bits)), exponent - bits);
    if (mantissa == 0.5) exponent--; /* x = 2^exponent exactly */
    double unit = ldexp(1.0, -bits);
    return fmin(DBL_MAX, ldexp(1.0, (int)(ceil(exponent / unit) * unit)));
}

/* The two numbers lose bits alternately down to FEW, the reach first, because one client's rate seldom
 * varies; then both lose bits together. */
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

/* Returns the position in the list that the kind has or would have. */
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

/* Inserts a kind; the list must have room for it. Returns 0 if the counts' sum is out of range. */
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
    int room = steps->room ? 2 * steps->room : 2, most = most_kinds(steps);
    if (room > most) room = most + 1;
    sampled_step *kind = mfpg_resize(steps->kind, room, sizeof *kind);
    if (!kind) return 0;
    steps->kind = kind;
    steps->room = room;
    return 1;
}

/* Grids are nested: rounding up on a fine grid and then on a coarse one equals rounding up on the coarse
 * one. */
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

/* ---- states ---- */

mfpg_status sampled_sum_start(mfpg_context *ctx, void *state, const mfpg_accountant_options *options) {
    (void)ctx;
    sampled_sum *sum = state;
    sum->adjacency = options->promise.adjacency;
    sum->credits = options->promise.unit == MFPG_UNIT_EXAMPLE;
    return MFPG_OK;
}

void sampled_sum_finish(void *state) {
    sampled_sum *sum = state;
    free(sum->orders);
    sampled_steps_clear(&sum->sampled);
}

int sampled_sum_copy(const void *state, void *out) {
    const sampled_sum *from = state;
    sampled_sum *to = out;
    *to = *from;
    if (from->orders) {
        to->orders = mfpg_alloc(from->order_count, sizeof *to->orders);
        if (!to->orders) return 0;
        memcpy(to->orders, from->orders, (size_t)from->order_count * sizeof *to->orders);
    }
    if (sampled_steps_copy(&from->sampled, &to->sampled)) return 1;
    free(to->orders);
    return 0;
}

/* Adds count steps of one noise. */
static int add_steps(sampled_sum *sum, double rate, double sensitivity, double sd, int64_t count) {
    double reach = divide_up(sensitivity, sd);
    if (count == 0 || reach == 0.0) return 1;
    if (rate < 1.0 && isfinite(reach)) return sampled_steps_add(&sum->sampled, rate, reach, count);
    square_sum_add_times(&sum->unsampled, reach, count);
    return 1;
}

mfpg_status sampled_sum_record(mfpg_context *ctx, void *state, const mfpg_release *release, int64_t times) {
    sampled_sum *sum = state;
    double rate = sum->credits ? release->sampling_rate : 1.0, s = release->sensitivity;
    if (rate == 0.0) return MFPG_OK; /* no example takes part, so only noise is released */
    if (times > INT64_MAX / release->steps)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "one record adds more than 2^63 steps");
    if (rate != release->sampling_rate || release->last_sd != release->noise_sd) sum->loose = 1;
    double mu = mfpg_release_mu(release, MFPG_ADJACENCY_ZERO_OUT);
    square_sum_add_times(&sum->uncredited, mu, times);
    if (rate == 1.0) { /* to the bit what gdp counts */
        square_sum_add_times(&sum->unsampled, mu, times);
        return MFPG_OK;
    }
    int64_t early = release->last_sd == release->noise_sd ? release->steps : release->steps - 1;
    if (add_steps(sum, rate, s, release->noise_sd, early * times) &&
        add_steps(sum, rate, s, release->last_sd, (release->steps - early) * times))
        return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_MEMORY, "there is no room for another kind of step");
}

double sampled_sum_plain_mu(const sampled_sum *sum, mfpg_adjacency adjacency) {
    double root = square_sum_root_up(&sum->uncredited);
    return adjacency == MFPG_ADJACENCY_REPLACE ? 2.0 * root : root;
}

double sampled_sum_mu(const void *state) {
    const sampled_sum *sum = state;
    return sum->sampled.used > 0 ? (double)INFINITY : sampled_sum_plain_mu(sum, sum->adjacency);
}

int sampled_sum_split(const sampled_sum *sum, square_sum *plain) {
    const sampled_step *kind = sum->sampled.kind;
    int used = sum->sampled.used;
    *plain = sum->unsampled;
    for (; used > 0 && kind[used - 1].rate >= 1.0; used--)
        square_sum_add_times(plain, kind[used - 1].reach, kind[used - 1].count);
    return used;
}

int sampled_sum_coarse(const sampled_sum *sum, mfpg_adjacency adjacency, sampled_sum *out) {
    double plain = square_sum_root_up(&sum->unsampled);
    *out = (sampled_sum){.adjacency = adjacency, .credits = 1};
    square_sum_add(&out->unsampled, plain);
    square_sum_add(&out->uncredited, plain);
    for (int i = 0; i < sum->sampled.used; i++) {
        const sampled_step *kind = &sum->sampled.kind[i];
        square_sum_add_times(&out->uncredited, kind->reach, kind->count);
        if (!add_steps(out, kind->rate, kind->reach, 1.0, kind->count)) return 0;
    }
    return 1;
}

int sampled_sum_covers(const void *state, const void *less) {
    const sampled_sum *a = state, *b = less;
    return a->unsampled.high >= b->unsampled.high && a->uncredited.high >= b->uncredited.high &&
           sampled_steps_cover(&a->sampled, &b->sampled);
}
