/* The Nash equilibrium of N players, each of whom moves the aggregate by its own share. */
#include "solver.h"

#include "best_response.h"
#include "sweep.h"

/* The largest action of the grid that is not above x, or the smallest of all. */
static double rounded_down(const mfpg_action_set *set, double x) {
    ptrdiff_t low = 0, high = set->count;
    while (high - low > 1) {
        ptrdiff_t middle = low + (high - low) / 2;
        if (set->grid[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return set->grid[low];
}

/* From the equilibrium between the ends of the grid, rounded down: the noise is then no more than what the model bears, and
 * a few sweeps are left to do. */
static mfpg_status start_below(mfpg_context *ctx, const mfpg_play *play, double *action, const char **rule) {
    const mfpg_action_set *set = &play->game->actions;
    mfpg_report report;
    mfpg_status status =
        play->cost->nash(ctx, play, set->grid[0], set->grid[set->count - 1], action, &report);
    for (ptrdiff_t k = 0; k < play->game->clients && !status; k++) action[k] = rounded_down(set, action[k]);
    *rule = MFPG_CHOSEN_POTENTIAL;
    return status;
}

mfpg_status mfpg_finite_solve(mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_report *report) {
    const mfpg_action_set *set = &play->game->actions;
    if (mfpg_play_coupling(play) == MFPG_COUPLING_NONE) {
        int tied = mfpg_respond(play, 0.0, action);
        *report = (mfpg_report){
            .unique = mfpg_tied_unique(tied), .converged = 1, .selection = MFPG_CHOSEN_DOMINANT};
        return MFPG_OK;
    }
    if (!set->grid) return play->cost->nash(ctx, play, set->low, set->high, action, report);
    const char *rule = NULL;
    mfpg_status status = (play->cost->start ? play->cost->start : start_below)(ctx, play, action, &rule);
    if (!status) status = mfpg_sweep(ctx, play, action, report);
    report->selection = rule;
    return status;
}

static mfpg_status solve(
    mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_field *field, mfpg_report *report) {
    (void)field;
    return mfpg_finite_solve(ctx, play, action, report);
}

const mfpg_game_ops mfpg_game_finite = {
    .name = "finite",
    .help = "Nash equilibrium of the N clients",
    .limit = 0,
    .solve = solve,
};
