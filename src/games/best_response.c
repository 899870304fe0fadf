#include "best_response.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

_Static_assert(MFPG_BLOCK % MFPG_THRESHOLD_TILE == 0, "a padded block is full");

/* ---- one client ---- */

/* Keeps the cheaper of two actions. They come in ascending order, so that of two equal ones the later is
 * more private if the action is a strength, and less private if it is a budget. */
static void offer(mfpg_response *best, int first, double action, double cost, mfpg_control control) {
    int better = first || cost < best->cost || (cost == best->cost && control == MFPG_CONTROL_STRENGTH);
    int near = !first && fabs(cost - best->cost) <= 0x1p-48 * fabs(best->cost); /* sixteen roundings */
    if (better && !(cost == best->cost)) best->tied = 0; /* what tied before is no longer best */
    if (near) best->tied |= cost == best->cost ? MFPG_TIED : MFPG_NEARLY_TIED;
    if (!better) return;
    best->action = action;
    best->cost = cost;
}

/* Every comparison of two actions uses this one sum, so that a solver and the certificate that checks it
 * have the same bits. If the client moves the aggregate (shared), the sum includes E with the client's own
 * share. */
static double assembled(const mfpg_play *play, ptrdiff_t k, int shared, double own, double x, double others) {
    if (!shared) return own;
    return own + play->cost->external(play, others + mfpg_play_share(play, k, x));
}

static int moves_aggregate(const mfpg_play *play) {
    return mfpg_play_coupling(play) == MFPG_COUPLING_SHARED;
}

double mfpg_movable_cost(const mfpg_play *play, ptrdiff_t k, double x, double others) {
    double u, v;
    play->cost->scales(play, k, 1, &others, &u, &v);
    double own = u * play->cost->utility(play, x) + v * play->cost->privacy(play, x);
    return assembled(play, k, moves_aggregate(play), own, x, others);
}

double mfpg_fixed_cost(const mfpg_play *play, double others) {
    return play->cost->external && !moves_aggregate(play) ? play->cost->external(play, others) : 0.0;
}

static mfpg_response best_on_grid(const mfpg_play *play, ptrdiff_t k, double u, double v, double others) {
    const mfpg_action_set *set = &play->game->actions;
    int shared = moves_aggregate(play);
    mfpg_response best = {0};
    for (ptrdiff_t j = 0; j < set->count; j++) {
        double own = u * play->utility[j] + v * play->privacy[j];
        double cost = assembled(play, k, shared, own, set->grid[j], others);
        offer(&best, j == 0, set->grid[j], cost, play->cost->control);
    }
    return best;
}

mfpg_response mfpg_best_response(const mfpg_play *play, ptrdiff_t k, double others, double guess) {
    const mfpg_action_set *set = &play->game->actions;
    double u, v;
    play->cost->scales(play, k, 1, &others, &u, &v);
    if (set->grid) return best_on_grid(play, k, u, v, others);
    mfpg_response best = {0};
    best.action = moves_aggregate(play) ? play->cost->reply(play, k, others, set->low, set->high, guess)
                                        : mfpg_clamp(play->cost->minimiser(play, u, v), set->low, set->high);
    best.cost = mfpg_movable_cost(play, k, best.action, others);
    return best;
}

/* ---- a population, a block of clients at a time ---- */

/* Computes scales for the clients, and harmless ones to fill a whole tile. Returns the padded count. */
static ptrdiff_t scale(const mfpg_play *play, mfpg_block *b) {
    play->cost->scales(play, b->first, b->count, b->others, b->u, b->v);
    ptrdiff_t padded = (b->count + MFPG_THRESHOLD_TILE - 1) / MFPG_THRESHOLD_TILE * MFPG_THRESHOLD_TILE;
    for (ptrdiff_t i = b->count; i < padded; i++) b->u[i] = b->v[i] = 1.0;
    return padded;
}

/* Computes the best answers of a block, with their shapes if they are requested. best has room for a whole
 * tile. Returns whether some answer is NaN. */
static int answer(const mfpg_play *play, mfpg_block *b, double *best, int shapes) {
    const mfpg_action_set *set = &play->game->actions;
    ptrdiff_t padded = scale(play, b);
    if (play->thresholds)
        return mfpg_thresholds_choose(play->thresholds, padded, b->u, b->v, best, shapes ? b->utility : NULL,
            shapes ? b->privacy : NULL);
    for (ptrdiff_t i = 0; i < b->count; i++)
        best[i] = set->grid ? (double)NAN
                            : mfpg_clamp(play->cost->minimiser(play, b->u[i], b->v[i]), set->low, set->high);
    for (ptrdiff_t i = 0; i < b->count && shapes && !set->grid; i++) {
        b->utility[i] = play->cost->utility(play, best[i]);
        b->privacy[i] = play->cost->privacy(play, best[i]);
    }
    return set->grid != NULL;
}

void mfpg_block_answer(const mfpg_play *play, mfpg_block *b) {
    answer(play, b, b->best, 1);
}

typedef struct respond_job {
    const mfpg_play *play;
    double others;
    double *action;
    atomic_int tied;
} respond_job;

