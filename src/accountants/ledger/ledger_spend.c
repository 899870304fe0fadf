/* What the clients of a ledger have spent. Budget check, charge and record are one step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "ledger.h"

/* ---- accounts ---- */

const char *mfpg_ledger_accountant(const mfpg_ledger_header *header) {
    if (header->particles == MFPG_PARTICLES_DATA) return "data-particles";
    return header->promise.unit == MFPG_UNIT_EXAMPLE ? "exact" : "gdp";
}

static int has_filter(const mfpg_ledger *ledger) {
    return ledger->header.filter != MFPG_FILTER_ACCOUNTANT;
}

static mfpg_status start_account(mfpg_context *ctx, const mfpg_ledger *ledger, ledger_account *out) {
    const mfpg_ledger_header *header = &ledger->header;
    mfpg_accountant_options options = mfpg_accountant_options_default();
    ledger_account made = {0};
    options.promise = header->promise;
    mfpg_status status =
        mfpg_accountant_create(ctx, mfpg_ledger_accountant(header), &options, &made.accountant);
    if (status == MFPG_OK && has_filter(ledger))
        status = mfpg_filter_start(ctx, header->filter, header->stop_at_epsilon, header->delta, &made.filter);
    if (status == MFPG_OK)
        *out = made;
    else
        mfpg_accountant_destroy(made.accountant);
    return status;
}

/* Finds the account of a client, and creates it if it does not exist. */
static mfpg_status find_account(
    mfpg_context *ctx, mfpg_ledger *ledger, int64_t client, ledger_account **out) {
    if (client >= ledger->accounts) {
        int64_t doubled = 2 * ledger->accounts, most = ledger->header.clients;
        int64_t count = client < doubled ? (doubled < most ? doubled : most) : client + 1;
        ledger_account *longer = mfpg_resize(ledger->account, count, sizeof *longer);
        if (!longer) return mfpg_fail_memory(ctx);
        memset(longer + ledger->accounts, 0, (size_t)(count - ledger->accounts) * sizeof *longer);
        ledger->account = longer;
        ledger->accounts = count;
    }
    *out = &ledger->account[client];
    return (*out)->accountant ? MFPG_OK : start_account(ctx, ledger, *out);
}

static double mu_of(const mfpg_ledger *ledger, const mfpg_release *release) {
    mfpg_adjacency adjacency = ledger->header.promise.adjacency;
    return release->particles == MFPG_PARTICLES_DATA ? mfpg_data_release_mu(release, adjacency)
                                                     : mfpg_release_mu(release, adjacency);
}

static mfpg_status record(
    mfpg_context *ctx, const mfpg_ledger *ledger, ledger_account *account, const mfpg_release *release) {
    mfpg_status status = mfpg_accountant_record(ctx, account->accountant, release);
    account->any = 1;
    if (has_filter(ledger) && !mfpg_filter_spend(&account->filter, mu_of(ledger, release))) account->over = 1;
    return status;
}

typedef struct pricing {
    mfpg_context *ctx;
    mfpg_ledger *ledger;
} pricing;

static mfpg_status price_line(void *user, const mfpg_ledger_entry *entry) {
    pricing *to = user;
    mfpg_release release = entry->release;
    if (entry->survivors > 0) return MFPG_OK; /* the charge stays what was promised */
    for (; release.client <= entry->last_client; release.client++) {
        ledger_account *account = NULL;
        mfpg_status status = find_account(to->ctx, to->ledger, release.client, &account);
        if (status == MFPG_OK) status = record(to->ctx, to->ledger, account, &release);
        if (status != MFPG_OK) return status;
    }
    return MFPG_OK;
}

/* After this call the accounts include everything in the file. */
static mfpg_status price(mfpg_context *ctx, mfpg_ledger *ledger) {
    if (ledger->priced) return MFPG_OK;
    if (ledger->broken) return mfpg_fail(ctx, MFPG_ERR_IO, "%s: an earlier write failed", ledger->path);
    if (ledger->end < ledger->size)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: an interrupted run is being repeated in it", ledger->path);
    pricing to = {ctx, ledger};
    mfpg_ledger_header header;
    mfpg_ledger_extent found;
    mfpg_ledger_forget_accounts(ledger);
    mfpg_status status =
        mfpg_ledger_scan(ctx, ledger->path, ledger->descriptor, &header, price_line, &to, &found);
    ledger->priced = status == MFPG_OK;
    return status;
}

/* ---- answers ---- */

static double budget_epsilon(const mfpg_filter *filter, double budget, double delta) {
    return filter->kind == MFPG_FILTER_GDP ? mfpg_gdp_epsilon(budget, delta)
                                           : mfpg_zcdp_epsilon(budget, delta);
}

