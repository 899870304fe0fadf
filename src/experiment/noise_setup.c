/* Each client's action: the shared one, the game's, or the one with the least noise that meets a target epsilon. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountants/accounting.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "internal.h"
#include "mfpg/calibration.h"
#include "mechanisms/ops.h"
#include "mfpg/solution.h"
#include "numerics/special/roots.h"

static mfpg_action make_action(mfpg_control control, double value) {
    mfpg_action action = {.control = control};
    if (control == MFPG_CONTROL_BUDGET) action.budget.value = value;
    if (control == MFPG_CONTROL_STRENGTH) action.strength.value = value;
    return action;
}

/* Tie clients of a mean field mix two actions (theory S3.4). A run needs one action a client: each plays the upper one
 * with its probability, by a public coin of the experiment's key. */
static void settle_mixing(
    const mfpg_experiment *experiment, const mfpg_equilibrium *solution, mfpg_action *action) {
    for (ptrdiff_t i = 0; i < solution->mixing_count; i++) {
        const mfpg_mixing *mixing = &solution->mixing[i];
        mfpg_stream coins =
            mfpg_stream_open(&experiment->key, MFPG_PURPOSE_MIXING, 0, (uint64_t)mixing->client);
        double coin;
        mfpg_stream_uniform(&coins, 0, 1, &coin);
        if (coin < mixing->weight) action[mixing->client] = make_action(solution->control, mixing->upper);
    }
}

/* ---- one number that sets everybody's noise ---- */

/* A dial turns everybody's noise: its position t grows towards more privacy. Without a game it is the shared action,
 * budget e^-t or strength e^t; with one it multiplies every preference by e^t. */
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
    mfpg_experiment *experiment = d->experiment;
    ptrdiff_t clients = experiment->data->clients;
    if (d->game) {
        mfpg_equilibrium_clear(&d->solution);
        mfpg_status status = mfpg_solve_scaled(d->ctx, experiment, d->game, exp(t), &d->solution);
        for (ptrdiff_t k = 0; k < clients && status == MFPG_OK; k++)
            d->action[k] = make_action(d->solution.control, d->solution.action[k]);
        if (status == MFPG_OK) settle_mixing(experiment, &d->solution, d->action);
        return status;
    }
    mfpg_control control = mfpg_mechanism_control(experiment->mechanisms.of_client[0]);
    double value = control == MFPG_CONTROL_BUDGET ? exp(-t) : exp(t);
    for (ptrdiff_t k = 0; k < clients; k++) d->action[k] = make_action(control, value);
    return MFPG_OK;
}

/* What is aimed at, a hair below the target: the accountants round every round upwards, and the target is a promise. */
static double aim(const dial *d) {
    return d->target * (1.0 - 1e-9);
}

/* log(largest epsilon / aim) at a position: falls as the dial turns, NAN where the position is out of range, and from the
 * moment on when memory runs out, which says nothing about positions. */
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
    const char *where = mfpg_config_source(d->experiment->config, "noise.target_epsilon");
    if (d->status == MFPG_ERR_MEMORY) return mfpg_fail_memory(d->ctx);
    if (d->status != MFPG_OK)
        return mfpg_fail_in(
            d->ctx, MFPG_ERR_INPUT, "%s: noise.target_epsilon: %g cannot be reached", where, d->target);
    return mfpg_fail(d->ctx, MFPG_ERR_INPUT,
        "%s: noise.target_epsilon: %g cannot be reached: the most private actions leave a largest client "
        "epsilon of %.6g",
        where, d->target, d->epsilon);
}

/* A position where the dial is defined, near that of action 1, which may itself be out of range; NAN for none. */
static double defined_position(dial *d) {
    double at = 0.0, value = excess(0.0, d);
    for (double t = 1.0; isnan(value) && t < FARTHEST; t += 1.0)
        value = excess(at = t > 32.0 ? 32.0 - t : -t, d);
    return isnan(value) ? (double)NAN : at;
}

