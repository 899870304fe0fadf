/* Privacy loss distributions with credit for Poisson-sampled examples. Kept are counts of steps by kind, as rdp keeps them;
 * an answer lays the loss of each kind on a grid from above and composes all of them by the Fourier transform
 * (pld_cells.c, pld_curve.c). It is an upper bound to the last bit: discretisation, cut tails, wrapping and rounding are
 * counted. Where 2^22 grid points suffice it lies above the number itself by about 1e-4 of min(epsilon, 1), or, with a
 * handful of steps, 1e-3 of it; a delta by 2e-3 of itself, or 5e-2.
 *
 * zero-out: the larger of remove and add. replace: the symmetrised curve, or twice zero-out where that is smaller.
 * Steps without sampling are one Gaussian step, and alone they are answered as gdp does. Where the grid cannot carry a case
 * (pld_curve.h) the answer is that of rdp, which is also given wherever it is smaller.
 *
 * A last step that the noise of others hides as well keeps its credit, as in rdp.c. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "ops.h"
#include "pld_answer.h"
#include "sampled_steps.h"
#include "square_sum.h"
#include "upward.h"

extern const mfpg_accountant_ops mfpg_accountant_rdp;
static const mfpg_accountant_ops *const rdp_ops = &mfpg_accountant_rdp;

typedef struct pld_state {
    mfpg_adjacency adjacency;
    int credits;          /* 1: the unit is what is sampled */
    square_sum unsampled; /* sum of mu^2 of the steps without sampling, zero-out */
    sampled_steps sampled;
    void *rdp; /* state of the accountant rdp, which records the same */
} pld_state;

/* ---- what is kept ---- */

static mfpg_status start(mfpg_context *ctx, void *state, const mfpg_accountant_options *options) {
    pld_state *pld = state;
    pld->adjacency = options->promise.adjacency;
    pld->credits = options->promise.unit == MFPG_UNIT_EXAMPLE;
    pld->rdp = mfpg_alloc(1, rdp_ops->state_size);
    if (!pld->rdp) return mfpg_fail_memory(ctx);
    mfpg_accountant_options all_orders = *options;
    all_orders.orders = NULL;
    all_orders.order_count = 0;
    mfpg_status status = rdp_ops->start(ctx, pld->rdp, &all_orders);
    if (status != MFPG_OK) free(pld->rdp);
    return status;
}

static void finish(void *state) {
    pld_state *pld = state;
    rdp_ops->finish(pld->rdp);
    free(pld->rdp);
    sampled_steps_clear(&pld->sampled);
}

static int copy(const void *state, void *out) {
    const pld_state *pld = state;
    pld_state *copied = out;
    *copied = *pld;
    copied->rdp = mfpg_alloc(1, rdp_ops->state_size);
    if (!copied->rdp) return 0;
    if (!rdp_ops->copy(pld->rdp, copied->rdp)) {
        free(copied->rdp);
        return 0;
    }
    if (sampled_steps_copy(&pld->sampled, &copied->sampled)) return 1;
    rdp_ops->finish(copied->rdp);
    free(copied->rdp);
    return 0;
}

/* Adds count steps of one noise. */
static int add_steps(pld_state *pld, double rate, double sensitivity, double sd, int64_t count) {
    double reach = divide_up(sensitivity, sd);
    if (count == 0 || reach == 0.0) return 1;
    if (rate < 1.0 && isfinite(reach)) return sampled_steps_add(&pld->sampled, rate, reach, count);
    square_sum_add_times(&pld->unsampled, reach, count);
    return 1;
}

static mfpg_status record(mfpg_context *ctx, void *state, const mfpg_release *release, int64_t times) {
    pld_state *pld = state;
    mfpg_status status = rdp_ops->record(ctx, pld->rdp, release, times);
    double rate = pld->credits ? release->sampling_rate : 1.0, s = release->sensitivity;
    if (status != MFPG_OK || rate == 0.0) return status; /* at rate 0 the noise alone is released */
    if (rate == 1.0) {
        square_sum_add_times(&pld->unsampled, mfpg_release_mu(release, MFPG_ADJACENCY_ZERO_OUT), times);
        return MFPG_OK;
    }
    int64_t early = release->last_sd == release->noise_sd ? release->steps : release->steps - 1;
    if (add_steps(pld, rate, s, release->noise_sd, early * times) &&
        add_steps(pld, rate, s, release->last_sd, (release->steps - early) * times))
        return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_MEMORY, "accountant pld: no room for another kind of step");
}

