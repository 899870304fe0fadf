/* Builds an experiment from its configuration; each step needs the steps before it. */
#include "mfpg/experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "data/npy.h"
#include "federation/run_folder.h"
#include "internal.h"

/* A key from the system belongs to one federation, so the first rank draws it for all. */
static mfpg_status draw_key(mfpg_context *ctx, mfpg_key *key) {
    int64_t words[sizeof key->bytes / sizeof(int64_t)] = {0};
    mfpg_status status = MFPG_OK;
    if (mfpg_ranks_first(ctx) && (status = mfpg_key_from_system(key)) != MFPG_OK)
        status = mfpg_fail(ctx, status, "the system gives no randomness");
    status = mfpg_ranks_agree(ctx, status);
    if (status != MFPG_OK || mfpg_ranks_size(ctx) == 1) return status;
    if (mfpg_ranks_first(ctx)) memcpy(words, key->bytes, sizeof words);
    status = mfpg_ranks_share(ctx, words, sizeof words / sizeof *words);
    memcpy(key->bytes, words, sizeof words);
    return status;
}

static mfpg_status open_key(mfpg_context *ctx, mfpg_experiment *e, const mfpg_key *resumed) {
    ptrdiff_t seed = e->config->set.seed;
    if (seed < 0 && !resumed) return draw_key(ctx, &e->key);
    e->key = seed >= 0 ? mfpg_key_from_seed((uint64_t)seed) : *resumed;
    if (seed < 0) e->key.seeded = 0;
    return MFPG_OK;
}

static mfpg_status load_start(mfpg_context *ctx, mfpg_experiment *e) {
    const char *start = e->config->set.start;
    e->options.start_he = strcmp(start, "he") == 0;
    if (e->options.start_he || strcmp(start, "zero") == 0) return MFPG_OK;
    mfpg_status status = mfpg_npy_read_vector(ctx, start, mfpg_model_parameters(e->model), &e->start);
    e->options.start = e->start;
    return status;
}

static mfpg_status create_federation(mfpg_context *ctx, mfpg_experiment *e) {
    return mfpg_federation_create(
        ctx, &e->options, e->data, e->model, e->mechanisms.of_client, e->action, &e->key, &e->federation);
}

/* Warns if the noise exceeds the largest possible signal of the run, and if a declared assumption has no
 * effect because rounds do not bring models closer together. */
static mfpg_status warn_of_plan(mfpg_context *ctx, const mfpg_experiment *e) {
    mfpg_plan *plan = NULL;
    mfpg_status status =
        mfpg_plan_create(ctx, &e->options, e->data, e->mechanisms.of_client, e->action, &plan);
    if (status != MFPG_OK) return status;
    double ratio = mfpg_plan_signal_to_noise(plan, mfpg_model_parameters(e->model)),
           contraction = mfpg_plan_release(plan, 0).hidden_contraction;
    if (ratio < 1.0)
        mfpg_warn(ctx,
            "the noise of this run is %.3g times the largest signal it can carry: expect a model no better "
            "than chance (more clients, more rounds, fewer parameters, the example unit or a larger epsilon "
            "help)",
            1.0 / ratio);
    if (e->options.hidden != MFPG_HIDDEN_NONE && contraction >= 1.0)
        mfpg_warn(ctx,
            "privacy.assume gains nothing in this run: a round multiplies the distance of two models by up "
            "to %.4g, and only below 1 is anything forgotten; charged as if every average were seen",
            contraction);
    mfpg_plan_destroy(plan);
    return MFPG_OK;
}

