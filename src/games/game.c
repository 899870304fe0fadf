/* The entry points of games: solving, certifying, and other queries. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "best_response.h"
#include "solver.h"

enum {
#define ENTRY(name) INDEX_##name,
#include "games.def"
#undef ENTRY
    GAMES
};

static const void *const games[] = {
#define ENTRY(name) &mfpg_game_##name,
#include "games.def"
#undef ENTRY
};
const mfpg_kinds mfpg_games = MFPG_KINDS(games);

_Static_assert(INDEX_none == (int)MFPG_PLAYERS_NONE && INDEX_finite == (int)MFPG_PLAYERS_FINITE &&
                   INDEX_mean_field == (int)MFPG_PLAYERS_MEAN_FIELD,
    "games.def lists the players in the order of mfpg_players");

mfpg_game mfpg_game_default(void) {
    return (mfpg_game){
        .players = MFPG_PLAYERS_MEAN_FIELD,
        .actions = {.low = 0.0, .high = INFINITY},
        .curvature = 1.0,
        .dimension = 1.0,
        .personalisation = 0.5,
        .privacy_power = 1.0,
        .noise_unit_all = NAN,
        .privacy_scale_all = NAN,
        .own_cost_all = NAN,
        .prior_variance = 1.0,
        .step = 0.1,
        .optimum_norm2 = 1.0,
        .loss = 0.01,
        .offset = 0.01,
        .gradient_norm = 1.0,
        .variance_penalty = 0.01,
        .rounds = 10.0,
    };
}

static const mfpg_game_ops *game_of(mfpg_players players) {
    return games[players];
}

const char *mfpg_players_name(mfpg_players players) {
    const char *name = mfpg_kind_name(&mfpg_games, (ptrdiff_t)players);
    return name ? name : "unknown players";
}

/* ---- solving ---- */

/* If a double overflowed or vanished on the way to some action, no solution can be returned. */
static mfpg_status check_actions(mfpg_context *ctx, const mfpg_equilibrium *solution) {
    for (ptrdiff_t k = 0; k < solution->clients; k++)
        if (!(solution->action[k] > 0.0) || !isfinite(solution->action[k]))
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
                "the best response of client %td leaves the range of numbers; bound the actions or rescale "
                "the game",
                k);
    return MFPG_OK;
}

static double add_actions(const void *arg, ptrdiff_t first, ptrdiff_t count) {
    const double *action = arg;
    return mfpg_chunk_add(action + first, count);
}

static double mean_action(const mfpg_play *play, const mfpg_equilibrium *solution) {
    mfpg_compensated sum = {.sum = mfpg_chunks_sum(&play->chunks, add_actions, solution->action)};
    for (ptrdiff_t i = 0; i < solution->mixing_count; i++) {
        const mfpg_mixing *mix = &solution->mixing[i];
        mfpg_compensated_add(&sum, mix->weight * (mix->upper - solution->action[mix->client]));
    }
    return mfpg_compensated_value(&sum) / (double)solution->clients;
}

/* Computes the certificate: costs, gains, and the gap between the mean to which clients responded and the
 * mean of their responses. */
static mfpg_status certify(
    mfpg_context *ctx, const mfpg_play *play, const mfpg_field *field, mfpg_equilibrium *solution) {
    mfpg_profile profile = {.action = solution->action,
        .mixing = solution->mixing,
        .mixing_count = solution->mixing_count,
        .aggregate = play->limit ? field->mean : mfpg_aggregate(play, solution->action)};
    mfpg_appraisal appraisal;
    mfpg_status status = mfpg_appraise(ctx, play, &profile, &appraisal);
    if (status) return status;
    solution->mean_action = mean_action(play, solution);
    solution->exploitability_max = appraisal.max;
    solution->exploitability_mean = appraisal.mean;
    solution->cost = appraisal.cost;
    if (mfpg_play_coupling(play) == MFPG_COUPLING_PRICE && play->limit)
        solution->consistency_gap = fabs(field->mean - solution->mean_action);
    return MFPG_OK;
}

