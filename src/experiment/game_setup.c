/* Builds a game from a configuration: preferences, and every `auto` from public numbers (theory S3). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/loss_table_file.h"
#include "answers/preference_file.h"
#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/mechanism_ops.h"
#include "internal.h"
#include "mfpg/preference_law.h"

/* ---- preferences ---- */

static mfpg_status read_preferences(mfpg_context *ctx, const mfpg_experiment *e, double *out) {
    const mfpg_settings *set = &e->config->set;
    ptrdiff_t clients = e->data->clients;
    mfpg_population found;
    mfpg_status status = mfpg_population_read(ctx, set->preference_file, set->preference_column, &found);
    if (status != MFPG_OK) return mfpg_fail_in(ctx, status, "game.preferences");
    if (found.count == clients)
        memcpy(out, found.list, (size_t)clients * sizeof *out);
    else
        status =
            mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: has %td rows for %td clients; one row a client is needed",
                set->preference_file, found.count, clients);
    mfpg_population_clear(&found);
    return status;
}

static mfpg_status set_preferences(mfpg_context *ctx, const mfpg_experiment *e, double *out) {
    const mfpg_settings *set = &e->config->set;
    ptrdiff_t clients = e->data->clients, count = set->preference_count;
    double low = set->preference_low, high = set->preference_high;
    if (set->preference_file) return read_preferences(ctx, e, out);
    if (set->preferences && count != 1 && count != clients)
        return mfpg_config_fail(ctx, e->config, "game.preferences",
            "%td numbers for %td clients; give one a client or one for all", count, clients);
    for (ptrdiff_t k = 0; k < clients; k++)
        out[k] = set->preferences ? set->preferences[count == 1 ? 0 : k]
                 : clients == 1   ? 0.5 * (low + high)
                                  : low + (high - low) * (double)k / (double)(clients - 1);
    return MFPG_OK;
}

/* ---- autos: the own cost is computed from curvature and personalisation, even if these keys do not apply
 * to the cost ---- */

static mfpg_status set_personalisation(mfpg_context *ctx, mfpg_experiment *e, mfpg_game *game) {
    int facts = mfpg_cost_facts(game->cost);
    game->personalisation = mfpg_game_default().personalisation;
    if (!(facts & (MFPG_COST_READS_PERSONALISATION | MFPG_COST_READS_OWN_COST))) return MFPG_OK;
    if (!isnan(e->config->all.game.personalisation)) {
        game->personalisation = e->config->all.game.personalisation;
        return MFPG_OK;
    }
    int public_good = (facts & MFPG_COST_PUBLIC_GOOD) && game->players == MFPG_PLAYERS_FINITE;
    game->personalisation = public_good ? 0.0 : 0.5;
    return mfpg_config_resolve_number(ctx, e->config, "game.personalisation", game->personalisation,
        public_good ? "the pure public good of the N-player Gaussian game"
                    : "half of its own update stays with a client");
}

static mfpg_status set_curvature(mfpg_context *ctx, mfpg_experiment *e, mfpg_game *game) {
    const mfpg_settings *all = &e->config->all;
    int facts = mfpg_cost_facts(game->cost), needed = (facts & MFPG_COST_READS_CURVATURE) != 0;
    if (facts & MFPG_COST_READS_OWN_COST)
        needed = isnan(all->own_cost) || (needed && game->players == MFPG_PLAYERS_FINITE);
    game->curvature = isnan(all->game.curvature) ? mfpg_game_default().curvature : all->game.curvature;
    if (!isnan(all->game.curvature) || !needed) return MFPG_OK;
    if (isnan(mfpg_model_curvature(e->model, 1.0)))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "game.curvature: auto knows no public bound for model %s, whatever its features; state a number",
            mfpg_model_name(e->model));
    double norm2;
    game->curvature = mfpg_public_curvature(e, &norm2);
    if (!isfinite(game->curvature))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "game.curvature: auto needs a public bound on the features, which data.scale.bounds gives; "
            "without one state a number");
    char why[160];
    snprintf(why, sizeof why, "%s: public bound from R^2 = %g (features within public bounds%s)",
        mfpg_model_name(e->model), norm2, norm2 > e->data->public_norm2 ? ", bias included" : "");
    return mfpg_config_resolve_number(ctx, e->config, "game.curvature", game->curvature, why);
}

/* The numbers on which the promise to client k depends. */
typedef struct exposure {
    double sensitivity; /* S of what is clipped, doubled for replace */
    double shift;       /* the same number in the units of the weights */
    double steps;       /* releases of the whole run */
} exposure;

