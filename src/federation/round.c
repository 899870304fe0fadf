/* One round of Algorithm 1: act, update, account, average. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/ranks.h"
#include "numerics/transport/transport_report.h"
#include "federation_core.h"

/* Computes LocalUpdate of one cohort member and adds it to its worker's part of the average. The release's
 * action was either solved once before training from public inputs, or chosen by mfpg_federation_act; the
 * added noise is that of the release. */
static mfpg_status update_member(mfpg_context *ctx, ptrdiff_t member, int worker, void *arg) {
    mfpg_federation *f = arg;
    ptrdiff_t k = mfpg_federation_member(f, member);
    if (!mfpg_federation_owns(f, k)) return MFPG_OK;
    const mfpg_client_data *data = &f->data->client[k];
    workspace *own = &f->worker[worker];
    mfpg_update_report report = {0};
    const mfpg_release release = mfpg_federation_release(f, &f->terms, k);
    mfpg_stream noise = f->noise, batch = f->batch;
    noise.client = batch.client = (uint64_t)k;
    const mfpg_local_round local = {.data = &data->train,
        .rows = data->train.rows,
        .release = &release,
        .inner_grid = f->plan->inner_grid,
        .noise = &noise,
        .batch = &batch,
        .share = own->share};
    mfpg_status status = f->records ? mfpg_federation_update_records(ctx, f, k, &local, own, &report)
                                    : mfpg_mechanism_update(ctx, f->mechanism[k], f->model, &local, f->w,
                                          own->model, own->scratch, &report);
    if (status == MFPG_OK && f->watch) f->watch(f->watch_user, k, release.weight, own->model);
    if (status == MFPG_OK && own->share)
        mfpg_fixed_sum_add_units(&own->sum, own->share);
    else if (status == MFPG_OK)
        status = mfpg_fixed_sum_add(ctx, &own->sum, release.weight, own->model);
    if (status == MFPG_OK && own->share) mfpg_federation_keep_share(f, member, own->share);
    if (status != MFPG_OK)
        return mfpg_fail_in(ctx, status, "round %lld, client '%s'", (long long)f->round + 1, data->name);
    mfpg_transport_add(&own->transport, &report.transport);
    f->client[k].signal_norm = report.signal_norm;
    f->client[k].nonfinite += report.nonfinite;
    return MFPG_OK;
}

static void exchange_report(mfpg_federation *f, ptrdiff_t k, int64_t words[2], int tell) {
    client_state *client = &f->client[k];
    if (tell) {
        memcpy(&words[0], &client->signal_norm, sizeof *words);
        words[1] = client->nonfinite;
    } else {
        memcpy(&client->signal_norm, &words[0], sizeof *words);
        client->nonfinite = words[1];
    }
}

/* Collects the projections of all threads and ranks into the first worker's report. */
static mfpg_status gather_transport(mfpg_context *ctx, mfpg_federation *f) {
    enum { WORDS = sizeof(mfpg_transport_report) / sizeof(int64_t) };
    mfpg_transport_report own = {0}, all = {0};
    mfpg_status status = MFPG_OK;
    for (int i = 0; i < f->workers; i++) mfpg_transport_add(&own, &f->worker[i].transport);
    for (int rank = 0; rank < f->ranks && status == MFPG_OK; rank++) {
        int64_t words[WORDS] = {0};
        if (rank == f->rank) memcpy(words, &own, sizeof own);
        status = mfpg_ranks_share(ctx, words, WORDS);
        mfpg_transport_report theirs;
        memcpy(&theirs, words, sizeof theirs);
        mfpg_transport_add(&all, &theirs);
    }
    f->worker[0].transport = all;
    return status;
}

