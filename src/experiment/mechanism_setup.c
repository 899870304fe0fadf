/* Builds one mechanism per client from a configuration. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "mechanisms/mechanism_ops.h"
#include "internal.h"

static mfpg_status settle_law(mfpg_context *ctx, mfpg_config *config) {
    int budgets = mfpg_mechanism_kind_of(config->method.mechanism).control == MFPG_CONTROL_BUDGET;
    int game = config->method.players != MFPG_PLAYERS_NONE;
    if (!budgets || config->set.law >= 0) return MFPG_OK;
    return mfpg_config_resolve(ctx, config, "noise.law", game ? "game" : "classical",
        game ? "budgets of a game are Gaussian-DP parameters" : "the paper's noise without a game");
}

static mfpg_status check_grid(mfpg_context *ctx, const mfpg_config *config) {
    double grid = config->set.federation.grid;
    char given[MFPG_NUMBER_SIZE], below[MFPG_NUMBER_SIZE];
    int exponent;
    if (grid == 0.0 || frexp(grid, &exponent) == 0.5) return MFPG_OK;
    return mfpg_config_fail(ctx, config, "noise.grid",
        "%s is not a power of two; the nearest below is %s; allowed: auto, or a power of two",
        mfpg_number_format(grid, given), mfpg_number_format(ldexp(0.5, exponent), below));
}

/* Records take a step of the flow at the first model once; this computes the public bound on the loss's
 * curvature in the features there. */
static mfpg_status bound_curvature(mfpg_context *ctx, const mfpg_experiment *e, mfpg_mechanism_options *o) {
    if (o->particles != MFPG_PARTICLES_DATA || !mfpg_mechanism_kind_of(o->kind).flow) return MFPG_OK;
    float *w = mfpg_alloc(mfpg_model_parameters(e->model), sizeof *w);
    if (!w) return mfpg_fail_memory(ctx);
    mfpg_model_start(e->model, &e->key, e->options.start_he, w);
    o->input_smoothness = mfpg_model_input_smoothness(e->model, e->start ? e->start : w);
    free(w);
    if (isfinite(o->input_smoothness)) return MFPG_OK;
    return mfpg_config_fail(ctx, e->config, "entropic.particles",
        "data; no bound is known on the curvature of model %s in its features", mfpg_model_name(e->model));
}

/* Sets the Poisson rate and the number of steps of a client with that many declared rows. An epoch is the
 * number of steps in which every row is used once in expectation. */
static mfpg_status set_batches(
    mfpg_context *ctx, const mfpg_experiment *e, ptrdiff_t client, mfpg_mechanism_options *o) {
    const mfpg_settings *set = &e->config->set;
    const mfpg_client_data *data = &e->data->client[client];
    o->batch_rate = set->batch_rate > 0.0 ? set->batch_rate : 1.0;
    if (set->batch_size > data->train.rows)
        return mfpg_config_fail(ctx, e->config, "train.batch.size",
            "%td is more than the %td rows of client '%s'", set->batch_size, data->train.rows, data->name);
    if (set->batch_size > 0) o->batch_rate = (double)set->batch_size / (double)data->train.rows;
    double steps = set->local_epochs > 0 ? (double)set->local_epochs * ceil(1.0 / o->batch_rate - 1e-9)
                                         : (double)set->local_steps;
    if (!(steps <= INT32_MAX))
        return mfpg_config_fail(ctx, e->config, "train.local_epochs",
            "%g steps a round for client '%s'; at most %d are allowed", steps, data->name, INT32_MAX);
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

mfpg_status mfpg_setup_mechanisms(mfpg_context *ctx, mfpg_experiment *e) {
    ptrdiff_t clients = e->data->clients;
    mechanism_set *set = &e->mechanisms;
    double *rates = mfpg_alloc(clients, sizeof *rates);
    set->distinct = mfpg_alloc(clients, sizeof *set->distinct);
    set->of_client = mfpg_alloc(clients, sizeof *set->of_client);
    mfpg_status status = rates && set->distinct && set->of_client ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = settle_law(ctx, e->config);
    if (status == MFPG_OK) status = check_grid(ctx, e->config);
    mfpg_mechanism_options options = e->config->set.mechanism;
    options.sum_rounding = mfpg_model_sum_rounding(e->model);
    if (status == MFPG_OK) status = bound_curvature(ctx, e, &options);
    for (ptrdiff_t k = 0; k < clients && status == MFPG_OK; k++) {
        const mfpg_client_data *client = &e->data->client[k];
        if (k > 0 && client[0].train.rows == client[-1].train.rows) { /* batches follow from the rows */
            set->of_client[k] = set->of_client[k - 1];
            continue;
        }
        status = set_batches(ctx, e, k, &options);
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
