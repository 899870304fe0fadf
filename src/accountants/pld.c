/* Privacy loss distributions with credit for Poisson-sampled examples: an answer lays the loss of each kind on a grid from above and composes all of them by the Fourier transform
 * (pld_cells.c, pld_curve.c). It is an upper bound to the last bit: discretisation, cut tails, wrapping and rounding are
 * counted. Where 2^22 grid points suffice it lies above the number itself by about 1e-4 of min(epsilon, 1), or, with a
 * handful of steps, 5e-3 of it; a delta by 2e-3 of itself, or 5e-2.
 *
 * zero-out: the larger of remove and add. replace: the symmetrised curve, or twice zero-out where that is smaller.
 * Steps without sampling are one Gaussian step, and alone they are answered as gdp does. Where the grid cannot carry a case
 * (pld_curve.h) the answer is that of rdp, which is also given wherever it is smaller. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "ops.h"
#include "pld/answer.h"
#include "sampled/sum.h"

extern const mfpg_accountant_ops mfpg_accountant_rdp;
static const mfpg_accountant_ops *const rdp_ops = &mfpg_accountant_rdp;

typedef struct pld_state {
    sampled_sum kept;
    void *rdp; /* state of the accountant rdp, which records the same */
} pld_state;

/* ---- what is kept ---- */

static mfpg_status start(mfpg_context *ctx, void *state, const mfpg_accountant_options *options) {
    pld_state *pld = state;
    pld->kept = sampled_sum_empty(options, (sampled_steps){0});
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
    sampled_sum_clear(&pld->kept);
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
    if (sampled_sum_copy(&pld->kept, &copied->kept)) return 1;
    rdp_ops->finish(copied->rdp);
    free(copied->rdp);
    return 0;
}

static mfpg_status record(mfpg_context *ctx, void *state, const mfpg_release *release, int64_t times) {
    pld_state *pld = state;
    mfpg_status status = rdp_ops->record(ctx, pld->rdp, release, times);
    return status == MFPG_OK ? sampled_sum_record(ctx, &pld->kept, "pld", release, times) : status;
}

static pld_mechanism mechanism_of(const pld_state *pld) {
    square_sum plain;
    int used = sampled_sum_split(&pld->kept, &plain);
    return (pld_mechanism){.sampled = pld->kept.sampled.kind, .used = used, .mu = square_sum_root_up(&plain)};
}

/* ---- answers ---- */

static mfpg_status ask_epsilon(
    mfpg_context *ctx, const pld_state *pld, mfpg_adjacency adjacency, double delta, double *out) {
    int own = adjacency == pld->kept.adjacency;
    mfpg_status status = (own ? rdp_ops->epsilon : rdp_ops->other)(ctx, pld->rdp, delta, out);
    if (status != MFPG_OK || *out == 0.0 || pld->kept.sampled.used == 0 || delta == 0.0) return status;
    pld_mechanism mechanism = mechanism_of(pld);
    double epsilon;
    status = pld_epsilon(&mechanism, adjacency, delta, &epsilon);
    if (status != MFPG_OK) return mfpg_fail_memory(ctx);
    *out = fmin(*out, epsilon);
    return MFPG_OK;
}

static mfpg_status epsilon(mfpg_context *ctx, const void *state, double delta, double *out) {
    const pld_state *pld = state;
    return ask_epsilon(ctx, pld, pld->kept.adjacency, delta, out);
}

static mfpg_status other(mfpg_context *ctx, const void *state, double delta, double *out) {
    const pld_state *pld = state;
    int replace = pld->kept.adjacency == MFPG_ADJACENCY_REPLACE;
    return ask_epsilon(ctx, pld, replace ? MFPG_ADJACENCY_ZERO_OUT : MFPG_ADJACENCY_REPLACE, delta, out);
}

static mfpg_status delta(mfpg_context *ctx, const void *state, double at, double *out) {
    const pld_state *pld = state;
    mfpg_status status = rdp_ops->delta(ctx, pld->rdp, at, out);
    if (status != MFPG_OK || *out == 0.0 || pld->kept.sampled.used == 0 || isinf(at)) return status;
    pld_mechanism mechanism = mechanism_of(pld);
    double value;
    status = pld_delta(&mechanism, pld->kept.adjacency, at, &value);
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
    if (pld->kept.sampled.used == 0 || delta == 0.0) return 0;
    pld_mechanism mechanism = mechanism_of(pld);
    double epsilon;
    return pld_epsilon(&mechanism, pld->kept.adjacency, delta, &epsilon) == MFPG_OK && epsilon <= limit;
}

/* The same steps, and no more of those that are not sampled: then the two are answered on the same grid. Of different steps
 * grids differ, and with them the last digits of answers. */
static int covers(const void *state, const void *less) {
    const pld_state *a = state, *b = less;
    if (b->kept.sampled.used == 0) return rdp_ops->covers(a->rdp, b->rdp);
    return square_sum_root_up(&a->kept.unsampled) == square_sum_root_up(&b->kept.unsampled) &&
           sampled_steps_cover(&a->kept.sampled, &b->kept.sampled) &&
           sampled_steps_cover(&b->kept.sampled, &a->kept.sampled);
}

const mfpg_accountant_ops mfpg_accountant_pld = {
    .name = "pld",
    .help = "privacy loss distributions on a grid, with credit for Poisson batches; never worse than rdp",
    .certifies = 1,
    .facts = MFPG_ACCOUNTANT_CREDITS_SAMPLING,
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
