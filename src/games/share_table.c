#include "share_table.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

enum { ACTIONS_MOST = 256 };

static int usable(const mfpg_play *play) {
    const mfpg_action_set *set = &play->game->actions;
    return set->grid && set->count <= ACTIONS_MOST && mfpg_play_coupling(play) == MFPG_COUPLING_SHARED &&
           play->cost->alike(play);
}

mfpg_status mfpg_share_table_create(mfpg_context *ctx, const mfpg_play *play, mfpg_share_table **out) {
    *out = NULL;
    if (!usable(play)) return MFPG_OK;
    ptrdiff_t count = play->game->actions.count;
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
    ptrdiff_t low = 0, high = set->count;
    while (high - low > 1) {
        ptrdiff_t half = low + (high - low) / 2;
        if (set->grid[half] <= x)
            low = half;
        else
            high = half;
    }
    return set->grid[low] == x ? low : -1;
}

mfpg_response mfpg_share_table_answer(
    const mfpg_share_table *table, ptrdiff_t row, double u, double v, double *now) {
    const mfpg_play *play = table->play;
    ptrdiff_t count = play->game->actions.count;
    const double *apart = table->cost + row * count;
    mfpg_response best = {0};
    for (ptrdiff_t j = 0; j < count; j++) {
        double own = u * play->utility[j] + v * play->privacy[j];
        mfpg_response_offer(&best, j == 0, play->game->actions.grid[j], own + apart[j], play->cost->control);
        if (j == row) *now = own + apart[j];
    }
    return best;
}
