/* Who takes part in a round, with which share of the average, and whose budget allows it. */
#include <math.h>

#include "accountants/accounting.h"
#include "accountants/view_noise.h"
#include "base/error.h"
#include "internal.h"

/* Members by the stream of (COHORT, round): all, m of N without replacement, or each with probability q. Written in
 * ascending order into order[]; returns their number. */
static ptrdiff_t draw(mfpg_federation *federation, ptrdiff_t *order) {
    const mfpg_federation_options *options = &federation->options;
    mfpg_stream stream =
        mfpg_stream_open(&federation->cohort_key, MFPG_PURPOSE_COHORT, (uint64_t)federation->round, 0);
    ptrdiff_t count = 0, wanted = options->clients_per_round;
    int everybody = options->client_rate >= 1.0 && (wanted == 0 || wanted >= federation->clients);
    if (!everybody) mfpg_stream_uniform(&stream, 0, federation->clients, federation->draw);
    for (ptrdiff_t k = 0, left = wanted; k < federation->clients; k++) {
        int in = 1;
        if (!everybody && wanted > 0) { /* selection sampling: k is taken with probability left / (N - k) */
            in = federation->draw[k] * (double)(federation->clients - k) < (double)left;
            left -= in;
        } else if (!everybody) {
            in = federation->draw[k] < options->client_rate;
        }
        if (in) order[count++] = k;
    }
    return count;
}

round_terms mfpg_federation_terms(
    const mfpg_federation *federation, const ptrdiff_t *order, ptrdiff_t count) {
    const mfpg_federation_options *o = &federation->options;
    round_terms terms = {.view = mfpg_view_start(&o->promise, o->colluder, o->participants)};
    for (ptrdiff_t i = 0; i < count; i++)
        terms.weights += mfpg_plan_local(federation->plan, order ? order[i] : i).weight;
    if (!terms.view.sums || federation->projects) {
        terms.view.sums = 0;
        return terms;
    }
    mfpg_view_noise view = terms.view;
    terms.view.sums = 0; /* what is added up is the noise of the members themselves */
    for (ptrdiff_t i = 0; i < count; i++) {
        mfpg_release own = mfpg_federation_release(federation, &terms, order ? order[i] : i);
        mfpg_view_rank(&view, &own);
    }
    for (ptrdiff_t i = 0; i < count; i++) {
        mfpg_release own = mfpg_federation_release(federation, &terms, order ? order[i] : i);
        mfpg_view_add(&view, &own);
    }
    terms.view = view;
    return terms;
}

mfpg_release mfpg_federation_release(
    const mfpg_federation *federation, const round_terms *terms, ptrdiff_t k) {
    mfpg_release release = mfpg_plan_local(federation->plan, k);
    release.round = federation->round + 1;
    release.weight = release.weight / terms->weights;
    release.last_sd = mfpg_view_last_sd(&terms->view, &release);
    return release;
}

/* The last answer of overspends: clients that released the same and are about to release the same get it again. */
typedef struct decision {
    account_cursor cursor;
    const mfpg_accountant *spent;
    mfpg_release next;
    int overspends;
} decision;

static double cost_of(const mfpg_federation *federation, const mfpg_release *release) {
    mfpg_adjacency adjacency = federation->options.promise.adjacency;
    return release->particles == MFPG_PARTICLES_DATA ? mfpg_data_release_mu(release, adjacency)
                                                     : mfpg_release_mu(release, adjacency);
}

