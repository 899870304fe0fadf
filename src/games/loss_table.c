#include "loss_table.h"

#include <math.h>

#include "base/error.h"
#include "base/number.h"

static mfpg_status check_numbers(mfpg_context *ctx, const mfpg_game *game) {
    for (ptrdiff_t j = 0; j < game->actions.count; j++) {
        char action[MFPG_NUMBER_SIZE], loss[MFPG_NUMBER_SIZE];
        if (isfinite(game->loss_table[j])) continue;
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "the loss table holds %s for action %s; it must be a finite number",
            mfpg_number_format(game->loss_table[j], loss), mfpg_number_format(game->actions.grid[j], action));
    }
    return MFPG_OK;
}

mfpg_status mfpg_loss_table_check(mfpg_context *ctx, const mfpg_game *game, mfpg_control control) {
    const mfpg_action_set *set = &game->actions;
    char less[MFPG_NUMBER_SIZE], more[MFPG_NUMBER_SIZE], at_less[MFPG_NUMBER_SIZE], at_more[MFPG_NUMBER_SIZE];
    if (!set->grid)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "a loss table needs a grid of actions; between them nothing was measured");
    mfpg_status status = check_numbers(ctx, game);
    for (ptrdiff_t j = 0; j + 1 < set->count && !status; j++) {
        ptrdiff_t quiet = control == MFPG_CONTROL_STRENGTH ? j : j + 1, noisy = 2 * j + 1 - quiet;
        if (game->loss_table[noisy] >= game->loss_table[quiet]) continue;
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "the loss table falls with a client's own noise, from %s at action %s to %s at action %s; more "
            "noise must not lose less (average more runs, or pool the two)",
            mfpg_number_format(game->loss_table[quiet], at_less), mfpg_number_format(set->grid[quiet], less),
            mfpg_number_format(game->loss_table[noisy], at_more), mfpg_number_format(set->grid[noisy], more));
    }
    return status;
}

double mfpg_loss_table_at(const mfpg_game *game, mfpg_control control, double x) {
    const double *grid = game->actions.grid, *loss = game->loss_table;
    ptrdiff_t low = 0, high = game->actions.count - 1;
    int strength = control == MFPG_CONTROL_STRENGTH;
    if (x < grid[low]) return strength ? loss[low] : (double)INFINITY;
    if (x > grid[high]) return strength ? (double)INFINITY : loss[high];
    while (high - low > 1) {
        ptrdiff_t middle = low + (high - low) / 2;
        if (grid[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    if (x == grid[low]) return loss[low];
    if (x == grid[high]) return loss[high];
    return loss[low] + (loss[high] - loss[low]) * ((x - grid[low]) / (grid[high] - grid[low]));
}
