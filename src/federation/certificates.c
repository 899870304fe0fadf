/* Results of the clients' accountants: each client's certificate, and before the run the cost of a plan. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "federation_core.h"
#include "run_folder.h"

/* ---- certificates ---- */

double mfpg_federation_budget_mu(const mfpg_federation_options *options) {
    if (options->acting->selection == MFPG_SELECTION_NONE) return (double)INFINITY;
    return mfpg_gdp_mu(options->stop_at_epsilon, options->delta);
}

/* If actions depend on earlier releases, the sum of their costs is itself random. The certificate is
 * therefore the budget that was fixed beforehand (theory S4: a GDP filter). Under the other adjacency every
 * step has twice, or half, the mu that was counted. */
static certificate budget_certificate(const mfpg_federation_options *options) {
    double mu = mfpg_federation_budget_mu(options);
    if (isinf(mu)) return (certificate){.epsilon = INFINITY, .epsilon_other = INFINITY, .distance = 1.0};
    double other = options->promise.adjacency == MFPG_ADJACENCY_REPLACE ? 0.5 * mu : 2.0 * mu;
    return (certificate){.epsilon = options->stop_at_epsilon,
        .epsilon_other = mfpg_gdp_epsilon(other, options->delta),
        .distance = mfpg_gdp_delta(mu, 0.0)};
}

static mfpg_status ask(mfpg_context *ctx, const mfpg_federation_options *options,
    const account_pair *accounts, certificate *out) {
    const mfpg_accountant *own = accounts->certificate, *paper = accounts->paper;
    mfpg_adjacency other = options->promise.adjacency == MFPG_ADJACENCY_REPLACE ? MFPG_ADJACENCY_ZERO_OUT
                                                                                : MFPG_ADJACENCY_REPLACE;
    double delta = options->delta;
    mfpg_status status = MFPG_OK;
    if (options->acting) {
        *out = budget_certificate(options);
    } else {
        status = mfpg_accountant_epsilon(ctx, own, delta, &out->epsilon);
        if (status == MFPG_OK)
            status = mfpg_accountant_epsilon_under(ctx, own, other, delta, &out->epsilon_other);
        if (status == MFPG_OK) status = mfpg_accountant_delta(ctx, own, 0.0, &out->distance);
    }
    out->mu = mfpg_accountant_mu(own);
    out->paper_epsilon = out->paper_delta = (double)NAN;
    if (status != MFPG_OK || !paper) return status;
    status = mfpg_accountant_epsilon(ctx, paper, delta, &out->paper_epsilon);
    if (status == MFPG_OK) status = mfpg_accountant_delta(ctx, paper, out->paper_epsilon, &out->paper_delta);
    if (isinf(out->paper_delta)) out->paper_delta = delta; /* order-2 Renyi: the target */
    return status;
}

static mfpg_status ask_client(mfpg_context *ctx, const mfpg_federation *f, ptrdiff_t k, certificate *out) {
    account_cursor cursor = {0};
    const account_pair *accounts = mfpg_federation_accounts(ctx, f, k, &cursor);
    mfpg_status status = accounts ? ask(ctx, &f->options, accounts, out) : MFPG_ERR_MEMORY;
    mfpg_account_cursor_clear(&cursor);
    return status;
}

mfpg_status mfpg_federation_certificate(
    mfpg_context *ctx, const mfpg_federation *f, ptrdiff_t k, certificate *out) {
    if (f->certified.round != f->round) return ask_client(ctx, f, k, out);
    *out = f->certified.one[f->certified.of_client[k]];
    return MFPG_OK;
}

/* ---- one certificate for all clients that released the same ---- */

typedef struct certifying {
    mfpg_federation *federation;
    mfpg_distinct distinct; /* the distinct usual releases and their numbers */
    int32_t *example;       /* a client of each certificate */
    ptrdiff_t count, room;
    ptrdiff_t k; /* the client whose certificate is needed */
} certifying;

static int same_accounts(const mfpg_federation *f, ptrdiff_t a, ptrdiff_t b) {
    spending first, second;
    int usual = mfpg_federation_usual(f, a, &first);
    if (usual != mfpg_federation_usual(f, b, &second)) return 0;
    if (usual)
        return first.times == second.times &&
               mfpg_release_equal(&first.release, &second.release, MFPG_RELEASE_RECORDED);
    const account_pair *own = f->client[a].own, *other = f->client[b].own;
    return mfpg_accountant_covers(own->certificate, other->certificate) &&
           mfpg_accountant_covers(other->certificate, own->certificate) &&
           (!own->paper || (mfpg_accountant_covers(own->paper, other->paper) &&
                               mfpg_accountant_covers(other->paper, own->paper)));
}