/* Coarsening may have raised a rate to 1 (sampled_steps.h): such a step is one without sampling. */
static pld_mechanism mechanism_of(const pld_state *pld) {
    square_sum plain = pld->unsampled;
    int used = pld->sampled.used;
    for (; used > 0 && pld->sampled.kind[used - 1].rate >= 1.0; used--)
        square_sum_add_times(&plain, pld->sampled.kind[used - 1].reach, pld->sampled.kind[used - 1].count);
    return (pld_mechanism){.sampled = pld->sampled.kind, .used = used, .mu = square_sum_root_up(&plain)};
}

/* ---- answers ---- */

static mfpg_status ask_epsilon(
    mfpg_context *ctx, const pld_state *pld, mfpg_adjacency adjacency, double delta, double *out) {
    int own = adjacency == pld->adjacency;
    mfpg_status status = (own ? rdp_ops->epsilon : rdp_ops->other)(ctx, pld->rdp, delta, out);
    if (status != MFPG_OK || *out == 0.0 || pld->sampled.used == 0 || delta == 0.0) return status;
    pld_mechanism mechanism = mechanism_of(pld);
    double epsilon;
    status = pld_epsilon(&mechanism, adjacency, delta, &epsilon);
    if (status != MFPG_OK) return mfpg_fail_memory(ctx);
    *out = fmin(*out, epsilon);
    return MFPG_OK;
}

static mfpg_status epsilon(mfpg_context *ctx, const void *state, double delta, double *out) {
    const pld_state *pld = state;
    return ask_epsilon(ctx, pld, pld->adjacency, delta, out);
}

static mfpg_status other(mfpg_context *ctx, const void *state, double delta, double *out) {
    const pld_state *pld = state;
    int replace = pld->adjacency == MFPG_ADJACENCY_REPLACE;
    return ask_epsilon(ctx, pld, replace ? MFPG_ADJACENCY_ZERO_OUT : MFPG_ADJACENCY_REPLACE, delta, out);
}

static mfpg_status delta(mfpg_context *ctx, const void *state, double at, double *out) {
    const pld_state *pld = state;
    mfpg_status status = rdp_ops->delta(ctx, pld->rdp, at, out);
    if (status != MFPG_OK || *out == 0.0 || pld->sampled.used == 0 || isinf(at)) return status;
    pld_mechanism mechanism = mechanism_of(pld);
    double value;
    status = pld_delta(&mechanism, pld->adjacency, at, &value);
    if (status != MFPG_OK) return mfpg_fail_memory(ctx);
    *out = fmin(*out, value);
    return MFPG_OK;
}

static double mu(const void *state) {
    const pld_state *pld = state;
    return rdp_ops->mu(pld->rdp);
}

static double rdp(const void *state, double order) {
    const pld_state *pld = state;
    return rdp_ops->rdp(pld->rdp, order);
}

/* The answer is never above that of rdp, which is quick. Without memory nothing is known to be within. */
static int within(mfpg_context *ctx, const void *state, double delta, double limit) {
    const pld_state *pld = state;
    if (rdp_ops->within(ctx, pld->rdp, delta, limit)) return 1;
    if (pld->sampled.used == 0 || delta == 0.0) return 0;
    pld_mechanism mechanism = mechanism_of(pld);
    double epsilon;
    return pld_epsilon(&mechanism, pld->adjacency, delta, &epsilon) == MFPG_OK && epsilon <= limit;
}

/* The same steps, and no more of those that are not sampled: then the two are answered on the same grid. Of different steps
 * grids differ, and with them the last digits of answers. */
static int covers(const void *state, const void *less) {
    const pld_state *a = state, *b = less;
    if (b->sampled.used == 0) return rdp_ops->covers(a->rdp, b->rdp);
    return square_sum_root_up(&a->unsampled) == square_sum_root_up(&b->unsampled) &&
           sampled_steps_cover(&a->sampled, &b->sampled) && sampled_steps_cover(&b->sampled, &a->sampled);
}

const mfpg_accountant_ops mfpg_accountant_pld = {
    .name = "pld",
    .help = "privacy loss distributions on a grid, with credit for Poisson batches; never worse than rdp",
    .certifies = 1,
    .state_size = sizeof(pld_state),
    .record = record,
    .epsilon = epsilon,
    .delta = delta,
    .start = start,
    .finish = finish,
    .copy = copy,
    .mu = mu,
    .rdp = rdp,
    .other = other,
    .within = within,
    .covers = covers,
};
