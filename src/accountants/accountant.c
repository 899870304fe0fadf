/* The front of every accountant: names, checks, and the rule that a record that failed is never forgotten. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mfpg/accountant.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "ops.h"
#include "release_check.h"

#define ENTRY(name) extern const mfpg_accountant_ops mfpg_accountant_##name;
#include "accountants.def"
#undef ENTRY

static const mfpg_accountant_ops *const built_in[] = {
#define ENTRY(name) &mfpg_accountant_##name,
#include "accountants.def"
#undef ENTRY
};

enum { BUILT_IN = sizeof built_in / sizeof built_in[0] };

struct mfpg_accountant {
    const mfpg_accountant_ops *ops;
    mfpg_promise promise;
    int recorded; /* at least one release */
    int poisoned; /* something was released that could not be recorded: no bound is known any more */
    max_align_t state[];
};

const char *mfpg_accountant_name(ptrdiff_t index) {
    return index >= 0 && index < BUILT_IN ? built_in[index]->name : NULL;
}

const char *mfpg_accountant_help(ptrdiff_t index) {
    return index >= 0 && index < BUILT_IN ? built_in[index]->help : NULL;
}

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

int mfpg_accountant_facts(const char *name) {
    for (ptrdiff_t i = 0; name && i < BUILT_IN; i++)
        if (strcmp(name, built_in[i]->name) == 0)
            return built_in[i]->facts |
                   (built_in[i]->particles == MFPG_PARTICLES_DATA ? MFPG_ACCOUNTANT_OF_DATA : 0);
    return 0;
}

const char *mfpg_accountant_with(int facts) {
    for (ptrdiff_t i = 0; i < BUILT_IN; i++)
        if ((mfpg_accountant_facts(built_in[i]->name) & facts) == facts) return built_in[i]->name;
    return NULL;
}

const char *mfpg_accountant_default(mfpg_particles particles, int samples_examples) {
    if (particles == MFPG_PARTICLES_DATA) return mfpg_accountant_data_particles.name;
    return samples_examples ? mfpg_accountant_exact.name : mfpg_accountant_gdp.name;
}

static mfpg_status find(mfpg_context *ctx, const char *kind, const mfpg_accountant_ops **out) {
    const char *names[BUILT_IN];
    for (ptrdiff_t i = 0; i < BUILT_IN; i++) {
        names[i] = built_in[i]->name;
        if (kind && strcmp(kind, names[i]) == 0) {
            *out = built_in[i];
            return MFPG_OK;
        }
    }
    return mfpg_names_unknown(ctx, "accountant", kind, names, BUILT_IN);
}

mfpg_status mfpg_accountant_create(
    mfpg_context *ctx, const char *kind, const mfpg_accountant_options *options, mfpg_accountant **out) {
    mfpg_accountant_options chosen = options ? *options : mfpg_accountant_options_default();
    const mfpg_accountant_ops *ops = NULL;
    mfpg_status status = find(ctx, kind, &ops);
    if (status != MFPG_OK) return status;
    const char *fault = mfpg_promise_fault(&chosen.promise);
    if (fault) return mfpg_fail(ctx, MFPG_ERR_INPUT, "accountant %s: %s", ops->name, fault);
    if (!(chosen.width > 0.0))
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "accountant %s: width is %g; it must be above 0", ops->name, chosen.width);
    mfpg_accountant *made = mfpg_alloc(1, sizeof *made + ops->state_size);
    if (!made) return mfpg_fail_memory(ctx);
    made->ops = ops;
    made->promise = chosen.promise;
    if (ops->start) status = ops->start(ctx, made->state, &chosen);
    if (status != MFPG_OK) {
        free(made);
        return status;
    }
    *out = made;
    return MFPG_OK;
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

/* A certificate of the one kind says nothing about the other (theory S5.4). */
static mfpg_status fail_kind(
    mfpg_context *ctx, const mfpg_accountant *accountant, const mfpg_release *release) {
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "round %lld, client %lld: the particles of this release are %s; accountant %s knows %s only",
        (long long)release->round, (long long)release->client, mfpg_particles_name(release->particles),
        accountant->ops->name, mfpg_particles_name(accountant->ops->particles));
}

mfpg_status mfpg_accountant_record_times(
    mfpg_context *ctx, mfpg_accountant *accountant, const mfpg_release *release, int64_t times) {
    const char *fault = times < 0 ? "recorded less than 0 times" : mfpg_release_fault(release);
    mfpg_status status = MFPG_OK;
    if (fault)
        status = mfpg_fail(ctx, MFPG_ERR_DOMAIN, "round %lld, client %lld: %s", (long long)release->round,
            (long long)release->client, fault);
    else if (release->particles != accountant->ops->particles)
        status = fail_kind(ctx, accountant, release);
    else if ((fault = mfpg_promised_fault(&accountant->promise, release)) != NULL)
        status = mfpg_fail(ctx, MFPG_ERR_INPUT, "round %lld, client %lld: %s", (long long)release->round,
            (long long)release->client, fault);
    else if (times == 0)
        return MFPG_OK;
    else
        status = accountant->ops->record(ctx, accountant->state, release, times);
    accountant->recorded = 1;
    if (status != MFPG_OK) accountant->poisoned = 1;
    return status;
}

mfpg_status mfpg_accountant_record(
    mfpg_context *ctx, mfpg_accountant *accountant, const mfpg_release *release) {
    return mfpg_accountant_record_times(ctx, accountant, release, 1);
}