static mfpg_status expose(mfpg_context *ctx, const mfpg_experiment *e, ptrdiff_t k, exposure *out) {
    const mfpg_mechanism *mechanism = e->mechanisms.of_client[k];
    double doubled = e->options.promise.adjacency == MFPG_ADJACENCY_REPLACE ? 2.0 : 1.0;
    ptrdiff_t rows = e->data->client[k].train.rows;
    /* sensitivity and steps are those of any action; it is computed with a little noise, which is stable */
    mfpg_release release;
    mfpg_status status = mfpg_mechanism_release(
        ctx, mechanism, mfpg_mechanism_action_for(mechanism, 1e-3, rows), rows, &release);
    *out = (exposure){.sensitivity = doubled * mfpg_mechanism_sensitivity(mechanism, rows),
        .shift = doubled * release.sensitivity,
        .steps = (double)e->options.rounds * (double)release.steps};
    if (release.particles == MFPG_PARTICLES_DATA) out->steps = 1.0; /* records are released once */
    return status;
}

/* A given number applies to every client. An auto is recorded as one number if all clients have the same,
 * and otherwise as the range of the clients' numbers. */
static mfpg_status settle(
    mfpg_context *ctx, mfpg_experiment *e, const char *path, double given, double *values, const char *why) {
    double low = values[0], high = values[0];
    for (ptrdiff_t k = 0; k < e->data->clients; k++) {
        low = fmin(low, values[k]);
        high = fmax(high, values[k]);
        if (!isnan(given)) values[k] = given;
    }
    if (!isnan(given)) return MFPG_OK;
    if (low == high) return mfpg_config_resolve_number(ctx, e->config, path, low, why);
    char range[256];
    snprintf(range, sizeof range, "%s; from %.4g to %.4g, each client its own", why, low, high);
    return mfpg_config_resolve(ctx, e->config, path, "auto", range);
}

/* B = K shift^2 / (4 tau), the zCDP cost rho of the whole run at strength 1, and c = (h d/2) omega^2 2 tau, the loss of a
 * client's own noise in its personal model; both per action, which may be a strength in units of S^2 (theory S3.3). */
static mfpg_status set_entropic(mfpg_context *ctx, mfpg_experiment *e, game_setup *setup) {
    double tau = setup->game.step, omega = setup->game.personalisation;
    double own = 0.5 * setup->game.curvature * setup->game.dimension * omega * omega * 2.0 * tau;
    int relative = e->config->all.mechanism.scale == MFPG_SCALE_SENSITIVITY;
    for (ptrdiff_t k = 0; k < setup->game.clients; k++) {
        exposure of;
        mfpg_status status = expose(ctx, e, k, &of);
        if (status != MFPG_OK) return status;
        double unit = relative ? of.sensitivity * of.sensitivity : 1.0;
        setup->strength_unit[k] = unit;
        setup->privacy_scale[k] = of.steps * of.shift * of.shift / (4.0 * tau) / unit;
        setup->own_cost[k] = own * unit;
        if (k == 0) setup->game.rounds = of.steps;
    }
    mfpg_status status =
        settle(ctx, e, "game.privacy_scale", e->config->all.privacy_scale, setup->privacy_scale,
            mfpg_noises_records(e)
                ? "zCDP cost of the noised records at strength 1, S^2/(4 tau), their first map not counted"
                : "zCDP cost of the run at strength 1, S^2 K tau/4");
    if (status == MFPG_OK && !mfpg_cost_measures(setup->game.cost))
        status = settle(ctx, e, "game.own_cost", e->config->all.own_cost, setup->own_cost,
            "(h d/2) omega^2 2 tau, own noise in the personal model");
    return status;
}

/* Sets k0, the noise on the weights at budget 1; a loss table already includes it. */
static mfpg_status set_noise_unit(mfpg_context *ctx, const mfpg_experiment *e, game_setup *setup) {
    const mfpg_action one = mfpg_make_action(MFPG_CONTROL_BUDGET, 1.0);
    for (ptrdiff_t k = 0; k < setup->game.clients; k++) {
        mfpg_release release;
        mfpg_status status = mfpg_mechanism_release(
            ctx, e->mechanisms.of_client[k], one, e->data->client[k].train.rows, &release);
        if (status != MFPG_OK) return status;
        setup->noise_unit[k] = release.noise_sd;
    }
    return MFPG_OK;
}

/* ---- the game ---- */