static int overspends(
    mfpg_context *ctx, const mfpg_federation *federation, const mfpg_release *next, decision *last) {
    const mfpg_federation_options *o = &federation->options;
    ptrdiff_t k = (ptrdiff_t)next->client;
    if (mfpg_federation_noised(federation, k)) return 0; /* its records cost nothing any more */
    if (federation->filter) return !mfpg_filter_admits(&federation->filter[k], cost_of(federation, next));
    account_cursor *cursor = &last->cursor;
    const int64_t times = cursor->times;
    const mfpg_release before = cursor->release;
    const account_pair *accounts = mfpg_federation_accounts(ctx, federation, k, cursor);
    if (!accounts) return 1;
    const mfpg_accountant *spent = accounts->certificate;
    int known = last->spent && mfpg_release_equal(&last->next, next, MFPG_RELEASE_COST);
    if (known &&
        accounts == &cursor->made) /* the last one may be gone: only what it was made of is compared */
        known = spent == last->spent && times == cursor->times &&
                mfpg_release_equal(&before, &cursor->release, MFPG_RELEASE_COST);
    else if (known)
        known = mfpg_accountant_covers(last->spent, spent) && mfpg_accountant_covers(spent, last->spent);
    last->spent = spent;
    last->next = *next;
    if (!known) last->overspends = !mfpg_accountant_affords(ctx, spent, next, o->delta, o->stop_at_epsilon);
    return last->overspends;
}

ptrdiff_t mfpg_federation_keep_affordable(
    mfpg_context *ctx, mfpg_federation *federation, mfpg_release_maker release, void *user, ptrdiff_t count) {
    ptrdiff_t kept = 0;
    decision last = {0};
    for (ptrdiff_t i = 0; i < count; i++) {
        ptrdiff_t k = federation->order[i];
        mfpg_release next = release(user, i);
        if (overspends(ctx, federation, &next, &last))
            federation->client[k].stopped_before = (int32_t)federation->round + 1;
        else
            federation->order[kept++] = k;
    }
    mfpg_account_cursor_clear(&last.cursor);
    return kept;
}

mfpg_status mfpg_federation_charge(
    mfpg_context *ctx, mfpg_federation *federation, mfpg_release_maker release, void *user, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count && federation->filter; i++) {
        mfpg_release next = release(user, i);
        ptrdiff_t k = (ptrdiff_t)next.client;
        if (mfpg_federation_noised(federation, k) ||
            mfpg_filter_spend(&federation->filter[k], cost_of(federation, &next)))
            continue;
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "client '%s': a release that its budget does not allow",
            federation->data->client[k].name);
    }
    return MFPG_OK;
}

/* The releases of order[], on the terms of the round. */
static mfpg_release planned_release(void *user, ptrdiff_t i) {
    const mfpg_federation *f = user;
    return mfpg_federation_release(f, &f->terms, f->order[i]);
}

/* Nobody's certificate may pass stop_at_epsilon. In the average view one member's leaving takes its noise from the
 * others, so the choice is repeated until all who stay can afford it (theory S4). It looks at public numbers only, and
 * at actions that have been accounted for, before anything of this round's updates is released. */
static ptrdiff_t stop_spenders(mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t count) {
    for (;;) {
        federation->terms = mfpg_federation_terms(federation, federation->order, count);
        ptrdiff_t kept = mfpg_federation_keep_affordable(ctx, federation, planned_release, federation, count);
        if (kept == count) return count;
        count = kept;
    }
}

ptrdiff_t mfpg_federation_draw_members(mfpg_federation *federation) {
    ptrdiff_t *order = federation->order;
    if (!order) return federation->clients;
    ptrdiff_t drawn = draw(federation, order), count = 0;
    for (ptrdiff_t i = 0; i < drawn; i++)
        if (federation->client[order[i]].stopped_before == 0) order[count++] = order[i];
    return count;
}

mfpg_status mfpg_federation_admit(
    mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t members, int *exhausted) {
    ptrdiff_t left = 0;
    *exhausted = 0;
    federation->cohort_size = members;
    if (!federation->order) {
        federation->terms = federation->usual;
        return MFPG_OK;
    }
    if (isfinite(federation->options.stop_at_epsilon)) {
        federation->cohort_size = stop_spenders(ctx, federation, members);
        for (ptrdiff_t k = 0; k < federation->clients; k++) left += federation->client[k].stopped_before == 0;
        *exhausted = left == 0;
    } else {
        federation->terms = mfpg_federation_terms(federation, federation->order, members);
    }
    return mfpg_federation_charge(ctx, federation, planned_release, federation, federation->cohort_size);
}
