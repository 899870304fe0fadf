/* From the game keys to a game: preferences, and every `auto` from public numbers (theory S3). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "internal.h"
#include "mfpg/game_from_options.h"
#include "mfpg/preference_law.h"
#include "models/losses.h"

int mfpg_plays_loss_table(const mfpg_config *config) {
    return mfpg_config_method(config).players != MFPG_PLAYERS_NONE &&
           (mfpg_cost_facts(mfpg_config_cost(config)) & MFPG_COST_TAKES_TABLE) &&
           mfpg_config_has(config, "game.loss_table");
}

mfpg_status mfpg_setup_loss_table(mfpg_context *ctx, const mfpg_experiment *experiment, game_setup *setup) {
    const mfpg_config *config = experiment->config;
    if (!mfpg_plays_loss_table(config)) return MFPG_OK;
    const char *path = mfpg_config_text(config, "game.loss_table");
    mfpg_status status = mfpg_loss_table_read(ctx, path, &setup->game, &setup->loss_table);
    setup->game.loss_table = setup->loss_table;
    return status == MFPG_OK ? status : mfpg_fail_in(ctx, status, "game.loss_table");
}

static mfpg_status resolve_number(
    mfpg_context *ctx, mfpg_experiment *experiment, const char *path, double value, const char *why) {
    char text[MFPG_NUMBER_SIZE];
    return mfpg_config_resolve(ctx, experiment->config, path, mfpg_number_format(value, text), why);
}

/* ---- preferences ---- */

static mfpg_status list_preferences(mfpg_context *ctx, const mfpg_experiment *experiment, double *out) {
    const mfpg_config *config = experiment->config;
    ptrdiff_t count = 0, clients = experiment->data->clients;
    const double *list = mfpg_config_numbers(config, "game.preferences", &count);
    if (count != 1 && count != clients)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: game.preferences: %td numbers for %td clients; give one a client or one for all",
            mfpg_config_source(config, "game.preferences"), count, clients);
    for (ptrdiff_t k = 0; k < clients; k++) out[k] = list[count == 1 ? 0 : k];
    return MFPG_OK;
}

static mfpg_status file_preferences(mfpg_context *ctx, const mfpg_experiment *experiment, double *out) {
    const char *path = mfpg_config_text(experiment->config, "game.preferences.file");
    ptrdiff_t clients = experiment->data->clients;
    mfpg_population found;
    mfpg_status status = mfpg_population_read(
        ctx, path, mfpg_config_text(experiment->config, "game.preferences.column"), &found);
    if (status != MFPG_OK) return mfpg_fail_in(ctx, status, "game.preferences");
    if (found.count == clients)
        memcpy(out, found.list, (size_t)clients * sizeof *out);
    else
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: has %td rows for %td clients; one row a client is needed", path, found.count, clients);
    mfpg_population_clear(&found);
    return status;
}

static void even_preferences(const mfpg_experiment *experiment, double *out) {
    double low = mfpg_config_number(experiment->config, "game.preferences.min");
    double high = mfpg_config_number(experiment->config, "game.preferences.max");
    ptrdiff_t clients = experiment->data->clients;
    for (ptrdiff_t k = 0; k < clients; k++)
        out[k] = clients == 1 ? 0.5 * (low + high) : low + (high - low) * (double)k / (double)(clients - 1);
}

static mfpg_status set_preferences(mfpg_context *ctx, const mfpg_experiment *experiment, double *out) {
    const mfpg_config *config = experiment->config;
    if (mfpg_config_has(config, "game.preferences.file")) return file_preferences(ctx, experiment, out);
    if (mfpg_config_has(config, "game.preferences")) return list_preferences(ctx, experiment, out);
    even_preferences(experiment, out);
    return MFPG_OK;
}

/* ---- autos ---- */

static int needs_curvature(const mfpg_config *config, const mfpg_game *game) {
    int facts = mfpg_cost_facts(game->cost), curvature = (facts & MFPG_COST_READS_CURVATURE) != 0;
    if (!(facts & MFPG_COST_READS_OWN_COST)) return curvature;
    return mfpg_config_is(config, "game.own_cost", "auto") ||
           (curvature && game->players == MFPG_PLAYERS_FINITE);
}

