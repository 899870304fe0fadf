/* An experiment from its configuration: the order of the steps is the order of what stands on what. */
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

/* A key of the system belongs to one federation: the first rank draws it for all. */
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

static mfpg_status open_key(mfpg_context *ctx, mfpg_experiment *experiment) {
    int64_t seed = mfpg_config_whole(experiment->config, "seed");
    if (seed >= 0) {
        experiment->key = mfpg_key_from_seed((uint64_t)seed);
        return MFPG_OK;
    }
    if (experiment->checkpoints.folder) return MFPG_OK; /* the key of the run that is resumed */
    return draw_key(ctx, &experiment->key);
}

static mfpg_status load_start(mfpg_context *ctx, mfpg_experiment *experiment) {
    const mfpg_config *config = experiment->config;
    experiment->options.start_he = mfpg_config_is(config, "train.start", "he");
    if (mfpg_config_is(config, "train.start", "zero") || experiment->options.start_he) return MFPG_OK;
    mfpg_status status = mfpg_npy_read_vector(ctx, mfpg_config_text(config, "train.start"),
        mfpg_model_parameters(experiment->model), &experiment->start);
    experiment->options.start = experiment->start;
    return status;
}

static mfpg_status create_federation(mfpg_context *ctx, mfpg_experiment *experiment) {
    return mfpg_federation_create(ctx, &experiment->options, experiment->data, experiment->model,
        experiment->mechanisms.of_client, experiment->action, &experiment->key, &experiment->federation);
}

/* A run whose noise exceeds the largest signal it can carry teaches nothing. */
static void warn_of_noise(mfpg_context *ctx, const mfpg_experiment *experiment, const mfpg_plan *plan) {
    ptrdiff_t d = mfpg_model_parameters(experiment->model);
    double ratio = mfpg_plan_signal_to_noise(plan, d);
    if (ratio < 1.0)
        mfpg_warn(ctx,
            "the noise of this run is %.3g times the largest signal it can carry: expect a model no "
            "better than chance "
            "(more clients, more rounds, fewer parameters, the example unit or a larger epsilon help)",
            1.0 / ratio);
}

/* An assumption that is declared for nothing: rounds that do not draw models together forget nothing. */
static void warn_of_memory(mfpg_context *ctx, const mfpg_experiment *experiment, const mfpg_plan *plan) {
    if (experiment->options.hidden != MFPG_HIDDEN_NONE &&
        mfpg_plan_release(plan, 0).hidden_contraction >= 1.0)
        mfpg_warn(ctx,
            "privacy.assume gains nothing in this run: a round multiplies the distance of two models by up "
            "to "
            "%.4g, and only below 1 is anything forgotten; charged as if every average were seen",
            mfpg_plan_release(plan, 0).hidden_contraction);
}

/* What the plan shows before it starts. */
static mfpg_status warn_of_plan(mfpg_context *ctx, const mfpg_experiment *experiment) {
    mfpg_plan *plan = NULL;
    mfpg_status status = mfpg_plan_create(ctx, &experiment->options, experiment->data,
        experiment->mechanisms.of_client, experiment->action, &plan);
    if (status == MFPG_OK) {
        warn_of_noise(ctx, experiment, plan);
        warn_of_memory(ctx, experiment, plan);
    }
    mfpg_plan_destroy(plan);
    return status;
}

/* A study of losses releases nothing: nobody stops, no metric is computed and no choice is made. */
static void relax(mfpg_experiment *experiment) {
    if (!(experiment->reference > 0.0)) return;
    experiment->options.stop_at_epsilon = (double)INFINITY;
    experiment->options.evaluate = MFPG_EVALUATE_NONE;
    experiment->options.free_energy = 0;
}

static mfpg_status build(mfpg_context *ctx, mfpg_experiment *experiment) {
    mfpg_status status = mfpg_config_check(ctx, experiment->config);
    if (status == MFPG_OK) status = mfpg_checkpoints_prepare(ctx, experiment);
    if (status != MFPG_OK) return status;
    experiment->method = mfpg_config_method(experiment->config);
    mfpg_setup_promise(experiment);
    status = open_key(ctx, experiment);
    if (status == MFPG_OK) status = mfpg_setup_data(ctx, experiment);
    if (status == MFPG_OK) status = mfpg_setup_model(ctx, experiment);
    if (status == MFPG_OK) status = load_start(ctx, experiment);
    if (status == MFPG_OK) status = mfpg_setup_mechanisms(ctx, experiment);
    if (status == MFPG_OK) status = mfpg_setup_federation(ctx, experiment);
    if (status == MFPG_OK) relax(experiment);
    if (status == MFPG_OK) status = mfpg_setup_actions(ctx, experiment);
    if (status == MFPG_OK) status = mfpg_list_assumptions(ctx, experiment);
    if (status == MFPG_OK) status = warn_of_plan(ctx, experiment);
    if (status == MFPG_OK) status = create_federation(ctx, experiment);
    return status;
}

/* Builds an empty experiment from a configuration, or destroys it. */
static mfpg_status finish(
    mfpg_context *ctx, const mfpg_config *config, mfpg_experiment *experiment, mfpg_experiment **out) {
    mfpg_status status = mfpg_config_copy(ctx, config, &experiment->config);
    if (status == MFPG_OK) status = build(ctx, experiment);
    status = mfpg_ranks_agree(ctx, status); /* a file may be missing on one machine only */
    if (status != MFPG_OK) {
        mfpg_experiment_destroy(experiment);
        return status;
    }
    *out = experiment;
    return MFPG_OK;
}

