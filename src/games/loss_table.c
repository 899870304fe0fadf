/* The loss of a client as a table over the grid of actions, made by running the mechanism (theory S3.1): what the costs
 * measured and measured-budget use instead of a formula. */
#include <math.h>

#include "base/error.h"
#include "base/number.h"
#include "cost.h"

mfpg_status mfpg_loss_table_check(mfpg_context *ctx, const mfpg_game *game, mfpg_control control) {
    const mfpg_action_set *set = &game->actions;
    char less[MFPG_NUMBER_SIZE], more[MFPG_NUMBER_SIZE], at_less[MFPG_NUMBER_SIZE], at_more[MFPG_NUMBER_SIZE];
    if (!set->grid)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "a loss table needs a grid of actions; between them nothing was measured");
    for (ptrdiff_t j = 0; j < set->count; j++)
        if (!isfinite(game->loss_table[j]))
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
                "the loss table holds %s for action %s; it must be a finite number",
                mfpg_number_format(game->loss_table[j], at_less), mfpg_number_format(set->grid[j], less));
    for (ptrdiff_t j = 0; j + 1 < set->count; j++) {
        ptrdiff_t quiet = control == MFPG_CONTROL_STRENGTH ? j : j + 1, noisy = 2 * j + 1 - quiet;
        if (game->loss_table[noisy] >= game->loss_table[quiet]) continue;
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "the loss table falls with a client's own noise, from %s at action %s to %s at action %s; more "
            "noise must not lose less (average more runs, or pool the two)",
            mfpg_number_format(game->loss_table[quiet], at_less), mfpg_number_format(set->grid[quiet], less),
            mfpg_number_format(game->loss_table[noisy], at_more), mfpg_number_format(set->grid[noisy], more));
    }
    return MFPG_OK;
}

double mfpg_loss_table_at(const mfpg_game *game, mfpg_control control, double x) {
    const double *grid = game->actions.grid, *loss = game->loss_table;
    ptrdiff_t last = game->actions.count - 1, low = mfpg_grid_index(&game->actions, x);
    int strength = control == MFPG_CONTROL_STRENGTH;
    if (x < grid[0]) return strength ? loss[0] : (double)INFINITY;
    if (x > grid[last]) return strength ? (double)INFINITY : loss[last];
    if (x == grid[low]) return loss[low];
    return loss[low] + (loss[low + 1] - loss[low]) * ((x - grid[low]) / (grid[low + 1] - grid[low]));
}
