/* The paper's free energy (eq. freeenergy) after a round: F = E[L] + e KL(mu | nu) + lambda/2 Var, nu = N(0,
 * sigma^2 I).
 *
 * The flow's Euler step moves entry i of the state x by -tau [dL/dx_i + (e/sigma^2) x_i + lambda (x_i -
 * mean)] and noise sqrt(2 e tau). It descends L(x) + sum_i [e KL of entry i] + lambda/2 sum_i (x_i -
 * mean)^2, so KL and Var are those of the whole state, that is, sums over its entries.
 *
 * KL(mu_1 | N(0, sigma^2)) = -H(mu_1) + log(2 pi sigma^2)/2 + E[x^2]/(2 sigma^2), with H estimated by
 * spacings of the sorted particles. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/ranks.h"
#include "models/losses.h"
#include "numerics/sorting.h"
#include "federation_core.h"

static const double LOG_TWO_PI = 1.8378770664093454836;

mfpg_status mfpg_federation_prepare_free_energy(mfpg_context *ctx, mfpg_federation *f) {
    mfpg_flow flow;
    ptrdiff_t most = f->records ? 0 : f->dimension;
    if (!f->options.free_energy) return MFPG_OK;
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        if (!mfpg_mechanism_flow(f->mechanism[k], &flow))
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "a free energy is that of the entropic mechanism's flow; client '%s' has another mechanism",
                f->data->client[k].name);
        if (f->records && f->data->client[k].train.rows > most) most = f->data->client[k].train.rows;
    }
    for (int i = 0; i < f->workers; i++)
        f->worker[i].sorting = mfpg_pool_own(&f->kept, mfpg_alloc(most, 2 * sizeof *f->worker[i].sorting));
    if (f->records) f->energy = mfpg_pool_own(&f->kept, mfpg_alloc(f->clients, sizeof *f->energy));
    return f->kept.failed ? mfpg_fail_memory(ctx) : MFPG_OK;
}

/* Number of evenly spaced records from which the law of a feature is estimated. The entropy is then known to
 * 0.05 per client and feature, and sorting takes less time than the round. */
enum { MOST_RECORDS = 256 };

/* Noised values lie on a grid, and a law on a grid has no density. Equal values are therefore spread evenly
 * over the grid step that was rounded to them, as far as other values leave room, so that the values stay
 * sorted. */
static void spread_over_steps(ptrdiff_t n, double grid, float *sorted) {
    double before = -(double)INFINITY; /* the original value of the preceding entry */
    for (ptrdiff_t i = 0, end; i < n; i = end) {
        double value = (double)sorted[i];
        for (end = i + 1; end < n && (double)sorted[end] == value; end++) {
        }
        double next = end < n ? (double)sorted[end] : (double)INFINITY, count = (double)(end - i);
        double low = fmin(0.5 * grid, 0.5 * (value - before)), high = fmin(0.5 * grid, 0.5 * (next - value));
        for (ptrdiff_t j = i; j < end && count > 1.0; j++)
            sorted[j] = (float)(value - low + (low + high) * ((double)(j - i) + 0.5) / count);
        before = value;
    }
}

/* Adds KL and the sum of squares around the mean of n particles x[0], x[stride], ... with the law of one
 * entry, times the number of entries of the state that have that law. sorting: 2n floats. */
static void add_law(ptrdiff_t n, const float *x, ptrdiff_t stride, double prior_variance, double entries,
    double grid, float *sorting, mfpg_free_energy *out) {
    double sum = 0.0, squares = 0.0, around = 0.0, count = (double)n;
    for (ptrdiff_t i = 0; i < n; i++) {
        double value = (double)(sorting[i] = x[i * stride]);
        sum += value;
        squares += value * value;
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        double off = (double)sorting[i] - sum / count;
        around += off * off;
    }
    mfpg_sort_floats(n, sorting, sorting + n);
    spread_over_steps(n, grid, sorting);
    out->kl += entries * (0.5 * (LOG_TWO_PI + log(prior_variance)) + 0.5 * squares / count / prior_variance -
                             mfpg_spacing_entropy(n, sorting));
    out->variance += entries * (around / count);
}

