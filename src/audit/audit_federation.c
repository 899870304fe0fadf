/* The entry point of audits: options, laws and promises, and the table of results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit_game.h"
#include "accountants/accounting.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/memory.h"
#include "federation/federation_core.h"
#include "mechanisms/mechanism_ops.h"

/* ---- options ---- */

mfpg_audit_options mfpg_audit_options_for(mfpg_audit_method method) {
    const int64_t runs[] = {20000, 200, 1};
    return (mfpg_audit_options){.method = method, .runs = runs[method], .confidence = 0.99, .seed = 1};
}

mfpg_audit_options mfpg_audit_options_default(void) {
    return mfpg_audit_options_for(MFPG_AUDIT_RANKS);
}

const char *mfpg_audit_method_name(mfpg_audit_method method) {
    static const char *const name[] = {"ranks", "few-runs", "one-run"};
    return name[method];
}

const char *mfpg_audit_route_name(mfpg_audit_route route) {
    static const char *const name[] = {
        "none", "rank", "accuracy", "pairs", "two-error", "betting", "one-run"};
    return name[route];
}

const char *mfpg_audit_pattern_name(mfpg_audit_pattern pattern) {
    static const char *const name[] = {
        "none", "constant", "alternating", "cross", "round", "both", "looks", "input", "digits"};
    return name[pattern];
}

static mfpg_status check_options(mfpg_context *ctx, const mfpg_audit_options *o, int records) {
    long long runs = (long long)o->runs;
    int ranks = o->method == MFPG_AUDIT_RANKS;
    if (o->method == MFPG_AUDIT_FEW_RUNS && (runs < 1 || runs > INT32_MAX))
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "%lld runs; an audit by few runs takes from 1 to 2^31 - 1", runs);
    if (o->method == MFPG_AUDIT_ONE_RUN && runs != 1)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%lld runs; an audit by one run takes 1", runs);
    if (ranks && (runs < 20 || runs % 2 != 0 || runs > INT32_MAX))
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "%lld runs; an audit takes an even number, from 20 to 2^31 - 2", runs);
    if (o->canaries < 0 || (o->canaries > 0 && ranks))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "%lld canaries; few runs and one run take 1 or more, ranks have one a client",
            (long long)o->canaries);
    if (o->input_canaries && !ranks)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "input canaries are audited by ranks");
    if (!(o->confidence > 0.5 && o->confidence < 1.0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "confidence %g; it must be between 0.5 and 1", o->confidence);
    if (records && (!ranks || o->input_canaries))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "this configuration noises records: they are attacked by ranks, each record once, without input "
            "canaries");
    return MFPG_OK;
}

/* ---- what a client's round does along the canary's direction ---- */

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
    /* One step is x - rate (decay x + penalty (x - mean x)) + displacement + noise. The direction has mean
     * 0, except for a single parameter, which is its own mean. */
    double decay = 0.0, penalty = 0.0, gap = 0.0, variance = 0.0, power = 1.0;
    if (mechanism->ops->pull) mechanism->ops->pull(mechanism, &release, &decay, &penalty);
    if (mfpg_model_parameters(game->model) == 1) penalty = 0.0;
    double keep = 1.0 - mechanism->ops->rate(&mechanism->options) * (decay + penalty);
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
            "game.update: each-round: actions that depend on earlier releases cannot be audited");
    if (game->federation->promise.view != MFPG_VIEW_LOCAL && !mfpg_server_is_plain(&game->federation->server))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "server.optimiser: in view %s an attack reads the average from the global model; allowed: sgd "
            "with server.learning_rate 1",
            mfpg_view_name(game->federation->promise.view));
    for (ptrdiff_t k = 0; k < game->clients && status == MFPG_OK; k++) {
        status = client_law(ctx, game, k, &law[k]);
        if (status != MFPG_OK) return mfpg_fail_in(ctx, status, "client '%s'", game->data->client[k].name);
    }
    return status;
}

/* ---- what the federation promises ---- */

/* Computes one minus the area under the trade-off curve that epsilon at every delta implies, rounded up. At
 * x the curve is at least 1 - delta - e^epsilon x and e^-epsilon (1 - delta - x) for every pair; it is
 * convex, so the midpoint rule does not exceed its area. */
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

