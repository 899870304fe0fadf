/* One round of Algorithm 1: act, update, account, average. */
#include <math.h>
#include <string.h>

#include "accountants/accounting.h"
#include "base/error.h"
#include "base/ranks.h"
#include "internal.h"
#include "numerics/transport/transport_report.h"

/* What a client does in this round: its streams and its release. The release's action was solved once, before training and from
 * public inputs, or by mfpg_federation_act (ActionUpdate); the noise that is added is the release's own. */
typedef struct client_round {
    mfpg_release release;
    mfpg_stream noise, batch;
    mfpg_local_round local;
} client_round;

static void open_round(const mfpg_federation *f, ptrdiff_t k, int64_t *share, client_round *out) {
    const mfpg_dataset *data = &f->data->client[k].train;
    out->release = mfpg_federation_release(f, &f->terms, k);
    out->noise = f->noise;
    out->batch = f->batch;
    out->noise.client = out->batch.client = (uint64_t)k;
    out->local = (mfpg_local_round){.data = data,
        .rows = data->rows,
        .release = &out->release,
        .inner_grid = f->plan->inner_grid,
        .noise = &out->noise,
        .batch = &out->batch,
        .share = share};
}

/* LocalUpdate of one cohort member, added to its worker's part of the average. */
static mfpg_status update_member(mfpg_context *ctx, ptrdiff_t member, int worker, void *arg) {
    mfpg_federation *federation = arg;
    ptrdiff_t k = mfpg_federation_member(federation, member);
    const mfpg_client_data *data = &federation->data->client[k];
    workspace *own = &federation->worker[worker];
    mfpg_update_report report = {0};
    if (!mfpg_federation_owns(federation, k)) return MFPG_OK;
    client_round round;
    open_round(federation, k, own->share, &round);
    mfpg_status status = federation->particles == MFPG_PARTICLES_DATA
                             ? mfpg_federation_update_records(ctx, federation, k, &round.local, own, &report)
                             : mfpg_mechanism_update(ctx, federation->mechanism[k], federation->model,
                                   &round.local, federation->w, own->model, own->scratch, &report);
    if (status == MFPG_OK && federation->watch)
        federation->watch(federation->watch_user, k, round.release.weight, own->model);
    if (status == MFPG_OK && own->share)
        mfpg_fixed_sum_add_units(&own->sum, own->share);
    else if (status == MFPG_OK)
        status = mfpg_fixed_sum_add(ctx, &own->sum, round.release.weight, own->model);
    if (status != MFPG_OK)
        return mfpg_fail_in(
            ctx, status, "round %lld, client '%s'", (long long)federation->round + 1, data->name);
    mfpg_transport_add(&own->transport, &report.transport);
    federation->client[k].signal_norm = report.signal_norm;
    federation->client[k].nonfinite += report.nonfinite;
    return MFPG_OK;
}

/* What each rank found out about its members, told to all. */
static mfpg_status share_reports(mfpg_context *ctx, mfpg_federation *federation) {
    int64_t *words = federation->words;
    ptrdiff_t count = federation->cohort_size;
    memset(words, 0, 2 * (size_t)count * sizeof *words);
    for (ptrdiff_t i = 0; i < count; i++) {
        ptrdiff_t k = mfpg_federation_member(federation, i);
        if (!mfpg_federation_owns(federation, k)) continue;
        memcpy(&words[2 * i], &federation->client[k].signal_norm, sizeof *words);
        words[2 * i + 1] = federation->client[k].nonfinite;
    }
    mfpg_status status = mfpg_ranks_share(ctx, words, 2 * count);
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK; i++) {
        client_state *client = &federation->client[mfpg_federation_member(federation, i)];
        memcpy(&client->signal_norm, &words[2 * i], sizeof *words);
        client->nonfinite = words[2 * i + 1];
    }
    return status;
}

/* The projections on all threads and ranks, into the first worker's. */
static mfpg_status gather_transport(mfpg_context *ctx, mfpg_federation *federation) {
    enum { WORDS = sizeof(mfpg_transport_report) / sizeof(int64_t) };
    mfpg_transport_report own = {0}, all = {0};
    mfpg_status status = MFPG_OK;
    for (int i = 0; i < federation->workers; i++) mfpg_transport_add(&own, &federation->worker[i].transport);
    for (int rank = 0; rank < federation->ranks && status == MFPG_OK; rank++) {
        int64_t words[WORDS] = {0};
        if (rank == federation->rank) memcpy(words, &own, sizeof own);
        status = mfpg_ranks_share(ctx, words, WORDS);
        mfpg_transport_report theirs;
        memcpy(&theirs, words, sizeof theirs);
        mfpg_transport_add(&all, &theirs);
    }
    federation->worker[0].transport = all;
    return status;
}

