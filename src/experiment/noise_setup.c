/* Determines each client's action: the shared one, the game's, or the one with the least noise that meets a
 * target epsilon. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "internal.h"
#include "mfpg/calibration.h"
#include "mechanisms/mechanism_ops.h"
#include "numerics/special/roots.h"

static mfpg_control control_of(const mfpg_experiment *e) {
    return mfpg_mechanism_control(e->mechanisms.of_client[0]);
}

static void share_action(mfpg_experiment *e, mfpg_action *action, double value) {
    for (ptrdiff_t k = 0; k < e->data->clients; k++) action[k] = mfpg_make_action(control_of(e), value);
}

/* In a mean field, clients that tie mix two actions (theory S3.4). A run needs one action per client: each
 * plays the upper one with its probability, by a public coin from the experiment's key. */
static void settle_mixing(
    const mfpg_experiment *experiment, const mfpg_equilibrium *solution, mfpg_action *action) {
    for (ptrdiff_t i = 0; i < solution->mixing_count; i++) {
        const mfpg_mixing *mixing = &solution->mixing[i];
        mfpg_stream coins =
            mfpg_stream_open(&experiment->key, MFPG_PURPOSE_MIXING, 0, (uint64_t)mixing->client);
        double coin;
        mfpg_stream_uniform(&coins, 0, 1, &coin);
        if (coin < mixing->weight)
            action[mixing->client] = mfpg_make_action(solution->control, mixing->upper);
    }
}

/* Solves the game with all preferences times a factor, and returns the action of each client. */
static mfpg_status solve_scaled(mfpg_context *ctx, const mfpg_experiment *e, const game_setup *setup,
    double factor, mfpg_equilibrium *out, mfpg_action *action) {
    mfpg_game game = setup->game;
    double *scaled = mfpg_alloc(game.clients, sizeof *scaled);
    if (!scaled) return mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; k < game.clients; k++) scaled[k] = factor * setup->preference[k];
    game.preference = scaled;
    mfpg_status status = mfpg_game_solve(ctx, &game, out);
    free(scaled);
    if (status != MFPG_OK) return status;
    for (ptrdiff_t k = 0; k < game.clients; k++) action[k] = mfpg_make_action(out->control, out->action[k]);
    settle_mixing(e, out, action);
    return MFPG_OK;
}

/* ---- one number that sets the noise of all clients ---- */

/* A dial changes the noise of all clients: a larger position t means more privacy. Without a game it sets
 * the shared action, budget e^-t or strength e^t; with a game it multiplies every preference by e^t. */
typedef struct dial {
    mfpg_context *ctx;
    mfpg_experiment *experiment;
    const game_setup *game;    /* NULL without a game */
    mfpg_equilibrium solution; /* of the last position */
    mfpg_action *action;       /* clients: of the last position */
    double position;
    double target;  /* epsilon */
    double epsilon; /* largest client epsilon at the last position */
    mfpg_status status;
} dial;

static mfpg_status act_on_position(dial *d, double t) {
    if (!d->game) {
        share_action(
            d->experiment, d->action, control_of(d->experiment) == MFPG_CONTROL_BUDGET ? exp(-t) : exp(t));
        return MFPG_OK;
    }
    mfpg_equilibrium_clear(&d->solution);
    return solve_scaled(d->ctx, d->experiment, d->game, exp(t), &d->solution, d->action);
}

/* Returns the number aimed at, slightly below the target: the accountants round every round upwards, and the
 * target is a promise. */
static double aim(const dial *d) {
    return d->target * (1.0 - 1e-9);
}

/* Returns log(largest epsilon / aim) at a position, which decreases as t grows. NAN if the position is out
 * of range, and permanently once memory has run out. */
static double excess(double t, const void *arg) {
    dial *d = (dial *)(size_t)arg;
    if (d->status == MFPG_ERR_MEMORY) return (double)NAN;
    mfpg_experiment *experiment = d->experiment;
    d->position = t;
    d->status = act_on_position(d, t);
    mfpg_plan *plan = NULL;
    if (d->status == MFPG_OK)
        d->status = mfpg_plan_create(d->ctx, &experiment->options, experiment->data,
            experiment->mechanisms.of_client, d->action, &plan);
    if (d->status == MFPG_OK) d->status = mfpg_plan_largest_epsilon(d->ctx, plan, &d->epsilon);
    mfpg_plan_destroy(plan);
    if (d->status != MFPG_OK) return (double)NAN;
    return log(d->epsilon / aim(d));
}