/* Answers go to where they are kept, except those of a last tile that is not full. */
static int respond_block(const respond_job *job, mfpg_block *b) {
    double *action = job->action + b->first, *best = b->count % MFPG_THRESHOLD_TILE ? b->best : action;
    int tied = 0, open = answer(job->play, b, best, 0);
    for (ptrdiff_t i = 0; i < b->count && open; i++) {
        if (!isnan(best[i])) continue;
        mfpg_response exact = mfpg_best_response(job->play, b->first + i, job->others, 0.0);
        best[i] = exact.action;
        tied |= exact.tied;
    }
    if (best != action) memcpy(action, best, (size_t)b->count * sizeof *best);
    return tied;
}

static void respond_chunk(void *arg, ptrdiff_t chunk, ptrdiff_t first, ptrdiff_t count) {
    respond_job *job = arg;
    mfpg_block b;
    int tied = 0;
    (void)chunk;
    for (ptrdiff_t i = 0; i < MFPG_BLOCK; i++) b.others[i] = job->others;
    for (ptrdiff_t i = 0; i < count; i += MFPG_BLOCK) {
        b.first = first + i;
        b.count = count - i < MFPG_BLOCK ? count - i : MFPG_BLOCK;
        tied |= respond_block(job, &b);
    }
    if (tied) atomic_fetch_or(&job->tied, tied);
}

int mfpg_respond(const mfpg_play *play, double others, double *action) {
    respond_job job = {.play = play, .others = others, .action = action};
    mfpg_chunks_run(&play->chunks, respond_chunk, &job);
    return atomic_load(&job.tied);
}

typedef struct profile {
    const mfpg_play *play;
    const double *action;
} profile;

static double add_shares(const void *arg, ptrdiff_t first, ptrdiff_t count) {
    const profile *p = arg;
    mfpg_compensated sum = {0};
    double share[MFPG_BLOCK];
    for (ptrdiff_t i = 0; i < count; i += MFPG_BLOCK) {
        ptrdiff_t n = count - i < MFPG_BLOCK ? count - i : MFPG_BLOCK;
        p->play->cost->shares(p->play, first + i, n, p->action + first + i, share);
        mfpg_compensated_add(&sum, mfpg_chunk_add(share, n));
    }
    return mfpg_compensated_value(&sum);
}

double mfpg_aggregate(const mfpg_play *play, const double *action) {
    profile p = {play, action};
    return play->cost->shares ? mfpg_chunks_sum(&play->chunks, add_shares, &p) : 0.0;
}

/* ---- the table of shares ---- */

enum { ACTIONS_MOST = 256 };

mfpg_status mfpg_share_table_create(mfpg_context *ctx, const mfpg_play *play, mfpg_share_table **out) {
    ptrdiff_t count = play->game->actions.count;
    *out = NULL;
    if (!play->game->actions.grid || count > ACTIONS_MOST ||
        mfpg_play_coupling(play) != MFPG_COUPLING_SHARED || !play->cost->alike(play))
        return MFPG_OK;
    mfpg_share_table *made = mfpg_alloc(1, sizeof *made);
    if (!made) return mfpg_fail_memory(ctx);
    made->play = play;
    made->share = mfpg_alloc(count, sizeof *made->share);
    made->aggregate = mfpg_alloc(count, sizeof *made->aggregate);
    made->cost = mfpg_alloc(count * count, sizeof *made->cost);
    if (!made->share || !made->aggregate || !made->cost) {
        mfpg_share_table_destroy(made);
        return mfpg_fail_memory(ctx);
    }
    for (ptrdiff_t j = 0; j < count; j++) {
        made->share[j] = mfpg_play_share(play, 0, play->game->actions.grid[j]);
        made->aggregate[j] = NAN;
    }
    *out = made;
    return MFPG_OK;
}

void mfpg_share_table_destroy(mfpg_share_table *table) {
    if (!table) return;
    free(table->share);
    free(table->aggregate);
    free(table->cost);
    free(table);
}

void mfpg_share_table_update(mfpg_share_table *table, ptrdiff_t row, double aggregate) {
    ptrdiff_t count = table->play->game->actions.count;
    if (table->aggregate[row] == aggregate) return;
    double others = aggregate - table->share[row];
    for (ptrdiff_t j = 0; j < count; j++)
        table->cost[row * count + j] = table->play->cost->external(table->play, others + table->share[j]);
    table->aggregate[row] = aggregate;
}

ptrdiff_t mfpg_share_table_row(const mfpg_share_table *table, double x) {
    const mfpg_action_set *set = &table->play->game->actions;
    ptrdiff_t row = mfpg_grid_index(set, x);
    return set->grid[row] == x ? row : -1;
}

mfpg_response mfpg_share_table_answer(
    const mfpg_share_table *table, ptrdiff_t row, double u, double v, double *now) {
    const mfpg_play *play = table->play;
    ptrdiff_t count = play->game->actions.count;
    const double *apart = table->cost + row * count;
    mfpg_response best = {0};
    for (ptrdiff_t j = 0; j < count; j++) {
        double own = u * play->utility[j] + v * play->privacy[j];
        offer(&best, j == 0, play->game->actions.grid[j], own + apart[j], play->cost->control);
        if (j == row) *now = own + apart[j];
    }
    return best;
}
