/* Decides who takes part in a round, with which share of the average, and whose budget allows it. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "federation_core.h"

/* Draws members from the stream of (COHORT, round): all, m of N without replacement, or each with
 * probability q. Writes them in ascending order into order[] and returns their number. */
static ptrdiff_t draw(mfpg_federation *f, ptrdiff_t *order) {
    const mfpg_federation_options *options = &f->options;
    mfpg_stream stream = mfpg_stream_open(&f->cohort_key, MFPG_PURPOSE_COHORT, (uint64_t)f->round, 0);
    ptrdiff_t count = 0, wanted = options->clients_per_round;
    int everybody = options->client_rate >= 1.0 && (wanted == 0 || wanted >= f->clients);
    if (!everybody) mfpg_stream_uniform(&stream, 0, f->clients, f->draw);
    for (ptrdiff_t k = 0, left = wanted; k < f->clients; k++) {
        int in = 1;
        if (!everybody && wanted > 0) { /* selection sampling: k is taken with probability left / (N - k) */
            in = f->draw[k] * (double)(f->clients - k) < (double)left;
            left -= in;
        } else if (!everybody) {
            in = f->draw[k] < options->client_rate;
        }
        if (in) order[count++] = k;
    }
    return count;
}

mfpg_status mfpg_federation_exchange(mfpg_context *ctx, mfpg_federation *f, ptrdiff_t count,
    void (*word)(mfpg_federation *f, ptrdiff_t k, int64_t words[2], int tell)) {
    if (f->ranks == 1) return MFPG_OK;
    memset(f->words, 0, 2 * (size_t)count * sizeof *f->words);
    for (ptrdiff_t i = 0; i < count; i++) {
        ptrdiff_t k = mfpg_federation_member(f, i);
        if (mfpg_federation_owns(f, k)) word(f, k, &f->words[2 * i], 1);
    }
    mfpg_status status = mfpg_ranks_share(ctx, f->words, 2 * count);
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK; i++)
        word(f, mfpg_federation_member(f, i), &f->words[2 * i], 0);
    return status;
}

/* ---- budgets ---- */

/* Starts one filter per client, all with the same budget. Actions that depend on releases need a filter
 * (theory S4). */
mfpg_status mfpg_federation_start_filters(mfpg_context *ctx, mfpg_federation *f) {
    mfpg_federation_options *o = &f->options;
    if (o->acting && o->filter == MFPG_FILTER_ACCOUNTANT) o->filter = MFPG_FILTER_GDP;
    if (o->filter == MFPG_FILTER_ACCOUNTANT || !isfinite(o->stop_at_epsilon)) return MFPG_OK;
    mfpg_filter filter;
    mfpg_status status = mfpg_filter_start(ctx, o->filter, o->stop_at_epsilon, o->delta, &filter);
    if (status != MFPG_OK) return status;
    f->filter = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients, sizeof *f->filter));
    for (ptrdiff_t k = 0; f->filter && k < f->clients; k++) f->filter[k] = filter;
    return f->filter ? MFPG_OK : mfpg_fail_memory(ctx);
}

/* The last result of `overspends`. It is reused for clients that released the same and are about to release
 * the same. */
typedef struct decision {
    account_cursor cursor;
    const mfpg_accountant *spent;
    mfpg_release next;
    int overspends;
} decision;

static double cost_of(const mfpg_federation *f, const mfpg_release *release) {
    mfpg_adjacency adjacency = f->options.promise.adjacency;
    return release->particles == MFPG_PARTICLES_DATA ? mfpg_data_release_mu(release, adjacency)
                                                     : mfpg_release_mu(release, adjacency);
}

static int overspends(mfpg_context *ctx, const mfpg_federation *f, const mfpg_release *next, decision *last) {
    const mfpg_federation_options *o = &f->options;
    ptrdiff_t k = (ptrdiff_t)next->client;
    if (mfpg_federation_noised(f, k)) return 0; /* its records are already noised and cost nothing more */
    if (f->filter) return !mfpg_filter_admits(&f->filter[k], cost_of(f, next));
    account_cursor *cursor = &last->cursor;
    const spending before = cursor->of;
    const account_pair *accounts = mfpg_federation_accounts(ctx, f, k, cursor);
    if (!accounts) return 1;
    const mfpg_accountant *spent = accounts->certificate;
    int known = last->spent && mfpg_release_equal(&last->next, next, MFPG_RELEASE_COST);
    if (known &&
        /* the accountants may have been freed: only what they were made from is compared */
        accounts == &cursor->made)
        known = spent == last->spent && before.times == cursor->of.times &&
                mfpg_release_equal(&before.release, &cursor->of.release, MFPG_RELEASE_COST);
    else if (known)
        known = mfpg_accountant_covers(last->spent, spent) && mfpg_accountant_covers(spent, last->spent);
    last->spent = spent;
    last->next = *next;
    if (!known) last->overspends = !mfpg_accountant_affords(ctx, spent, next, o->delta, o->stop_at_epsilon);
    return last->overspends;
}

ptrdiff_t mfpg_federation_keep_affordable(
    mfpg_context *ctx, mfpg_federation *f, mfpg_release_maker release, void *user, ptrdiff_t count) {
    ptrdiff_t kept = 0;
    decision last = {0};
    for (ptrdiff_t i = 0; i < count; i++) {
        ptrdiff_t k = f->order[i];
        mfpg_release next = release(user, i);
        if (overspends(ctx, f, &next, &last))
            f->client[k].stopped_before = (int32_t)f->round + 1;
        else
            f->order[kept++] = k;
    }
    mfpg_account_cursor_clear(&last.cursor);
    return kept;
}

