/* A federation's life: set-up, what can be asked of it, end. The round itself is in round.c. */
#include "mfpg/federation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountants/accounting.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "mechanisms/private_action.h"
#include "internal.h"

mfpg_federation_options mfpg_federation_options_default(void) {
    return (mfpg_federation_options){
        .rounds = 20,
        .evaluate_every = 1,
        .client_rate = 1.0,
        .delta = 1e-5,
        .accountant = "gdp",
        .paper = mfpg_accountant_options_default().paper,
        .stop_at_epsilon = (double)INFINITY,
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

/* The names of accountants are known, the one that is to certify does, and each takes what the run noises: one kind of
 * certificate says nothing about the other kind of release (theory S5.4). */
static mfpg_status check_accountants(mfpg_context *ctx, mfpg_federation *f) {
    const mfpg_accountant_options options = mfpg_federation_accountant_options(&f->options);
    const char *name = f->options.accountant, *paper = f->options.paper_accountant;
    mfpg_accountant *probe = NULL;
    mfpg_status status = mfpg_accountant_create(ctx, name, &options, &probe);
    if (status == MFPG_OK && paper) status = mfpg_accountant_create(ctx, paper, &options, &f->population);
    if (status == MFPG_OK && !mfpg_accountant_certifies(probe))
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "privacy.accountant: '%s' certifies nothing", name);
    if (status == MFPG_OK && paper && mfpg_accountant_particles(f->population) != f->particles)
        status = mfpg_fail(
            ctx, MFPG_ERR_INPUT, "'%s' is no formula of noised %s", paper, mfpg_particles_name(f->particles));
    if (status == MFPG_OK && mfpg_accountant_particles(probe) != f->particles)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "privacy.accountant: '%s' knows %s only; the particles of client '%s' are %s", name,
            mfpg_particles_name(mfpg_accountant_particles(probe)), f->data->client[0].name,
            mfpg_particles_name(f->particles));
    mfpg_accountant_destroy(probe);
    return status;
}

/* One filter a client, all of one budget. What depends on releases needs one (theory S4). */
static mfpg_status start_filters(mfpg_context *ctx, mfpg_federation *f) {
    mfpg_federation_options *o = &f->options;
    if (o->acting && o->filter == MFPG_FILTER_ACCOUNTANT) o->filter = MFPG_FILTER_GDP;
    if (o->filter == MFPG_FILTER_ACCOUNTANT || !isfinite(o->stop_at_epsilon)) return MFPG_OK;
    mfpg_filter filter;
    mfpg_status status = mfpg_filter_start(ctx, o->filter, o->stop_at_epsilon, o->delta, &filter);
    if (status == MFPG_OK && !(f->filter = mfpg_alloc(f->clients, sizeof *f->filter)))
        status = mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; k < f->clients && status == MFPG_OK; k++) f->filter[k] = filter;
    return status;
}

static mfpg_status allocate_workers(mfpg_context *ctx, mfpg_federation *f) {
    ptrdiff_t scratch = 0;
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        ptrdiff_t rows = f->data->client[k].train.rows;
        ptrdiff_t needed = mfpg_mechanism_workspace(f->mechanism[k], f->model, rows);
        if (needed > scratch) scratch = needed;
        needed = f->options.acting ? mfpg_measure_workspace(f->model, rows) : 0;
        if (needed > scratch) scratch = needed;
    }
    f->workers = mfpg_context_threads(ctx);
    f->worker = mfpg_alloc(f->workers, sizeof *f->worker);
    if (!f->worker) return mfpg_fail_memory(ctx);
    for (int i = 0; i < f->workers; i++) {
        workspace *own = &f->worker[i];
        own->model = mfpg_alloc_floats(f->dimension);
        own->scratch = mfpg_alloc_floats(scratch);
        if (!own->model || !own->scratch) return mfpg_fail_memory(ctx);
        mfpg_status status = mfpg_fixed_sum_init(ctx, f->dimension, &own->sum);
        if (status != MFPG_OK) return status;
    }
    return MFPG_OK;
}

static mfpg_status allocate(mfpg_context *ctx, mfpg_federation *f) {
    f->client = mfpg_alloc(f->clients, sizeof *f->client);
    f->draw = mfpg_alloc(f->clients, sizeof *f->draw);
    int everybody = f->options.clients_per_round == 0 && f->options.client_rate >= 1.0 &&
                    !isfinite(f->options.stop_at_epsilon) && !f->options.acting;
    if (!everybody && !(f->order = mfpg_alloc(f->clients, sizeof *f->order))) return mfpg_fail_memory(ctx);
    f->metrics = mfpg_alloc(f->clients, sizeof *f->metrics);
    f->w = mfpg_alloc_floats(f->dimension);
    f->ranks = mfpg_ranks_size(ctx);
    f->rank = mfpg_ranks_rank(ctx);
    if (f->ranks > 1 && !(f->words = mfpg_alloc(f->clients, 2 * sizeof *f->words)))
        return mfpg_fail_memory(ctx);
    if (!f->client || !f->draw || !f->metrics || !f->w) return mfpg_fail_memory(ctx);
    return allocate_workers(ctx, f);
}

static void set_start(mfpg_federation *f) {
    if (f->options.start)
        memcpy(f->w, f->options.start, (size_t)f->dimension * sizeof *f->w);
    else
        mfpg_model_start(f->model, &f->key, f->options.start_he, f->w);
}