static mfpg_status promise_client(
    mfpg_context *ctx, const mfpg_federation *federation, ptrdiff_t k, mfpg_audit_promise *promise) {
    mfpg_client_report report;
    const mfpg_release plan = mfpg_plan_release(federation->plan, k);
    const mfpg_promise *asked = &federation->options.promise;
    mfpg_status status = mfpg_federation_client(ctx, federation, k, &report);
    if (status != MFPG_OK) return status;
    /* The paper's bound for its entropic methods is on the total variation between last models; its other
     * bound is on epsilon. */
    int bounds_distance =
        asked->view == MFPG_VIEW_FINAL &&
        (mfpg_accountant_facts(federation->options.paper_accountant) & MFPG_ACCOUNTANT_BOUNDS_DISTANCE);
    int rounds = plan.particles == MFPG_PARTICLES_PARAMETERS && asked->view != MFPG_VIEW_FINAL &&
                 plan.sampling_rate >= 1.0 && federation->options.rounds > 1;
    *promise = (mfpg_audit_promise){.mu = report.mu,
        .epsilon = report.epsilon,
        .round_mu = rounds ? mfpg_release_mu(&plan, asked->adjacency) : (double)NAN,
        .auc_cap = NAN,
        .distance = report.distance,
        .paper_delta = bounds_distance ? report.paper_delta : (double)NAN};
    if (!isnan(report.mu)) return MFPG_OK;
    /* Without a mu, the trade-off curve itself is the promise. */
    account_cursor cursor = {0};
    const account_pair *accounts = mfpg_federation_accounts(ctx, federation, k, &cursor);
    status = accounts ? area_cap(ctx, accounts->certificate, &promise->auc_cap) : mfpg_fail_memory(ctx);
    mfpg_account_cursor_clear(&cursor);
    return status;
}