static mfpg_status set_personalisation(mfpg_context *ctx, mfpg_experiment *experiment, mfpg_game *game) {
    const mfpg_config *config = experiment->config;
    if (!(mfpg_cost_facts(game->cost) & (MFPG_COST_READS_PERSONALISATION | MFPG_COST_READS_OWN_COST)))
        return MFPG_OK; /* own noise is not weighed by it */
    if (!mfpg_config_is(config, "game.personalisation", "auto")) {
        game->personalisation = mfpg_config_number(config, "game.personalisation");
        return MFPG_OK;
    }
    int public_good =
        (mfpg_cost_facts(game->cost) & MFPG_COST_PUBLIC_GOOD) && game->players == MFPG_PLAYERS_FINITE;
    game->personalisation = public_good ? 0.0 : 0.5;
    return resolve_number(ctx, experiment, "game.personalisation", game->personalisation,
        public_good ? "the pure public good of the N-player Gaussian game"
                    : "half of its own update stays with a client");
}

static mfpg_status set_curvature(mfpg_context *ctx, mfpg_experiment *experiment, mfpg_game *game) {
    const mfpg_config *config = experiment->config;
    if (!mfpg_config_is(config, "game.curvature", "auto")) {
        game->curvature = mfpg_config_number(config, "game.curvature");
        return MFPG_OK;
    }
    if (!needs_curvature(config, game)) return MFPG_OK;
    if (isnan(mfpg_model_curvature(experiment->model, 1.0)))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "game.curvature: auto knows no public bound for model %s, whatever its features; state a number",
            mfpg_model_name(experiment->model));
    int bias = mfpg_model_parameters(experiment->model) > experiment->data->features;
    double norm2 = experiment->data->public_norm2 + bias;
    game->curvature = mfpg_model_curvature(experiment->model, norm2);
    if (!isfinite(game->curvature))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "game.curvature: auto needs a public bound on the features, which data.scale.bounds gives; "
            "without one state a number");
    char why[160];
    snprintf(why, sizeof why, "%s: public bound from R^2 = %g (features within public bounds%s)",
        mfpg_model_name(experiment->model), norm2, bias ? ", bias included" : "");
    return resolve_number(ctx, experiment, "game.curvature", game->curvature, why);
}

/* What the promise is about, for client k. */
typedef struct exposure {
    double sensitivity; /* S of what is clipped, doubled for replace */
    double shift;       /* the same in the units of the weights */
    double steps;       /* releases of the whole run */
} exposure;

static mfpg_status expose(mfpg_context *ctx, const mfpg_experiment *experiment, ptrdiff_t k, exposure *out) {
    const mfpg_mechanism *mechanism = experiment->mechanisms.of_client[k];
    double doubled = experiment->options.promise.adjacency == MFPG_ADJACENCY_REPLACE ? 2.0 : 1.0;
    ptrdiff_t rows = experiment->data->client[k].train.rows;
    mfpg_release release; /* sensitivity and steps are those of any action; a little noise is stable */
    mfpg_status status = mfpg_mechanism_release(
        ctx, mechanism, mfpg_mechanism_action_for(mechanism, 1e-3, rows), rows, &release);
    *out = (exposure){
        .sensitivity = doubled * mfpg_mechanism_sensitivity(mechanism, rows),
        .shift = doubled * release.sensitivity,
        /* records are released once */
        .steps = release.particles == MFPG_PARTICLES_DATA
                     ? 1.0
                     : (double)experiment->options.rounds * (double)release.steps,
    };
    return status;
}

/* B = K shift^2 / (4 tau), the zCDP cost rho of the whole run at strength 1, and c = (h d/2) omega^2 2 tau, the loss of a
 * client's own noise in its personal model; both per action, which may be a strength in units of S^2 (theory S3.3). */
static mfpg_status entropic_constants(
    mfpg_context *ctx, const mfpg_experiment *experiment, game_setup *setup) {
    double tau = setup->game.step, omega = setup->game.personalisation;
    double own = 0.5 * setup->game.curvature * setup->game.dimension * omega * omega * 2.0 * tau;
    int relative = mfpg_config_is(experiment->config, "entropic.scale", "sensitivity");
    for (ptrdiff_t k = 0; k < setup->game.clients; k++) {
        exposure e;
        mfpg_status status = expose(ctx, experiment, k, &e);
        if (status != MFPG_OK) return status;
        double unit = relative ? e.sensitivity * e.sensitivity : 1.0;
        setup->strength_unit[k] = unit;
        setup->privacy_scale[k] = e.steps * e.shift * e.shift / (4.0 * tau) / unit;
        setup->own_cost[k] = own * unit;
        if (k == 0) setup->game.rounds = e.steps;
    }
    return MFPG_OK;
}