static double strength_of(const mfpg_release *release, const mfpg_flow *flow) {
    return release->noise_sd * release->noise_sd / (2.0 * flow->step);
}

static void complete(mfpg_free_energy *energy, double penalty) {
    energy->total = energy->loss + energy->mean_strength * energy->kl + 0.5 * penalty * energy->variance;
}

static void of_parameters(mfpg_federation *f, double loss, mfpg_free_energy *out) {
    mfpg_flow flow = {0};
    double grid = (double)INFINITY; /* the finest grid of any client's share of the average */
    *out = (mfpg_free_energy){.loss = loss};
    for (ptrdiff_t i = 0; i < f->cohort_size; i++) {
        mfpg_release release = mfpg_plan_local(f->plan, mfpg_federation_member(f, i));
        mfpg_mechanism_flow(f->mechanism[release.client], &flow);
        out->mean_strength += strength_of(&release, &flow) / (double)f->cohort_size;
        grid = fmin(grid, f->shares ? release.grid : release.weight / f->terms.weights * release.grid);
    }
    if (f->server) grid = 0.0; /* the model lies on none */
    add_law(
        f->dimension, f->w, 1, flow.prior_variance, (double)f->dimension, grid, f->worker[0].sorting, out);
    complete(out, flow.variance_penalty);
}

static double mean_loss(const mfpg_federation *f, const mfpg_dataset *records, float *work) {
    return mfpg_model_loss(f->model, f->w, records, work) / (double)records->rows;
}

static mfpg_status client_energy(mfpg_context *ctx, ptrdiff_t k, int worker, void *arg) {
    mfpg_federation *f = arg;
    const mfpg_dataset *records = &f->records->of_client[k];
    mfpg_free_energy *out = &f->energy[k];
    workspace *own = &f->worker[worker];
    ptrdiff_t p = records->features, apart = (records->rows - 1) / MOST_RECORDS + 1;
    mfpg_flow flow;
    (void)ctx;
    *out = (mfpg_free_energy){0};
    if (!f->records->is_noised[k] || !mfpg_federation_owns(f, k)) return MFPG_OK;
    mfpg_mechanism_flow(f->mechanism[k], &flow);
    out->loss = mean_loss(f, records, own->scratch);
    mfpg_release release = mfpg_plan_release(f->plan, k);
    out->mean_strength = strength_of(&release, &flow);
    for (ptrdiff_t j = 0; j < p; j++)
        add_law((records->rows - 1) / apart + 1, records->x + j, apart * p, flow.prior_variance, 1.0,
            release.grid, own->sorting, out);
    complete(out, flow.variance_penalty);
    return MFPG_OK;
}

/* Averages over the clients whose records are noised, by their weights; leaves out unchanged if there are
 * none. */
static void average(const mfpg_federation *f, mfpg_free_energy *out) {
    double total = 0.0;
    for (ptrdiff_t k = 0; k < f->clients; k++)
        total += f->records->is_noised[k] ? mfpg_plan_release(f->plan, k).weight : 0.0;
    if (total > 0.0) *out = (mfpg_free_energy){0};
    for (ptrdiff_t k = 0; k < f->clients; k++) {
        const mfpg_free_energy *own = &f->energy[k];
        if (!f->records->is_noised[k]) continue;
        double share = mfpg_plan_release(f->plan, k).weight / total;
        out->loss += share * own->loss;
        out->kl += share * own->kl;
        out->variance += share * own->variance;
        out->mean_strength += share * own->mean_strength;
        out->total += share * own->total;
    }
}

mfpg_status mfpg_federation_free_energy(
    mfpg_context *ctx, mfpg_federation *f, double loss, mfpg_free_energy *out) {
    if (f->options.free_energy && !f->records && f->cohort_size > 0) of_parameters(f, loss, out);
    if (!f->energy) return MFPG_OK;
    mfpg_status status = mfpg_ranks_agree(ctx, mfpg_tasks_run(ctx, f->clients, client_energy, f));
    if (status == MFPG_OK)
        status = mfpg_ranks_share(ctx, f->energy, f->clients * (ptrdiff_t)(sizeof *f->energy / 8));
    if (status == MFPG_OK) average(f, out);
    return status;
}
