/* Measures what its own noise costs a client (theory S3.1). The next round is played once for every action
 * of one client while the others keep theirs, and the client's loss is taken at the model that it would
 * deploy,
 * y = w' + omega (w_k - w'),   w' = sum_j p_j w_j with the client's own share in it.
 * Every action uses the same noise and the same batches, of the client and of the others (common random
 * numbers), so that the differences between two actions vary far less than their losses. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "models/losses.h"
#include "federation_core.h"

typedef struct probe {
    mfpg_federation *f;
    const mfpg_action *action;
    ptrdiff_t count;
    double personalisation;
    uint64_t draw;
    float *average; /* dimension numbers: w' with every client at its own action */
    double *loss;   /* clients x count */
} probe;

/* Returns streams for a study, separate from those of rounds: 2^31 draws per round, each with its own noise
 * and batches. */
static mfpg_stream stream_of(const probe *p, ptrdiff_t k, uint64_t which) {
    uint64_t number = ((uint64_t)p->f->round << 32) | (p->draw << 1) | which;
    return mfpg_stream_open(&p->f->key, MFPG_PURPOSE_TEST, number, (uint64_t)k);
}

static mfpg_status update_at(
    mfpg_context *ctx, const probe *p, ptrdiff_t k, mfpg_action action, workspace *own, float *out) {
    const mfpg_federation *f = p->f;
    const mfpg_dataset *data = &f->data->client[k].train;
    mfpg_stream noise = stream_of(p, k, 0), batch = stream_of(p, k, 1);
    mfpg_release release;
    mfpg_local_round round = {
        .data = data, .rows = data->rows, .release = &release, .noise = &noise, .batch = &batch};
    mfpg_status status = mfpg_mechanism_release(ctx, f->mechanism[k], action, data->rows, &release);
    if (status != MFPG_OK) return status;
    return mfpg_mechanism_update(ctx, f->mechanism[k], f->model, &round, f->w, out, own->scratch, NULL);
}

static mfpg_status add_to_average(mfpg_context *ctx, ptrdiff_t k, int worker, void *arg) {
    probe *p = arg;
    workspace *own = &p->f->worker[worker];
    mfpg_status status = update_at(ctx, p, k, mfpg_plan_action(p->f->plan, k), own, own->model);
    double weight = mfpg_plan_release(p->f->plan, k).weight;
    return status == MFPG_OK ? mfpg_fixed_sum_add(ctx, &own->sum, weight, own->model) : status;
}

static mfpg_status average(mfpg_context *ctx, probe *p) {
    mfpg_federation *f = p->f;
    for (int i = 0; i < f->workers; i++) mfpg_fixed_sum_reset(&f->worker[i].sum);
    mfpg_status status = mfpg_tasks_run(ctx, f->clients, add_to_average, p);
    for (int i = 1; i < f->workers && status == MFPG_OK; i++)
        status = mfpg_fixed_sum_merge(ctx, &f->worker[0].sum, &f->worker[i].sum);
    if (status == MFPG_OK) mfpg_fixed_sum_read_float(&f->worker[0].sum, p->average);
    return status;
}

/* Computes y into deployed; `shared` is the client's update at its own action, whose share the average
 * contains. */
static void deploy(const probe *p, ptrdiff_t k, const float *shared, float *deployed) {
    double omega = p->personalisation, weight = mfpg_plan_release(p->f->plan, k).weight;
    for (ptrdiff_t i = 0; i < p->f->dimension; i++) {
        double local = (double)deployed[i];
        double global = (double)p->average[i] + weight * (local - (double)shared[i]);
        deployed[i] = (float)(global + omega * (local - global));
    }
}

/* Returns the loss as the model defines it: the sum over the client's rows, or their mean. */
static double loss_at(const probe *p, ptrdiff_t k, const float *w, float *work) {
    const mfpg_dataset *rows = &p->f->data->client[k].train;
    double sum = mfpg_model_loss(p->f->model, w, rows, work);
    return mfpg_model_sums_rows(p->f->model) ? sum : sum / (double)rows->rows;
}

static mfpg_status probe_action(
    mfpg_context *ctx, const probe *p, ptrdiff_t k, ptrdiff_t j, workspace *own, const float *shared) {
    mfpg_status status = update_at(ctx, p, k, p->action[j], own, own->model);
    if (status != MFPG_OK) return status;
    deploy(p, k, shared, own->model);
    double loss = p->loss[k * p->count + j] = loss_at(p, k, own->model, own->scratch);
    return isfinite(loss) ? MFPG_OK : mfpg_fail(ctx, MFPG_ERR_NUMERIC, "the loss is not a finite number");
}

static mfpg_status probe_client(mfpg_context *ctx, ptrdiff_t k, int worker, void *arg) {
    probe *p = arg;
    workspace *own = &p->f->worker[worker];
    float *shared = mfpg_alloc(p->f->dimension, sizeof *shared);
    if (!shared) return mfpg_fail_memory(ctx);
    mfpg_status status = update_at(ctx, p, k, mfpg_plan_action(p->f->plan, k), own, shared);
    for (ptrdiff_t j = 0; j < p->count && status == MFPG_OK; j++) {
        status = probe_action(ctx, p, k, j, own, shared);
        if (status != MFPG_OK && status != MFPG_ERR_MEMORY)
            mfpg_fail_in(ctx, status, "action %g", mfpg_action_value(&p->action[j]));
    }
    free(shared);
    if (status == MFPG_OK || status == MFPG_ERR_MEMORY) return status;
    return mfpg_fail_in(
        ctx, status, "round %lld, client '%s'", (long long)p->f->round + 1, p->f->data->client[k].name);
}

static mfpg_status check(mfpg_context *ctx, const mfpg_federation *f, const mfpg_action *action,
    ptrdiff_t count, double personalisation, int64_t draw) {
    if (f->records)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "losses by action are those of noised parameters; records are noised once, before any round");
    if (f->server)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "server.optimiser: losses by action are those of the average itself; allowed: sgd with "
            "server.learning_rate 1");
    if (!(personalisation >= 0.0 && personalisation <= 1.0))
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "personalisation is %g; it must lie in [0, 1]", personalisation);
    if (draw < 0 || draw > INT32_MAX)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "draw %lld; from 0 to 2^31 - 1", (long long)draw);
    if (count < 1) return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "no action to measure");
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        for (ptrdiff_t j = 0; j < count; j++) {
            mfpg_release unused;
            mfpg_status status = mfpg_mechanism_release(
                ctx, f->mechanism[k], action[j], f->data->client[k].train.rows, &unused);
            if (status != MFPG_OK) return mfpg_fail_in(ctx, status, "client '%s'", f->data->client[k].name);
        }
    }
    return MFPG_OK;
}

mfpg_status mfpg_federation_own_losses(mfpg_context *ctx, mfpg_federation *f, const mfpg_action *action,
    ptrdiff_t count, double personalisation, int64_t draw, double *loss) {
    probe p = {.f = f, .action = action, .count = count, .personalisation = personalisation};
    mfpg_status status = check(ctx, f, action, count, personalisation, draw);
    if (status != MFPG_OK) return status;
    p.draw = (uint64_t)draw;
    p.loss = loss;
    p.average = mfpg_alloc(f->dimension, sizeof *p.average);
    if (!p.average) return mfpg_fail_memory(ctx);
    status = average(ctx, &p);
    if (status == MFPG_OK) status = mfpg_tasks_run(ctx, f->clients, probe_client, &p);
    free(p.average);
    return status;
}
