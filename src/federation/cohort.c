/* Who takes part in a round, with which share of the average, and whose budget allows it. */
#include <math.h>

#include "base/error.h"
#include "internal.h"

/* Members by the stream of (COHORT, round): all, m of N without replacement, or each with probability q. Written in
 * ascending order into order[]; returns their number. */
static ptrdiff_t draw(mfpg_federation *federation, ptrdiff_t *order) {
    const mfpg_federation_options *options = &federation->options;
    mfpg_stream stream =
        mfpg_stream_open(&federation->key, MFPG_PURPOSE_COHORT, (uint64_t)federation->round, 0);
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

/* The releases of the members with p_k shared out over them, and the noise that the view grants each. */
static void fill_releases(mfpg_federation *federation, const ptrdiff_t *order, ptrdiff_t count) {
    double total = 0.0;
    for (ptrdiff_t i = 0; i < count; i++) total += federation->plan[order[i]].weight;
    for (ptrdiff_t i = 0; i < count; i++) {
        ptrdiff_t k = order[i];
        federation->cohort[i] = federation->plan[k];
        federation->cohort[i].round = federation->round + 1;
        federation->cohort[i].client = k;
        federation->cohort[i].last_sd = federation->plan[k].noise_sd;
        federation->cohort[i].weight = federation->plan[k].weight / total;
    }
    federation->cohort_size = count;
    if (!mfpg_noise_adds_up(federation->mechanism, federation->clients)) return;
    mfpg_view_apply(&federation->options.promise, federation->options.colluder,
        federation->options.participants, federation->cohort, count);
}

/* The last answer of overspends: clients that released the same and are about to release the same get it again. */
typedef struct decision {
    const mfpg_accountant *spent;
    const mfpg_release *next;
    int overspends;
} decision;

static int same_cost(const mfpg_release *a, const mfpg_release *b) {
    return a->particles == b->particles && a->contraction == b->contraction && a->steps == b->steps &&
           a->sensitivity == b->sensitivity && a->noise_sd == b->noise_sd && a->last_sd == b->last_sd &&
           a->sampling_rate == b->sampling_rate && a->hidden_contraction == b->hidden_contraction &&
           a->hidden_shift == b->hidden_shift;
}

static double cost_of(const mfpg_federation *federation, const mfpg_release *release) {
    mfpg_adjacency adjacency = federation->options.promise.adjacency;
    return release->particles == MFPG_PARTICLES_DATA ? mfpg_data_release_mu(release, adjacency)
                                                     : mfpg_release_mu(release, adjacency);
}

static int overspends(
    mfpg_context *ctx, const mfpg_federation *federation, const mfpg_release *next, decision *last) {
    const mfpg_federation_options *o = &federation->options;
    const client_state *client = &federation->client[next->client];
    if (client->noised) return 0; /* its records cost nothing any more */
    if (o->filter != MFPG_FILTER_ACCOUNTANT)
        return !mfpg_filter_admits(&client->filter, cost_of(federation, next));
    const mfpg_accountant *spent = client->certificate;
    int known = last->spent && same_cost(last->next, next) && mfpg_accountant_covers(last->spent, spent) &&
                mfpg_accountant_covers(spent, last->spent);
    last->spent = spent;
    last->next = next;
    if (!known) last->overspends = !mfpg_accountant_affords(ctx, spent, next, o->delta, o->stop_at_epsilon);
    return last->overspends;
}

ptrdiff_t mfpg_federation_keep_affordable(
    mfpg_context *ctx, mfpg_federation *federation, const mfpg_release *release, ptrdiff_t count) {
    ptrdiff_t kept = 0;
    decision last = {0};
    for (ptrdiff_t i = 0; i < count; i++) {
        ptrdiff_t k = federation->order[i];
        if (!overspends(ctx, federation, &release[i], &last)) {
            federation->order[kept++] = k;
            continue;
        }
        federation->client[k].stopped = 1;
        federation->client[k].stopped_before = federation->round + 1;
    }
    return kept;
}

mfpg_status mfpg_federation_charge(
    mfpg_context *ctx, mfpg_federation *federation, const mfpg_release *release, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; i++) {
        client_state *client = &federation->client[release[i].client];
        if (client->noised || mfpg_filter_spend(&client->filter, cost_of(federation, &release[i]))) continue;
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "client '%s': a release that its budget does not allow",
            federation->data->client[release[i].client].name);
    }
    return MFPG_OK;
}

/* Nobody's certificate may pass stop_at_epsilon. In the average view one member's leaving takes its noise from the
 * others, so the choice is repeated until all who stay can afford it (theory S4). It looks at public numbers only, and
 * at actions that have been accounted for, before anything of this round's updates is released. */
static void stop_spenders(mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t count) {
    for (;;) {
        fill_releases(federation, federation->order, count);
        ptrdiff_t kept = mfpg_federation_keep_affordable(ctx, federation, federation->cohort, count);
        if (kept == count) return;
        count = kept;
    }
}

ptrdiff_t mfpg_federation_draw_members(mfpg_federation *federation) {
    ptrdiff_t *order = federation->order;
    ptrdiff_t drawn = draw(federation, order), count = 0;
    for (ptrdiff_t i = 0; i < drawn; i++)
        if (!federation->client[order[i]].stopped) order[count++] = order[i];
    return count;
}

mfpg_status mfpg_federation_admit(
    mfpg_context *ctx, mfpg_federation *federation, ptrdiff_t members, int *exhausted) {
    ptrdiff_t left = 0;
    int limited = isfinite(federation->options.stop_at_epsilon);
    if (limited)
        stop_spenders(ctx, federation, members);
    else
        fill_releases(federation, federation->order, members);
    for (ptrdiff_t k = 0; k < federation->clients; k++) left += !federation->client[k].stopped;
    *exhausted = left == 0;
    if (!limited || federation->options.filter == MFPG_FILTER_ACCOUNTANT) return MFPG_OK;
    return mfpg_federation_charge(ctx, federation, federation->cohort, federation->cohort_size);
}
