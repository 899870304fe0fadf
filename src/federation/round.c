/* One round of Algorithm 1: act, update, account, average. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/ranks.h"
#include "base/tasks.h"
#include "internal.h"

/* ActionUpdate: solved once, before training and from public inputs, or by mfpg_federation_act; either way looked up. */
static mfpg_action action_of(const mfpg_federation *federation, ptrdiff_t client) {
    return federation->client[client].action;
}

static mfpg_status update_parameters(mfpg_context *ctx, const mfpg_federation *federation, ptrdiff_t k,
    workspace *own, mfpg_update_report *report) {
    const mfpg_dataset *data = &federation->data->client[k].train;
    mfpg_stream noise =
        mfpg_stream_open(&federation->key, MFPG_PURPOSE_NOISE, (uint64_t)federation->round, (uint64_t)k);
    mfpg_stream batch =
        mfpg_stream_open(&federation->key, MFPG_PURPOSE_BATCH, (uint64_t)federation->round, (uint64_t)k);
    return mfpg_mechanism_update(ctx, federation->mechanism[k], federation->model, data, data->rows,
        action_of(federation, k), &noise, &batch, federation->w, own->model, own->scratch, report);
}

/* LocalUpdate of one cohort member, added to its worker's part of the average. */
static mfpg_status update_member(mfpg_context *ctx, ptrdiff_t member, int worker, void *arg) {
    mfpg_federation *federation = arg;
    const mfpg_release *release = &federation->cohort[member];
    ptrdiff_t k = (ptrdiff_t)release->client;
    const mfpg_client_data *data = &federation->data->client[k];
    workspace *own = &federation->worker[worker];
    mfpg_update_report report = {0};
    if (!mfpg_federation_owns(federation, k)) return MFPG_OK;
    mfpg_status status =
        federation->particles == MFPG_PARTICLES_DATA
            ? mfpg_federation_update_records(ctx, federation, k, action_of(federation, k), own, &report)
            : update_parameters(ctx, federation, k, own, &report);
    if (status == MFPG_OK) status = mfpg_fixed_sum_add(ctx, &own->sum, release->weight, own->model);
    if (status != MFPG_OK)
        return mfpg_fail_in(
            ctx, status, "round %lld, client '%s'", (long long)federation->round + 1, data->name);
    mfpg_transport_add(&own->transport, &report.transport);
    federation->client[k].signal_norm = report.signal_norm;
    federation->client[k].nonfinite_now = report.nonfinite;
    return MFPG_OK;
}

/* What each rank found out about its members, told to all. */
static mfpg_status share_reports(mfpg_context *ctx, mfpg_federation *federation) {
    int64_t *words = federation->words;
    ptrdiff_t count = federation->cohort_size;
    memset(words, 0, 2 * (size_t)count * sizeof *words);
    for (ptrdiff_t i = 0; i < count; i++) {
        const client_state *client = &federation->client[federation->cohort[i].client];
        if (!mfpg_federation_owns(federation, (ptrdiff_t)federation->cohort[i].client)) continue;
        memcpy(&words[2 * i], &client->signal_norm, sizeof *words);
        words[2 * i + 1] = client->nonfinite_now;
    }
    mfpg_status status = mfpg_ranks_share(ctx, words, 2 * count);
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK; i++) {
        client_state *client = &federation->client[federation->cohort[i].client];
        memcpy(&client->signal_norm, &words[2 * i], sizeof *words);
        client->nonfinite_now = words[2 * i + 1];
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
    for (int i = 0; i < federation->workers; i++) mfpg_fixed_sum_reset(&federation->worker[i].sum);
    mfpg_status status = mfpg_tasks_run(ctx, federation->cohort_size, update_member, federation);
    status = mfpg_ranks_agree(ctx, status);
    if (status == MFPG_OK && federation->ranks > 1) status = share_reports(ctx, federation);
    if (status == MFPG_OK && federation->projects) status = gather_transport(ctx, federation);
    for (ptrdiff_t i = 0; i < federation->cohort_size && status == MFPG_OK; i++) {
        client_state *client = &federation->client[federation->cohort[i].client];
        client->nonfinite += client->nonfinite_now;
    }
    return status;
}

/* The members of the cohort that released something: all, but of noised records those whose first round this is. What they
 * compute later reads noised records only, and is no release. */
static const mfpg_release *releases(mfpg_federation *federation, ptrdiff_t *count) {
    *count = federation->cohort_size;
    if (federation->particles != MFPG_PARTICLES_DATA) return federation->cohort;
    *count = 0;
    for (ptrdiff_t i = 0; i < federation->cohort_size; i++) {
        client_state *client = &federation->client[federation->cohort[i].client];
        if (!client->noised) federation->fresh[(*count)++] = federation->cohort[i];
        client->noised = 1;
    }
    return federation->fresh;
}