enum { FARTHEST = 64 }; /* e^64: no sensible federation needs more */

static mfpg_status fail_unreachable(dial *d) {
    const mfpg_config *config = d->experiment->config;
    static const char key[] = "noise.target_epsilon";
    if (d->status == MFPG_ERR_MEMORY) return mfpg_fail_memory(d->ctx);
    if (d->status != MFPG_OK)
        return mfpg_fail_in(d->ctx, MFPG_ERR_INPUT, "%s: %s: %g cannot be reached",
            mfpg_config_source(config, key), key, d->target);
    return mfpg_config_fail(d->ctx, config, key,
        "%g cannot be reached: the most private actions leave a largest client epsilon of %.6g", d->target,
        d->epsilon);
}

/* Returns a position at which the dial is defined, near that of action 1, which may itself be out of range;
 * NAN if there is none. */
static double defined_position(dial *d) {
    double at = 0.0, value = excess(0.0, d);
    for (double t = 1.0; isnan(value) && t < FARTHEST; t += 1.0)
        value = excess(at = t > 32.0 ? 32.0 - t : -t, d);
    return isnan(value) ? (double)NAN : at;
}

/* Brackets the target, shrinks the bracket to neighbouring positions and returns the safe end. If no
 * position costs as much as the target, the result is the position with the least noise, which meets the
 * target with a margin. A position out of range (for instance an unstable step) is approached by ever
 * smaller steps. */
static mfpg_status turn_to_target(dial *d) {
    mfpg_crossing_options options = {
        .start = defined_position(d), .low = -FARTHEST, .high = FARTHEST, .first_step = 1.0, .growth = 1.0};
    if (isnan(options.start)) return fail_unreachable(d);
    mfpg_crossing crossing = mfpg_crossing_find(excess, d, &options);
    if (crossing.kind == MFPG_CROSSING_NEVER) return fail_unreachable(d);
    return excess(crossing.inside, d) <= 0.0 ? MFPG_OK : fail_unreachable(d);
}

/* ---- the three ways to an action ---- */

static mfpg_status check_moves(dial *d) {
    double before = excess(-4.0, d), after = excess(4.0, d);
    if (before != after || isnan(before)) return MFPG_OK;
    return mfpg_config_fail(d->ctx, d->experiment->config, "noise.target_epsilon",
        "preferences do not move the solution of this game (largest client epsilon %.6g whatever they are)",
        d->epsilon);
}

static mfpg_status meet_target(mfpg_context *ctx, mfpg_experiment *e, const game_setup *game) {
    dial d = {.ctx = ctx,
        .experiment = e,
        .game = game,
        .target = e->config->set.target_epsilon,
        .action = e->action};
    mfpg_status status = game ? check_moves(&d) : MFPG_OK;
    if (status == MFPG_OK) status = turn_to_target(&d);
    if (status == MFPG_OK && d.epsilon < d.target * (1.0 - 1e-3))
        mfpg_warn(ctx,
            "noise.target_epsilon: the largest client epsilon is %.6g, below the target %g: the actions "
            "allow nothing nearer",
            d.epsilon, d.target);
    e->equilibrium = d.solution;
    if (game) e->preference_factor = exp(d.position);
    return status;
}

/* Keeps the game with its solution. Its preferences become those for which it was solved, which rounds with
 * chosen actions use as well. */
static mfpg_status keep_game(mfpg_context *ctx, mfpg_experiment *e, game_setup *game) {
    ptrdiff_t clients = e->data->clients;
    e->preference = game->preference;
    game->preference = NULL;
    if (e->preference_factor != 1.0 && !e->config->set.each_round) {
        game->preference = mfpg_alloc(clients, sizeof *game->preference);
        if (!game->preference) return mfpg_fail_memory(ctx);
        for (ptrdiff_t k = 0; k < clients; k++) game->preference[k] = e->preference[k] * e->preference_factor;
    }
    game->game.preference = game->preference ? game->preference : e->preference;
    e->game = *game;
    *game = (game_setup){0};
    if (!e->config->set.each_round) return MFPG_OK;
    e->acting = e->config->set.acting;
    e->acting.game = &e->game.game;
    e->options.acting = &e->acting;
    return MFPG_OK;
}

