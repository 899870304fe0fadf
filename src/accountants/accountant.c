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
    mfpg_accountant *made = mfpg_alloc(1, sizeof *made + ops->state_size);
    if (!made) return mfpg_fail_memory(ctx);
    made->ops = ops;
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

int mfpg_accountant_certifies(const mfpg_accountant *accountant) {
    return accountant->ops->certifies;
}

mfpg_status mfpg_accountant_record(
    mfpg_context *ctx, mfpg_accountant *accountant, const mfpg_release *release) {
    const char *fault = mfpg_release_fault(release);
    mfpg_status status = MFPG_OK;
    if (fault)
        status = mfpg_fail(ctx, MFPG_ERR_DOMAIN, "round %lld, client %lld: %s", (long long)release->round,
            (long long)release->client, fault);
    else
        status = accountant->ops->record(ctx, accountant->state, release);
    accountant->recorded = 1;
    if (status != MFPG_OK) accountant->poisoned = 1;
    return status;
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

double mfpg_accountant_mu(const mfpg_accountant *accountant) {
    if (accountant->poisoned || !accountant->ops->mu) return (double)INFINITY;
    return accountant->ops->mu(accountant->state);
}