static mfpg_status update(mfpg_context *ctx, mfpg_federation *federation) {
    uint64_t round = (uint64_t)federation->round; /* opening a stream takes as long as a small update */
    federation->noise = mfpg_stream_open(&federation->key, MFPG_PURPOSE_NOISE, round, 0);
    federation->batch = mfpg_stream_open(&federation->key, MFPG_PURPOSE_BATCH, round, 0);
    for (int i = 0; i < federation->workers; i++) mfpg_fixed_sum_reset(&federation->worker[i].sum);
    mfpg_status status = mfpg_tasks_run(ctx, federation->cohort_size, update_member, federation);
    status = mfpg_ranks_agree(ctx, status);
    if (status == MFPG_OK && federation->ranks > 1) status = share_reports(ctx, federation);
    if (status == MFPG_OK && federation->projects) status = gather_transport(ctx, federation);
    return status;
}

/* Releases of the round: of the members whose records are noised in it, or of all. */
static mfpg_release release_at(void *user, ptrdiff_t i) {
    const mfpg_federation *f = user;
    return mfpg_federation_release(f, &f->terms, f->fresh ? f->fresh[i] : mfpg_federation_member(f, i));
}

/* The members of the cohort that released something: all, but of noised records those whose first round this is. What they
 * compute later reads noised records only, and is no release. */
static ptrdiff_t count_releases(mfpg_federation *federation) {
    ptrdiff_t count = 0;
    if (federation->particles != MFPG_PARTICLES_DATA) return federation->cohort_size;
    for (ptrdiff_t i = 0; i < federation->cohort_size; i++) {
        ptrdiff_t k = mfpg_federation_member(federation, i);
        if (!federation->noised[k]) federation->fresh[count++] = k;
    }
    return count;
}

/* AccountantUpdate of every member, and the ledger: on disk before anybody uses what was released. */
static mfpg_status account(mfpg_context *ctx, mfpg_federation *federation) {
    ptrdiff_t count = count_releases(federation);
    mfpg_status status = MFPG_OK;
    int usual_for_all =
        !federation->order && !federation->noised; /* by the terms: there is nothing to compare */
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK && !usual_for_all; i++) {
        mfpg_release release = release_at(federation, i);
        status = mfpg_federation_record(ctx, federation, (ptrdiff_t)release.client, &release);
    }
    for (ptrdiff_t i = 0; i < federation->cohort_size; i++)
        federation->client[mfpg_federation_member(federation, i)].rounds++;
    for (ptrdiff_t i = 0; i < count && federation->noised; i++) federation->noised[federation->fresh[i]] = 1;
    if (status == MFPG_OK && federation->ledger)
        status = mfpg_ledger_append_made(ctx, federation->ledger, release_at, federation, count);
    return mfpg_ranks_agree(ctx, status); /* the first rank keeps the ledger */
}

/* FedAvg, into the first worker's model: sum_k p_k w_k, or, in a view of sums, w + grid sum_k K_k. Integer sums: neither threads,
 * ranks nor their order can change a bit. */
static mfpg_status average(mfpg_context *ctx, mfpg_federation *federation) {
    mfpg_fixed_sum *total = &federation->worker[0].sum;
    mfpg_status status = MFPG_OK;
    for (int i = 1; i < federation->workers && status == MFPG_OK; i++)
        status = mfpg_fixed_sum_merge(ctx, total, &federation->worker[i].sum);
    status = mfpg_ranks_agree(ctx, status);
    if (status == MFPG_OK) status = mfpg_fixed_sum_merge_ranks(ctx, total);
    float *model = federation->worker[0].model;
    if (status == MFPG_OK && federation->shares)
        mfpg_fixed_sum_move(total, federation->plan->grid, federation->w, model);
    else if (status == MFPG_OK)
        mfpg_fixed_sum_read_float(total, model);
    return status;
}

/* w <- the average, now that it has been accounted for. */
static void publish(mfpg_federation *federation) {
    memcpy(federation->w, federation->worker[0].model, (size_t)federation->dimension * sizeof(float));
}

void mfpg_round_totals_add(round_totals *totals, const mfpg_release *r, double signal_norm) {
    const mfpg_release *least = &totals->least;
    if (totals->count++ == 0 || r->noise_sd * least->sensitivity < least->noise_sd * r->sensitivity)
        totals->least = *r;
    totals->strengths += r->action.strength.value;
    totals->noise2 += (double)r->steps * (r->weight * r->noise_sd) * (r->weight * r->noise_sd);
    totals->signal += r->weight * signal_norm;
}