static mfpg_status update(mfpg_context *ctx, mfpg_federation *f) {
    /* opening a stream takes as long as a small update, so it is done once per round */
    uint64_t round = (uint64_t)f->round;
    f->noise = mfpg_stream_open(&f->key, MFPG_PURPOSE_NOISE, round, 0);
    f->batch = mfpg_stream_open(&f->key, MFPG_PURPOSE_BATCH, round, 0);
    for (int i = 0; i < f->workers; i++) mfpg_fixed_sum_reset(&f->worker[i].sum);
    mfpg_status status = mfpg_tasks_run(ctx, f->cohort_size, update_member, f);
    status = mfpg_ranks_agree(ctx, status);
    if (status == MFPG_OK) status = mfpg_federation_exchange(ctx, f, f->cohort_size, exchange_report);
    if (status == MFPG_OK && f->records) status = mfpg_federation_find_fresh(ctx, f);
    if (status == MFPG_OK && f->plan->projects) status = gather_transport(ctx, f);
    return status;
}

/* Returns the releases of the round: of the members whose records are noised in it, or of all members. What
 * members later compute from noised records alone is not a release. */
static mfpg_release release_at(void *user, ptrdiff_t i) {
    const mfpg_federation *f = user;
    ptrdiff_t k = f->records ? f->records->fresh[i] : mfpg_federation_member(f, i);
    return mfpg_federation_release(f, &f->terms, k);
}

/* Performs AccountantUpdate of every member and writes the ledger, so that releases are on disk before they
 * are used. */
static mfpg_status account(mfpg_context *ctx, mfpg_federation *f) {
    ptrdiff_t count = f->records ? f->records->fresh_count : f->cohort_size;
    mfpg_status status = mfpg_federation_account(ctx, f, release_at, count);
    /* counted whether or not accounting failed, so that repeating a round is not cheaper */
    for (ptrdiff_t i = 0; i < f->cohort_size; i++) f->client[mfpg_federation_member(f, i)].rounds++;
    for (ptrdiff_t i = 0; i < count && f->records; i++) f->records->is_noised[f->records->fresh[i]] = 1;
    return mfpg_ranks_agree(ctx, status); /* the first rank keeps the ledger */
}

/* Computes the FedAvg average into the first worker's model: sum_k p_k w_k or, in a view of sums, w + grid
 * sum_k K_k. The sums are of integers, so neither threads nor ranks nor their order can change a bit. */
static mfpg_status average(mfpg_context *ctx, mfpg_federation *f) {
    mfpg_fixed_sum *total = &f->worker[0].sum;
    mfpg_status status = MFPG_OK;
    for (int i = 1; i < f->workers && status == MFPG_OK; i++)
        status = mfpg_fixed_sum_merge(ctx, total, &f->worker[i].sum);
    status = mfpg_ranks_agree(ctx, status);
    if (status == MFPG_OK) status = mfpg_fixed_sum_merge_ranks(ctx, total);
    float *model = f->worker[0].model;
    if (status == MFPG_OK && f->shares)
        mfpg_fixed_sum_move(total, f->plan->grid / f->remaining, f->w, model);
    else if (status == MFPG_OK)
        mfpg_fixed_sum_read_float(total, model);
    return status;
}

void mfpg_round_totals_add(round_totals *totals, const mfpg_release *r, double signal_norm) {
    const mfpg_release *least = &totals->least;
    if (totals->count++ == 0 || r->noise_sd * least->sensitivity < least->noise_sd * r->sensitivity)
        totals->least = *r;
    totals->strengths += r->action.strength.value;
    totals->noise2 += (double)r->steps * (r->weight * r->noise_sd) * (r->weight * r->noise_sd);
    totals->signal += r->weight * signal_norm;
}

/* The paper's columns describe the population: strengths by their mean, budgets by the client that spent
 * most. */
mfpg_status mfpg_federation_record_population(
    mfpg_context *ctx, mfpg_federation *f, const round_totals *totals) {
    if (!f->population || totals->count == 0) return MFPG_OK;
    mfpg_release release = totals->least;
    if (release.action.control == MFPG_CONTROL_STRENGTH)
        release.action.strength.value = totals->strengths / (double)totals->count;
    return mfpg_accountant_record(ctx, f->population, &release);
}

