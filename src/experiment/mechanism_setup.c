/* From the privacy, noise, train and entropic keys to one mechanism a client. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "internal.h"
#include "models/losses.h"

static mfpg_status settle_law(mfpg_context *ctx, mfpg_experiment *experiment) {
    int budgets = mfpg_mechanism_kind_of(experiment->method.mechanism).control == MFPG_CONTROL_BUDGET;
    if (!budgets || !mfpg_config_is(experiment->config, "noise.law", "auto")) return MFPG_OK;
    int game = experiment->method.players != MFPG_PLAYERS_NONE;
    return mfpg_config_resolve(ctx, experiment->config, "noise.law", game ? "game" : "classical",
        game ? "budgets of a game are Gaussian-DP parameters" : "the paper's noise where there is no game");
}

static mfpg_noise_law noise_law(const mfpg_config *config) {
    return mfpg_config_is(config, "noise.law", "classical") ? MFPG_LAW_CLASSICAL : MFPG_LAW_GAME;
}

static mfpg_mechanism_options shared_options(const mfpg_experiment *experiment) {
    const mfpg_config *config = experiment->config;
    mfpg_mechanism_options o = mfpg_config_fill(config).mechanism;
    o.kind = experiment->method.mechanism;
    o.promise = experiment->options.promise;
    o.particles = mfpg_config_particles(config);
    o.delta = experiment->options.delta;
    o.law = noise_law(config);
    o.grid = experiment->options.grid;
    o.sum_rounding = mfpg_model_sum_rounding(experiment->model);
    return o;
}

static mfpg_status check_grid(mfpg_context *ctx, const mfpg_experiment *experiment) {
    double grid = experiment->options.grid;
    char given[MFPG_NUMBER_SIZE], below[MFPG_NUMBER_SIZE];
    int exponent;
    if (grid == 0.0 || frexp(grid, &exponent) == 0.5) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: noise.grid: %s is not a power of two; the nearest below is %s; allowed: auto, or a power "
        "of two",
        mfpg_config_source(experiment->config, "noise.grid"), mfpg_number_format(grid, given),
        mfpg_number_format(ldexp(0.5, exponent), below));
}

/* Records flow at the first model once: the public bound on the loss's curvature in the features there. */
static mfpg_status bound_curvature(
    mfpg_context *ctx, const mfpg_experiment *experiment, mfpg_mechanism_options *o) {
    if (o->particles != MFPG_PARTICLES_DATA || !mfpg_mechanism_kind_of(o->kind).flow) return MFPG_OK;
    const mfpg_model *model = experiment->model;
    float *w = mfpg_alloc(mfpg_model_parameters(model), sizeof *w);
    if (!w) return mfpg_fail_memory(ctx);
    mfpg_model_start(model, &experiment->key, experiment->options.start_he, w);
    o->input_smoothness = mfpg_model_input_smoothness(model, experiment->start ? experiment->start : w);
    free(w);
    if (isfinite(o->input_smoothness)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: entropic.particles: data; no bound is known on the curvature of model %s in its features",
        mfpg_config_source(experiment->config, "entropic.particles"), mfpg_model_name(model));
}

/* The Poisson rate and the steps of a client with that many declared rows. An epoch is as many steps as it takes to
 * see every row once in expectation. */
static mfpg_status set_batches(
    mfpg_context *ctx, const mfpg_experiment *experiment, ptrdiff_t client, mfpg_mechanism_options *o) {
    const mfpg_config *config = experiment->config;
    const mfpg_client_data *data = &experiment->data->client[client];
    double size = mfpg_config_number(config, "train.batch.size"),
           rate = mfpg_config_number(config, "train.batch.rate");
    o->batch_rate = 1.0;
    if (rate > 0.0) o->batch_rate = rate;
    if (size > 0.0) {
        if (size > (double)data->train.rows)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "%s: train.batch.size: %g is more than the %td rows of client '%s'",
                mfpg_config_source(config, "train.batch.size"), size, data->train.rows, data->name);
        o->batch_rate = size / (double)data->train.rows;
    }
    double epochs = mfpg_config_number(config, "train.local_epochs");
    double steps = epochs > 0.0 ? epochs * ceil(1.0 / o->batch_rate - 1e-9)
                                : (double)mfpg_config_whole(config, "train.local_steps");
    if (!(steps <= INT32_MAX))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: train.local_epochs: %g steps a round for client '%s'; at most %d are allowed",
            mfpg_config_source(config, "train.local_epochs"), steps, data->name, INT32_MAX);
    o->local_steps = (int64_t)steps;
    return MFPG_OK;
}

static mfpg_status find_or_make(mfpg_context *ctx, mechanism_set *set, double *rates,
    const mfpg_mechanism_options *o, const mfpg_mechanism **out) {
    for (ptrdiff_t i = 0; i < set->count; i++) {
        if (rates[i] != o->batch_rate) continue; /* steps follow from the rate */
        *out = set->distinct[i];
        return MFPG_OK;
    }
    mfpg_status status = mfpg_mechanism_create(ctx, o, &set->distinct[set->count]);
    if (status != MFPG_OK) return status;
    rates[set->count] = o->batch_rate;
    *out = set->distinct[set->count++];
    return MFPG_OK;
}

mfpg_status mfpg_setup_mechanisms(mfpg_context *ctx, mfpg_experiment *experiment) {
    ptrdiff_t clients = experiment->data->clients;
    mechanism_set *set = &experiment->mechanisms;
    double *rates = mfpg_alloc(clients, sizeof *rates);
    set->distinct = mfpg_alloc(clients, sizeof *set->distinct);
    set->of_client = mfpg_alloc(clients, sizeof *set->of_client);
    mfpg_status status = rates && set->distinct && set->of_client ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = settle_law(ctx, experiment);
    if (status == MFPG_OK) status = check_grid(ctx, experiment);
    mfpg_mechanism_options options = shared_options(experiment);
    if (status == MFPG_OK) status = bound_curvature(ctx, experiment, &options);
    for (ptrdiff_t k = 0; k < clients && status == MFPG_OK; k++) {
        const mfpg_client_data *client = &experiment->data->client[k];
        if (k > 0 && client[0].train.rows == client[-1].train.rows) { /* batches follow from the rows */
            set->of_client[k] = set->of_client[k - 1];
            continue;
        }
        status = set_batches(ctx, experiment, k, &options);
        if (status == MFPG_OK) status = find_or_make(ctx, set, rates, &options, &set->of_client[k]);
    }
    free(rates);
    return status;
}

void mfpg_mechanism_set_clear(mechanism_set *set) {
    for (ptrdiff_t i = 0; i < set->count; i++) mfpg_mechanism_destroy(set->distinct[i]);
    free(set->distinct);
    free(set->of_client);
    *set = (mechanism_set){0};
}