static mfpg_status solve_play(mfpg_context *ctx, const mfpg_play *play, mfpg_equilibrium *solution) {
    const mfpg_game *game = play->game;
    mfpg_field field = {0};
    mfpg_report report = {0};
    solution->control = play->cost->control;
    solution->clients = game->clients;
    solution->action = mfpg_alloc(game->clients, sizeof *solution->action);
    if (!solution->action) return mfpg_fail_memory(ctx);
    mfpg_status status = game_of(game->players)->solve(ctx, play, solution->action, &field, &report);
    solution->mixing = field.mixing;
    solution->mixing_count = field.mixing_count;
    solution->fixed_point = field.fixed_point;
    solution->fixed_point_count = field.fixed_point_count;
    solution->fixed_point_more = field.fixed_point_more;
    if (!status) status = check_actions(ctx, solution);
    if (!status) status = certify(ctx, play, &field, solution);
    if (!status) status = mfpg_social_optimum(ctx, play, solution);
    solution->unique = report.unique;
    solution->selection = report.selection;
    solution->converged = report.converged;
    solution->iterations = report.iterations;
    solution->residual = fmax(report.residual, solution->consistency_gap);
    return status;
}

mfpg_status mfpg_game_solve(mfpg_context *ctx, const mfpg_game *game, mfpg_equilibrium *out) {
    mfpg_equilibrium solution = {0};
    mfpg_play play;
    *out = solution;
    if (!mfpg_kind_name(&mfpg_games, (ptrdiff_t)game->players))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "unknown players %d", (int)game->players);
    if (game->players == MFPG_PLAYERS_NONE) return mfpg_game_none.solve(ctx, NULL, NULL, NULL, NULL);
    mfpg_status status = mfpg_play_prepare(ctx, game, game_of(game->players)->limit, &play);
    if (status) return status;
    status = solve_play(ctx, &play, &solution);
    mfpg_play_release(&play);
    if (status)
        mfpg_equilibrium_clear(&solution);
    else
        *out = solution;
    return status;
}

void mfpg_equilibrium_clear(mfpg_equilibrium *equilibrium) {
    if (!equilibrium) return;
    free(equilibrium->action);
    free(equilibrium->mixing);
    free(equilibrium->fixed_point);
    free(equilibrium->social_action);
    *equilibrium = (mfpg_equilibrium){0};
}

/* ---- the corrective price ---- */

mfpg_status mfpg_game_corrective_price(mfpg_context *ctx, const mfpg_game *game, double *price) {
    mfpg_game free_game = *game;
    mfpg_play play;
    free_game.price = NULL;
    if (game->players == MFPG_PLAYERS_NONE)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "with players none no game is played, so no price can be computed");
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

/* ---- what a private choice among the actions of a grid needs (theory S4) ---- */

static mfpg_status prepare_measured(mfpg_context *ctx, const mfpg_game *game, mfpg_play *play) {
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
    mfpg_status status = prepare_measured(ctx, game, &play);
    if (status) return status;
    const mfpg_action_set *set = &game->actions;
    for (ptrdiff_t k = 0; k < game->clients; k++)
        for (ptrdiff_t j = 0; j < set->count; j++)
            out[k * set->count + j] = mfpg_movable_cost(&play, k, set->grid[j], 0.0);
    mfpg_play_release(&play);
    return MFPG_OK;
}

mfpg_status mfpg_game_disutility_changes(mfpg_context *ctx, const mfpg_game *game, const double *loss,
    double loss_most, const double *gradient, double gradient_most, double *out) {
    mfpg_play play;
    mfpg_status status = prepare_measured(ctx, game, &play);
    if (status) return status;
    for (ptrdiff_t k = 0; k < game->clients; k++) {
        mfpg_swing swing = {loss[k], loss_most, gradient[k], gradient_most};
        out[k] = 0.0;
        for (ptrdiff_t j = 0; j < game->actions.count; j++) {
            double moved, largest;
            play.cost->change(&play, k, game->actions.grid[j], &swing, &moved, &largest);
            /* A disutility is a sum of two products of a few factors, one of which may be an exponential of
             * an argument up to 700, so its relative error is below 2^-40. Two of them are compared, and the
             * change itself is rounded. */
            double change = moved * (1.0 + 0x1p-40) + largest * 0x1p-38;
            out[k] =
                fmax(out[k], change >= 0.0 ? change : (double)INFINITY); /* NaN is infinity less infinity */
        }
    }
    mfpg_play_release(&play);
    return MFPG_OK;
}
