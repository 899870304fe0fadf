#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "fixed_point.h"

/* If more clients tie at a jump, the first ones play the upper action, the last ones the lower one, and one
 * mixes. This gives the same mean at the same costs, without a list as long as the population. */
enum { MIXING_MOST = 1 << 20 };

/* The number of clients at action j is that below step j minus that below step j - 1. These are integers, so
 * the sum has one rounding for each action and does not depend on the order. */
static double total(const mfpg_steps *steps, const mfpg_step_counts *counts) {
    const mfpg_action_set *set = &steps->play->game->actions;
    mfpg_compensated sum = {0};
    for (ptrdiff_t j = 0; j < set->count; j++) {
        ptrdiff_t up_to = j < steps->count ? counts->below[j] : steps->play->game->clients;
        ptrdiff_t before = j > 0 ? counts->below[j - 1] : 0;
        mfpg_compensated_add(&sum, (double)(up_to - before) * set->grid[j]);
    }
    return mfpg_compensated_value(&sum);
}

static double mean(const mfpg_steps *steps, const mfpg_step_counts *counts, double s) {
    (void)s;
    return total(steps, counts) / (double)steps->play->game->clients;
}

/* Moves all clients that pass at the next position past it. Returns the first passage beyond. */
static ptrdiff_t pass(
    const mfpg_steps *steps, const mfpg_bracket *bracket, ptrdiff_t i, mfpg_step_counts *counts) {
    if (!bracket->passage) {
        for (ptrdiff_t j = 0; j < steps->count; j++) counts->below[j] = bracket->at_high->below[j];
        return bracket->count;
    }
    double at = bracket->passage[i].at;
    for (; i < bracket->count && bracket->passage[i].at == at; i++)
        counts->below[bracket->passage[i].step] += steps->slope > 0.0 ? 1 : -1;
    return i;
}

/* Raises s through the bracket: the flat parts, each with both its ends, and the jumps between them. The weight is that of
 * the upper action with which the mean of the clients that tie is s. */
static void walk(
    const mfpg_steps *steps, const mfpg_bracket *bracket, mfpg_step_counts *counts, mfpg_landings *landings) {
    double n = (double)steps->play->game->clients, edge = bracket->low;
    for (ptrdiff_t i = 0;;) {
        double before = total(steps, counts), next = bracket->high;
        if (i < bracket->count && bracket->passage) next = bracket->passage[i].at;
        if (before / n >= edge && before / n <= next)
            mfpg_landings_add(landings, (mfpg_landing){.mean = before / n, .edge = edge});
        if (i == bracket->count) return;
        i = pass(steps, bracket, i, counts);
        double after = total(steps, counts), low = fmin(before, after), high = fmax(before, after);
        if (low / n < next && next < high / n)
            mfpg_landings_add(landings,
                (mfpg_landing){
                    .mean = next, .edge = next, .mixes = 1, .weight = (n * next - low) / (high - low)});
        edge = next;
    }
}

/* Ratios up to `tie` are on the lower side of a step; those between `low` and `tie` tie. */
typedef struct side {
    double low, tie;
} side;

typedef struct placing {
    const mfpg_steps *steps;
    const side *sides; /* steps */
    double *action;
    ptrdiff_t *tied; /* one number a chunk */
} placing;

/* Returns the lower action of a client, and whether it ties there. */
static ptrdiff_t level_of(const placing *p, double ratio, int *ties) {
    ptrdiff_t level = 0;
    while (level < p->steps->count && ratio > p->sides[level].tie) level++;
    *ties = level < p->steps->count && ratio > p->sides[level].low;
    return level;
}

static void place_block(void *arg, ptrdiff_t chunk, ptrdiff_t first, ptrdiff_t count) {
    placing *p = arg;
    double ratio[MFPG_BLOCK];
    const double *grid = p->steps->play->game->actions.grid;
    p->steps->ratios(p->steps->play, first, count, ratio);
    for (ptrdiff_t i = 0; i < count; i++) {
        int ties;
        p->action[first + i] = grid[level_of(p, ratio[i], &ties)];
        p->tied[chunk] += ties;
    }
}

typedef struct tie {
    ptrdiff_t client; /* -1: none is left */
    double lower, upper;
} tie;