mfpg_status mfpg_accountant_epsilon(
    mfpg_context *ctx, const mfpg_accountant *accountant, double delta, double *epsilon) {
    *epsilon = (double)INFINITY;
    if (!(delta >= 0.0 && delta < 1.0))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "delta is %g; it must be in [0, 1)", delta);
    if (accountant->poisoned) return MFPG_OK;
    double answer = 0.0;
    mfpg_status status = MFPG_OK;
    if (accountant->recorded) status = accountant->ops->epsilon(ctx, accountant->state, delta, &answer);
    if (status == MFPG_OK && answer >= 0.0) *epsilon = answer;
    return status;
}

mfpg_status mfpg_accountant_delta(
    mfpg_context *ctx, const mfpg_accountant *accountant, double epsilon, double *delta) {
    *delta = (double)INFINITY;
    if (!(epsilon >= 0.0)) return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "epsilon is %g; it must be >= 0", epsilon);
    if (accountant->poisoned) return MFPG_OK;
    double answer = 0.0;
    mfpg_status status = MFPG_OK;
    if (accountant->recorded) status = accountant->ops->delta(ctx, accountant->state, epsilon, &answer);
    if (status == MFPG_OK && answer >= 0.0) *delta = answer;
    return status;
}

typedef mfpg_status (*bounds_of)(mfpg_context *ctx, const void *state, double given, mfpg_bounds *out);

/* Replaces an answer, and 0 below it, by what the accountant itself knows of both ends. */
static mfpg_status enclose(mfpg_context *ctx, const mfpg_accountant *accountant, bounds_of ask, double given,
    double answer, mfpg_bounds *out) {
    *out = (mfpg_bounds){.upper = accountant->ops->certifies ? answer : (double)INFINITY};
    if (!ask || accountant->poisoned || !accountant->recorded) return MFPG_OK;
    mfpg_bounds known = {0.0, (double)INFINITY};
    mfpg_status status = ask(ctx, accountant->state, given, &known);
    if (status == MFPG_OK && known.lower >= 0.0 && known.upper >= known.lower) *out = known;
    return status;
}

mfpg_status mfpg_accountant_epsilon_bounds(
    mfpg_context *ctx, const mfpg_accountant *accountant, double delta, mfpg_bounds *epsilon) {
    bounds_of ask = accountant->ops->epsilon_bounds;
    double upper = (double)INFINITY;
    int plain = !ask || !(delta >= 0.0 && delta < 1.0) || accountant->poisoned || !accountant->recorded;
    mfpg_status status = plain ? mfpg_accountant_epsilon(ctx, accountant, delta, &upper) : MFPG_OK;
    *epsilon = (mfpg_bounds){.upper = upper};
    return status == MFPG_OK ? enclose(ctx, accountant, ask, delta, upper, epsilon) : status;
}

mfpg_status mfpg_accountant_delta_bounds(
    mfpg_context *ctx, const mfpg_accountant *accountant, double epsilon, mfpg_bounds *delta) {
    bounds_of ask = accountant->ops->delta_bounds;
    double upper = (double)INFINITY;
    int plain = !ask || !(epsilon >= 0.0) || accountant->poisoned || !accountant->recorded;
    mfpg_status status = plain ? mfpg_accountant_delta(ctx, accountant, epsilon, &upper) : MFPG_OK;
    *delta = (mfpg_bounds){.upper = upper};
    return status == MFPG_OK ? enclose(ctx, accountant, ask, epsilon, upper, delta) : status;
}

double mfpg_accountant_mu(const mfpg_accountant *accountant) {
    if (accountant->poisoned || !accountant->ops->mu) return (double)INFINITY;
    return accountant->ops->mu(accountant->state);
}

double mfpg_accountant_renyi(const mfpg_accountant *accountant, double order) {
    if (accountant->poisoned || !(order >= 1.0) || !isfinite(order)) return (double)INFINITY;
    if (!accountant->recorded) return 0.0;
    if (!accountant->ops->rdp) return (double)INFINITY;
    double answer = accountant->ops->rdp(accountant->state, order);
    return answer >= 0.0 ? answer : (double)INFINITY;
}

mfpg_status mfpg_accountant_epsilon_under(mfpg_context *ctx, const mfpg_accountant *accountant,
    mfpg_adjacency adjacency, double delta, double *epsilon) {
    int other = adjacency != accountant->promise.adjacency && !accountant->poisoned && accountant->recorded;
    if (!other || !(delta >= 0.0 && delta < 1.0))
        return mfpg_accountant_epsilon(ctx, accountant, delta, epsilon);
    *epsilon = (double)INFINITY;
    if (!accountant->ops->other) return MFPG_OK;
    double answer = 0.0;
    mfpg_status status = accountant->ops->other(ctx, accountant->state, delta, &answer);
    if (status == MFPG_OK && answer >= 0.0) *epsilon = answer;
    return status;
}

/* An accountant that has recorded the same; NULL without memory. */
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
    if (accountant->poisoned) return 0;
    if (accountant->recorded && accountant->ops->within)
        return accountant->ops->within(ctx, accountant->state, delta, epsilon);
    double spent;
    return mfpg_accountant_epsilon(ctx, accountant, delta, &spent) == MFPG_OK && spent <= epsilon;
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
