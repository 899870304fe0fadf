/* Writes checkpoints of a run in its folder: before the first round, and then as often as the configuration
 * says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/ranks.h"
#include "federation/run_folder.h"
#include "mechanisms/mechanism_ops.h"
#include "internal.h"

/* Of the time, with train.checkpoint: auto. */
#define MOST_TIME 0.1

mfpg_status mfpg_checkpoints_prepare(mfpg_context *ctx, mfpg_experiment *e) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_config_write_given(ctx, e->config, stream);
    if (fclose(stream) != 0 && status == MFPG_OK) status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK)
        e->checkpoints.given = text;
    else
        free(text);
    return status;
}

static void add(crypto_generichash_state *hash, const void *bytes, size_t size) {
    if (size > 0) crypto_generichash_update(hash, bytes, size);
}

/* Computes a digest of the rows and of what the results say about them. */
static void digest_data(const mfpg_federated_data *data, unsigned char out[MFPG_DIGEST_SIZE]) {
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, NULL, 0, MFPG_DIGEST_SIZE);
    add(&hash, data->fingerprint, sizeof data->fingerprint);
    add(&hash, &data->dropped_rows, sizeof data->dropped_rows);
    for (ptrdiff_t k = 0; k < data->clients; k++)
        add(&hash, data->client[k].name, strlen(data->client[k].name) + 1);
    crypto_generichash_final(&hash, out, MFPG_DIGEST_SIZE);
}

/* Computes a digest of the plan, and of the game that it comes from, because different preferences can lead
 * to the same actions. */
static void digest_game(const mfpg_experiment *e, unsigned char plan[MFPG_DIGEST_SIZE]) {
    const mfpg_equilibrium *q = &e->equilibrium;
    const double numbers[] = {e->preference_factor, q->mean_action, q->exploitability_max,
        q->exploitability_mean, q->consistency_gap, q->social_mean, q->price_of_anarchy, q->residual};
    crypto_generichash_state hash;
    if (!e->preference) return;
    crypto_generichash_init(&hash, NULL, 0, MFPG_DIGEST_SIZE);
    add(&hash, plan, MFPG_DIGEST_SIZE);
    add(&hash, e->preference, (size_t)e->data->clients * sizeof *e->preference);
    add(&hash, numbers, sizeof numbers);
    crypto_generichash_final(&hash, plan, MFPG_DIGEST_SIZE);
}

mfpg_ledger_header mfpg_experiment_ledger_header(const mfpg_experiment *e) {
    const mfpg_federation_options *o = &e->options;
    int budget = isfinite(o->stop_at_epsilon);
    return (mfpg_ledger_header){
        .particles = mfpg_mechanism_particles(e->mechanisms.of_client[0]),
        .clients = e->data->clients,
        .promise = o->promise,
        .delta = o->delta,
        .seeded = e->key.seeded,
        .stop_at_epsilon = budget ? o->stop_at_epsilon : 0.0,
        .filter = !budget     ? MFPG_FILTER_ACCOUNTANT
                  : o->acting ? MFPG_FILTER_GDP
                              : o->filter,
        .secure_sum = o->sum.simulate,
    };
}

void mfpg_experiment_identify(mfpg_experiment *e, const char *written, size_t length) {
    mfpg_run_identity *own = &e->checkpoints.at.identity;
    own->config = e->checkpoints.given;
    own->key = e->key;
    crypto_generichash(own->written, MFPG_DIGEST_SIZE, (const unsigned char *)written, length, NULL, 0);
    digest_data(e->data, own->data);
    mfpg_federation_digest_start(e->federation, own->model, own->plan);
    digest_game(e, own->plan);
}