/* Brackets the target, shrinks to neighbouring positions and takes the safe end. Where nothing costs as much as the target
 * that is the position with the least noise: it meets the target with room to spare. A position out of range (an unstable
 * step, say) is approached by ever smaller steps. */
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
    return mfpg_fail(d->ctx, MFPG_ERR_INPUT,
        "%s: noise.target_epsilon: preferences do not move the solution of this game (largest client epsilon "
        "%.6g whatever "
        "they are)",
        mfpg_config_source(d->experiment->config, "noise.target_epsilon"), d->epsilon);
}

static mfpg_status meet_target(mfpg_context *ctx, mfpg_experiment *experiment, const game_setup *game) {
    dial d = {.ctx = ctx, .experiment = experiment, .game = game};
    d.target = mfpg_config_number(experiment->config, "noise.target_epsilon");
    d.action = experiment->action;
    mfpg_status status = game ? check_moves(&d) : MFPG_OK;
    if (status == MFPG_OK) status = turn_to_target(&d);
    if (status == MFPG_OK && d.epsilon < d.target * (1.0 - 1e-3))
        mfpg_warn(ctx,
            "noise.target_epsilon: the largest client epsilon is %.6g, below the target %g: the actions "
            "allow nothing nearer",
            d.epsilon, d.target);
    experiment->equilibrium = d.solution;
    if (game) experiment->preference_factor = exp(d.position);
    return status;
}

static mfpg_status solve_game(mfpg_context *ctx, mfpg_experiment *experiment, const game_setup *game) {
    mfpg_equilibrium *solution = &experiment->equilibrium;
    mfpg_status status = mfpg_solve_scaled(ctx, experiment, game, 1.0, solution);
    for (ptrdiff_t k = 0; k < experiment->data->clients && status == MFPG_OK; k++)
        experiment->action[k] = make_action(solution->control, solution->action[k]);
    if (status == MFPG_OK) settle_mixing(experiment, solution, experiment->action);
    return status;
}

/* The game stays with its solution: its own preferences are those that were solved for, which rounds of chosen actions use
 * as well. */
static mfpg_status keep_game(mfpg_context *ctx, mfpg_experiment *experiment, game_setup *game) {
    ptrdiff_t clients = experiment->data->clients;
    double factor = experiment->preference_factor;
    experiment->preference = game->preference;
    game->preference = NULL;
    if (factor != 1.0 && !mfpg_config_is(experiment->config, "game.update", "each-round")) {
        game->preference = mfpg_alloc(clients, sizeof *game->preference);
        if (!game->preference) return mfpg_fail_memory(ctx);
        for (ptrdiff_t k = 0; k < clients; k++) game->preference[k] = experiment->preference[k] * factor;
    }
    game->game.preference = game->preference ? game->preference : experiment->preference;
    experiment->game = *game;
    *game = (game_setup){0};
    return MFPG_OK;
}

static mfpg_status play(mfpg_context *ctx, mfpg_experiment *experiment) {
    game_setup game;
    mfpg_status status = mfpg_setup_game(ctx, experiment, &game);
    if (status != MFPG_OK) return status;
    status = mfpg_config_has(experiment->config, "noise.target_epsilon") ? meet_target(ctx, experiment, &game)
                                                                         : solve_game(ctx, experiment, &game);
    if (status == MFPG_OK) status = keep_game(ctx, experiment, &game);
    if (status == MFPG_OK && experiment->method.players == MFPG_PLAYERS_MEAN_FIELD)
        status = mfpg_solution_judge_finite(ctx, &experiment->game.game, &experiment->equilibrium,
            &experiment->finite.max, &experiment->finite.mean);
    if (status == MFPG_OK) mfpg_setup_acting(experiment);
    mfpg_game_setup_clear(&game);
    return status;
}

/* The classical law calls its budget an epsilon. Whether one release keeps it is decided by its true delta; the certificate is
 * computed from the noise and stands in any case (theory S0, 11). */