mfpg_status mfpg_federation_record(
    mfpg_context *ctx, mfpg_federation *federation, const mfpg_release *release, ptrdiff_t count) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < count && status == MFPG_OK; i++) {
        client_state *client = &federation->client[release[i].client];
        status = mfpg_accountant_record(ctx, client->certificate, &release[i]);
        if (status == MFPG_OK && client->paper)
            status = mfpg_accountant_record(ctx, client->paper, &release[i]);
    }
    return status;
}

/* AccountantUpdate of every member, and the ledger: on disk before anybody uses what was released. */
static mfpg_status account(mfpg_context *ctx, mfpg_federation *federation) {
    ptrdiff_t count;
    const mfpg_release *released = releases(federation, &count);
    for (ptrdiff_t i = 0; i < federation->cohort_size; i++)
        federation->client[federation->cohort[i].client].rounds++;
    mfpg_status status = mfpg_federation_record(ctx, federation, released, count);
    if (status == MFPG_OK && federation->ledger)
        status = mfpg_ledger_append(ctx, federation->ledger, released, count);
    return mfpg_ranks_agree(ctx, status); /* the first rank keeps the ledger */
}

/* FedAvg: sum_k p_k w_k, into the first worker's model. Integer sums: neither threads, ranks nor their order can change a
 * bit. */
static mfpg_status average(mfpg_context *ctx, mfpg_federation *federation) {
    mfpg_fixed_sum *total = &federation->worker[0].sum;
    mfpg_status status = MFPG_OK;
    for (int i = 1; i < federation->workers && status == MFPG_OK; i++)
        status = mfpg_fixed_sum_merge(ctx, total, &federation->worker[i].sum);
    status = mfpg_ranks_agree(ctx, status);
    if (status == MFPG_OK) status = mfpg_fixed_sum_merge_ranks(ctx, total);
    if (status == MFPG_OK) mfpg_fixed_sum_read_float(total, federation->worker[0].model);
    return status;
}

/* w <- the average, now that it has been accounted for. */
static void publish(mfpg_federation *federation) {
    memcpy(federation->w, federation->worker[0].model, (size_t)federation->dimension * sizeof(float));
}

/* Expected norm of the average's noise over the weighted sum of the members' signal norms. Noised records leave no noise
 * of their own in the average: there is no such ratio. */
static double noise_to_signal(const mfpg_federation *federation) {
    double noise2 = 0.0, signal = 0.0;
    if (federation->particles == MFPG_PARTICLES_DATA) return (double)NAN;
    for (ptrdiff_t i = 0; i < federation->cohort_size; i++) {
        const mfpg_release *r = &federation->cohort[i];
        noise2 += (double)r->steps * (r->weight * r->noise_sd) * (r->weight * r->noise_sd);
        signal += r->weight * federation->client[r->client].signal_norm;
    }
    return sqrt((double)federation->dimension * noise2) / signal;
}

static double mean_action(const mfpg_federation *federation) {
    double sum = 0.0;
    for (ptrdiff_t k = 0; k < federation->clients; k++)
        sum += mfpg_action_value(&federation->client[k].action);
    return sum / (double)federation->clients;
}

/* The member's release that protects least: the smallest noise for its sensitivity. */
static mfpg_release least_protected(const mfpg_federation *federation) {
    const mfpg_release *worst = &federation->cohort[0];
    for (ptrdiff_t i = 1; i < federation->cohort_size; i++) {
        const mfpg_release *r = &federation->cohort[i];
        if (r->noise_sd * worst->sensitivity < worst->noise_sd * r->sensitivity) worst = r;
    }
    return *worst;
}

static double mean_strength(const mfpg_federation *federation) {
    double sum = 0.0;
    for (ptrdiff_t i = 0; i < federation->cohort_size; i++)
        sum += federation->cohort[i].action.strength.value;
    return sum / (double)federation->cohort_size;
}

/* The paper's columns speak of the population: strengths by their mean, budgets by the client that spent most. */
mfpg_status mfpg_federation_record_population(mfpg_context *ctx, mfpg_federation *federation) {
    if (!federation->population || federation->cohort_size == 0) return MFPG_OK;
    mfpg_release release = least_protected(federation);
    if (release.action.control == MFPG_CONTROL_STRENGTH)
        release.action.strength.value = mean_strength(federation);
    return mfpg_accountant_record(ctx, federation->population, &release);
}

static mfpg_status paper_columns(mfpg_context *ctx, mfpg_federation *federation, mfpg_round_report *report) {
    report->paper_epsilon = report->paper_delta = (double)NAN;
    if (!federation->population) return MFPG_OK;
    mfpg_status status = mfpg_federation_record_population(ctx, federation);
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
    report->noise_to_signal = noise_to_signal(federation);
    report->transport = federation->worker[0].transport;
    mfpg_status status = mfpg_federation_largest_epsilon(ctx, federation, &report->epsilon);
    if (status == MFPG_OK) status = paper_columns(ctx, federation, report);
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