mfpg_status mfpg_compare_identities(mfpg_context *ctx, const mfpg_run_identity *own,
    const mfpg_run_identity *other, const char *whose, const char *those) {
    if (memcmp(own->data, other->data, MFPG_DIGEST_SIZE) != 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s data are not those %s: other rows, values, or an order of their own (data.dir, data.files)",
            whose, those);
    if (memcmp(own->model, other->model, MFPG_DIGEST_SIZE) != 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s first model is not the one %s (train.start)", whose, those);
    if (memcmp(own->plan, other->plan, MFPG_DIGEST_SIZE) != 0)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s game, actions, noise or weights are not those %s: a file that the configuration names "
            "differs",
            whose, those);
    return MFPG_OK;
}

/* Every rank that contributes to the checkpoint calls this function; the first rank writes it. */
static mfpg_status write_one(mfpg_context *ctx, mfpg_experiment *e) {
    run_checkpoints *own = &e->checkpoints;
    double begun = mfpg_clock_seconds();
    mfpg_status status = mfpg_federation_save(ctx, e->federation, &own->at.loop);
    if (status != MFPG_OK || !own->path) return status;
    own->at.rounds = e->rounds;
    own->at.seconds = e->seconds;
    own->at.ledger = mfpg_ledger_tell(e->ledger).repeated;
    status = mfpg_checkpoint_write(ctx, own->path, &own->at);
    own->written = mfpg_clock_seconds();
    own->cost = own->written - begun;
    return status;
}

/* Allocates the state and, on the first rank, the file's name. */
static mfpg_status prepare(mfpg_context *ctx, mfpg_experiment *e, const char *folder) {
    run_checkpoints *own = &e->checkpoints;
    ptrdiff_t every = e->config->set.checkpoint;
    own->every = every > 0 ? every : 0;
    mfpg_status status = mfpg_loop_state_init(ctx, e->federation, &own->at.loop);
    if (status != MFPG_OK || !folder) return status;
    own->path = mfpg_path_join(folder, MFPG_CHECKPOINT);
    return own->path ? MFPG_OK : mfpg_fail_memory(ctx);
}

mfpg_status mfpg_checkpoints_begin(mfpg_context *ctx, mfpg_experiment *e, const char *folder) {
    run_checkpoints *own = &e->checkpoints;
    int kept = folder && e->config->set.checkpoint != MFPG_CHECKPOINT_NONE;
    mfpg_status status = mfpg_ranks_any(ctx, &kept);
    if (status != MFPG_OK || !kept) return status;
    own->gathered = mfpg_federation_save_gathers(e->federation);
    int takes_part = folder || own->gathered;
    if (takes_part) status = prepare(ctx, e, folder);
    status = mfpg_ranks_agree(ctx, status);
    if (status != MFPG_OK || !takes_part) return status;
    if (folder) mfpg_federation_announce_to(e->federation, mfpg_announcements_tell, &own->at.told);
    return write_one(ctx, e);
}

mfpg_status mfpg_checkpoints_take(mfpg_context *ctx, mfpg_experiment *e, int now) {
    run_checkpoints *own = &e->checkpoints;
    mfpg_status status = MFPG_OK;
    if (!own->path && !own->gathered) return MFPG_OK;
    int due = now;
    if (own->path && !due) /* only the first rank's clock decides */
        due = own->every > 0 ? e->round_count % own->every == 0
                             : (mfpg_clock_seconds() - own->written) * MOST_TIME >= own->cost;
    if (own->gathered) status = mfpg_ranks_any(ctx, &due);
    return status == MFPG_OK && due ? write_one(ctx, e) : status;
}

void mfpg_checkpoints_erase(mfpg_experiment *e) {
    if (e->checkpoints.path) unlink(e->checkpoints.path);
}

void mfpg_checkpoints_clear(run_checkpoints *own) {
    mfpg_loop_state_clear(&own->at.loop);
    mfpg_announcements_clear(&own->at.told);
    sodium_memzero(&own->at.identity.key, sizeof own->at.identity.key);
    free(own->given);
    free(own->path);
    free(own->folder);
    *own = (run_checkpoints){0};
}
