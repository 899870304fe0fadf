/* Renyi differential privacy with credit for Poisson-sampled examples. Divergences add up over adaptive composition at every
 * order (Mironov 2017, proposition 1), and an answer minimises over the order.
 *
 * zero-out: the larger of adding and removing (sampled_gaussian.h). replace: changing one example is removing it and
 * adding another; the answer is the smallest of that (below) and of no credit at all with twice the sensitivity. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "ops.h"
#include "order_search.h"
#include "rdp_conversion.h"
#include "sampled/gaussian_rdp.h"
#include "sampled/sum.h"

#define ROUNDED_UP (1.0 + 8.0 * DBL_EPSILON)

typedef struct rdp_state {
    sampled_sum kept;
    double *orders; /* the only ones allowed; NULL: all */
    ptrdiff_t order_count;
} rdp_state;

/* ---- what is kept ---- */

static mfpg_status start(mfpg_context *ctx, void *state, const mfpg_accountant_options *options) {
    rdp_state *rdp = state;
    rdp->kept = sampled_sum_empty(options, (sampled_steps){0});
    if (!options->orders) return MFPG_OK;
    for (ptrdiff_t i = 0; i < options->order_count; i++)
        if (!(options->orders[i] >= 1.0 && isfinite(options->orders[i])))
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
                "accountant rdp: order %g; orders are finite and at least 1", options->orders[i]);
    rdp->orders = mfpg_alloc(options->order_count, sizeof *rdp->orders);
    if (!rdp->orders) return mfpg_fail_memory(ctx);
    rdp->order_count = options->order_count;
    memcpy(rdp->orders, options->orders, (size_t)options->order_count * sizeof *rdp->orders);
    return MFPG_OK;
}

static void finish(void *state) {
    rdp_state *rdp = state;
    free(rdp->orders);
    sampled_sum_clear(&rdp->kept);
}

static int copy(const void *state, void *out) {
    const rdp_state *rdp = state;
    rdp_state *copied = out;
    *copied = *rdp;
    if (rdp->orders) {
        copied->orders = mfpg_alloc(rdp->order_count, sizeof *copied->orders);
        if (!copied->orders) return 0;
        memcpy(copied->orders, rdp->orders, (size_t)rdp->order_count * sizeof *rdp->orders);
    }
    if (sampled_sum_copy(&rdp->kept, &copied->kept)) return 1;
    free(copied->orders);
    return 0;
}

static mfpg_status record(mfpg_context *ctx, void *state, const mfpg_release *release, int64_t times) {
    return sampled_sum_record(ctx, &((rdp_state *)state)->kept, "rdp", release, times);
}

static double mu(const void *state) {
    return sampled_sum_mu(&((const rdp_state *)state)->kept);
}

/* ---- divergences ---- */

/* One step under replace. Twice the sensitivity without credit; or the weak triangle inequality (Mironov 2017,
 * proposition 11, p = 2) over the data without the example: (a-1/2)/(a-1) D_2a(P, Q) + D_(2a-1)(Q, R). */
static double replaced(const sampled_step *kind, double order) {
    double plain = 2.0 * order * kind->reach * kind->reach, c = order - 1.0;
    if (c == 0.0) return plain;
    double there = mfpg_sampled_gaussian_rdp(kind->rate, kind->reach, 2.0 * order);
    double back = mfpg_sampled_gaussian_rdp(kind->rate, kind->reach, 2.0 * order - 1.0);
    return fmin(plain, (order - 0.5) / c * there + back);
}

static double divergence(const rdp_state *rdp, mfpg_adjacency adjacency, double order) {
    int replace = adjacency == MFPG_ADJACENCY_REPLACE;
    double sum = (replace ? 2.0 : 0.5) * order * rdp->kept.unsampled.high;
    for (int i = 0; i < rdp->kept.sampled.used; i++) {
        const sampled_step *kind = &rdp->kept.sampled.kind[i];
        double step =
            replace ? replaced(kind, order) : mfpg_sampled_gaussian_rdp(kind->rate, kind->reach, order);
        sum += (double)kind->count * step;
    }
    return sum * (1.0 + (rdp->kept.sampled.used + 8.0) * DBL_EPSILON);
}

