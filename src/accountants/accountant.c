/* The common front of all accountants: names, checks, and the rule that a failed record has permanent
 * effect. */
#include "accounting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "gdp.h"
#include "release_check.h"

static const void *const KINDS[] = {
#define PAPER(name)
#define ENTRY(name) &mfpg_accountant_##name,
#include "accountants.def"
#undef PAPER
#undef ENTRY
#define PAPER(name) &mfpg_accountant_##name,
#define ENTRY(name)
#include "accountants.def"
#undef PAPER
#undef ENTRY
};

enum {
#define PAPER(name)
#define ENTRY(name) INDEX_##name,
#include "accountants.def"
#undef PAPER
#undef ENTRY
    CERTIFYING
};

const mfpg_kinds mfpg_accountants = MFPG_KINDS(KINDS), mfpg_certifying_accountants = {KINDS, CERTIFYING};

struct mfpg_accountant {
    const mfpg_accountant_ops *ops;
    mfpg_promise promise;
    int recorded; /* at least one release */
    /* 1: something was released that could not be recorded, so that no bound is known any more */
    int poisoned;
    max_align_t state[];
};

mfpg_accountant_options mfpg_accountant_options_default(void) {
    return (mfpg_accountant_options){
        .promise = {MFPG_UNIT_CLIENT, MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_LOCAL},
        .width = 1e-6,
        .paper = {.dimension = 5.0,
            .clients = 5.0,
            .alpha = 1.0,
            .variance_penalty = 0.01,
            .gradient_norm = 1.0,
            .step = 0.1,
            .clamp = 1,
            .envelope = 1},
    };
}

static int facts_of(const mfpg_accountant_ops *ops) {
    return ops->facts | (ops->particles == MFPG_PARTICLES_DATA ? MFPG_ACCOUNTANT_OF_DATA : 0);
}

int mfpg_accountant_facts(const char *name) {
    const mfpg_accountant_ops *ops = mfpg_kind_find(&mfpg_accountants, name);
    return ops ? facts_of(ops) : 0;
}

const char *mfpg_accountant_with(int facts) {
    for (ptrdiff_t i = 0; i < mfpg_accountants.count; i++)
        if ((facts_of(KINDS[i]) & facts) == facts) return mfpg_kind_name(&mfpg_accountants, i);
    return NULL;
}

const char *mfpg_accountant_default(mfpg_particles particles, int samples_examples) {
    if (particles == MFPG_PARTICLES_DATA) return mfpg_accountant_data_particles.name;
    return samples_examples ? mfpg_accountant_exact.name : mfpg_accountant_gdp.name;
}

mfpg_status mfpg_accountant_create(
    mfpg_context *ctx, const char *kind, const mfpg_accountant_options *options, mfpg_accountant **out) {
    mfpg_accountant_options chosen = options ? *options : mfpg_accountant_options_default();
    const mfpg_accountant_ops *ops = mfpg_kind_find(&mfpg_accountants, kind);
    if (!ops) return mfpg_kind_unknown(ctx, "accountant", kind, &mfpg_accountants, NULL);
    const char *fault = mfpg_promise_fault(&chosen.promise);
    if (fault) return mfpg_fail(ctx, MFPG_ERR_INPUT, "accountant %s: %s", ops->name, fault);
    if (!(chosen.width > 0.0))
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "accountant %s: width is %g; it must be above 0", ops->name, chosen.width);
    mfpg_accountant *made = mfpg_alloc(1, sizeof *made + ops->state_size);
    if (!made) return mfpg_fail_memory(ctx);
    made->ops = ops;
    made->promise = chosen.promise;
    mfpg_status status = ops->start ? ops->start(ctx, made->state, &chosen) : MFPG_OK;
    if (status == MFPG_OK)
        *out = made;
    else
        free(made);
    return status;
}

void mfpg_accountant_destroy(mfpg_accountant *accountant) {
    if (accountant && accountant->ops->finish) accountant->ops->finish(accountant->state);
    free(accountant);
}