/* A configured number holds for every client. An auto is noted: as a number where it is one for all, else as the range
 * that the clients' own numbers span. */
static mfpg_status settle(mfpg_context *ctx, mfpg_experiment *experiment, const char *path, double *values,
    ptrdiff_t count, const char *why) {
    if (!mfpg_config_is(experiment->config, path, "auto")) {
        double given = mfpg_config_number(experiment->config, path);
        for (ptrdiff_t k = 0; k < count; k++) values[k] = given;
        return MFPG_OK;
    }
    double low = values[0], high = values[0];
    for (ptrdiff_t k = 1; k < count; k++) {
        low = fmin(low, values[k]);
        high = fmax(high, values[k]);
    }
    if (low == high) return resolve_number(ctx, experiment, path, low, why);
    char range[256];
    snprintf(range, sizeof range, "%s; from %.4g to %.4g, each client its own", why, low, high);
    return mfpg_config_resolve(ctx, experiment->config, path, "auto", range);
}

static mfpg_status set_entropic(mfpg_context *ctx, mfpg_experiment *experiment, game_setup *setup) {
    mfpg_status status = entropic_constants(ctx, experiment, setup);
    if (status != MFPG_OK) return status;
    status = settle(ctx, experiment, "game.privacy_scale", setup->privacy_scale, setup->game.clients,
        mfpg_config_particles(experiment->config) == MFPG_PARTICLES_DATA
            ? "zCDP cost of the noised records at strength 1, S^2/(4 tau), their first map not counted"
            : "zCDP cost of the run at strength 1, S^2 K tau/4");
    if (status == MFPG_OK && !mfpg_cost_measures(setup->game.cost))
        status = settle(ctx, experiment, "game.own_cost", setup->own_cost, setup->game.clients,
            "(h d/2) omega^2 2 tau, own noise in the personal model");
    return status;
}

/* k0: the noise on the weights at budget 1; a table has it inside. */
static mfpg_status set_noise_unit(mfpg_context *ctx, const mfpg_experiment *experiment, game_setup *setup) {
    mfpg_action one = {.control = MFPG_CONTROL_BUDGET, .budget = {1.0}};
    for (ptrdiff_t k = 0; k < setup->game.clients; k++) {
        mfpg_release release;
        mfpg_status status = mfpg_mechanism_release(
            ctx, experiment->mechanisms.of_client[k], one, experiment->data->client[k].train.rows, &release);
        if (status != MFPG_OK) return status;
        setup->noise_unit[k] = release.noise_sd;
    }
    return MFPG_OK;
}

static mfpg_status settle_cost(mfpg_context *ctx, mfpg_experiment *experiment) {
    if (!mfpg_config_is(experiment->config, "game.cost", "auto")) return MFPG_OK;
    return mfpg_config_resolve(
        ctx, experiment->config, "game.cost", mfpg_config_cost(experiment->config), "the mechanism's own");
}

static mfpg_status set_weights(mfpg_context *ctx, const mfpg_experiment *experiment, game_setup *setup) {
    double total = 0.0;
    int equal = experiment->options.weights == MFPG_WEIGHTS_EQUAL;
    if (experiment->options.weights == MFPG_WEIGHTS_INVERSE_NOISE) {
        if (setup->game.players == MFPG_PLAYERS_MEAN_FIELD)
            return MFPG_OK; /* the mean field does not look at weights */
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: train.weights: inverse-noise follows from the noise, which a finite game has yet to choose; "
            "take equal or examples",
            mfpg_config_source(experiment->config, "train.weights"));
    }
    for (ptrdiff_t k = 0; k < setup->game.clients; k++) {
        setup->weight[k] = equal ? 1.0 : (double)experiment->data->client[k].train.rows;
        total += setup->weight[k];
    }
    for (ptrdiff_t k = 0; k < setup->game.clients; k++) setup->weight[k] /= total;
    setup->game.weight = setup->weight;
    return MFPG_OK;
}