static mfpg_status set_weights(mfpg_context *ctx, const mfpg_experiment *e, game_setup *setup) {
    double total = 0.0;
    if (e->options.weights == MFPG_WEIGHTS_INVERSE_NOISE)
        return setup->game.players == MFPG_PLAYERS_MEAN_FIELD /* which does not read weights */
                   ? MFPG_OK
                   : mfpg_config_fail(ctx, e->config, "train.weights",
                         "inverse-noise follows from the noise, which a finite game has yet to choose; take "
                         "equal or examples");
    for (ptrdiff_t k = 0; k < setup->game.clients; k++) {
        setup->weight[k] =
            e->options.weights == MFPG_WEIGHTS_EQUAL ? 1.0 : (double)e->data->client[k].train.rows;
        total += setup->weight[k];
    }
    for (ptrdiff_t k = 0; k < setup->game.clients; k++) setup->weight[k] /= total;
    setup->game.weight = setup->weight;
    return MFPG_OK;
}

static mfpg_status set_loss_table(mfpg_context *ctx, const mfpg_experiment *e, game_setup *setup) {
    if (!mfpg_plays_loss_table(e->config)) return MFPG_OK;
    mfpg_status status =
        mfpg_loss_table_read(ctx, e->config->all.loss_table, &setup->game, &setup->loss_table);
    setup->game.loss_table = setup->loss_table;
    return status == MFPG_OK ? status : mfpg_fail_in(ctx, status, "game.loss_table");
}

/* Allocates the game of the configuration with arrays of its own. */
static mfpg_status allocate(mfpg_context *ctx, const mfpg_experiment *e, game_setup *setup) {
    mfpg_game *game = &setup->game;
    double **arrays[] = {&setup->preference, &setup->noise_unit, &setup->privacy_scale, &setup->own_cost,
        &setup->strength_unit, &setup->weight};
    *game = e->config->set.game;
    game->clients = e->data->clients;
    game->dimension = (double)mfpg_model_parameters(e->model);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        if (!(*arrays[i] = mfpg_alloc(game->clients, sizeof(double)))) return mfpg_fail_memory(ctx);
    game->preference = setup->preference;
    game->noise_unit = setup->noise_unit;
    game->privacy_scale = setup->privacy_scale;
    game->own_cost = setup->own_cost;
    game->strength_unit = setup->strength_unit;
    if (!game->actions.grid) return MFPG_OK;
    setup->grid = mfpg_alloc(game->actions.count, sizeof *setup->grid); /* a resolved key frees its list */
    if (!setup->grid) return mfpg_fail_memory(ctx);
    memcpy(setup->grid, game->actions.grid, (size_t)game->actions.count * sizeof *setup->grid);
    game->actions.grid = setup->grid;
    return MFPG_OK;
}

/* Replaces an array by one number if all clients have the same. */
static void share(double **array, const double **of_game, double *all, ptrdiff_t clients) {
    for (ptrdiff_t k = 1; k < clients; k++)
        if ((*array)[k] != (*array)[0]) return;
    *all = (*array)[0];
    free(*array);
    *array = NULL;
    *of_game = NULL;
}

static void share_numbers(game_setup *setup) {
    mfpg_game *game = &setup->game;
    share(&setup->noise_unit, &game->noise_unit, &game->noise_unit_all, game->clients);
    share(&setup->privacy_scale, &game->privacy_scale, &game->privacy_scale_all, game->clients);
    share(&setup->own_cost, &game->own_cost, &game->own_cost_all, game->clients);
}

mfpg_status mfpg_setup_game(mfpg_context *ctx, mfpg_experiment *e, game_setup *setup) {
    *setup = (game_setup){0};
    mfpg_game *game = &setup->game;
    mfpg_status status = MFPG_OK;
    if (mfpg_config_is(e->config, "game.cost", "auto"))
        status =
            mfpg_config_resolve(ctx, e->config, "game.cost", e->config->set.game.cost, "the mechanism's own");
    if (status == MFPG_OK) status = allocate(ctx, e, setup);
    if (status == MFPG_OK) status = set_preferences(ctx, e, setup->preference);
    if (status == MFPG_OK) status = set_personalisation(ctx, e, game);
    if (status == MFPG_OK) status = set_curvature(ctx, e, game);
    if (status == MFPG_OK) status = set_weights(ctx, e, setup);
    if (status == MFPG_OK)
        status = mfpg_cost_control(game->cost) == MFPG_CONTROL_BUDGET ? set_noise_unit(ctx, e, setup)
                                                                      : set_entropic(ctx, e, setup);
    if (status == MFPG_OK) status = set_loss_table(ctx, e, setup);
    if (status == MFPG_OK)
        share_numbers(setup);
    else
        mfpg_game_setup_clear(setup);
    return status;
}

void mfpg_game_setup_clear(game_setup *setup) {
    free(setup->preference);
    free(setup->noise_unit);
    free(setup->privacy_scale);
    free(setup->own_cost);
    free(setup->strength_unit);
    free(setup->weight);
    free(setup->grid);
    free(setup->loss_table);
    *setup = (game_setup){0};
}