static void warn_of_classical_law(mfpg_context *ctx, const mfpg_experiment *experiment) {
    const mfpg_config *config = experiment->config;
    if (mfpg_config_number(config, "noise.multiplier") > 0.0 ||
        !mfpg_config_is(config, "noise.law", "classical"))
        return;
    double budget = mfpg_config_number(config, "noise.action"),
           delta = mfpg_config_number(config, "privacy.delta");
    double noise = mfpg_paper_classical_noise(budget, delta, 1.0);
    double reach = experiment->options.promise.adjacency == MFPG_ADJACENCY_REPLACE ? 2.0 : 1.0;
    double real = mfpg_gdp_delta(reach / noise, budget);
    if (real > delta)
        mfpg_warn(ctx,
            "noise.law: classical: with a budget of %g one release has delta %.3g at epsilon %g, above "
            "privacy.delta %g: the formula does not hold there. The certificate does; it is computed from "
            "the "
            "noise",
            budget, real, budget, delta);
}

/* A study of losses: one action for everybody, whatever the game or the target. */
static void share_reference(mfpg_experiment *experiment) {
    mfpg_control control = mfpg_mechanism_control(experiment->mechanisms.of_client[0]);
    for (ptrdiff_t k = 0; k < experiment->data->clients; k++)
        experiment->action[k] = make_action(control, experiment->reference);
}

static void share_action(mfpg_experiment *experiment) {
    const mfpg_config *config = experiment->config;
    double multiplier = mfpg_config_number(config, "noise.multiplier"),
           value = mfpg_config_number(config, "noise.action");
    for (ptrdiff_t k = 0; k < experiment->data->clients; k++) {
        const mfpg_mechanism *mechanism = experiment->mechanisms.of_client[k];
        ptrdiff_t rows = experiment->data->client[k].train.rows;
        experiment->action[k] = multiplier > 0.0 ? mfpg_mechanism_action_for(mechanism, multiplier, rows)
                                                 : make_action(mfpg_mechanism_control(mechanism), value);
    }
}

static mfpg_status choose_actions(mfpg_context *ctx, mfpg_experiment *experiment) {
    if (mfpg_mechanism_kind_of(experiment->method.mechanism).control == MFPG_CONTROL_NONE) return MFPG_OK;
    if (experiment->reference > 0.0) {
        share_reference(experiment);
        return MFPG_OK;
    }
    if (experiment->method.players != MFPG_PLAYERS_NONE) return play(ctx, experiment);
    if (mfpg_config_has(experiment->config, "noise.target_epsilon"))
        return meet_target(ctx, experiment, NULL);
    share_action(experiment);
    if (mfpg_mechanism_control(experiment->mechanisms.of_client[0]) == MFPG_CONTROL_BUDGET)
        warn_of_classical_law(ctx, experiment);
    return MFPG_OK;
}

/* ---- the grid ---- */

static void use_grid(mfpg_experiment *experiment, double grid) {
    experiment->options.grid = grid;
    for (ptrdiff_t i = 0; i < experiment->mechanisms.count; i++)
        experiment->mechanisms.distinct[i]->options.grid = grid;
}

/* The federation's own check of the configured grid, made before anything is written. */
static mfpg_status check_grid(mfpg_context *ctx, const mfpg_experiment *experiment) {
    mfpg_plan *plan = NULL;
    mfpg_status status = mfpg_plan_create(ctx, &experiment->options, experiment->data,
        experiment->mechanisms.of_client, experiment->action, &plan);
    mfpg_plan_destroy(plan);
    return status == MFPG_OK || status == MFPG_ERR_MEMORY
               ? status
               : mfpg_fail_in(
                     ctx, MFPG_ERR_INPUT, "%s", mfpg_config_source(experiment->config, "noise.grid"));
}

/* The search for actions tries noise that nobody will add, for which a configured grid may be too coarse. So it uses automatic grids, and
 * the configured one is held against the noise of the actions that were found. */
mfpg_status mfpg_setup_actions(mfpg_context *ctx, mfpg_experiment *experiment) {
    double grid = experiment->options.grid;
    experiment->action = mfpg_alloc(experiment->data->clients, sizeof *experiment->action);
    if (!experiment->action) return mfpg_fail_memory(ctx);
    experiment->preference_factor = 1.0;
    experiment->finite = (finite_gains){NAN, NAN};
    use_grid(experiment, 0.0);
    mfpg_status status = choose_actions(ctx, experiment);
    use_grid(experiment, grid);
    return status == MFPG_OK && grid > 0.0 ? check_grid(ctx, experiment) : status;
}