static mfpg_status build(mfpg_context *ctx, mfpg_experiment *e, const mfpg_key *resumed) {
    mfpg_status status = mfpg_checkpoints_prepare(ctx, e);
    e->options = e->config->set.federation;
    if (status == MFPG_OK) status = open_key(ctx, e, resumed);
    if (status == MFPG_OK) status = mfpg_setup_data(ctx, e->config, &e->key, 0, &e->data);
    if (status == MFPG_OK) status = mfpg_setup_model(ctx, e->config, e->data, &e->model);
    if (status == MFPG_OK) status = load_start(ctx, e);
    if (status == MFPG_OK) status = mfpg_setup_mechanisms(ctx, e);
    if (status == MFPG_OK) status = mfpg_setup_federation(ctx, e);
    if (status == MFPG_OK) status = mfpg_setup_actions(ctx, e);
    if (status == MFPG_OK) status = mfpg_list_assumptions(ctx, e);
    if (status == MFPG_OK) status = warn_of_plan(ctx, e);
    return status == MFPG_OK ? create_federation(ctx, e) : status;
}

mfpg_status mfpg_experiment_build(
    mfpg_context *ctx, mfpg_status status, mfpg_config *config, const mfpg_key *key, mfpg_experiment **out) {
    mfpg_experiment *e = status == MFPG_OK ? mfpg_alloc(1, sizeof *e) : NULL;
    if (status == MFPG_OK && !e) status = mfpg_fail_memory(ctx);
    if (e)
        e->config = config;
    else
        mfpg_config_destroy(config);
    if (status == MFPG_OK) status = build(ctx, e, key);
    status = mfpg_ranks_agree(ctx, status); /* the file may be missing on one machine only */
    if (status == MFPG_OK)
        *out = e;
    else
        mfpg_experiment_destroy(e);
    return status;
}

mfpg_status mfpg_experiment_create(mfpg_context *ctx, const mfpg_config *config, mfpg_experiment **out) {
    mfpg_config *copy = NULL;
    mfpg_status status = mfpg_config_copy(ctx, config, &copy);
    if (status == MFPG_OK) status = mfpg_config_check(ctx, copy);
    return mfpg_experiment_build(ctx, status, copy, NULL, out);
}

mfpg_status mfpg_experiment_sum_losses(mfpg_context *ctx, mfpg_experiment *e) {
    mfpg_federation_destroy(e->federation);
    e->federation = NULL;
    e->options.loss_kind = MFPG_LOSS_CLIENT_SUM;
    return create_federation(ctx, e);
}

void mfpg_experiment_destroy(mfpg_experiment *e) {
    if (!e) return;
    mfpg_federation_destroy(e->federation);
    mfpg_ledger_close(e->ledger);
    mfpg_checkpoints_clear(&e->checkpoints);
    mfpg_mechanism_set_clear(&e->mechanisms);
    mfpg_equilibrium_clear(&e->equilibrium);
    mfpg_game_setup_clear(&e->game);
    mfpg_model_destroy(e->model);
    mfpg_federated_data_destroy(e->data);
    mfpg_config_destroy(e->config);
    for (ptrdiff_t i = 0; i < e->assumptions.count; i++) free(e->assumptions.text[i]);
    free(e->assumptions.text);
    free(e->preference);
    free(e->action);
    free(e->colluder);
    free(e->dropout);
    free(e->start);
    free(e->rounds);
    free(e->seconds);
    free(e->sum_cost);
    free(e);
}

/* ---- what an experiment tells ---- */

const mfpg_config *mfpg_experiment_config(const mfpg_experiment *e) {
    return e->config;
}

ptrdiff_t mfpg_experiment_clients(const mfpg_experiment *e) {
    return e->data->clients;
}

const char *mfpg_experiment_client_name(const mfpg_experiment *e, ptrdiff_t client) {
    return client >= 0 && client < e->data->clients ? e->data->client[client].name : NULL;
}

static const char *name_of(const void *experiment, ptrdiff_t client) {
    return mfpg_experiment_client_name(experiment, client);
}

