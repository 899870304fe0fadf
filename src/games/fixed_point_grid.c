#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "compensated.h"
#include "fixed_point.h"

/* A jump at which more clients tie is shared out so that the first ones play the upper action, the last ones the lower and
 * one mixes: the same mean, at no other cost to anybody, without a list as long as the population. */
enum { MIXING_MOST = 1 << 20 };

/* Clients at action j are those below step j less those below step j - 1: whole numbers, so the sum has one rounding for
 * each action and no order. */
static double total(const mfpg_crowd *crowd, const mfpg_standing *standing) {
    const mfpg_action_set *set = &crowd->play->game->actions;
    mfpg_compensated sum = {0};
    for (ptrdiff_t j = 0; j < set->count; j++) {
        ptrdiff_t up_to = j < crowd->steps ? standing->below[j] : crowd->play->game->clients;
        ptrdiff_t before = j > 0 ? standing->below[j - 1] : 0;
        mfpg_compensated_add(&sum, (double)(up_to - before) * set->grid[j]);
    }
    return mfpg_compensated_value(&sum);
}

static double mean(const mfpg_crowd *crowd, const mfpg_standing *standing, double s) {
    (void)s;
    return total(crowd, standing) / (double)crowd->play->game->clients;
}

/* Lets everybody pass who does so at the next position. Returns the first one beyond. */
static ptrdiff_t pass(
    const mfpg_crowd *crowd, const mfpg_bracket *bracket, ptrdiff_t i, mfpg_standing *standing) {
    if (!bracket->passing) {
        for (ptrdiff_t j = 0; j < crowd->steps; j++) standing->below[j] = bracket->at_high->below[j];
        return bracket->count;
    }
    double at = bracket->passing[i].at;
    for (; i < bracket->count && bracket->passing[i].at == at; i++)
        standing->below[bracket->passing[i].step] += crowd->slope > 0.0 ? 1 : -1;
    return i;
}

/* Raises s through the bracket: the flat parts, each with both its ends, and the jumps between them. The weight is that of
 * the upper action where the mean of the clients that tie is s. */
static void walk(
    const mfpg_crowd *crowd, const mfpg_bracket *bracket, mfpg_standing *standing, mfpg_landings *landings) {
    double n = (double)crowd->play->game->clients, edge = bracket->low;
    for (ptrdiff_t i = 0;;) {
        double before = total(crowd, standing), next = bracket->high;
        if (i < bracket->count && bracket->passing) next = bracket->passing[i].at;
        if (before / n >= edge && before / n <= next)
            mfpg_landings_add(landings, (mfpg_landing){.mean = before / n, .edge = edge});
        if (i == bracket->count) return;
        i = pass(crowd, bracket, i, standing);
        double after = total(crowd, standing), low = fmin(before, after), high = fmax(before, after);
        if (low / n < next && next < high / n)
            mfpg_landings_add(landings,
                (mfpg_landing){
                    .mean = next, .edge = next, .mixes = 1, .weight = (n * next - low) / (high - low)});
        edge = next;
    }
}

/* Ratios up to `tie` of a step are on its lower side, those up to `low` of them without a tie. */
typedef struct side {
    double low, tie;
} side;

typedef struct placing {
    const mfpg_crowd *crowd;
    const side *sides; /* steps */
    double *action;
    ptrdiff_t *tied; /* one number a chunk */
} placing;

/* The lower action of a client, and whether it ties there. */
static ptrdiff_t level_of(const placing *p, double ratio, int *ties) {
    ptrdiff_t level = 0;
    while (level < p->crowd->steps && ratio > p->sides[level].tie) level++;
    *ties = level < p->crowd->steps && ratio > p->sides[level].low;
    return level;
}

static void place_chunk(void *arg, ptrdiff_t index, ptrdiff_t first, ptrdiff_t count) {
    placing *p = arg;
    double ratio[MFPG_BLOCK];
    const double *grid = p->crowd->play->game->actions.grid;
    for (ptrdiff_t i = 0; i < count; i += MFPG_BLOCK) {
        ptrdiff_t n = count - i < MFPG_BLOCK ? count - i : MFPG_BLOCK;
        p->crowd->ratios(p->crowd->play, first + i, n, ratio);
        for (ptrdiff_t j = 0; j < n; j++) {
            int ties;
            p->action[first + i + j] = grid[level_of(p, ratio[j], &ties)];
            p->tied[index] += ties;
        }
    }
}

/* Calls each client that ties, in order. */
typedef void (*tie_call)(void *arg, ptrdiff_t k, double lower, double upper);

static void for_ties(const placing *p, tie_call call, void *arg) {
    const double *grid = p->crowd->play->game->actions.grid;
    for (ptrdiff_t c = 0; c < p->crowd->play->chunks.count; c++) {
        if (p->tied[c] == 0) continue;
        for (ptrdiff_t k = c * MFPG_CHUNK; k < (c + 1) * MFPG_CHUNK && k < p->crowd->play->game->clients;
             k++) {
            int ties;
            double ratio;
            p->crowd->ratios(p->crowd->play, k, 1, &ratio);
            ptrdiff_t level = level_of(p, ratio, &ties);
            if (ties) call(arg, k, grid[level], grid[level + 1]);
        }
    }
}

