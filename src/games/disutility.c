/* What the actions of a grid cost each client, and how far its own measurements can move that: what a private choice
 * among them needs (theory S4). */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "best_response.h"
#include "tables.h"
#include "validate.h"

static const mfpg_cost_ops *find(const char *cost) {
    for (ptrdiff_t i = 0; cost && i < MFPG_COST_COUNT; i++)
        if (strcmp(cost, mfpg_costs[i]->name) == 0) return mfpg_costs[i];
    return NULL;
}

int mfpg_cost_measures(const char *cost) {
    const mfpg_cost_ops *ops = find(cost);
    return ops ? ops->measures : 0;
}

mfpg_control mfpg_cost_control(const char *cost) {
    const mfpg_cost_ops *ops = find(cost);
    return ops ? ops->control : MFPG_CONTROL_NONE;
}

int mfpg_cost_facts(const char *cost) {
    const mfpg_cost_ops *ops = find(cost);
    return ops ? ops->facts | (ops->consistent ? 0 : MFPG_COST_INCONSISTENT) : 0;
}

static mfpg_status prepare(mfpg_context *ctx, const mfpg_game *game, mfpg_play *play) {
    if (!game->actions.grid)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "disutilities are those of a grid of actions; this game has none");
    if (!mfpg_cost_measures(game->cost))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "cost %s reads nothing that clients measure",
            game->cost ? game->cost : "(none)");
    return mfpg_play_prepare(ctx, game, game->players == MFPG_PLAYERS_MEAN_FIELD, play);
}

mfpg_status mfpg_game_disutilities(mfpg_context *ctx, const mfpg_game *game, double *out) {
    mfpg_play play;
    mfpg_status status = prepare(ctx, game, &play);
    if (status) return status;
    const mfpg_action_set *set = &game->actions;
    for (ptrdiff_t k = 0; k < game->clients; k++)
        for (ptrdiff_t j = 0; j < set->count; j++)
            out[k * set->count + j] = mfpg_movable_cost(&play, k, set->grid[j], 0.0);
    mfpg_play_release(&play);
    return MFPG_OK;
}

/* A disutility is a sum of two products of a few factors, one of them perhaps an exponential of an argument up to 700:
 * its relative error is below 2^-40. Two of them are compared, and the change itself was computed with rounding. */
static double with_rounding(double moved, double largest) {
    double change = moved * (1.0 + 0x1p-40) + largest * 0x1p-38;
    return change >= 0.0 ? change : (double)INFINITY; /* NaN: infinity less infinity */
}

mfpg_status mfpg_game_disutility_changes(mfpg_context *ctx, const mfpg_game *game, const double *loss,
    double loss_most, const double *gradient, double gradient_most, double *out) {
    mfpg_play play;
    mfpg_status status = prepare(ctx, game, &play);
    if (status) return status;
    for (ptrdiff_t k = 0; k < game->clients; k++) {
        mfpg_swing swing = {loss[k], loss_most, gradient[k], gradient_most};
        out[k] = 0.0;
        for (ptrdiff_t j = 0; j < game->actions.count; j++) {
            double moved, largest;
            play.cost->change(&play, k, game->actions.grid[j], &swing, &moved, &largest);
            out[k] = fmax(out[k], with_rounding(moved, largest));
        }
    }
    mfpg_play_release(&play);
    return MFPG_OK;
}
