/* What the clients' accountants answer: each client's certificate, and before the run what a plan would cost. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountants/accounting.h"
#include "base/error.h"
#include "base/memory.h"
#include "distinct.h"
#include "internal.h"

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
    if (isinf(mu)) return (certificate){.epsilon = INFINITY, .epsilon_other = INFINITY, .distance = 1.0};
    double other = options->promise.adjacency == MFPG_ADJACENCY_REPLACE ? 0.5 * mu : 2.0 * mu;
    return (certificate){.epsilon = options->stop_at_epsilon,
        .epsilon_other = mfpg_gdp_epsilon(other, options->delta),
        .distance = mfpg_gdp_delta(mu, 0.0)};
}

static mfpg_status ask_certificate(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_accountant *accountant, certificate *out) {
    mfpg_adjacency other = options->promise.adjacency == MFPG_ADJACENCY_REPLACE ? MFPG_ADJACENCY_ZERO_OUT
                                                                                : MFPG_ADJACENCY_REPLACE;
    mfpg_status status = mfpg_accountant_epsilon(ctx, accountant, options->delta, &out->epsilon);
    if (status == MFPG_OK)
        status = mfpg_accountant_epsilon_under(ctx, accountant, other, options->delta, &out->epsilon_other);
    if (status == MFPG_OK) status = mfpg_accountant_delta(ctx, accountant, 0.0, &out->distance);
    return status;
}

static mfpg_status ask_paper(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_accountant *accountant, certificate *out) {
    mfpg_status status = mfpg_accountant_epsilon(ctx, accountant, options->delta, &out->paper_epsilon);
    if (status == MFPG_OK)
        status = mfpg_accountant_delta(ctx, accountant, out->paper_epsilon, &out->paper_delta);
    if (isinf(out->paper_delta)) out->paper_delta = options->delta; /* order-2 Renyi: the target */
    return status;
}

mfpg_status mfpg_certificate_ask(mfpg_context *ctx, const mfpg_federation_options *options,
    const account_pair *accounts, certificate *out) {
    mfpg_status status = MFPG_OK;
    if (options->acting)
        *out = budget_certificate(options);
    else
        status = ask_certificate(ctx, options, accounts->certificate, out);
    out->mu = mfpg_accountant_mu(accounts->certificate);
    out->paper_epsilon = out->paper_delta = (double)NAN;
    if (status == MFPG_OK && accounts->paper) status = ask_paper(ctx, options, accounts->paper, out);
    return status;
}

/* ---- one certificate for all that released the same ---- */

typedef struct certifying {
    mfpg_federation *federation;
    mfpg_distinct distinct; /* the usual releases and their numbers */
    int32_t *example;       /* a client of each certificate */
    ptrdiff_t count, room;
} certifying;

/* The client whose certificate is looked for. */
typedef struct certified_client {
    const certifying *all;
    ptrdiff_t k;
} certified_client;

static int same_accounts(const certifying *all, ptrdiff_t a, ptrdiff_t b) {
    const mfpg_federation *f = all->federation;
    mfpg_release first, second;
    int64_t first_times, second_times;
    int usual = mfpg_federation_usual(f, a, &first, &first_times);
    if (usual != mfpg_federation_usual(f, b, &second, &second_times)) return 0;
    if (usual)
        return first_times == second_times && mfpg_release_equal(&first, &second, MFPG_RELEASE_RECORDED);
    const account_pair *own = f->client[a].own, *other = f->client[b].own;
    return mfpg_accountant_covers(own->certificate, other->certificate) &&
           mfpg_accountant_covers(other->certificate, own->certificate) &&
           (!own->paper || (mfpg_accountant_covers(own->paper, other->paper) &&
                               mfpg_accountant_covers(other->paper, own->paper)));
}

static int has_certificate(const void *user, int32_t number) {
    const certified_client *client = user;
    return same_accounts(client->all, client->all->example[number], client->k);
}

static mfpg_status add_example(mfpg_context *ctx, certifying *all, ptrdiff_t k) {
    if (all->count == all->room) {
        ptrdiff_t room = all->room ? 2 * all->room : 64;
        int32_t *larger = mfpg_resize(all->example, room, sizeof *larger);
        if (!larger) return mfpg_fail_memory(ctx);
        all->example = larger;
        all->room = room;
    }
    all->example[all->count++] = (int32_t)k;
    return MFPG_OK;
}