static double rdp_at(const void *state, double order) {
    const rdp_state *rdp = state;
    return divergence(rdp, rdp->kept.adjacency, order);
}

/* ---- answers: one route at one order, then the best order of each route ---- */

typedef struct question {
    const rdp_state *rdp;
    mfpg_adjacency adjacency;
    double delta, epsilon; /* the known one */
} question;

typedef double (*route)(double order, const void *question);

static double epsilon_at_order(double order, const void *arg) {
    const question *asked = arg;
    return mfpg_rdp_epsilon(divergence(asked->rdp, asked->adjacency, order), order, asked->delta);
}

/* log delta, which may be positive. */
static double log_delta_at_order(double order, const void *arg) {
    const question *asked = arg;
    double sum = divergence(asked->rdp, asked->adjacency, order);
    return isinf(sum) || order <= 1.0 ? (double)INFINITY : mfpg_rdp_log_delta(sum, order, asked->epsilon);
}

/* Replace from the guarantee (e, d) of zero-out: (2 e, (1 + exp e) d). With d the conversion at one order, (1 + exp e) d
 * <= delta reads e (order - 2) >= level + log(1 + exp(-e)). The right side falls as e grows: put there, what is too small
 * gives an e that is large enough, and what is large enough one that is too small. */
static double group_epsilon_at_order(double order, const void *arg) {
    const question *asked = arg;
    if (!(order > 2.0) || asked->delta == 0.0) return (double)INFINITY;
    double sum = divergence(asked->rdp, MFPG_ADJACENCY_ZERO_OUT, order);
    if (isinf(sum)) return sum;
    double log_delta = log(asked->delta), level = mfpg_rdp_log_delta(sum, order, 0.0) - log_delta;
    level += 8.0 * DBL_EPSILON * (fabs(level) + fabs(log_delta));
    double small = 0.0, enough = 0.0;
    for (int i = 0; i < 4; i++) {
        enough = fmax(0.0, (level + log1p(exp(-small)) * ROUNDED_UP) / (order - 2.0)) * ROUNDED_UP;
        small = fmax(0.0, (level + log1p(exp(-enough)) / ROUNDED_UP) / (order - 2.0)) / ROUNDED_UP;
    }
    return 2.0 * enough;
}

static double group_log_delta_at_order(double order, const void *arg) {
    const question *asked = arg;
    double half = 0.5 * asked->epsilon, sum = divergence(asked->rdp, MFPG_ADJACENCY_ZERO_OUT, order);
    if (isinf(sum) || order <= 1.0) return (double)INFINITY;
    return half + log1p(exp(-half)) * ROUNDED_UP + mfpg_rdp_log_delta(sum, order, half);
}

/* The smallest over the orders that may be used, or one that is at most enough. */
static double smallest(const question *asked, route at_order, double enough) {
    const rdp_state *rdp = asked->rdp;
    double best = (double)INFINITY;
    if (!rdp->orders) return mfpg_order_search(at_order, asked, enough);
    for (ptrdiff_t i = 0; i < rdp->order_count && best > enough; i++)
        best = fmin(best, at_order(rdp->orders[i], asked));
    return best;
}

/* The group's route is one for replace, unless divergences were asked for by name. */
static double best_route(const question *asked, route own, route group, double enough) {
    double best = smallest(asked, own, enough);
    if (asked->adjacency != MFPG_ADJACENCY_REPLACE || asked->rdp->orders || best <= enough) return best;
    return fmin(best, smallest(asked, group, enough));
}

