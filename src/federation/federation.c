/* A federation from set-up to end, and the queries that it answers. The round itself is in round.c. */
#include "mfpg/federation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/ranks.h"
#include "base/memory.h"
#include "federation_core.h"
#include "mechanisms/private_action.h"
#include "models/losses.h"

mfpg_federation_options mfpg_federation_options_default(void) {
    return (mfpg_federation_options){
        .rounds = 20,
        .evaluate_every = 1,
        .client_rate = 1.0,
        .delta = 1e-5,
        .accountant = "gdp",
        .paper = mfpg_accountant_options_default().paper,
        .stop_at_epsilon = (double)INFINITY,
        .server = mfpg_server_optimiser_options_default(),
    };
}

static mfpg_status check_options(
    mfpg_context *ctx, const mfpg_federation_options *o, const mfpg_federated_data *data) {
    if (o->rounds < 1 || o->rounds >= INT32_MAX)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "train.rounds: %lld; at least 1, and less than 2^31 - 1",
            (long long)o->rounds);
    if (o->evaluate_every < 1)
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "evaluate_every: %lld; at least 1", (long long)o->evaluate_every);
    if (!(o->delta > 0.0 && o->delta < 1.0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "privacy.delta: %g; must lie in (0,1)", o->delta);
    if (!(o->client_rate > 0.0 && o->client_rate <= 1.0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "train.client_rate: %g; must lie in (0,1]", o->client_rate);
    if (o->clients_per_round < 0 || o->clients_per_round > data->clients)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "train.clients_per_round: %td; the federation has %td clients",
            o->clients_per_round, data->clients);
    if (o->clients_per_round > 0 && o->client_rate < 1.0)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "train.clients_per_round and train.client_rate exclude each other");
    if (!(o->stop_at_epsilon > 0.0))
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "privacy.stop_at_epsilon: %g; must be positive", o->stop_at_epsilon);
    return MFPG_OK;
}

/* Checks that all accountant names are known, that the certifying accountant does certify, and that each
 * accepts the kind of particles that the run noises: a certificate of one kind says nothing about a release
 * of the other kind (theory S5.4). */
static mfpg_status check_accountants(mfpg_context *ctx, mfpg_federation *f) {
    const mfpg_accountant_options options = mfpg_federation_accountant_options(&f->options);
    const char *name = f->options.accountant, *paper = f->options.paper_accountant;
    mfpg_accountant *probe = NULL;
    mfpg_status status = mfpg_accountant_create(ctx, name, &options, &probe);
    if (status == MFPG_OK && paper) status = mfpg_accountant_create(ctx, paper, &options, &f->population);
    if (status == MFPG_OK && !mfpg_accountant_certifies(probe))
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "privacy.accountant: '%s' certifies nothing", name);
    if (status == MFPG_OK && paper && mfpg_accountant_particles(f->population) != f->particles)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "'%s' is not a formula for noised %s", paper,
            mfpg_particles_name(f->particles));
    if (status == MFPG_OK && mfpg_accountant_particles(probe) != f->particles)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "privacy.accountant: '%s' knows %s only; the particles of client '%s' are %s", name,
            mfpg_particles_name(mfpg_accountant_particles(probe)), f->data->client[0].name,
            mfpg_particles_name(f->particles));
    mfpg_accountant_destroy(probe);
    return status;
}

static mfpg_status allocate(mfpg_context *ctx, mfpg_federation *f) {
    const mfpg_federation_options *o = &f->options;
    int draws = o->clients_per_round > 0 || o->client_rate < 1.0;
    ptrdiff_t scratch = 0;
    f->ranks = mfpg_ranks_size(ctx);
    f->rank = mfpg_ranks_rank(ctx);
    f->client = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients, sizeof *f->client));
    f->metrics = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients, sizeof *f->metrics));
    f->w = mfpg_pool_own(&f->kept, mfpg_alloc_floats(f->dimension));
    if (draws) f->draw = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients, sizeof *f->draw));
    if (draws || isfinite(o->stop_at_epsilon) || o->acting || o->sum.dropouts > 0)
        f->order = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients, sizeof *f->order));
    if (f->ranks > 1) f->words = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients, 2 * sizeof *f->words));
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        ptrdiff_t rows = f->data->client[k].train.rows;
        ptrdiff_t update = mfpg_mechanism_workspace(f->mechanism[k], f->model, rows);
        ptrdiff_t measure = o->acting ? mfpg_measure_workspace(f->model, rows) : 0;
        if (update > scratch) scratch = update;
        if (measure > scratch) scratch = measure;
    }
    int workers = mfpg_context_threads(ctx);
    f->worker = mfpg_pool_own(&f->kept, mfpg_alloc(workers, sizeof *f->worker));
    for (f->workers = 0; f->workers < workers && !f->kept.failed; f->workers++) {
        workspace *own = &f->worker[f->workers];
        own->model = mfpg_pool_own(&f->kept, mfpg_alloc_floats(f->dimension));
        own->scratch = mfpg_pool_own(&f->kept, mfpg_alloc_floats(scratch));
        mfpg_status status = mfpg_fixed_sum_init(ctx, f->dimension, &own->sum);
        if (status != MFPG_OK) return status;
    }
    return f->kept.failed ? mfpg_fail_memory(ctx) : MFPG_OK;
}

static void set_start(mfpg_federation *f) {
    if (f->options.start)
        memcpy(f->w, f->options.start, (size_t)f->dimension * sizeof *f->w);
    else
        mfpg_model_start(f->model, &f->key, f->options.start_he, f->w);
}

