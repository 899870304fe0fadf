/* What a client's round does along the canary's direction, and what the federation promises it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountants/accounting.h"
#include "base/error.h"
#include "base/memory.h"
#include "federation/federation_core.h"
#include "game.h"
#include "mechanisms/mechanism_ops.h"
#include "models/losses.h"
#include "numerics/special/geometric.h"

/* One step is x - rate (decay x + penalty (x - mean x)) + displacement + noise. The direction has mean 0 but for a single
 * parameter, which is its own mean. */
static double keep_of(const mfpg_mechanism *mechanism, const mfpg_release *release, ptrdiff_t parameters) {
    double decay = 0.0, penalty = 0.0;
    if (mechanism->ops->pull) mechanism->ops->pull(mechanism, release, &decay, &penalty);
    if (parameters == 1) penalty = 0.0;
    return 1.0 - mechanism->ops->rate(&mechanism->options) * (decay + penalty);
}

static mfpg_status client_law(
    mfpg_context *ctx, const mfpg_audit_game *game, ptrdiff_t k, mfpg_audit_law *law) {
    const mfpg_mechanism *mechanism = game->mechanism[k];
    mfpg_release release;
    ptrdiff_t rows = game->data->client[k].train.rows;
    mfpg_status status = mfpg_mechanism_release(ctx, mechanism, game->action[k], rows, &release);
    if (status != MFPG_OK) return status;
    if (!(release.noise_sd > 0.0))
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "no noise is added, nothing is promised, and there is nothing to attack");
    status = mfpg_mechanism_check_memoryless(
        ctx, mechanism, "the law of an attack's score is that of plain steps");
    if (status != MFPG_OK) return status;
    if (release.particles == MFPG_PARTICLES_DATA) {
        *law = (mfpg_audit_law){.rate = 1.0, .one_step = 1, .release = release};
        mfpg_record_law(
            mechanism, release.noise_sd, rows, mechanism->options.local_steps, &law->gap, &law->variance);
        return MFPG_OK;
    }
    double keep = keep_of(mechanism, &release, mfpg_model_parameters(game->model)), gap = 0.0, variance = 0.0,
           power = 1.0;
    for (int64_t step = 0; step < release.steps; step++, power *= keep) {
        gap += power;
        variance += power * power;
    }
    *law = (mfpg_audit_law){.keep = power,
        .gap = gap * release.sensitivity,
        .variance = variance * release.noise_sd * release.noise_sd,
        .rate = release.sampling_rate,
        .one_step = release.steps == 1,
        .release = release};
    return MFPG_OK;
}

mfpg_status mfpg_audit_laws(mfpg_context *ctx, const mfpg_audit_game *game, mfpg_audit_law *law) {
    mfpg_status status = MFPG_OK;
    if (game->federation->acting)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "game.update: each-round: actions that answer to what was released cannot be audited");
    if (game->federation->promise.view != MFPG_VIEW_LOCAL && !mfpg_server_is_plain(&game->federation->server))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "server.optimiser: in view %s an attack reads the average from the global model; allowed: sgd "
            "with "
            "server.learning_rate 1",
            mfpg_view_name(game->federation->promise.view));
    for (ptrdiff_t k = 0; k < game->clients && status == MFPG_OK; k++) {
        status = client_law(ctx, game, k, &law[k]);
        if (status != MFPG_OK) return mfpg_fail_in(ctx, status, "client '%s'", game->data->client[k].name);
    }
    return status;
}

mfpg_status mfpg_audit_canaries(mfpg_context *ctx, const mfpg_audit_game *game, mfpg_canary_data *out) {
    if (game->records)
        return mfpg_record_data_create(ctx, game->model->features, game->data, game->mechanism, out);
    if (game->input) return mfpg_input_data_create(ctx, game->input, game->data, game->mechanism, out);
    return mfpg_canary_data_create(ctx, game->data, game->mechanism, game->excess, out);
}

/* One minus the area under the trade-off curve that epsilon at every delta implies, rounded up. At x the curve is at least
 * 1 - delta - e^epsilon x and e^-epsilon (1 - delta - x) for every pair; it is convex, so that the midpoint rule does not exceed
 * its area. */