int mfpg_experiment_solution(const mfpg_experiment *e, mfpg_solution *out) {
    if (!e->equilibrium.action) return 0;
    *out = (mfpg_solution){.game = &e->game.game,
        .equilibrium = &e->equilibrium,
        .finite_max = e->finite_max,
        .finite_mean = e->finite_mean,
        .preference_factor = e->preference_factor == 1.0 ? 0.0 : e->preference_factor,
        .name = name_of,
        .name_user = e};
    return 1;
}

mfpg_status mfpg_experiment_check_solved(mfpg_context *ctx, const mfpg_experiment *e, const char *what) {
    if (!e->equilibrium.action || e->equilibrium.converged) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_NUMERIC, "the game was not solved: residual %.3g after %d iterations; %s",
        e->equilibrium.residual, e->equilibrium.iterations, what);
}

mfpg_status mfpg_experiment_client_record(
    mfpg_context *ctx, const mfpg_experiment *e, ptrdiff_t client, mfpg_client_record *out) {
    int known = e->preference && client >= 0 && client < e->data->clients;
    mfpg_status status = mfpg_federation_client_record(
        ctx, e->federation, client, known ? e->preference[client] : (double)NAN, out);
    if (status != MFPG_OK) return status;
    out->name = e->data->client[client].name;
    out->rows = e->data->client[client].train.rows;
    out->dropped_rows = e->data->client[client].dropped_rows;
    return MFPG_OK;
}

mfpg_status mfpg_tally_clients(mfpg_context *ctx, const mfpg_experiment *e, client_tally *out) {
    *out = (client_tally){.idle = 1};
    for (ptrdiff_t k = 0; k < e->data->clients; k++) {
        mfpg_client_report c;
        mfpg_status status = mfpg_federation_client(ctx, e->federation, k, &c);
        if (status != MFPG_OK) return status;
        if (k == 0 || c.epsilon < out->low.epsilon) out->low = c, out->least = k;
        if (k == 0 || c.epsilon > out->high.epsilon) out->high = c, out->most = k;
        out->stopped += c.stopped;
        out->nonfinite += c.nonfinite;
        out->certified += isfinite(c.epsilon);
        if (c.rounds > 0 || !c.stopped) out->idle = 0;
        double mu = e->options.acting ? c.spent_mu : c.mu;
        out->spent = isnan(mu) || isnan(out->spent) ? (double)NAN : fmax(out->spent, mu);
    }
    return MFPG_OK;
}

mfpg_status mfpg_experiment_client(
    mfpg_context *ctx, const mfpg_experiment *e, ptrdiff_t client, mfpg_client_report *out) {
    return mfpg_federation_client(ctx, e->federation, client, out);
}

mfpg_round_report mfpg_experiment_last_round(const mfpg_experiment *e) {
    return e->round_count > 0 ? e->rounds[e->round_count - 1] : (mfpg_round_report){0};
}

mfpg_status mfpg_experiment_metrics(
    mfpg_context *ctx, const mfpg_experiment *e, ptrdiff_t client, mfpg_metrics *out) {
    return mfpg_federation_metrics(ctx, e->federation, client, out);
}

mfpg_status mfpg_experiment_test_metrics(mfpg_context *ctx, const mfpg_experiment *e, mfpg_metrics *out) {
    const mfpg_dataset *test = &e->data->common_test;
    *out = (mfpg_metrics){0};
    if (test->rows == 0) return MFPG_OK;
    return mfpg_model_evaluate(ctx, e->model, mfpg_federation_model(e->federation), test, out);
}

const mfpg_round_report *mfpg_experiment_rounds(const mfpg_experiment *e, ptrdiff_t *count) {
    *count = e->round_count;
    return e->rounds;
}

const float *mfpg_experiment_model(const mfpg_experiment *e, ptrdiff_t *count) {
    *count = mfpg_model_parameters(e->model);
    return mfpg_federation_model(e->federation);
}

const char *mfpg_experiment_assumption(const mfpg_experiment *e, ptrdiff_t index) {
    return index >= 0 && index < e->assumptions.count ? e->assumptions.text[index] : NULL;
}