static mfpg_status tell(
    mfpg_context *ctx, const mfpg_ledger *ledger, const ledger_account *account, mfpg_spending *out) {
    const mfpg_filter *filter = &account->filter;
    double delta = ledger->header.delta;
    mfpg_status status = MFPG_OK;
    out->epsilon = out->spent = (double)INFINITY;
    if (!has_filter(ledger)) {
        status = mfpg_accountant_epsilon(ctx, account->accountant, delta, &out->spent);
        out->epsilon = out->spent;
    } else if (!account->over) {
        out->spent = budget_epsilon(filter, mfpg_filter_spent(filter), delta);
        out->epsilon = account->any ? budget_epsilon(filter, filter->budget, delta) : 0.0;
    }
    double left = ledger->limit - out->spent;
    out->remaining = isinf(ledger->limit) ? (double)INFINITY : left > 0.0 ? nextafter(left, 0.0) : 0.0;
    return status;
}

/* Returns 1 if the client can afford the release next. A budget smaller than the header's admits less; the
 * certificate is the same. */
static int affords(
    mfpg_context *ctx, const mfpg_ledger *ledger, const ledger_account *account, const mfpg_release *next) {
    if (!has_filter(ledger))
        return mfpg_accountant_affords(ctx, account->accountant, next, ledger->header.delta, ledger->limit);
    mfpg_filter own = account->filter, smaller = own;
    if (account->over) return 0;
    if (ledger->limit < ledger->header.stop_at_epsilon &&
        mfpg_filter_start(ctx, own.kind, ledger->limit, ledger->header.delta, &smaller) != MFPG_OK)
        return 0;
    own.budget = fmin(own.budget, smaller.budget);
    return mfpg_filter_admits(&own, mu_of(ledger, next));
}

/* Checks the budget and, if charge is 1, writes the release; the caller holds the lock. */
static mfpg_status spend_locked(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *release, int charge, mfpg_spending *out) {
    mfpg_spending answer = {.round = ledger->round};
    ledger_account *account = NULL;
    mfpg_release own = *release;
    const mfpg_release *at = &own;
    if (own.round < 0) own.round = ledger->round + 1;
    mfpg_status status = mfpg_ledger_check(ctx, ledger, mfpg_ledger_element, &at, 1);
    if (status == MFPG_OK) status = price(ctx, ledger);
    if (status == MFPG_OK) status = find_account(ctx, ledger, own.client, &account);
    if (status != MFPG_OK) return status;
    answer.admitted = affords(ctx, ledger, account, &own);
    if (answer.admitted && charge) {
        status = mfpg_ledger_write(ctx, ledger, mfpg_ledger_element, &at, 1);
        if (status == MFPG_OK) status = record(ctx, ledger, account, &own);
        if (status != MFPG_OK) return status;
        ledger->priced = 1;
        answer.round = own.round;
    }
    status = tell(ctx, ledger, account, &answer);
    if (status == MFPG_OK) *out = answer;
    return status;
}

static mfpg_status spend(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *release, int charge, mfpg_spending *out) {
    mfpg_status status = mfpg_ledger_lock(ctx, ledger);
    if (status != MFPG_OK) return status;
    status = spend_locked(ctx, ledger, release, charge, out);
    mfpg_ledger_unlock(ledger);
    return status;
}

mfpg_status mfpg_ledger_spend(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *release, mfpg_spending *out) {
    return spend(ctx, ledger, release, 1, out);
}

mfpg_status mfpg_ledger_affords(
    mfpg_context *ctx, mfpg_ledger *ledger, const mfpg_release *release, mfpg_spending *out) {
    return spend(ctx, ledger, release, 0, out);
}

mfpg_status mfpg_ledger_ask(mfpg_context *ctx, mfpg_ledger *ledger, int64_t client, mfpg_spending *out) {
    ledger_account *account = NULL;
    mfpg_status status = mfpg_ledger_lock(ctx, ledger);
    if (status != MFPG_OK) return status;
    mfpg_spending answer = {.round = ledger->round};
    if (client < 0 || client >= ledger->header.clients)
        status = mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%s: there is no client %lld in the header", ledger->path,
            (long long)client);
    if (status == MFPG_OK) status = price(ctx, ledger);
    if (status == MFPG_OK) status = find_account(ctx, ledger, client, &account);
    if (status == MFPG_OK) status = tell(ctx, ledger, account, &answer);
    mfpg_ledger_unlock(ledger);
    if (status == MFPG_OK) *out = answer;
    return status;
}