static int has_certificate(const void *user, int32_t number) {
    const certifying *all = user;
    return same_accounts(all->federation, all->example[number], all->k);
}

/* Returns the number of the certificate of client k. If it is a new certificate, client k becomes its
 * example. */
static mfpg_status find_certificate(mfpg_context *ctx, certifying *all, ptrdiff_t k, int32_t *out) {
    spending usual;
    mfpg_status status = MFPG_OK;
    all->k = k;
    *out = (int32_t)all->count;
    if (mfpg_federation_usual(all->federation, k, &usual)) {
        uint64_t hash = mfpg_release_hash(&usual.release, MFPG_RELEASE_RECORDED) + (uint64_t)usual.times;
        status =
            mfpg_distinct_find(ctx, &all->distinct, hash, has_certificate, all, (int32_t)all->count, out);
    }
    if (status != MFPG_OK || *out != all->count) return status;
    int32_t *example = mfpg_room_for_one(all->example, all->count, &all->room, sizeof *example);
    if (!example) return mfpg_fail_memory(ctx);
    all->example = example;
    all->example[all->count++] = (int32_t)k;
    return MFPG_OK;
}

static mfpg_status certify_example(mfpg_context *ctx, ptrdiff_t i, int worker, void *arg) {
    (void)worker;
    certifying *all = arg;
    return ask_client(ctx, all->federation, all->example[i], &all->federation->certified.one[i]);
}

mfpg_status mfpg_federation_certify(mfpg_context *ctx, mfpg_federation *f) {
    certifying all = {.federation = f};
    mfpg_federation_forget_certificates(f);
    int32_t *of = f->certified.of_client = mfpg_alloc(f->clients, sizeof *of);
    mfpg_status status = of ? MFPG_OK : mfpg_fail_memory(ctx);
    for (ptrdiff_t k = 0; k < f->clients && status == MFPG_OK; k++) {
        if (k > 0 && same_accounts(f, k - 1, k))
            of[k] = of[k - 1];
        else
            status = find_certificate(ctx, &all, k, &of[k]);
    }
    mfpg_distinct_clear(&all.distinct);
    if (status == MFPG_OK && !(f->certified.one = mfpg_alloc(all.count, sizeof(certificate))))
        status = mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = mfpg_tasks_run(ctx, all.count, certify_example, &all);
    free(all.example);
    if (status == MFPG_OK) f->certified.round = f->round;
    return status;
}

void mfpg_federation_forget_certificates(mfpg_federation *f) {
    free(f->certified.one);
    free(f->certified.of_client);
    f->certified = (certified_clients){.round = -1};
}

/* ---- the largest epsilon of a run so far, or of a plan ---- */

/* Who spends. */
typedef struct spenders {
    const mfpg_federation_options *options;
    ptrdiff_t count;
    const mfpg_federation *federation; /* NULL: nothing has been released yet, and only the plan is priced */
    const mfpg_plan *plan;
} spenders;

/* Parameters are released in every round, records in the first round only. */
static int usual_of(const spenders *all, ptrdiff_t k, spending *out) {
    if (all->federation) return mfpg_federation_usual(all->federation, k, out);
    mfpg_release release = mfpg_plan_release(all->plan, k);
    *out = (spending){k, release, release.particles == MFPG_PARTICLES_DATA ? 1 : all->options->rounds};
    return 1;
}

/* Returns 1 if `a` hides the earlier rounds at least as well as `b`. */
static int no_less_hidden(const mfpg_release *a, const mfpg_release *b) {
    if (b->hidden_contraction == 0.0) return 1;
    return a->hidden_contraction > 0.0 && a->hidden_contraction <= b->hidden_contraction &&
           a->hidden_shift * b->last_sd <= b->hidden_shift * a->last_sd;
}

/* Returns 1 if each step of `a` reveals no more than the same step of `b`. */
static int no_costlier(const mfpg_release *a, const mfpg_release *b) {
    return a->particles == b->particles && a->contraction <= b->contraction && a->steps <= b->steps &&
           a->sampling_rate <= b->sampling_rate &&
           a->sensitivity * b->noise_sd <= b->sensitivity * a->noise_sd &&
           a->sensitivity * b->last_sd <= b->sensitivity * a->last_sd && no_less_hidden(a, b);
}