/* The number of the certificate of client k, a new one perhaps. */
static mfpg_status find_certificate(mfpg_context *ctx, certifying *all, ptrdiff_t k, int32_t *out) {
    const certified_client client = {all, k};
    mfpg_release release;
    int64_t times;
    mfpg_status status = MFPG_OK;
    *out = (int32_t)all->count;
    if (mfpg_federation_usual(all->federation, k, &release, &times)) {
        uint64_t hash = mfpg_release_hash(&release, MFPG_RELEASE_RECORDED) + (uint64_t)times;
        status =
            mfpg_distinct_find(ctx, &all->distinct, hash, has_certificate, &client, (int32_t)all->count, out);
    }
    return status == MFPG_OK && *out == all->count ? add_example(ctx, all, k) : status;
}

static mfpg_status certify_example(mfpg_context *ctx, ptrdiff_t i, int worker, void *arg) {
    (void)worker;
    certifying *all = arg;
    mfpg_federation *f = all->federation;
    account_cursor cursor = {0};
    const account_pair *accounts = mfpg_federation_accounts(ctx, f, all->example[i], &cursor);
    mfpg_status status =
        accounts ? mfpg_certificate_ask(ctx, &f->options, accounts, &f->certified[i]) : MFPG_ERR_MEMORY;
    mfpg_account_cursor_clear(&cursor);
    return status;
}

mfpg_status mfpg_federation_certify(mfpg_context *ctx, mfpg_federation *federation) {
    certifying all = {.federation = federation};
    mfpg_federation_forget_certificates(federation);
    int32_t *of = federation->certified_of = mfpg_alloc(federation->clients, sizeof *of);
    mfpg_status status = of ? MFPG_OK : mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; k < federation->clients && status == MFPG_OK; k++) {
        if (k > 0 && same_accounts(&all, k - 1, k))
            of[k] = of[k - 1];
        else
            status = find_certificate(ctx, &all, k, &of[k]);
    }
    mfpg_distinct_clear(&all.distinct);
    if (status == MFPG_OK && !(federation->certified = mfpg_alloc(all.count, sizeof(certificate))))
        status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = mfpg_tasks_run(ctx, all.count, certify_example, &all);
    free(all.example);
    if (status == MFPG_OK) federation->certified_round = federation->round;
    return status;
}

void mfpg_federation_forget_certificates(mfpg_federation *federation) {
    free(federation->certified);
    free(federation->certified_of);
    federation->certified = NULL;
    federation->certified_of = NULL;
    federation->certified_round = -1;
}

/* ---- the largest epsilon ---- */

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

/* Releases that one client made. */
typedef struct spending {
    ptrdiff_t client; /* -1: of nobody */
    mfpg_release release;
    int64_t times;
} spending;

static int spends_no_more(const spending *a, const spending *b) {
    return b->client >= 0 && a->times <= b->times && no_costlier(&a->release, &b->release);
}

/* Of the clients without accountants of their own one that none is known to spend more than, and whether all are known to
 * spend no more. */
static spending find_spender(const mfpg_federation *f, int *everybody) {
    spending most = {.client = -1}, own;
    *everybody = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (ptrdiff_t k = 0; k < f->clients; k++) {
            int usual = mfpg_federation_usual(f, own.client = k, &own.release, &own.times);
            if (usual && spends_no_more(&own, &most)) continue;
            if (usual && (most.client < 0 || (pass == 0 && spends_no_more(&most, &own))))
                most = own;
            else
                *everybody = *everybody && pass == 0;
        }
    }
    return most;
}

/* Whether client k spent more than the accountants `worst` (NULL: of nobody) by which epsilon is. */
static mfpg_status price(mfpg_context *ctx, const mfpg_federation *f, ptrdiff_t k, account_cursor *cursor,
    const mfpg_accountant *worst, double *epsilon, int *more) {
    const account_pair *own = mfpg_federation_accounts(ctx, f, k, cursor);
    if (!own) return MFPG_ERR_MEMORY;
    double delta = f->options.delta;
    *more = !worst || !(mfpg_accountant_covers(worst, own->certificate) ||
                          mfpg_accountant_affords(ctx, own->certificate, NULL, delta, *epsilon));
    return *more ? mfpg_accountant_epsilon(ctx, own->certificate, delta, epsilon) : MFPG_OK;
}