static round_totals total(const mfpg_federation *f) {
    round_totals totals = {0};
    for (ptrdiff_t i = 0; i < f->cohort_size; i++) {
        ptrdiff_t k = mfpg_federation_member(f, i);
        mfpg_release release = mfpg_federation_release(f, &f->terms, k);
        mfpg_round_totals_add(&totals, &release, f->client[k].signal_norm);
    }
    return totals;
}

/* Expected norm of the average's noise over the weighted sum of the members' signal norms. Noised records leave no noise
 * of their own in the average: there is no such ratio. */
static double noise_to_signal(const mfpg_federation *federation, const round_totals *totals) {
    if (federation->particles == MFPG_PARTICLES_DATA) return (double)NAN;
    return sqrt((double)federation->dimension * totals->noise2) / totals->signal;
}

static double mean_action(const mfpg_federation *federation) {
    double sum = 0.0;
    for (ptrdiff_t k = 0; k < federation->clients; k++) {
        mfpg_action action = mfpg_plan_action(federation->plan, k);
        sum += mfpg_action_value(&action);
    }
    return sum / (double)federation->clients;
}

/* The paper's columns speak of the population: strengths by their mean, budgets by the client that spent most. */
mfpg_status mfpg_federation_record_population(
    mfpg_context *ctx, mfpg_federation *federation, const round_totals *totals) {
    if (!federation->population || totals->count == 0) return MFPG_OK;
    mfpg_release release = totals->least;
    if (release.action.control == MFPG_CONTROL_STRENGTH)
        release.action.strength.value = totals->strengths / (double)totals->count;
    return mfpg_accountant_record(ctx, federation->population, &release);
}

static mfpg_status paper_columns(
    mfpg_context *ctx, mfpg_federation *federation, const round_totals *totals, mfpg_round_report *report) {
    report->paper_epsilon = report->paper_delta = (double)NAN;
    if (!federation->population) return MFPG_OK;
    mfpg_status status = mfpg_federation_record_population(ctx, federation, totals);
    if (status == MFPG_OK)
        status = mfpg_accountant_epsilon(
            ctx, federation->population, federation->options.delta, &report->paper_epsilon);
    if (status == MFPG_OK)
        status =
            mfpg_accountant_delta(ctx, federation->population, report->paper_epsilon, &report->paper_delta);
    if (isinf(report->paper_delta))
        report->paper_delta = federation->options.delta; /* order-2 Renyi: the target */
    return status;
}

static mfpg_status report_round(mfpg_context *ctx, mfpg_federation *federation, mfpg_round_report *report) {
    report->round = federation->round;
    report->cohort = federation->cohort_size;
    report->mean_action = mean_action(federation);
    round_totals totals = total(federation);
    report->noise_to_signal = noise_to_signal(federation, &totals);
    report->transport = federation->worker[0].transport;
    mfpg_status status = mfpg_federation_largest_epsilon(ctx, federation, &report->epsilon);
    if (status == MFPG_OK) status = paper_columns(ctx, federation, &totals, report);
    status = mfpg_ranks_agree(ctx, status);
    report->loss = report->accuracy = (double)NAN;
    report->free_energy = (mfpg_free_energy){NAN, NAN, NAN, NAN, NAN};
    const mfpg_federation_options *o = &federation->options;
    if (federation->round % o->evaluate_every != 0 && federation->round != o->rounds) return status;
    if (status == MFPG_OK)
        status = mfpg_federation_evaluate(ctx, federation, &report->loss, &report->accuracy);
    if (status == MFPG_OK)
        status = mfpg_federation_free_energy(ctx, federation, report->loss, &report->free_energy);
    return mfpg_ranks_agree(ctx, status);
}

mfpg_status mfpg_federation_round(
    mfpg_context *ctx, mfpg_federation *federation, mfpg_round_report *report, int *done) {
    ptrdiff_t members = mfpg_federation_draw_members(federation);
    *done = 0;
    for (int i = 0; i < federation->workers; i++)
        federation->worker[i].transport = (mfpg_transport_report){0};
    mfpg_status status = mfpg_federation_act(ctx, federation, &members);
    if (status == MFPG_OK) status = mfpg_federation_admit(ctx, federation, members, done);
    status = mfpg_ranks_agree(ctx, status);
    if (status != MFPG_OK || *done) return status;
    if (federation->cohort_size > 0) {
        status = update(ctx, federation);
        if (status == MFPG_OK) status = average(ctx, federation);
        if (status == MFPG_OK)
            status = mfpg_ranks_agree(
                ctx, mfpg_federation_announce_updates(ctx, federation, federation->worker[0].model));
        if (status == MFPG_OK) status = account(ctx, federation);
        if (status == MFPG_OK) publish(federation);
    }
    if (status != MFPG_OK) return status;
    federation->round++;
    return report_round(ctx, federation, report);
}
