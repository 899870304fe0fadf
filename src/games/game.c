#include "mfpg/game.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "best_response.h"
#include "compensated.h"
#include "exploitability.h"
#include "social.h"
#include "solver.h"
#include "tables.h"
#include "validate.h"

const mfpg_cost_ops *const mfpg_costs[MFPG_COST_COUNT] = {
#define ENTRY(name) &mfpg_cost_##name,
#include "costs.def"
#undef ENTRY
};

const mfpg_game_ops *const mfpg_games[MFPG_GAME_COUNT] = {
#define ENTRY(name) &mfpg_game_##name,
#include "games.def"
#undef ENTRY
};

_Static_assert(MFPG_GAME_INDEX_none == (int)MFPG_PLAYERS_NONE &&
                   MFPG_GAME_INDEX_finite == (int)MFPG_PLAYERS_FINITE &&
                   MFPG_GAME_INDEX_mean_field == (int)MFPG_PLAYERS_MEAN_FIELD,
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
        .interaction = 0.0,
        .loss = 0.01,
        .offset = 0.01,
        .gradient_norm = 1.0,
        .variance_penalty = 0.01,
        .rounds = 10.0,
    };
}

static int is_game(ptrdiff_t index) {
    return index >= 0 && index < MFPG_GAME_COUNT;
}

static int is_cost(ptrdiff_t index) {
    return index >= 0 && index < MFPG_COST_COUNT;
}

const char *mfpg_game_name(ptrdiff_t index) {
    return is_game(index) ? mfpg_games[index]->name : NULL;
}

const char *mfpg_game_help(ptrdiff_t index) {
    return is_game(index) ? mfpg_games[index]->help : NULL;
}

const char *mfpg_cost_name(ptrdiff_t index) {
    return is_cost(index) ? mfpg_costs[index]->name : NULL;
}

const char *mfpg_cost_help(ptrdiff_t index) {
    return is_cost(index) ? mfpg_costs[index]->help : NULL;
}

const char *mfpg_players_name(mfpg_players players) {
    const char *name = mfpg_game_name((ptrdiff_t)players);
    return name ? name : "unknown players";
}

/* A double overflowed or vanished on the way to some action: no solution to hand out. */
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

/* The certificate: costs, gains and the gap between the mean that was answered and the mean of the answers. */
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
    mfpg_status status = mfpg_games[game->players]->solve(ctx, play, solution->action, &field, &report);
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
    if (!is_game((ptrdiff_t)game->players))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "unknown players %d", (int)game->players);
    if (game->players == MFPG_PLAYERS_NONE) return mfpg_game_none.solve(ctx, NULL, NULL, NULL, NULL);
    mfpg_status status = mfpg_play_prepare(ctx, game, mfpg_games[game->players]->limit, &play);
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