typedef struct sharing {
    mfpg_field *field;
    double *action, weight;
    mfpg_compensated jumps, left; /* of all that tie; what is still to be given to upper actions */
} sharing;

static void mix(void *arg, ptrdiff_t k, double lower, double upper) {
    sharing *s = arg;
    (void)lower;
    s->field->mixing[s->field->mixing_count++] =
        (mfpg_mixing){.client = k, .upper = upper, .weight = s->weight};
}

static void add_jump(void *arg, ptrdiff_t k, double lower, double upper) {
    sharing *s = arg;
    (void)k;
    mfpg_compensated_add(&s->jumps, upper - lower);
}

static void share_out(void *arg, ptrdiff_t k, double lower, double upper) {
    sharing *s = arg;
    double left = mfpg_compensated_value(&s->left), jump = upper - lower;
    if (!(left > 0.0)) return;
    if (left >= jump) {
        s->action[k] = upper;
        mfpg_compensated_add(&s->left, -jump);
        return;
    }
    s->field->mixing[s->field->mixing_count++] =
        (mfpg_mixing){.client = k, .upper = upper, .weight = left / jump};
    s->left = (mfpg_compensated){0};
}

static mfpg_status settle_ties(
    mfpg_context *ctx, const placing *p, ptrdiff_t tied, double weight, mfpg_field *field) {
    sharing s = {.field = field, .action = p->action, .weight = weight};
    if (tied == 0) return MFPG_OK;
    field->mixing = mfpg_alloc(tied > MIXING_MOST ? 1 : tied, sizeof *field->mixing);
    if (!field->mixing) return mfpg_fail_memory(ctx);
    if (tied <= MIXING_MOST) {
        for_ties(p, mix, &s);
        return MFPG_OK;
    }
    for_ties(p, add_jump, &s);
    s.left.sum = weight * mfpg_compensated_value(&s.jumps);
    for_ties(p, share_out, &s);
    return MFPG_OK;
}

/* A mixed landing is approached from both sides: who stands lower on one of them alone ties. */
static void set_sides(const mfpg_crowd *crowd, const mfpg_landing *at, side *sides) {
    for (ptrdiff_t i = 0; i < crowd->steps; i++) {
        double there = mfpg_crowd_limit(crowd, i, at->edge), before = there;
        if (at->mixes) before = mfpg_crowd_limit(crowd, i, nextafter(at->edge, -INFINITY));
        sides[i] = (side){fmin(there, before), fmax(there, before)};
    }
}

static mfpg_status place(
    mfpg_context *ctx, const mfpg_crowd *crowd, const mfpg_landing *at, double *action, mfpg_field *field) {
    side *sides = mfpg_alloc(crowd->steps, sizeof *sides);
    ptrdiff_t *tied = mfpg_alloc(crowd->play->chunks.count, sizeof *tied), sum = 0;
    mfpg_status status = sides && tied ? MFPG_OK : mfpg_fail_memory(ctx);
    if (!status) {
        placing p = {crowd, sides, action, tied};
        set_sides(crowd, at, sides);
        mfpg_chunks_run(ctx, crowd->play->game->clients, place_chunk, &p);
        for (ptrdiff_t c = 0; c < crowd->play->chunks.count; c++) sum += tied[c];
        status = settle_ties(ctx, &p, sum, at->weight, field);
    }
    free(sides);
    free(tied);
    return status;
}

mfpg_status mfpg_fixed_point_grid(
    mfpg_context *ctx, mfpg_crowd *crowd, double *action, mfpg_field *field, mfpg_report *report) {
    const double margin = 0x1p-40; /* the mean of equal actions is one of them up to rounding */
    const mfpg_action_set *set = &crowd->play->game->actions;
    mfpg_landings *landings = mfpg_alloc(1, sizeof *landings);
    crowd->steps = set->count - 1;
    crowd->product = mfpg_alloc(crowd->steps, sizeof *crowd->product);
    mfpg_status status = landings && crowd->product ? MFPG_OK : mfpg_fail_memory(ctx);
    if (!status) {
        for (ptrdiff_t i = 0; i < crowd->steps; i++) crowd->product[i] = set->grid[i] * set->grid[i + 1];
        crowd->mean = mean;
        crowd->walk = walk;
        landings->one = crowd->slope > 0.0;
        status = mfpg_fixed_points_find(ctx, crowd, set->grid[0] * (1.0 - margin),
            set->grid[set->count - 1] * (1.0 + margin), landings, &report->iterations);
    }
    if (!status) status = mfpg_field_fill(ctx, landings, field, report);
    if (!status) status = place(ctx, crowd, &landings->at[0], action, field);
    free(crowd->product);
    free(landings);
    return status;
}