mfpg_particles mfpg_accountant_particles(const mfpg_accountant *accountant) {
    return accountant->ops->particles;
}

int mfpg_accountant_certifies(const mfpg_accountant *accountant) {
    return accountant->ops->certifies;
}

mfpg_status mfpg_accountant_record_times(
    mfpg_context *ctx, mfpg_accountant *accountant, const mfpg_release *release, int64_t times) {
    const mfpg_accountant_ops *ops = accountant->ops;
    const long long round = (long long)release->round, client = (long long)release->client;
    const char *fault = times < 0 ? "recorded less than 0 times" : mfpg_release_fault(release);
    mfpg_status status = MFPG_OK;
    if (fault)
        status = mfpg_fail(ctx, MFPG_ERR_DOMAIN, "round %lld, client %lld: %s", round, client, fault);
    else if (release->particles !=
             /* a certificate of one kind of particles says nothing about the other (theory S5.4) */
             ops->particles)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "round %lld, client %lld: the particles of this release are %s; accountant %s knows %s only",
            round, client, mfpg_particles_name(release->particles), ops->name,
            mfpg_particles_name(ops->particles));
    else if ((fault = mfpg_promised_fault(&accountant->promise, release)) != NULL)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "round %lld, client %lld: %s", round, client, fault);
    else if (times == 0)
        return MFPG_OK;
    else
        status = ops->record(ctx, accountant->state, release, times);
    accountant->recorded = 1;
    if (status != MFPG_OK) accountant->poisoned = 1;
    return status;
}

mfpg_status mfpg_accountant_record(
    mfpg_context *ctx, mfpg_accountant *accountant, const mfpg_release *release) {
    return mfpg_accountant_record_times(ctx, accountant, release, 1);
}