mfpg_status mfpg_federation_charge(
    mfpg_context *ctx, mfpg_federation *f, mfpg_release_maker release, void *user, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count && f->filter; i++) {
        mfpg_release next = release(user, i);
        ptrdiff_t k = (ptrdiff_t)next.client;
        if (mfpg_federation_noised(f, k) || mfpg_filter_spend(&f->filter[k], cost_of(f, &next))) continue;
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "client '%s': a release that its budget does not allow",
            f->data->client[k].name);
    }
    return MFPG_OK;
}

/* Returns the releases of order[] on the terms of the round. */
static mfpg_release planned_release(void *user, ptrdiff_t i) {
    const mfpg_federation *f = user;
    return mfpg_federation_release(f, &f->terms, f->order[i]);
}

/* Returns 0 if too few clients are left for a secure sum. */
static int can_be_summed(const mfpg_federation *f) {
    return !f->secure || f->terms.view.threshold > 0;
}

/* Takes those who drop out of the round out of order[], and returns the number of the others. Their weights stay. */
static ptrdiff_t drop(mfpg_federation *f, ptrdiff_t members) {
    double gone = 0.0, kept = 0.0;
    ptrdiff_t count = 0;
    for (ptrdiff_t i = 0; i < members; i++) {
        ptrdiff_t k = f->order[i];
        double weight = mfpg_plan_local(f->plan, k).weight;
        if (f->dropped[k]) {
            gone += weight;
        } else {
            kept += weight;
            f->order[count++] = k;
        }
    }
    f->remaining = gone > 0.0 ? kept / (kept + gone) : 1.0;
    return count;
}

static void mark_dropped(mfpg_federation *f) {
    const mfpg_sum_options *sum = &f->options.sum;
    memset(f->dropped, 0, (size_t)f->clients);
    for (ptrdiff_t i = 0; i < sum->dropouts; i++)
        if (sum->dropout[i].round == f->round + 1) f->dropped[sum->dropout[i].client] = 1;
}

/* Without its threshold of answers a secure sum reveals nothing. */
static mfpg_status leave_out_dropped(mfpg_context *ctx, mfpg_federation *f) {
    ptrdiff_t members = f->cohort_size;
    f->cohort_size = drop(f, members);
    int threshold = f->secure ? f->terms.view.threshold : members > 0;
    if (f->cohort_size >= threshold || members == 0) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "secure_sum.dropouts: in round %lld %td of %td members answer, fewer than the %d without which "
        "nothing can be summed",
        (long long)f->round + 1, f->cohort_size, members, threshold);
}

/* No certificate may exceed stop_at_epsilon. In the average view a member that leaves takes its noise away
 * from the others, so the selection is repeated until all remaining members can afford the round (theory
 * S4). It reads only public numbers and actions that have been accounted for, and it takes place before any
 * of this round's updates is released. */
static ptrdiff_t stop_spenders(mfpg_context *ctx, mfpg_federation *f, ptrdiff_t count) {
    for (;;) {
        f->terms = mfpg_plan_terms(f->plan, f->order, count, f->dropped);
        if (!can_be_summed(f)) return 0;
        ptrdiff_t kept = mfpg_federation_keep_affordable(ctx, f, planned_release, f, count);
        if (kept == count) return count;
        count = kept;
    }
}

ptrdiff_t mfpg_federation_draw_members(mfpg_federation *f) {
    ptrdiff_t *order = f->order;
    if (!order) return f->clients;
    ptrdiff_t drawn = draw(f, order), count = 0;
    for (ptrdiff_t i = 0; i < drawn; i++)
        if (f->client[order[i]].stopped_before == 0) order[count++] = order[i];
    return count;
}

mfpg_status mfpg_federation_admit(mfpg_context *ctx, mfpg_federation *f, ptrdiff_t members, int *exhausted) {
    ptrdiff_t left = 0, named = 0;
    *exhausted = 0;
    f->cohort_size = members;
    f->remaining = 1.0;
    if (!f->order) {
        f->terms = f->usual;
        return MFPG_OK;
    }
    if (f->dropped) mark_dropped(f);
    if (isfinite(f->options.stop_at_epsilon)) {
        f->cohort_size = stop_spenders(ctx, f, members);
        for (ptrdiff_t k = 0; k < f->clients; k++) {
            int goes_on = f->client[k].stopped_before == 0;
            left += goes_on;
            named += goes_on && f->options.colluder && f->options.colluder[k];
        }
        *exhausted = left == 0 || (f->secure && mfpg_plan_sum_threshold(f->plan, left, named) == 0);
    } else {
        f->terms = mfpg_plan_terms(f->plan, f->order, members, f->dropped);
        if (!can_be_summed(f)) f->cohort_size = 0;
    }
    if (members > 0 && !*exhausted && !can_be_summed(f))
        mfpg_warn(ctx, "round %lld: %td members are too few for a secure sum; the model stays as it is",
            (long long)f->round + 1, members);
    mfpg_status status = f->dropped ? leave_out_dropped(ctx, f) : MFPG_OK;
    if (status != MFPG_OK) return status;
    return mfpg_federation_charge(ctx, f, planned_release, f, f->cohort_size);
}