/* Prepares shares: in a view of sums, clients send integers on the plan's grid if they have noise to round
 * and no mechanism projects the states. */
static mfpg_status prepare_shares(mfpg_context *ctx, mfpg_federation *f) {
    f->shares = f->plan->grid > 0.0 && !f->plan->projects;
    for (int i = 0; i < f->workers && f->shares; i++)
        f->worker[i].share = mfpg_pool_own(&f->kept, mfpg_alloc(f->dimension, sizeof *f->worker[i].share));
    return f->kept.failed ? mfpg_fail_memory(ctx) : mfpg_plan_refine_grid(ctx, f->plan, f->dimension);
}

static mfpg_status begin(mfpg_context *ctx, mfpg_federation *f, const mfpg_action *action) {
    mfpg_status status = allocate(ctx, f);
    if (status == MFPG_OK) set_start(f);
    if (status == MFPG_OK) status = mfpg_part_records.begin(ctx, f);
    if (status == MFPG_OK)
        status = mfpg_plan_create(ctx, &f->options, f->data, f->mechanism, action, &f->plan);
    if (status == MFPG_OK) status = prepare_shares(ctx, f);
    if (status == MFPG_OK) status = mfpg_federation_prepare_sum(ctx, f);
    if (status == MFPG_OK) f->usual = mfpg_plan_terms(f->plan, NULL, f->clients, NULL);
    if (status == MFPG_OK) status = check_accountants(ctx, f);
    if (status == MFPG_OK) status = mfpg_federation_start_filters(ctx, f);
    if (status == MFPG_OK) status = mfpg_part_actions.begin(ctx, f);
    if (status == MFPG_OK) status = mfpg_part_server.begin(ctx, f);
    return status == MFPG_OK ? mfpg_federation_prepare_free_energy(ctx, f) : status;
}

mfpg_status mfpg_federation_create(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_federated_data *data, const mfpg_model *model, const mfpg_mechanism *const *mechanism,
    const mfpg_action *action, const mfpg_key *key, mfpg_federation **out) {
    mfpg_status status = check_options(ctx, options, data);
    if (status != MFPG_OK) return status;
    mfpg_federation *f = mfpg_alloc(1, sizeof *f);
    if (!f) return mfpg_fail_memory(ctx);
    *f = (mfpg_federation){.options = *options,
        .data = data,
        .model = model,
        .mechanism = mechanism,
        .key = *key,
        .cohort_key = *key,
        .clients = data->clients,
        .dimension = mfpg_model_parameters(model),
        .remaining = 1.0,
        .costliest = -1,
        .certified.round = -1};
    status = begin(ctx, f, action);
    if (status == MFPG_OK)
        *out = f;
    else
        mfpg_federation_destroy(f);
    return status;
}

void mfpg_federation_destroy(mfpg_federation *f) {
    if (!f) return;
    for (int i = 0; i < f->workers; i++) mfpg_fixed_sum_clear(&f->worker[i].sum);
    mfpg_federation_clear_accounts(f);
    mfpg_federation_forget_certificates(f);
    mfpg_accountant_destroy(f->population);
    mfpg_plan_destroy(f->plan);
    mfpg_federation_clear_sum(f);
    mfpg_pool_clear(&f->kept);
    free(f);
}

const float *mfpg_federation_model(const mfpg_federation *f) {
    return f->w;
}

mfpg_status mfpg_federation_client(
    mfpg_context *ctx, const mfpg_federation *f, ptrdiff_t client, mfpg_client_report *out) {
    if (client < 0 || client >= f->clients)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "there is no client %td", client);
    const client_state *state = &f->client[client];
    const mfpg_release plan = mfpg_plan_release(f->plan, client);
    const mfpg_action action = mfpg_plan_action(f->plan, client);
    certificate own = {.epsilon = INFINITY, .epsilon_other = INFINITY, .distance = 1.0, .mu = INFINITY};
    mfpg_status status = mfpg_federation_certificate(ctx, f, client, &own);
    *out = (mfpg_client_report){
        .action = action,
        .action_value = mfpg_action_value(&action),
        .mu = own.mu,
        .epsilon = own.epsilon,
        .epsilon_other = own.epsilon_other,
        .distance = own.distance,
        .paper_epsilon = own.paper_epsilon,
        .paper_delta = own.paper_delta,
        .rounds = state->rounds,
        .steps = f->records ? mfpg_federation_noised(f, client) : state->rounds * plan.steps,
        .sampling_rate = plan.sampling_rate,
        .noise_multiplier = plan.noise_sd / plan.sensitivity,
        .grid = plan.grid,
        .rounding = plan.rounding,
        .nonfinite = state->nonfinite,
        .stopped = state->stopped_before > 0,
        .stopped_before = state->stopped_before,
        .weight = plan.weight,
        .spent_mu = NAN,
        .choice_mu = NAN,
    };
    if (f->acting) {
        out->spent_mu = f->filter ? mfpg_filter_spent(&f->filter[client]) : out->mu;
        out->choice_mu = mfpg_release_mu(&f->acting->price[client], f->options.promise.adjacency);
        out->mu = mfpg_federation_budget_mu(&f->options);
    }
    if (isinf(out->mu) && isfinite(out->epsilon)) out->mu = (double)NAN;
    return status;
}

void mfpg_federation_keep_ledger(mfpg_federation *f, mfpg_ledger *ledger) {
    f->ledger = ledger;
}

void mfpg_federation_watch(mfpg_federation *f, mfpg_watch watch, void *user) {
    f->watch = watch;
    f->watch_user = user;
}

void mfpg_federation_share_cohorts(mfpg_federation *f, const mfpg_key *key) {
    f->cohort_key = *key;
}