/* All clients but those that spend no more than the largest spender so far. */
static mfpg_status price_all(mfpg_context *ctx, const mfpg_federation *f, spending *most, double *epsilon) {
    account_cursor cursor[2] = {0}; /* the worst, and the one at hand */
    int worst_at = 0, more = 0;
    ptrdiff_t worst = most->client >= 0 ? most->client : 0;
    mfpg_status status = price(ctx, f, worst, &cursor[0], NULL, epsilon, &more);
    for (ptrdiff_t k = 0; k < f->clients && status == MFPG_OK; k++) {
        spending own = {.client = k};
        int usual = mfpg_federation_usual(f, k, &own.release, &own.times);
        if (k == worst || (usual && spends_no_more(&own, most))) continue;
        const account_pair *by = f->client[worst].own ? f->client[worst].own : &cursor[worst_at].made;
        status = price(ctx, f, k, &cursor[!worst_at], by->certificate, epsilon, &more);
        if (!more || status != MFPG_OK) continue;
        worst = k;
        worst_at = !worst_at;
        if (usual) *most = own;
    }
    mfpg_account_cursor_clear(&cursor[0]);
    mfpg_account_cursor_clear(&cursor[1]);
    return status;
}

mfpg_status mfpg_federation_largest_epsilon(mfpg_context *ctx, mfpg_federation *federation, double *epsilon) {
    if (federation->options.acting) {
        *epsilon = budget_certificate(&federation->options).epsilon;
        return MFPG_OK;
    }
    int everybody = 1;
    spending most = {.client = federation->costliest};
    if (most.client < 0) most = find_spender(federation, &everybody);
    if (!everybody) return price_all(ctx, federation, &most, epsilon);
    if (!federation->order) federation->costliest = most.client; /* and it stays that one */
    account_cursor cursor = {0};
    int more;
    mfpg_status status = price(ctx, federation, most.client, &cursor, NULL, epsilon, &more);
    mfpg_account_cursor_clear(&cursor);
    return status;
}

/* ---- before the run ---- */

/* Parameters are released in every round, records in the first one. */
static int64_t releases_of(const mfpg_federation_options *options, const mfpg_release *release) {
    return release->particles == MFPG_PARTICLES_DATA ? 1 : options->rounds;
}

static mfpg_status price_planned(
    mfpg_context *ctx, const mfpg_plan *plan, const mfpg_release *release, double *largest, int *more) {
    const mfpg_federation_options *o = plan->options;
    const mfpg_accountant_options made = mfpg_federation_accountant_options(o);
    mfpg_accountant *accountant = NULL;
    mfpg_status status = mfpg_accountant_create(ctx, o->accountant, &made, &accountant);
    if (status == MFPG_OK)
        status = mfpg_accountant_record_times(ctx, accountant, release, releases_of(o, release));
    *more = status == MFPG_OK &&
            (*largest < 0.0 || !mfpg_accountant_affords(ctx, accountant, NULL, o->delta, *largest));
    if (*more) status = mfpg_accountant_epsilon(ctx, accountant, o->delta, largest);
    mfpg_accountant_destroy(accountant);
    return status;
}

/* First a client that no other is known to cost more than, then those that it does not stand for. */
mfpg_status mfpg_plan_largest_epsilon(mfpg_context *ctx, const mfpg_plan *plan, double *epsilon) {
    mfpg_release worst = mfpg_plan_release(plan, 0);
    double largest = -1.0;
    int more;
    for (ptrdiff_t k = 1; k < plan->clients; k++) {
        mfpg_release own = mfpg_plan_release(plan, k);
        if (no_costlier(&worst, &own)) worst = own;
    }
    mfpg_status status = price_planned(ctx, plan, &worst, &largest, &more);
    for (ptrdiff_t k = 0; k < plan->clients && status == MFPG_OK; k++) {
        mfpg_release own = mfpg_plan_release(plan, k);
        if (no_costlier(&own, &worst)) continue;
        status = price_planned(ctx, plan, &own, &largest, &more);
        if (more) worst = own;
    }
    *epsilon = status == MFPG_OK ? largest : (double)INFINITY;
    return status;
}