static mfpg_status set_actions(mfpg_context *ctx, const mfpg_experiment *experiment, game_setup *setup) {
    const mfpg_config *config = experiment->config;
    mfpg_action_set *set = &setup->game.actions;
    *set = (mfpg_action_set){.low = 0.0, .high = (double)INFINITY};
    if (mfpg_config_is(config, "game.actions", "continuous")) return MFPG_OK;
    if (mfpg_config_has(config, "game.actions.min") || mfpg_config_has(config, "game.actions.max")) {
        set->low = mfpg_config_number(config, "game.actions.min");
        set->high = mfpg_config_number(config, "game.actions.max");
        return MFPG_OK;
    }
    const double *grid = mfpg_config_numbers(config, "game.actions", &set->count);
    setup->grid =
        mfpg_alloc(set->count, sizeof *setup->grid); /* resolving keys may move the configuration's own */
    if (!setup->grid) return mfpg_fail_memory(ctx);
    memcpy(setup->grid, grid, (size_t)set->count * sizeof *grid);
    set->grid = setup->grid;
    return MFPG_OK;
}

static mfpg_game game_of(const mfpg_experiment *experiment) {
    const mfpg_config_fields fields = mfpg_config_fill(experiment->config);
    mfpg_game game = fields.game;
    game.cost = mfpg_config_cost(experiment->config);
    game.players = experiment->method.players;
    game.clients = experiment->data->clients;
    game.dimension = (double)mfpg_model_parameters(experiment->model);
    game.prior_variance = fields.mechanism.prior_variance;
    game.step = fields.mechanism.step;
    game.variance_penalty = fields.mechanism.variance_penalty;
    return game;
}

static mfpg_status allocate(mfpg_context *ctx, ptrdiff_t clients, game_setup *setup) {
    double **arrays[] = {&setup->preference, &setup->noise_unit, &setup->privacy_scale, &setup->own_cost,
        &setup->strength_unit, &setup->weight};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        if (!(*arrays[i] = mfpg_alloc(clients, sizeof(double)))) return mfpg_fail_memory(ctx);
    setup->game.preference = setup->preference;
    setup->game.noise_unit = setup->noise_unit;
    setup->game.privacy_scale = setup->privacy_scale;
    setup->game.own_cost = setup->own_cost;
    setup->game.strength_unit = setup->strength_unit;
    return MFPG_OK;
}

/* One number for all clients where they have the same. */
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

mfpg_status mfpg_setup_game(mfpg_context *ctx, mfpg_experiment *experiment, game_setup *setup) {
    *setup = (game_setup){0};
    mfpg_status status = settle_cost(ctx, experiment);
    if (status != MFPG_OK) return status;
    setup->game = game_of(experiment);
    mfpg_game *game = &setup->game;
    status = allocate(ctx, game->clients, setup);
    if (status == MFPG_OK) status = set_preferences(ctx, experiment, setup->preference);
    if (status == MFPG_OK) status = set_actions(ctx, experiment, setup);
    if (status == MFPG_OK) status = set_personalisation(ctx, experiment, game);
    if (status == MFPG_OK) status = set_curvature(ctx, experiment, game);
    if (status == MFPG_OK) status = set_weights(ctx, experiment, setup);
    if (status == MFPG_OK)
        status = mfpg_cost_control(game->cost) == MFPG_CONTROL_BUDGET ? set_noise_unit(ctx, experiment, setup)
                                                                      : set_entropic(ctx, experiment, setup);
    if (status == MFPG_OK) status = mfpg_setup_loss_table(ctx, experiment, setup);
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

mfpg_status mfpg_solve_scaled(mfpg_context *ctx, const mfpg_experiment *experiment, const game_setup *setup,
    double factor, mfpg_equilibrium *out) {
    (void)experiment;
    mfpg_game game = setup->game;
    double *scaled = mfpg_alloc(game.clients, sizeof *scaled);
    if (!scaled) return mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; k < game.clients; k++) scaled[k] = factor * setup->preference[k];
    game.preference = scaled;
    mfpg_status status = mfpg_game_solve(ctx, &game, out);
    free(scaled);
    return status;
}
