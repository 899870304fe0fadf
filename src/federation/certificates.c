/* What the clients' accountants answer: each client's certificate, and before the run what a plan would cost. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tasks.h"
#include "internal.h"

mfpg_accountant_options mfpg_federation_accountant_options(const mfpg_federation_options *options) {
    mfpg_accountant_options made = mfpg_accountant_options_default();
    made.promise = options->promise;
    made.paper = options->paper;
    return made;
}

/* ---- certificates ---- */

double mfpg_federation_budget_mu(const mfpg_federation_options *options) {
    if (options->acting->selection == MFPG_SELECTION_NONE) return (double)INFINITY;
    return mfpg_gdp_mu(options->stop_at_epsilon, options->delta);
}

/* Where actions answer to what was released before, the sum of what they cost is itself an outcome. What holds is the
 * budget that was fixed beforehand (theory S4: a GDP filter). Under the other adjacency every step has twice, or half, the
 * mu that was counted. */
static certificate budget_certificate(const mfpg_federation_options *options) {
    double mu = mfpg_federation_budget_mu(options);
    if (isinf(mu)) return (certificate){(double)INFINITY, (double)INFINITY, 1.0};
    double other = options->promise.adjacency == MFPG_ADJACENCY_REPLACE ? 0.5 * mu : 2.0 * mu;
    return (certificate){
        options->stop_at_epsilon, mfpg_gdp_epsilon(other, options->delta), mfpg_gdp_delta(mu, 0.0)};
}

mfpg_status mfpg_certificate_ask(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_accountant *accountant, certificate *out) {
    if (options->acting) {
        *out = budget_certificate(options);
        return MFPG_OK;
    }
    mfpg_adjacency other = options->promise.adjacency == MFPG_ADJACENCY_REPLACE ? MFPG_ADJACENCY_ZERO_OUT
                                                                                : MFPG_ADJACENCY_REPLACE;
    mfpg_status status = mfpg_accountant_epsilon(ctx, accountant, options->delta, &out->epsilon);
    if (status == MFPG_OK)
        status = mfpg_accountant_epsilon_under(ctx, accountant, other, options->delta, &out->epsilon_other);
    if (status == MFPG_OK) status = mfpg_accountant_delta(ctx, accountant, 0.0, &out->distance);
    return status;
}

typedef struct certifying {
    mfpg_federation *federation;
    ptrdiff_t *first; /* clients: the first of the neighbours that released the same */
} certifying;

static mfpg_status certify_client(mfpg_context *ctx, ptrdiff_t k, int worker, void *arg) {
    (void)worker;
    certifying *all = arg;
    client_state *client = &all->federation->client[k];
    if (all->first[k] != k) return MFPG_OK;
    return mfpg_certificate_ask(ctx, &all->federation->options, client->certificate, &client->certified);
}

mfpg_status mfpg_federation_certify(mfpg_context *ctx, mfpg_federation *federation) {
    certifying all = {.federation = federation, .first = mfpg_alloc(federation->clients, sizeof *all.first)};
    if (!all.first) return mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 1; k < federation->clients; k++) {
        const mfpg_accountant *before = federation->client[all.first[k - 1]].certificate,
                              *own = federation->client[k].certificate;
        int same = mfpg_accountant_covers(before, own) && mfpg_accountant_covers(own, before);
        all.first[k] = same ? all.first[k - 1] : k;
    }
    mfpg_status status = mfpg_tasks_run(ctx, federation->clients, certify_client, &all);
    for (ptrdiff_t k = 0; k < federation->clients && status == MFPG_OK; k++)
        federation->client[k].certified = federation->client[all.first[k]].certified;
    if (status == MFPG_OK) federation->certified_round = federation->round;
    free(all.first);
    return status;
}

mfpg_status mfpg_federation_largest_epsilon(
    mfpg_context *ctx, const mfpg_federation *federation, double *epsilon) {
    double delta = federation->options.delta;
    if (federation->options.acting) {
        *epsilon = budget_certificate(&federation->options).epsilon;
        return MFPG_OK;
    }
    const mfpg_accountant *worst = federation->client[0].certificate;
    mfpg_status status = mfpg_accountant_epsilon(ctx, worst, delta, epsilon);
    for (ptrdiff_t k = 1; k < federation->clients && status == MFPG_OK; k++) {
        const mfpg_accountant *own = federation->client[k].certificate;
        if (mfpg_accountant_covers(worst, own) || mfpg_accountant_affords(ctx, own, NULL, delta, *epsilon))
            continue;
        worst = own;
        status = mfpg_accountant_epsilon(ctx, worst, delta, epsilon);
    }
    return status;
}

/* ---- before the run ---- */

/* The same of what is forgotten. */
static int no_less_hidden(const mfpg_release *a, const mfpg_release *b) {
    if (b->hidden_contraction == 0.0) return 1;
    return a->hidden_contraction > 0.0 && a->hidden_contraction <= b->hidden_contraction &&
           a->hidden_shift * b->last_sd <= b->hidden_shift * a->last_sd;
}

/* a reveals no more than b, step for step. */
static int no_costlier(const mfpg_release *a, const mfpg_release *b) {
    return a->particles == b->particles && a->contraction <= b->contraction && a->steps <= b->steps &&
           a->sampling_rate <= b->sampling_rate &&
           a->sensitivity * b->noise_sd <= b->sensitivity * a->noise_sd &&
           a->sensitivity * b->last_sd <= b->sensitivity * a->last_sd && no_less_hidden(a, b);
}

/* Parameters are released in every round, records in the first one. */
static int64_t releases_of(const mfpg_federation_options *options, const mfpg_release *release) {
    return release->particles == MFPG_PARTICLES_DATA ? 1 : options->rounds;
}

mfpg_status mfpg_plan_largest_epsilon(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_release *plan, ptrdiff_t clients, double *epsilon) {
    const mfpg_accountant_options made = mfpg_federation_accountant_options(options);
    const mfpg_release *worst = NULL;
    mfpg_status status = MFPG_OK;
    double largest = 0.0;
    for (ptrdiff_t k = 0; k < clients && status == MFPG_OK; k++) {
        if (worst && no_costlier(&plan[k], worst)) continue;
        mfpg_accountant *accountant = NULL;
        status = mfpg_accountant_create(ctx, options->accountant, &made, &accountant);
        if (status == MFPG_OK)
            status = mfpg_accountant_record_times(ctx, accountant, &plan[k], releases_of(options, &plan[k]));
        if (status == MFPG_OK &&
            (!worst || !mfpg_accountant_affords(ctx, accountant, NULL, options->delta, largest))) {
            status = mfpg_accountant_epsilon(ctx, accountant, options->delta, &largest);
            worst = &plan[k];
        }
        mfpg_accountant_destroy(accountant);
    }
    *epsilon = status == MFPG_OK ? largest : (double)INFINITY;
    return status;
}
