#include "fixed_point.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "compensated.h"

/* A client steps between two neighbouring actions of the grid where the ambient noise passes `at`. */
typedef struct step {
    double at, jump; /* jump > 0: the distance of the two actions */
} step;

/* Where the sorted pass ended. */
typedef struct landing {
    double mean;         /* s */
    double edge;         /* flat part: the steps at or below it have been taken; jump: the steps below it */
    double upper_weight; /* of the clients that tie at a jump */
    int mixes, found, unique, iterations;
} landing;

/* Client k prefers action i + 1 to action i iff R_k/(1 + slope s) > e_i e_{i+1}, so it is indifferent here. */
static double indifference(const mfpg_ratios *clients, const double *grid, ptrdiff_t k, ptrdiff_t i) {
    return (clients->ratio[k] / (grid[i] * grid[i + 1]) - 1.0) / clients->slope;
}

static int by_position(const void *a, const void *b) {
    double x = ((const step *)a)->at, y = ((const step *)b)->at;
    return (x > y) - (x < y);
}

static step *sorted_steps(const mfpg_ratios *clients, const mfpg_action_set *set, ptrdiff_t *count) {
    ptrdiff_t each = set->count - 1;
    if (each > 0 && clients->count > PTRDIFF_MAX / each) return NULL;
    *count = clients->count * each;
    step *steps = mfpg_alloc(*count, sizeof *steps);
    if (!steps) return NULL;
    for (ptrdiff_t k = 0; k < clients->count; k++)
        for (ptrdiff_t i = 0; i < each; i++)
            steps[k * each + i] =
                (step){.at = indifference(clients, set->grid, k, i), .jump = set->grid[i + 1] - set->grid[i]};
    qsort(steps, (size_t)*count, sizeof *steps, by_position);
    return steps;
}

static void record(landing *to, landing found) {
    if (to->found) {
        to->unique = 0;
        return;
    }
    *to = found;
    to->found = to->unique = 1;
}

/* Raises s from minus infinity through the sorted steps. Where the averaged answer falls (slope > 0) everybody starts
 * at the highest action and the first crossing of the diagonal is the only one. Where it rises, everybody starts at the
 * lowest, above the diagonal, and can meet the diagonal for the first time only on a flat part. */
static landing sweep(
    const mfpg_ratios *clients, const mfpg_action_set *set, const step *steps, ptrdiff_t count) {
    int falls = clients->slope > 0.0;
    double n = (double)clients->count, edge = -INFINITY;
    mfpg_compensated total = {.sum = n * set->grid[falls ? set->count - 1 : 0]};
    landing out = {0};
    for (ptrdiff_t i = 0;;) {
        double next = i < count ? steps[i].at : (double)INFINITY, before = mfpg_compensated_value(&total);
        if (before / n >= edge && before / n <= next)
            record(&out,
                (landing){.mean = before / n, .edge = edge, .iterations = (int)fmin((double)i, INT32_MAX)});
        if (i == count || (out.found && (falls || !out.unique))) return out;
        for (; i < count && steps[i].at == next; i++)
            mfpg_compensated_add(&total, falls ? -steps[i].jump : steps[i].jump);
        double after = mfpg_compensated_value(&total);
        if (fmin(before, after) / n < next && next < fmax(before, after) / n)
            record(&out, (landing){.mean = next,
                             .edge = next,
                             .mixes = 1,
                             .upper_weight = (n * next - after) / (before - after),
                             .iterations = (int)fmin((double)i, INT32_MAX)});
        edge = next;
    }
}

/* The action of client k on the side of the landing where the fewer steps up count, and whether it ties there. */
static ptrdiff_t level_of(
    const mfpg_ratios *clients, const mfpg_action_set *set, const landing *at, ptrdiff_t k, int *ties) {
    ptrdiff_t level = 0;
    *ties = 0;
    for (ptrdiff_t i = 0; i + 1 < set->count; i++) {
        double where = indifference(clients, set->grid, k, i);
        level += clients->slope > 0.0 ? where > at->edge : where <= at->edge;
        if (at->mixes && where == at->edge) *ties = 1;
    }
    return level;
}

static mfpg_status place(mfpg_context *ctx, const mfpg_ratios *clients, const mfpg_action_set *set,
    const landing *at, double *action, mfpg_field *field) {
    ptrdiff_t tied = 0;
    int ties;
    for (ptrdiff_t k = 0; k < clients->count; k++) {
        action[k] = set->grid[level_of(clients, set, at, k, &ties)];
        tied += ties;
    }
    field->mean = at->mean;
    if (tied == 0) return MFPG_OK;
    field->mixing = mfpg_alloc(tied, sizeof *field->mixing);
    if (!field->mixing) return mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; k < clients->count; k++) {
        ptrdiff_t level = level_of(clients, set, at, k, &ties);
        if (ties)
            field->mixing[field->mixing_count++] =
                (mfpg_mixing){.client = k, .upper = set->grid[level + 1], .weight = at->upper_weight};
    }
    return MFPG_OK;
}

mfpg_status mfpg_fixed_point_grid(mfpg_context *ctx, const mfpg_ratios *clients, const mfpg_action_set *set,
    double *action, mfpg_field *field, mfpg_report *report) {
    ptrdiff_t count = 0;
    step *steps = sorted_steps(clients, set, &count);
    if (!steps) return mfpg_fail_memory(ctx);
    landing at = sweep(clients, set, steps, count);
    free(steps);
    *report = (mfpg_report){.unique = at.unique, .converged = at.found, .iterations = at.iterations};
    return place(ctx, clients, set, &at, action, field);
}