/* Every answer of an accountant passes through this function. */
static mfpg_status ask(
    mfpg_context *ctx, const mfpg_accountant *accountant, const mfpg_question *asked, mfpg_bounds *out) {
    const mfpg_accountant_ops *ops = accountant->ops;
    mfpg_bounds found = {0.0, (double)INFINITY};
    *out = found;
    if (asked->for_delta && !(asked->given >= 0.0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "epsilon is %g; it must be >= 0", asked->given);
    if (!asked->for_delta && !(asked->given >= 0.0 && asked->given < 1.0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "delta is %g; it must be in [0, 1)", asked->given);
    if (accountant->poisoned) return MFPG_OK;
    if (!accountant->recorded) {
        out->upper = 0.0;
        return MFPG_OK;
    }
    if (!ops->certifies && asked->adjacency != accountant->promise.adjacency) return MFPG_OK;
    mfpg_status status = ops->answer(ctx, accountant->state, asked, &found);
    if (status == MFPG_OK && found.lower >= 0.0 && found.upper >= found.lower) *out = found;
    return status;
}

mfpg_status mfpg_accountant_epsilon(
    mfpg_context *ctx, const mfpg_accountant *accountant, double delta, double *epsilon) {
    return mfpg_accountant_epsilon_under(ctx, accountant, accountant->promise.adjacency, delta, epsilon);
}

mfpg_status mfpg_accountant_epsilon_under(mfpg_context *ctx, const mfpg_accountant *accountant,
    mfpg_adjacency adjacency, double delta, double *epsilon) {
    mfpg_adjacency own = accountant->promise.adjacency;
    mfpg_question asked = {.adjacency = own, .given = delta};
    if (adjacency != own)
        asked.adjacency = own == MFPG_ADJACENCY_REPLACE ? MFPG_ADJACENCY_ZERO_OUT : MFPG_ADJACENCY_REPLACE;
    mfpg_bounds found;
    mfpg_status status = ask(ctx, accountant, &asked, &found);
    *epsilon = found.upper;
    return status;
}

mfpg_status mfpg_accountant_delta(
    mfpg_context *ctx, const mfpg_accountant *accountant, double epsilon, double *delta) {
    mfpg_question asked = {.adjacency = accountant->promise.adjacency, .for_delta = 1, .given = epsilon};
    mfpg_bounds found;
    mfpg_status status = ask(ctx, accountant, &asked, &found);
    *delta = found.upper;
    return status;
}

static mfpg_status ask_both(
    mfpg_context *ctx, const mfpg_accountant *accountant, int for_delta, double given, mfpg_bounds *out) {
    mfpg_question asked = {accountant->promise.adjacency, for_delta, given, .both_ends = 1};
    mfpg_status status = ask(ctx, accountant, &asked, out);
    if (!accountant->ops->certifies) *out = (mfpg_bounds){0.0, (double)INFINITY};
    return status;
}

mfpg_status mfpg_accountant_epsilon_bounds(
    mfpg_context *ctx, const mfpg_accountant *accountant, double delta, mfpg_bounds *epsilon) {
    return ask_both(ctx, accountant, 0, delta, epsilon);
}

mfpg_status mfpg_accountant_delta_bounds(
    mfpg_context *ctx, const mfpg_accountant *accountant, double epsilon, mfpg_bounds *delta) {
    return ask_both(ctx, accountant, 1, epsilon, delta);
}

double mfpg_accountant_mu(const mfpg_accountant *accountant) {
    if (accountant->poisoned || !accountant->ops->mu) return (double)INFINITY;
    return accountant->ops->mu(accountant->state);
}

double mfpg_accountant_renyi(const mfpg_accountant *accountant, double order) {
    if (accountant->poisoned || !(order >= 1.0) || !isfinite(order)) return (double)INFINITY;
    if (!accountant->recorded) return 0.0;
    if (!accountant->ops->renyi) return gdp_renyi(mfpg_accountant_mu(accountant), order);
    double answer = accountant->ops->renyi(accountant->state, order);
    return answer >= 0.0 ? answer : (double)INFINITY;
}

/* Returns a copy of the accountant with everything it recorded; NULL if memory is exhausted. */
static mfpg_accountant *copy_of(const mfpg_accountant *accountant) {
    const mfpg_accountant_ops *ops = accountant->ops;
    mfpg_accountant *copy = mfpg_alloc(1, sizeof *copy + ops->state_size);
    if (!copy) return NULL;
    memcpy(copy, accountant, sizeof *copy + ops->state_size);
    if (ops->copy && !ops->copy(accountant->state, copy->state)) {
        free(copy);
        return NULL;
    }
    return copy;
}

static int is_within(mfpg_context *ctx, const mfpg_accountant *accountant, double delta, double epsilon) {
    mfpg_question asked = {.adjacency = accountant->promise.adjacency, .given = delta, .enough = epsilon};
    mfpg_bounds spent;
    return ask(ctx, accountant, &asked, &spent) == MFPG_OK && spent.upper <= epsilon;
}

int mfpg_accountant_affords(mfpg_context *ctx, const mfpg_accountant *accountant, const mfpg_release *next,
    double delta, double epsilon) {
    if (!(delta >= 0.0 && delta < 1.0 && epsilon >= 0.0)) return 0;
    if (!next) return is_within(ctx, accountant, delta, epsilon);
    if (accountant->poisoned || mfpg_release_fault(next) || mfpg_promised_fault(&accountant->promise, next))
        return 0;
    mfpg_accountant *after = copy_of(accountant);
    int yes =
        after && mfpg_accountant_record(ctx, after, next) == MFPG_OK && is_within(ctx, after, delta, epsilon);
    mfpg_accountant_destroy(after);
    return yes;
}

int mfpg_accountant_covers(const mfpg_accountant *accountant, const mfpg_accountant *less) {
    if (accountant->ops != less->ops || accountant->promise.adjacency != less->promise.adjacency) return 0;
    if (accountant->poisoned || !less->recorded) return 1;
    if (less->poisoned || !accountant->recorded || !accountant->ops->covers) return 0;
    return accountant->ops->covers(accountant->state, less->state);
}