static mfpg_status area_cap(mfpg_context *ctx, const mfpg_accountant *accountant, double *cap) {
    enum { LEVELS = 48, CELLS = 1000 };
    double epsilon[LEVELS], delta[LEVELS], area = 0.0;
    for (int i = 0; i < LEVELS; i++) {
        epsilon[i] = i == 0 ? 0.0 : 0.01 * pow(1.17, i - 1);
        mfpg_status status = mfpg_accountant_delta(ctx, accountant, epsilon[i], &delta[i]);
        if (status != MFPG_OK) return status;
    }
    for (int c = 0; c < CELLS; c++) {
        double x = (c + 0.5) / CELLS, best = 0.0;
        for (int i = 0; i < LEVELS; i++) {
            if (!(delta[i] <= 1.0)) continue; /* no bound here */
            best = fmax(best, 1.0 - delta[i] - exp(epsilon[i]) * x);
            best = fmax(best, exp(-epsilon[i]) * (1.0 - delta[i] - x));
        }
        area += best / CELLS;
    }
    *cap = fmin(1.0 - area + 1e-12, 1.0);
    return MFPG_OK;
}

/* Where there is no mu, the curve itself is what was promised. */
static mfpg_status cap_client(
    mfpg_context *ctx, const mfpg_federation *federation, ptrdiff_t k, mfpg_audit_promise *promise) {
    account_cursor cursor = {0};
    const account_pair *accounts = mfpg_federation_accounts(ctx, federation, k, &cursor);
    mfpg_status status =
        accounts ? area_cap(ctx, accounts->certificate, &promise->auc_cap) : mfpg_fail_memory(ctx);
    mfpg_account_cursor_clear(&cursor);
    return status;
}

/* The paper's bound for its entropic methods is one of total variation between last models; the other one is of epsilon. */
static int bounds_distance(const mfpg_federation_options *options) {
    return options->promise.view == MFPG_VIEW_FINAL &&
           (mfpg_accountant_facts(options->paper_accountant) & MFPG_ACCOUNTANT_BOUNDS_DISTANCE);
}

static mfpg_status promise_client(
    mfpg_context *ctx, const mfpg_federation *federation, ptrdiff_t k, mfpg_audit_promise *promise) {
    mfpg_client_report report;
    const mfpg_release plan = mfpg_plan_release(federation->plan, k);
    const mfpg_promise *asked = &federation->options.promise;
    mfpg_status status = mfpg_federation_client(ctx, federation, k, &report);
    if (status != MFPG_OK) return status;
    int rounds = plan.particles == MFPG_PARTICLES_PARAMETERS && asked->view != MFPG_VIEW_FINAL &&
                 plan.sampling_rate >= 1.0 && federation->options.rounds > 1;
    *promise = (mfpg_audit_promise){.mu = report.mu,
        .epsilon = report.epsilon,
        .round_mu = rounds ? mfpg_release_mu(&plan, asked->adjacency) : (double)NAN,
        .auc_cap = NAN,
        .distance = report.distance,
        .paper_delta = bounds_distance(&federation->options) ? report.paper_delta : (double)NAN};
    return isnan(report.mu) ? cap_client(ctx, federation, k, promise) : MFPG_OK;
}

/* One run of what would be trained, with its own accountants, whatever the data. */
mfpg_status mfpg_audit_promises(mfpg_context *ctx, const mfpg_audit_game *game,
    const mfpg_federation_options *options, mfpg_audit_promise *promise) {
    mfpg_federation_options own = *options;
    mfpg_canary_data canaries;
    mfpg_federation *federation = NULL;
    mfpg_key key = mfpg_key_from_seed(game->options->seed);
    int done = 0;
    own.evaluate = MFPG_EVALUATE_NONE;
    own.free_energy = 0;
    own.start = NULL;
    own.start_he = 0;
    mfpg_status status = mfpg_audit_canaries(ctx, game, &canaries);
    if (status != MFPG_OK) return status;
    status = mfpg_federation_create(
        ctx, &own, &canaries.data, game->model, game->mechanism, game->action, &key, &federation);
    for (int64_t t = 0; t < own.rounds && status == MFPG_OK && !done; t++) {
        mfpg_round_report report;
        status = mfpg_federation_round(ctx, federation, &report, &done);
    }
    for (ptrdiff_t k = 0; k < game->clients && status == MFPG_OK; k++)
        status = promise_client(ctx, federation, k, &promise[k]);
    mfpg_federation_destroy(federation);
    mfpg_canary_data_clear(&canaries);
    return status;
}