mfpg_status mfpg_experiment_create_shared(
    mfpg_context *ctx, const mfpg_config *config, double reference, mfpg_experiment **out) {
    mfpg_experiment *experiment = mfpg_alloc(1, sizeof *experiment);
    if (!experiment) return mfpg_ranks_agree(ctx, mfpg_fail_memory(ctx));
    experiment->reference = reference;
    return finish(ctx, config, experiment, out);
}

mfpg_status mfpg_experiment_create_resumed(mfpg_context *ctx, const mfpg_config *config, const char *folder,
    const mfpg_checkpoint *checkpoint, mfpg_experiment **out) {
    mfpg_experiment *experiment = mfpg_alloc(1, sizeof *experiment);
    if (!experiment) return mfpg_ranks_agree(ctx, mfpg_fail_memory(ctx));
    run_checkpoints *own = &experiment->checkpoints;
    own->folder = mfpg_text_copy(folder, strlen(folder));
    if (!own->folder) {
        mfpg_experiment_destroy(experiment);
        return mfpg_ranks_agree(ctx, mfpg_fail_memory(ctx));
    }
    own->resumed_round = checkpoint->loop.round;
    memcpy(own->resumed, checkpoint->told.checksum, sizeof own->resumed);
    experiment->key = checkpoint->identity.key;
    experiment->key.seeded = 0; /* unless the configuration has a seed */
    return finish(ctx, config, experiment, out);
}

mfpg_status mfpg_experiment_create(mfpg_context *ctx, const mfpg_config *config, mfpg_experiment **out) {
    return mfpg_experiment_create_shared(ctx, config, 0.0, out);
}

mfpg_status mfpg_experiment_sum_losses(mfpg_context *ctx, mfpg_experiment *experiment) {
    mfpg_federation_destroy(experiment->federation);
    experiment->federation = NULL;
    experiment->options.loss_kind = MFPG_LOSS_CLIENT_SUM;
    return create_federation(ctx, experiment);
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
    free(e->start);
    free(e->rounds);
    free(e->seconds);
    free(e);
}

const mfpg_config *mfpg_experiment_config(const mfpg_experiment *experiment) {
    return experiment->config;
}

ptrdiff_t mfpg_experiment_clients(const mfpg_experiment *experiment) {
    return experiment->data->clients;
}

const char *mfpg_experiment_client_name(const mfpg_experiment *experiment, ptrdiff_t client) {
    return client >= 0 && client < experiment->data->clients ? experiment->data->client[client].name : NULL;
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

const mfpg_equilibrium *mfpg_experiment_equilibrium(const mfpg_experiment *experiment) {
    return experiment->equilibrium.action ? &experiment->equilibrium : NULL;
}

static const char *name_of(const void *experiment, ptrdiff_t client) {
    return mfpg_experiment_client_name(experiment, client);
}

int mfpg_experiment_solution(const mfpg_experiment *experiment, mfpg_solution *out) {
    if (!experiment->equilibrium.action) return 0;
    *out = (mfpg_solution){.game = &experiment->game.game,
        .equilibrium = &experiment->equilibrium,
        .finite_max = experiment->finite.max,
        .finite_mean = experiment->finite.mean,
        .preference_factor = experiment->preference_factor == 1.0 ? 0.0 : experiment->preference_factor,
        .name = name_of,
        .name_user = experiment};
    return 1;
}

mfpg_status mfpg_experiment_client(
    mfpg_context *ctx, const mfpg_experiment *experiment, ptrdiff_t client, mfpg_client_report *out) {
    return mfpg_federation_client(ctx, experiment->federation, client, out);
}

mfpg_round_report mfpg_experiment_last_round(const mfpg_experiment *e) {
    return e->round_count > 0 ? e->rounds[e->round_count - 1] : (mfpg_round_report){0};
}

mfpg_status mfpg_experiment_metrics(
    mfpg_context *ctx, const mfpg_experiment *experiment, ptrdiff_t client, mfpg_metrics *out) {
    return mfpg_federation_metrics(ctx, experiment->federation, client, out);
}

mfpg_status mfpg_experiment_test_metrics(
    mfpg_context *ctx, const mfpg_experiment *experiment, mfpg_metrics *out) {
    const mfpg_dataset *test = &experiment->data->common_test;
    *out = (mfpg_metrics){0};
    if (test->rows == 0) return MFPG_OK;
    return mfpg_model_evaluate(
        ctx, experiment->model, mfpg_federation_model(experiment->federation), test, out);
}

const mfpg_round_report *mfpg_experiment_rounds(const mfpg_experiment *experiment, ptrdiff_t *count) {
    *count = experiment->round_count;
    return experiment->rounds;
}

const float *mfpg_experiment_model(const mfpg_experiment *experiment, ptrdiff_t *count) {
    *count = mfpg_model_parameters(experiment->model);
    return mfpg_federation_model(experiment->federation);
}

const char *mfpg_experiment_assumption(const mfpg_experiment *experiment, ptrdiff_t index) {
    return index >= 0 && index < experiment->assumptions.count ? experiment->assumptions.text[index] : NULL;
}