/* Returns the first client from k on that ties. */
static tie next_tie(const placing *p, ptrdiff_t k) {
    const double *grid = p->steps->play->game->actions.grid;
    for (; k < p->steps->play->game->clients; k++) {
        int ties;
        double ratio;
        if (p->tied[k / MFPG_CHUNK] == 0) {
            k += MFPG_CHUNK - 1 - k % MFPG_CHUNK; /* skip to the end of a chunk without ties */
            continue;
        }
        p->steps->ratios(p->steps->play, k, 1, &ratio);
        ptrdiff_t level = level_of(p, ratio, &ties);
        if (ties) return (tie){k, grid[level], grid[level + 1]};
    }
    return (tie){.client = -1};
}

static mfpg_status settle_ties(
    mfpg_context *ctx, const placing *p, ptrdiff_t tied, double weight, mfpg_field *field) {
    int all = tied <= MIXING_MOST; /* mix */
    mfpg_compensated jumps = {0};
    if (tied == 0) return MFPG_OK;
    field->mixing = mfpg_alloc(all ? tied : 1, sizeof *field->mixing);
    if (!field->mixing) return mfpg_fail_memory(ctx);
    for (tie t = next_tie(p, 0); t.client >= 0; t = next_tie(p, t.client + 1)) {
        if (all) field->mixing[field->mixing_count++] = (mfpg_mixing){t.client, t.upper, weight};
        mfpg_compensated_add(&jumps, t.upper - t.lower);
    }
    mfpg_compensated left = {
        .sum = weight * mfpg_compensated_value(&jumps)}; /* to be given to upper actions */
    for (tie t = next_tie(p, 0); t.client >= 0 && !all; t = next_tie(p, t.client + 1)) {
        double rest = mfpg_compensated_value(&left), jump = t.upper - t.lower;
        if (!(rest > 0.0)) break;
        if (rest < jump) {
            field->mixing[field->mixing_count++] = (mfpg_mixing){t.client, t.upper, rest / jump};
            break;
        }
        p->action[t.client] = t.upper;
        mfpg_compensated_add(&left, -jump);
    }
    return MFPG_OK;
}

/* A mixed landing is computed from both sides: a client that is lower on only one of them ties. */
static void set_sides(const mfpg_steps *steps, const mfpg_landing *at, side *sides) {
    for (ptrdiff_t i = 0; i < steps->count; i++) {
        double there = mfpg_step_limit(steps, i, at->edge), before = there;
        if (at->mixes) before = mfpg_step_limit(steps, i, nextafter(at->edge, -INFINITY));
        sides[i] = (side){fmin(there, before), fmax(there, before)};
    }
}

static mfpg_status place(
    mfpg_context *ctx, const mfpg_steps *steps, const mfpg_landing *at, double *action, mfpg_field *field) {
    side *sides = mfpg_alloc(steps->count, sizeof *sides);
    ptrdiff_t *tied = mfpg_alloc(steps->play->chunks.count, sizeof *tied), sum = 0;
    mfpg_status status = sides && tied ? MFPG_OK : mfpg_fail_memory(ctx);
    if (!status) {
        placing p = {steps, sides, action, tied};
        set_sides(steps, at, sides);
        mfpg_blocks_run(&steps->play->chunks, place_block, &p);
        for (ptrdiff_t c = 0; c < steps->play->chunks.count; c++) sum += tied[c];
        status = settle_ties(ctx, &p, sum, at->weight, field);
    }
    free(sides);
    free(tied);
    return status;
}

mfpg_status mfpg_fixed_point_grid(
    mfpg_context *ctx, mfpg_steps *steps, double *action, mfpg_field *field, mfpg_report *report) {
    const double margin = 0x1p-40; /* the mean of equal actions equals them up to rounding */
    const mfpg_action_set *set = &steps->play->game->actions;
    mfpg_landings *landings = mfpg_alloc(1, sizeof *landings);
    steps->count = set->count - 1;
    steps->product = mfpg_alloc(steps->count, sizeof *steps->product);
    mfpg_status status = landings && steps->product ? MFPG_OK : mfpg_fail_memory(ctx);
    if (!status) {
        for (ptrdiff_t i = 0; i < steps->count; i++) steps->product[i] = set->grid[i] * set->grid[i + 1];
        steps->mean = mean;
        steps->walk = walk;
        landings->one = steps->slope > 0.0;
        status = mfpg_fixed_points_find(ctx, steps, set->grid[0] * (1.0 - margin),
            set->grid[set->count - 1] * (1.0 + margin), landings, &report->iterations);
    }
    if (!status) status = mfpg_field_fill(ctx, landings, field, report);
    if (!status) status = place(ctx, steps, &landings->at[0], action, field);
    free(steps->product);
    free(landings);
    return status;
}