/* The divergence nearest to the order 1, where it bounds the total variation distance best. */
static double distance(const rdp_state *rdp, mfpg_adjacency adjacency) {
    double order = MFPG_FIRST_ORDER;
    for (ptrdiff_t i = 0; i < rdp->order_count; i++)
        order = i == 0 ? rdp->orders[0] : fmin(order, rdp->orders[i]);
    double one = mfpg_rdp_distance(divergence(rdp, adjacency, order));
    if (adjacency != MFPG_ADJACENCY_REPLACE || rdp->orders) return one;
    return fmin(one, 2.0 * mfpg_rdp_distance(divergence(rdp, MFPG_ADJACENCY_ZERO_OUT, order)));
}

/* Without a list of orders Gaussian DP answers as well: exactly where nothing is sampled, and always soundly. */
static double answer_epsilon(const rdp_state *rdp, mfpg_adjacency adjacency, double delta, double enough) {
    const question asked = {.rdp = rdp, .adjacency = adjacency, .delta = delta};
    double plain = (double)INFINITY;
    if (!rdp->orders) plain = mfpg_gdp_epsilon(sampled_sum_plain_mu(&rdp->kept, adjacency), delta);
    if (plain <= enough || (!rdp->orders && rdp->kept.sampled.used == 0)) return plain;
    if (distance(rdp, adjacency) <= delta) return 0.0;
    return fmin(plain, best_route(&asked, epsilon_at_order, group_epsilon_at_order, enough));
}

static double answer_delta(const rdp_state *rdp, mfpg_adjacency adjacency, double epsilon) {
    const question asked = {.rdp = rdp, .adjacency = adjacency, .epsilon = epsilon};
    double plain = rdp->orders ? 1.0 : mfpg_gdp_delta(sampled_sum_plain_mu(&rdp->kept, adjacency), epsilon);
    if (!rdp->orders && rdp->kept.sampled.used == 0) return plain;
    if (isinf(epsilon)) return 0.0;
    double tail = best_route(&asked, log_delta_at_order, group_log_delta_at_order, -(double)INFINITY);
    return fmin(plain, fmin(exp(tail) * ROUNDED_UP + DBL_TRUE_MIN, distance(rdp, adjacency)));
}

static mfpg_status epsilon(mfpg_context *ctx, const void *state, double delta, double *out) {
    (void)ctx;
    const rdp_state *rdp = state;
    *out = answer_epsilon(rdp, rdp->kept.adjacency, delta, 0.0);
    return MFPG_OK;
}

static mfpg_status other(mfpg_context *ctx, const void *state, double delta, double *out) {
    (void)ctx;
    const rdp_state *rdp = state;
    int replace = rdp->kept.adjacency == MFPG_ADJACENCY_REPLACE;
    *out = answer_epsilon(rdp, replace ? MFPG_ADJACENCY_ZERO_OUT : MFPG_ADJACENCY_REPLACE, delta, 0.0);
    return MFPG_OK;
}

static int within(mfpg_context *ctx, const void *state, double delta, double limit) {
    (void)ctx;
    const rdp_state *rdp = state;
    return answer_epsilon(rdp, rdp->kept.adjacency, delta, limit) <= limit;
}

static mfpg_status delta(mfpg_context *ctx, const void *state, double at, double *out) {
    (void)ctx;
    const rdp_state *rdp = state;
    *out = answer_delta(rdp, rdp->kept.adjacency, at);
    return MFPG_OK;
}

static int covers(const void *state, const void *less) {
    return sampled_sum_covers(&((const rdp_state *)state)->kept, &((const rdp_state *)less)->kept);
}

const mfpg_accountant_ops mfpg_accountant_rdp = {
    .name = "rdp",
    .help = "Renyi DP at integer and real orders, with credit for Poisson batches; never worse than gdp",
    .certifies = 1,
    .facts = MFPG_ACCOUNTANT_CREDITS_SAMPLING | MFPG_ACCOUNTANT_TAKES_ORDERS,
    .state_size = sizeof(rdp_state),
    .record = record,
    .epsilon = epsilon,
    .delta = delta,
    .start = start,
    .finish = finish,
    .copy = copy,
    .mu = mu,
    .rdp = rdp_at,
    .other = other,
    .within = within,
    .covers = covers,
};
