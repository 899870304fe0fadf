/* The front of audits: options, what is asked, and how it is answered. */
#include "mfpg/audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountants/accounting.h"
#include "base/error.h"
#include "base/memory.h"
#include "game.h"
#include "input.h"
#include "mechanisms/mechanism_ops.h"

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

const char *mfpg_audit_pattern_name(mfpg_audit_pattern pattern) {
    static const char *const name[] = {
        "none", "constant", "alternating", "cross", "round", "both", "looks", "input", "digits"};
    return name[pattern];
}

static mfpg_status check_options(mfpg_context *ctx, const mfpg_audit_options *o) {
    if (o->method == MFPG_AUDIT_FEW_RUNS && (o->runs < 1 || o->runs > INT32_MAX))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%lld runs; an audit by few runs takes from 1 to 2^31 - 1",
            (long long)o->runs);
    if (o->method == MFPG_AUDIT_ONE_RUN && o->runs != 1)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%lld runs; an audit by one run takes 1", (long long)o->runs);
    if (o->canaries < 0 || (o->canaries > 0 && o->method == MFPG_AUDIT_RANKS))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "%lld canaries; few runs and one run take 1 or more, ranks have one a client",
            (long long)o->canaries);
    if (o->input_canaries && o->method != MFPG_AUDIT_RANKS)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "input canaries are audited by ranks");
    if (o->method == MFPG_AUDIT_RANKS && (o->runs < 20 || o->runs % 2 != 0 || o->runs > INT32_MAX))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "%lld runs; an audit takes an even number, from 20 to 2^31 - 2", (long long)o->runs);
    if (!(o->confidence > 0.5 && o->confidence < 1.0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "confidence %g; it must lie between 0.5 and 1", o->confidence);
    return MFPG_OK;
}

static mfpg_status check_records(mfpg_context *ctx, const mfpg_audit_options *o) {
    if (o->method == MFPG_AUDIT_RANKS && !o->input_canaries) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "this configuration noises records: they are attacked by ranks, each record once, without input "
        "canaries");
}

/* What runs of an audit leave out: metrics, the paper's columns, and accountants that cost more than the run, where nobody
 * stops by what they say. */
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

/* How strong the canary's gradient is, and what the clip leaves of it. A clip of the whole update comes after all its steps. */
static void tell_gradients(const mfpg_audit_game *game, mfpg_audit_client *client) {
    for (ptrdiff_t k = 0; k < game->clients && !game->records; k++) {
        const mfpg_mechanism *mechanism = game->mechanism[k];
        double steps = mfpg_mechanism_clips_update(mechanism) ? (double)mechanism->options.local_steps : 1.0;
        client[k].gradient_norm = game->excess * steps * mechanism->options.clip;
        client[k].clip_factor = 1.0 / (game->excess * steps);
    }
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
        .delta = federation->delta};
    mfpg_status status = law && promise ? check_options(ctx, options) : mfpg_fail_memory(ctx);
    if (status == MFPG_OK && game.records) status = check_records(ctx, options);
    if (status == MFPG_OK && game.configured) status = mfpg_input_canary_check(ctx, model);
    if (status == MFPG_OK && !game.records) status = mfpg_canary_model_create(ctx, model, &canary);
    game.model = game.records ? model : canary;
    if (status == MFPG_OK) status = mfpg_audit_laws(ctx, &game, law);
    if (status == MFPG_OK) status = mfpg_audit_promises(ctx, &game, federation, promise);
    if (status == MFPG_OK)
        status =
            options->method == MFPG_AUDIT_RANKS
                ? mfpg_audit_run(ctx, &game, promise, mfpg_audit_play_federation, NULL, client, plan)
                : mfpg_audit_run_many(ctx, &game, promise, mfpg_audit_play_federation, NULL, client, plan);
    if (status == MFPG_OK) tell_gradients(&game, client);
    mfpg_model_destroy(canary);
    free(law);
    free(promise);
    return status;
}