static int spends_no_more(const spending *a, const spending *b) {
    return b->client >= 0 && a->times <= b->times && no_costlier(&a->release, &b->release);
}

/* Among the clients without accountants of their own, finds one that, as far as is known, spends most.
 * *everybody becomes 1 if it is certain that no client spends more. */
static spending find_spender(const spenders *all, int *everybody) {
    spending most = {.client = -1}, own;
    *everybody = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (ptrdiff_t k = 0; k < all->count; k++) {
            int usual = usual_of(all, k, &own);
            if (usual && spends_no_more(&own, &most)) continue;
            if (usual && (most.client < 0 || (pass == 0 && spends_no_more(&most, &own))))
                most = own;
            else
                *everybody = *everybody && pass == 0;
        }
    }
    return most;
}

/* Compares client k with the accountant `worst` (NULL: none yet), whose epsilon is *epsilon. If client k
 * spent more, *more becomes 1 and *epsilon becomes that of client k. *own is set to the accountant of client
 * k: its own one, or the cursor's. */
static mfpg_status price(mfpg_context *ctx, const spenders *all, ptrdiff_t k, account_cursor *cursor,
    const mfpg_accountant *worst, double *epsilon, const mfpg_accountant **own, int *more) {
    double delta = all->options->delta;
    spending usual;
    int shared = usual_of(all, k, &usual);
    mfpg_status status = shared ? mfpg_account_cursor_set(ctx, all->options, &usual, cursor) : MFPG_OK;
    if (status != MFPG_OK) return status;
    *own = shared ? cursor->made.certificate : all->federation->client[k].own->certificate;
    *more = !worst || !(mfpg_accountant_covers(worst, *own) ||
                          mfpg_accountant_affords(ctx, *own, NULL, delta, *epsilon));
    return *more ? mfpg_accountant_epsilon(ctx, *own, delta, epsilon) : MFPG_OK;
}

/* Prices the largest spender and then every client that might have spent more; *costliest becomes the former
 * if no other client exceeds it. */
static mfpg_status price_all(mfpg_context *ctx, const spenders *all, double *epsilon, ptrdiff_t *costliest) {
    account_cursor cursor[2] = {0}; /* the worst client so far and the current one */
    int everybody = *costliest >= 0, at_hand = 1, more;
    spending most = everybody ? (spending){.client = *costliest} : find_spender(all, &everybody);
    ptrdiff_t first = most.client >= 0 ? most.client : 0;
    const mfpg_accountant *worst, *own;
    mfpg_status status = price(ctx, all, first, &cursor[0], NULL, epsilon, &worst, &more);
    for (ptrdiff_t k = 0; k < all->count && !everybody && status == MFPG_OK; k++) {
        spending usual;
        int shared = usual_of(all, k, &usual);
        if (k == first || (shared && spends_no_more(&usual, &most))) continue;
        status = price(ctx, all, k, &cursor[at_hand], worst, epsilon, &own, &more);
        if (status != MFPG_OK || !more) continue;
        worst = own;
        at_hand = !at_hand;
        if (shared) most = usual;
    }
    *costliest = everybody ? most.client : -1;
    mfpg_account_cursor_clear(&cursor[0]);
    mfpg_account_cursor_clear(&cursor[1]);
    return status;
}

mfpg_status mfpg_federation_largest_epsilon(mfpg_context *ctx, mfpg_federation *f, double *epsilon) {
    const spenders all = {.options = &f->options, .count = f->clients, .federation = f};
    ptrdiff_t costliest = f->costliest;
    if (f->acting) {
        *epsilon = budget_certificate(&f->options).epsilon;
        return MFPG_OK;
    }
    mfpg_status status = price_all(ctx, &all, epsilon, &costliest);
    if (!f->order) f->costliest = costliest; /* and it remains that one */
    return status;
}

mfpg_status mfpg_plan_largest_epsilon(mfpg_context *ctx, const mfpg_plan *plan, double *epsilon) {
    mfpg_federation_options options = *plan->options;
    const spenders all = {.options = &options, .count = plan->clients, .plan = plan};
    ptrdiff_t costliest = -1;
    double largest;
    options.paper_accountant = NULL; /* which has no say */
    mfpg_status status = price_all(ctx, &all, &largest, &costliest);
    *epsilon = status == MFPG_OK ? largest : (double)INFINITY;
    return status;
}