static mfpg_status play(mfpg_context *ctx, mfpg_experiment *e) {
    game_setup game;
    mfpg_status status = mfpg_setup_game(ctx, e, &game);
    if (status != MFPG_OK) return status;
    status = isnan(e->config->set.target_epsilon)
                 ? solve_scaled(ctx, e, &game, 1.0, &e->equilibrium, e->action)
                 : meet_target(ctx, e, &game);
    if (status == MFPG_OK) status = keep_game(ctx, e, &game);
    if (status == MFPG_OK && e->config->method.players == MFPG_PLAYERS_MEAN_FIELD)
        status =
            mfpg_solution_judge_finite(ctx, &e->game.game, &e->equilibrium, &e->finite_max, &e->finite_mean);
    mfpg_game_setup_clear(&game);
    return status;
}

/* The classical law calls its budget an epsilon. Whether one release satisfies it depends on the true delta.
 * The certificate is computed from the noise and is valid in any case (theory S0, 11). */
static void warn_of_classical_law(mfpg_context *ctx, const mfpg_experiment *e) {
    double budget = e->config->set.action, delta = e->options.delta;
    double noise = mfpg_paper_classical_noise(budget, delta, 1.0);
    double reach = e->options.promise.adjacency == MFPG_ADJACENCY_REPLACE ? 2.0 : 1.0;
    double real = mfpg_gdp_delta(reach / noise, budget);
    if (real > delta)
        mfpg_warn(ctx,
            "noise.law: classical: with a budget of %g one release has delta %.3g at epsilon %g, above "
            "privacy.delta %g: the formula does not hold there. The certificate does; it is computed from "
            "the noise",
            budget, real, budget, delta);
}

static mfpg_status choose_actions(mfpg_context *ctx, mfpg_experiment *e) {
    const mfpg_settings *set = &e->config->set;
    if (!mfpg_promises_anything(e)) return MFPG_OK;
    if (e->config->method.players != MFPG_PLAYERS_NONE) return play(ctx, e);
    if (!isnan(set->target_epsilon)) return meet_target(ctx, e, NULL);
    if (!(set->multiplier > 0.0)) {
        share_action(e, e->action, set->action);
        if (control_of(e) == MFPG_CONTROL_BUDGET && set->law == MFPG_LAW_CLASSICAL)
            warn_of_classical_law(ctx, e);
        return MFPG_OK;
    }
    for (ptrdiff_t k = 0; k < e->data->clients; k++)
        e->action[k] = mfpg_mechanism_action_for(
            e->mechanisms.of_client[k], set->multiplier, e->data->client[k].train.rows);
    return MFPG_OK;
}

/* ---- the grid ---- */

static void use_grid(mfpg_experiment *e, double grid) {
    e->options.grid = grid;
    for (ptrdiff_t i = 0; i < e->mechanisms.count; i++) e->mechanisms.distinct[i]->options.grid = grid;
}

/* Makes the federation's check of the configured grid before anything is written. */
static mfpg_status check_grid(mfpg_context *ctx, const mfpg_experiment *e) {
    mfpg_plan *plan = NULL;
    mfpg_status status =
        mfpg_plan_create(ctx, &e->options, e->data, e->mechanisms.of_client, e->action, &plan);
    mfpg_plan_destroy(plan);
    if (status == MFPG_OK || status == MFPG_ERR_MEMORY) return status;
    return mfpg_fail_in(ctx, MFPG_ERR_INPUT, "%s", mfpg_config_source(e->config, "noise.grid"));
}

/* The search for actions tries noise that will not be used, for which a configured grid may be too coarse.
 * So it uses automatic grids, and the configured grid is checked against the noise of the actions that were
 * found. */
mfpg_status mfpg_setup_actions(mfpg_context *ctx, mfpg_experiment *e) {
    double grid = e->options.grid;
    e->action = mfpg_alloc(e->data->clients, sizeof *e->action);
    if (!e->action) return mfpg_fail_memory(ctx);
    e->preference_factor = 1.0;
    e->finite_max = e->finite_mean = NAN;
    use_grid(e, 0.0);
    mfpg_status status = choose_actions(ctx, e);
    use_grid(e, grid);
    return status == MFPG_OK && grid > 0.0 ? check_grid(ctx, e) : status;
}