/* Computes the promises by one run with its own accountants; they do not depend on the data. */
static mfpg_status find_promises(mfpg_context *ctx, const mfpg_audit_game *game,
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
    mfpg_status status = mfpg_audit_canaries(ctx, game, 1, 1, &canaries);
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

/* ---- the audit ---- */

/* What runs of an audit omit: metrics, the paper's columns, and accountants that cost more than the run,
 * unless the run stops by them. */
static mfpg_federation_options quick(const mfpg_federation_options *options) {
    mfpg_federation_options o = *options;
    o.evaluate = MFPG_EVALUATE_NONE;
    o.free_energy = 0;
    o.paper_accountant = NULL;
    o.start = NULL;
    o.start_he = 0;
    int data = mfpg_accountant_facts(o.accountant) & MFPG_ACCOUNTANT_OF_DATA;
    if (isinf(o.stop_at_epsilon))
        o.accountant = mfpg_accountant_default(data ? MFPG_PARTICLES_DATA : MFPG_PARTICLES_PARAMETERS, 0);
    o.hidden = MFPG_HIDDEN_NONE;
    return o;
}

mfpg_status mfpg_audit_federation(mfpg_context *ctx, const mfpg_audit_options *options,
    const mfpg_federation_options *federation, const mfpg_federated_data *data, const mfpg_model *model,
    const mfpg_mechanism *const *mechanism, const mfpg_action *action, mfpg_audit_client *client,
    mfpg_audit_plan *plan) {
    const mfpg_federation_options runs = quick(federation);
    mfpg_model *canary = NULL;
    mfpg_audit_law *law = mfpg_alloc(data->clients, sizeof *law);
    mfpg_audit_promise *promise = mfpg_alloc(data->clients, sizeof *promise);
    mfpg_audit_game game = {.options = options,
        .federation = &runs,
        .data = data,
        .mechanism = mechanism,
        .records = mfpg_mechanism_particles(mechanism[0]) == MFPG_PARTICLES_DATA,
        .configured = options->input_canaries ? model : NULL,
        .action = action,
        .law = law,
        .excess = 10.0,
        .clients = data->clients,
        .rounds = federation->rounds,
        .delta = federation->delta,
        .play = mfpg_audit_play_federation};
    mfpg_status status = law && promise ? check_options(ctx, options, game.records) : mfpg_fail_memory(ctx);
    if (status == MFPG_OK && game.configured) status = mfpg_input_canary_check(ctx, model);
    if (status == MFPG_OK && !game.records) status = mfpg_canary_model_create(ctx, model, &canary);
    game.model = game.records ? model : canary;
    if (status == MFPG_OK) status = mfpg_audit_laws(ctx, &game, law);
    if (status == MFPG_OK) status = find_promises(ctx, &game, federation, promise);
    if (status == MFPG_OK)
        status = (options->method == MFPG_AUDIT_RANKS ? mfpg_audit_run : mfpg_audit_run_many)(
            ctx, &game, promise, client, plan);
    for (ptrdiff_t k = 0; k < game.clients && status == MFPG_OK && !game.records; k++) {
        /* A clip of the whole update comes after all its steps. */
        double steps =
            mfpg_mechanism_clips_update(mechanism[k]) ? (double)mechanism[k]->options.local_steps : 1.0;
        client[k].gradient_norm = game.excess * steps * mechanism[k]->options.clip;
        client[k].clip_factor = 1.0 / (game.excess * steps);
    }
    mfpg_model_destroy(canary);
    free(law);
    free(promise);
    return status;
}

/* ---- the table of results: only this table names the keys of audit.json ---- */

#define AUDIT(name, kind, places, member, help)                                                              \
    { name, MFPG_FIELD_##kind, places, offsetof(mfpg_audit_record, member), help }
enum { JSON = MFPG_FIELD_JSON, BOTH = MFPG_FIELD_JSON | MFPG_FIELD_PYTHON };

static const mfpg_record_field audit_fields[] = {
    AUDIT("client", TEXT, BOTH, client, "its name; together: the clients' canaries as one sample"),
    AUDIT("mu", MAGNITUDE, BOTH, found.mu, "promised; none if the accountant has none"),
    AUDIT("mu_lower", MAGNITUDE, BOTH, found.mu_lower, "proved; 0: nothing"),
    AUDIT("epsilon", MAGNITUDE, BOTH, found.epsilon, "promised at delta; nats"),
    AUDIT("epsilon_lower", MAGNITUDE, BOTH, found.epsilon_lower,
        "what mu_lower means at delta for Gaussian noise; nats"),
    AUDIT("epsilon_lower_direct", MAGNITUDE, BOTH, found.epsilon_lower_direct,
        "proved without any assumption; nats"),
    AUDIT("delta", MAGNITUDE, JSON, delta, "of the promise"),
    AUDIT("route", TEXT, BOTH, route, "how mu_lower was proved"),
    AUDIT("pattern", TEXT, BOTH, pattern, "how the canaries were sent for it"),
    AUDIT("gap", NUMBER, JSON, gap, "mu - mu_lower"),
    AUDIT("mu_estimate", NUMBER, BOTH, found.mu_estimate, "of a fitted Gaussian; no proof"),
    AUDIT(
        "auc", MAGNITUDE, BOTH, found.auc, "share of pairs of runs that the attack puts in order; no proof"),
    AUDIT("auc_cap", MAGNITUDE, BOTH, found.auc_cap, "promised share at most, if there is no mu"),
    AUDIT("auc_lower", MAGNITUDE, BOTH, found.auc_lower, "proved share"),
    AUDIT("round_mu", MAGNITUDE, BOTH, found.round_mu, "promised of one round"),
    AUDIT("round_mu_lower", MAGNITUDE, BOTH, found.round_mu_lower, "proved of one round"),
    AUDIT("distance", MAGNITUDE, BOTH, found.distance, "total variation, promised"),
    AUDIT("tv_lower", MAGNITUDE, BOTH, found.tv_lower, "total variation, proved without any assumption"),
    AUDIT("paper_delta", MAGNITUDE, BOTH, found.paper_delta,
        "the paper's bound of the total variation; no promise"),
    AUDIT("gradient_norm", MAGNITUDE, BOTH, found.gradient_norm, "of the canary, before the clip"),
    AUDIT("clip_factor", MAGNITUDE, BOTH, found.clip_factor, "share of it that the clip left"),
    AUDIT("input_mu_lower", MAGNITUDE, BOTH, found.input_mu_lower, "proved by rows of data"),
    AUDIT("input_mu_estimate", NUMBER, BOTH, found.input_mu_estimate,
        "the same of a fitted Gaussian; no proof"),
    AUDIT("input_gradient", MAGNITUDE, BOTH, found.input_gradient,
        "mean norm of a row's gradient, before the clip"),
    AUDIT("input_clip_factor", MAGNITUDE, BOTH, found.input_clip_factor, "share of it that the clip left"),
    AUDIT("canaries", COUNT, BOTH, found.canaries, "of the client in a run, with few runs or one"),
    AUDIT("guesses", COUNT, BOTH, found.guesses, "in all runs"),
    AUDIT("correct", COUNT, BOTH, found.correct, "guesses that were right"),
    AUDIT("ceiling", MAGNITUDE, BOTH, found.ceiling, "mu that one run proves if every guess is right"),
    AUDIT("expected", MAGNITUDE, BOTH, found.expected,
        "mu that one run proves half of the time if the promise is exact"),
    AUDIT("stands", TRUTH, BOTH, found.stands, "false if a promise is broken"),
};
const mfpg_fields mfpg_audit_fields = MFPG_FIELDS("audit", audit_fields);

mfpg_audit_record mfpg_audit_record_of(const char *name, double delta, const mfpg_audit_client *client) {
    return (mfpg_audit_record){.client = name,
        .route = mfpg_audit_route_name(client->route),
        .pattern = mfpg_audit_pattern_name(client->pattern),
        .delta = delta,
        .gap = client->mu - client->mu_lower,
        .found = *client};
}
