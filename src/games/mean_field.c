/* The mean-field equilibrium: no single client moves the mean, and the mean is that of the best responses to
 * it. */
#include "best_response.h"
#include "solver.h"

static mfpg_status solve(
    mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_field *field, mfpg_report *report) {
    if (mfpg_play_coupling(play) == MFPG_COUPLING_PRICE)
        return play->cost->fixed_point(ctx, play, action, field, report);
    /* The others' actions cost a client something, but do not affect its choice. */
    int tied = mfpg_respond(play, 0.0, action);
    field->mean = mfpg_aggregate(play, action);
    *report =
        (mfpg_report){.unique = mfpg_tied_unique(tied), .converged = 1, .selection = MFPG_CHOSEN_DOMINANT};
    return MFPG_OK;
}

const mfpg_game_ops mfpg_game_mean_field = {
    .name = "mean-field",
    .help = "mean-field equilibrium: the limit of many clients, with exact mixing if clients tie",
    .limit = 1,
    .solve = solve,
};