/* In a view of sums clients hand out integers on the plan's grid, if there is noise to round and nothing bends it. */
static mfpg_status prepare_shares(mfpg_context *ctx, mfpg_federation *f) {
    f->shares = f->plan->grid > 0.0 && !f->projects;
    mfpg_status status = mfpg_plan_refine_grid(ctx, f->plan, f->dimension);
    for (int i = 0; i < f->workers && f->shares && status == MFPG_OK; i++)
        if (!(f->worker[i].share = mfpg_alloc(f->dimension, sizeof *f->worker[i].share)))
            status = mfpg_fail_memory(ctx);
    return status;
}

mfpg_status mfpg_federation_create(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_federated_data *data, const mfpg_model *model, const mfpg_mechanism *const *mechanism,
    const mfpg_action *action, const mfpg_key *key, mfpg_federation **out) {
    mfpg_status status = check_options(ctx, options, data);
    if (status != MFPG_OK) return status;
    mfpg_federation *f = mfpg_alloc(1, sizeof *f);
    if (!f) return mfpg_fail_memory(ctx);
    f->options = *options;
    f->data = data;
    f->model = model;
    f->mechanism = mechanism;
    f->key = f->cohort_key = *key;
    f->clients = data->clients;
    f->certified_round = f->costliest = -1;
    f->dimension = mfpg_model_parameters(model);
    status = allocate(ctx, f);
    if (status == MFPG_OK) set_start(f);
    if (status == MFPG_OK) status = mfpg_federation_prepare_records(ctx, f);
    if (status == MFPG_OK) status = mfpg_plan_create(ctx, &f->options, data, mechanism, action, &f->plan);
    if (status == MFPG_OK) f->projects = !mfpg_plan_noise_adds_up(f->plan);
    if (status == MFPG_OK) status = prepare_shares(ctx, f);
    if (status == MFPG_OK) f->usual = mfpg_federation_terms(f, NULL, f->clients);
    if (status == MFPG_OK) status = check_accountants(ctx, f);
    if (status == MFPG_OK) status = start_filters(ctx, f);
    if (status == MFPG_OK) status = mfpg_federation_prepare_acting(ctx, f);
    if (status == MFPG_OK) status = mfpg_federation_prepare_free_energy(ctx, f);
    if (status != MFPG_OK) {
        mfpg_federation_destroy(f);
        return status;
    }
    *out = f;
    return MFPG_OK;
}

void mfpg_federation_destroy(mfpg_federation *f) {
    if (!f) return;
    for (int i = 0; f->worker && i < f->workers; i++) {
        free(f->worker[i].model);
        free(f->worker[i].share);
        free(f->worker[i].scratch);
        mfpg_fixed_sum_clear(&f->worker[i].sum);
    }
    mfpg_accountant_destroy(f->population);
    mfpg_federation_clear_records(f);
    mfpg_federation_clear_acting(f);
    mfpg_federation_clear_free_energy(f);
    mfpg_federation_clear_accounts(f);
    mfpg_federation_forget_certificates(f);
    mfpg_plan_destroy(f->plan);
    free(f->client);
    free(f->filter);
    free(f->draw);
    free(f->order);
    free(f->metrics);
    free(f->words);
    free(f->w);
    free(f->worker);
    free(f);
}

const float *mfpg_federation_model(const mfpg_federation *federation) {
    return federation->w;
}

/* What was asked already, or is asked now. */
static mfpg_status find_certificate(
    mfpg_context *ctx, const mfpg_federation *f, ptrdiff_t client, certificate *out) {
    if (f->certified_round == f->round) {
        *out = f->certified[f->certified_of[client]];
        return MFPG_OK;
    }
    account_cursor cursor = {0};
    const account_pair *accounts = mfpg_federation_accounts(ctx, f, client, &cursor);
    mfpg_status status = accounts ? mfpg_certificate_ask(ctx, &f->options, accounts, out) : MFPG_ERR_MEMORY;
    mfpg_account_cursor_clear(&cursor);
    return status;
}

mfpg_status mfpg_federation_client(
    mfpg_context *ctx, const mfpg_federation *f, ptrdiff_t client, mfpg_client_report *out) {
    if (client < 0 || client >= f->clients)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "there is no client %td", client);
    const client_state *state = &f->client[client];
    const mfpg_release plan = mfpg_plan_release(f->plan, client);
    const mfpg_action action = mfpg_plan_action(f->plan, client);
    certificate own = {.epsilon = INFINITY, .epsilon_other = INFINITY, .distance = 1.0, .mu = INFINITY};
    mfpg_status status = find_certificate(ctx, f, client, &own);
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
        .steps = f->noised ? f->noised[client] : state->rounds * plan.steps,
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
    if (f->options.acting) {
        out->spent_mu = f->filter ? mfpg_filter_spent(&f->filter[client]) : out->mu;
        out->choice_mu = mfpg_release_mu(&f->acting.price[client], f->options.promise.adjacency);
        out->mu = mfpg_federation_budget_mu(&f->options);
    }
    if (isinf(out->mu) && isfinite(out->epsilon)) out->mu = (double)NAN;
    return status;
}

void mfpg_federation_keep_ledger(mfpg_federation *federation, mfpg_ledger *ledger) {
    federation->ledger = ledger;
}

void mfpg_federation_watch(mfpg_federation *federation, mfpg_watch watch, void *user) {
    federation->watch = watch;
    federation->watch_user = user;
}

void mfpg_federation_share_cohorts(mfpg_federation *federation, const mfpg_key *key) {
    federation->cohort_key = *key;
}