static mfpg_status paper_columns(
    mfpg_context *ctx, mfpg_federation *f, const round_totals *totals, mfpg_round_report *report) {
    report->paper_epsilon = report->paper_delta = (double)NAN;
    if (!f->population) return MFPG_OK;
    mfpg_status status = mfpg_federation_record_population(ctx, f, totals);
    if (status == MFPG_OK)
        status = mfpg_accountant_epsilon(ctx, f->population, f->options.delta, &report->paper_epsilon);
    if (status == MFPG_OK)
        status = mfpg_accountant_delta(ctx, f->population, report->paper_epsilon, &report->paper_delta);
    if (isinf(report->paper_delta)) report->paper_delta = f->options.delta; /* order-2 Renyi: the target */
    return status;
}

static mfpg_status report_round(mfpg_context *ctx, mfpg_federation *f, mfpg_round_report *report) {
    const mfpg_federation_options *o = &f->options;
    round_totals totals = {0};
    double actions = 0.0;
    for (ptrdiff_t i = 0; i < f->cohort_size; i++) {
        ptrdiff_t k = mfpg_federation_member(f, i);
        mfpg_release release = mfpg_federation_release(f, &f->terms, k);
        mfpg_round_totals_add(&totals, &release, f->client[k].signal_norm);
    }
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        mfpg_action action = mfpg_plan_action(f->plan, k);
        actions += mfpg_action_value(&action);
    }
    *report = (mfpg_round_report){.round = f->round,
        .cohort = f->cohort_size,
        .mean_action = actions / (double)f->clients,
        .loss = NAN,
        .accuracy = NAN,
        .free_energy = {NAN, NAN, NAN, NAN, NAN},
        .transport = f->worker[0].transport,
        /* noised records add no separate noise to the average, so the ratio is not defined */
        .noise_to_signal =
            f->records ? (double)NAN : sqrt((double)f->dimension * totals.noise2) / totals.signal};
    mfpg_status status = mfpg_federation_largest_epsilon(ctx, f, &report->epsilon);
    if (status == MFPG_OK) status = paper_columns(ctx, f, &totals, report);
    status = mfpg_ranks_agree(ctx, status);
    if (f->round % o->evaluate_every != 0 && f->round != o->rounds) return status;
    if (status == MFPG_OK) status = mfpg_federation_evaluate(ctx, f, &report->loss, &report->accuracy);
    if (status == MFPG_OK) status = mfpg_federation_free_energy(ctx, f, report->loss, &report->free_energy);
    return mfpg_ranks_agree(ctx, status);
}

mfpg_status mfpg_federation_round(
    mfpg_context *ctx, mfpg_federation *f, mfpg_round_report *report, int *done) {
    ptrdiff_t members = mfpg_federation_draw_members(f);
    *done = 0;
    for (int i = 0; i < f->workers; i++) f->worker[i].transport = (mfpg_transport_report){0};
    mfpg_status status = mfpg_federation_act(ctx, f, &members);
    if (status == MFPG_OK) status = mfpg_federation_admit(ctx, f, members, done);
    status = mfpg_ranks_agree(ctx, status);
    if (status != MFPG_OK || *done) return status;
    if (f->cohort_size > 0) {
        status = update(ctx, f);
        if (status == MFPG_OK) status = average(ctx, f);
        if (status == MFPG_OK)
            status = mfpg_ranks_agree(ctx, mfpg_federation_announce_updates(ctx, f, f->worker[0].model));
        if (status == MFPG_OK) status = account(ctx, f);
        if (status == MFPG_OK) status = mfpg_federation_sum_securely(ctx, f, &f->worker[0].sum);
        if (status == MFPG_OK) status = mfpg_federation_publish(ctx, f, f->worker[0].model);
    }
    if (status != MFPG_OK) return status;
    f->round++;
    return report_round(ctx, f, report);
}
