/* No game: every client uses the control that it is given (DP-SGD, MFEP), so nothing must be solved. */
#include "solver.h"

#include "base/error.h"

static mfpg_status solve(
    mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_field *field, mfpg_report *report) {
    (void)play, (void)action, (void)field, (void)report;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "players none plays no game: give the action itself, or use players finite or mean-field");
}

const mfpg_game_ops mfpg_game_none = {
    .name = "none",
    .help = "no game: one given control for all clients",
    .solve = solve,
};
