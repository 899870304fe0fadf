#include "social.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "exploitability.h"
#include "solver.h"
#include "sweep.h"
#include "validate.h"

/* On a grid with coupling the planner's sweeps end where no single change helps, which may not be the best of all
 * profiles. They are run from the equilibrium too, so that the better end is never above the equilibrium. */
static mfpg_status better_of_two_starts(mfpg_context *ctx, const mfpg_play *play, const mfpg_play *planner,
    const double *equilibrium, double *action) {
    ptrdiff_t clients = play->game->clients;
    double *other = mfpg_alloc(clients, sizeof *other);
    if (!other) return mfpg_fail_memory(ctx);
    memcpy(other, equilibrium, (size_t)clients * sizeof *other);
    mfpg_report report;
    mfpg_status status = mfpg_sweep(ctx, planner, other, &report);
    if (!status && mfpg_total_cost(play, other) < mfpg_total_cost(play, action))
        memcpy(action, other, (size_t)clients * sizeof *other);
    free(other);
    return status;
}

static mfpg_status plan(mfpg_context *ctx, const mfpg_play *play, const double *equilibrium, double *action) {
    mfpg_play planner = *play;
    mfpg_report report;
    planner.planner = 1;
    mfpg_status status = mfpg_finite_solve(ctx, &planner, action, &report);
    if (status || !play->game->actions.grid || mfpg_play_coupling(&planner) == MFPG_COUPLING_NONE)
        return status;
    return better_of_two_starts(ctx, play, &planner, equilibrium, action);
}

mfpg_status mfpg_game_corrective_price(mfpg_context *ctx, const mfpg_game *game, double *price) {
    mfpg_game free_game = *game;
    mfpg_play play;
    free_game.price = NULL;
    if (game->players == MFPG_PLAYERS_NONE)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "players none plays no game: there is nothing to correct");
    mfpg_status status = mfpg_play_prepare(ctx, &free_game, game->players == MFPG_PLAYERS_MEAN_FIELD, &play);
    if (status) return status;
    double *found = mfpg_alloc(game->clients, sizeof *found);
    if (!found)
        status = mfpg_fail_memory(ctx);
    else if (!play.cost->corrective)
        status = mfpg_fail(
            ctx, MFPG_ERR_INPUT, "cost %s has no known optimum for a price to lead to", play.cost->name);
    else
        status = play.cost->corrective(ctx, &play, found);
    if (!status) memcpy(price, found, (size_t)game->clients * sizeof *found);
    free(found);
    mfpg_play_release(&play);
    return status;
}

mfpg_status mfpg_social_optimum(mfpg_context *ctx, const mfpg_play *play, mfpg_equilibrium *out) {
    ptrdiff_t clients = play->game->clients;
    out->social_mean = out->social_cost = out->price_of_anarchy = NAN;
    if (!play->cost->has_optimum || play->game->skip_optimum) return MFPG_OK;
    double *action = mfpg_alloc(clients, sizeof *action);
    if (!action) return mfpg_fail_memory(ctx);
    mfpg_status status = plan(ctx, play, out->action, action);
    double cost = NAN;
    if (!status) cost = mfpg_total_cost(play, action);
    if (!(cost <= out->cost) &&
        !status) { /* by rounding, or no finite one found: the equilibrium is a profile too */
        memcpy(action, out->action, (size_t)clients * sizeof *action);
        cost = out->cost;
    }
    if (status || !isfinite(cost)) {
        free(action);
        return status;
    }
    double sum = 0.0;
    for (ptrdiff_t k = 0; k < clients; k++) sum += action[k];
    out->social_action = action;
    out->social_mean = sum / (double)clients;
    out->social_cost = cost;
    out->price_of_anarchy = out->cost / cost;
    return MFPG_OK;
}
