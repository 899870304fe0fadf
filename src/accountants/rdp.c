/* Renyi differential privacy with credit for Poisson-sampled examples. Divergences add up over adaptive
 * composition at every order (Mironov 2017, proposition 1), and an answer minimises over the order.
 *
 * zero-out: the larger of adding and removing (mfpg_sampled_gaussian_rdp). replace: changing one example
 * means removing it and adding another; the answer is the smaller of that (below) and of no credit at all
 * with twice the sensitivity. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "renyi.h"
#include "sampled/sampled_steps.h"

#define ROUNDED_UP (1.0 + 8.0 * DBL_EPSILON)

static mfpg_status start(mfpg_context *ctx, void *state, const mfpg_accountant_options *options) {
    sampled_sum *rdp = state;
    ptrdiff_t count = options->order_count;
    sampled_sum_start(ctx, state, options);
    if (!options->orders) return MFPG_OK;
    for (ptrdiff_t i = 0; i < count; i++)
        if (!(options->orders[i] >= 1.0 && isfinite(options->orders[i])))
            return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
                "accountant rdp: order %g; orders are finite and at least 1", options->orders[i]);
    rdp->orders = mfpg_alloc(count, sizeof *rdp->orders);
    if (!rdp->orders) return mfpg_fail_memory(ctx);
    rdp->order_count = count;
    memcpy(rdp->orders, options->orders, (size_t)count * sizeof *rdp->orders);
    return MFPG_OK;
}

/* ---- divergences ---- */

/* One step under replace: twice the sensitivity without credit; or the weak triangle inequality (Mironov
 * 2017, proposition 11, p = 2) over the data without the example: (a-1/2)/(a-1) D_2a(P, Q) + D_(2a-1)(Q, R). */
static double replaced(const sampled_step *kind, double order) {
    double plain = 2.0 * order * kind->reach * kind->reach, c = order - 1.0;
    if (c == 0.0) return plain;
    double there = mfpg_sampled_gaussian_rdp(kind->rate, kind->reach, 2.0 * order);
    double back = mfpg_sampled_gaussian_rdp(kind->rate, kind->reach, 2.0 * order - 1.0);
    return fmin(plain, (order - 0.5) / c * there + back);
}

static double divergence(const sampled_sum *rdp, mfpg_adjacency adjacency, double order) {
    int replace = adjacency == MFPG_ADJACENCY_REPLACE;
    double sum = (replace ? 2.0 : 0.5) * order * rdp->unsampled.high;
    for (int i = 0; i < rdp->sampled.used; i++) {
        const sampled_step *kind = &rdp->sampled.kind[i];
        double step =
            replace ? replaced(kind, order) : mfpg_sampled_gaussian_rdp(kind->rate, kind->reach, order);
        sum += (double)kind->count * step;
    }
    return sum * (1.0 + (rdp->sampled.used + 8.0) * DBL_EPSILON);
}

static double renyi(const void *state, double order) {
    const sampled_sum *rdp = state;
    return divergence(rdp, rdp->adjacency, order);
}

/* ---- answers: one route at one order, then the best order of each route ---- */

typedef struct question {
    const sampled_sum *rdp;
    mfpg_adjacency adjacency;
    double given; /* delta or epsilon */
} question;

typedef double (*route)(double order, const void *question);

static double epsilon_at_order(double order, const void *arg) {
    const question *asked = arg;
    return mfpg_rdp_epsilon(divergence(asked->rdp, asked->adjacency, order), order, asked->given);
}

/* log delta, which may be positive. */
static double log_delta_at_order(double order, const void *arg) {
    const question *asked = arg;
    double sum = divergence(asked->rdp, asked->adjacency, order);
    return isinf(sum) || order <= 1.0 ? (double)INFINITY : mfpg_rdp_log_delta(sum, order, asked->given);
}

/* Replace follows from the guarantee (e, d) of zero-out as (2 e, (1 + exp e) d). With d from the conversion
 * at one order, (1 + exp e) d <= delta means e (order - 2) >= level + log(1 + exp(-e)). The right side
 * decreases in e, so evaluating it at a value that is too small gives a valid e, and at a value that is
 * large enough gives one that is too small. */
static double group_epsilon_at_order(double order, const void *arg) {
    const question *asked = arg;
    if (!(order > 2.0) || asked->given == 0.0) return (double)INFINITY;
    double sum = divergence(asked->rdp, MFPG_ADJACENCY_ZERO_OUT, order);
    if (isinf(sum)) return sum;
    double log_delta = log(asked->given), level = mfpg_rdp_log_delta(sum, order, 0.0) - log_delta;
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
    double half = 0.5 * asked->given, sum = divergence(asked->rdp, MFPG_ADJACENCY_ZERO_OUT, order);
    if (isinf(sum) || order <= 1.0) return (double)INFINITY;
    return half + log1p(exp(-half)) * ROUNDED_UP + mfpg_rdp_log_delta(sum, order, half);
}

/* Returns the smallest value over the allowed orders, or the first one that is at most `enough`. */
static double smallest(const question *asked, route at_order, double enough) {
    const sampled_sum *rdp = asked->rdp;
    double best = (double)INFINITY;
    if (!rdp->orders) return mfpg_order_search(at_order, asked, enough);
    for (ptrdiff_t i = 0; i < rdp->order_count && best > enough; i++)
        best = fmin(best, at_order(rdp->orders[i], asked));
    return best;
}

/* The group's route applies to replace, unless orders were given explicitly. */
static double best_route(const question *asked, route own, route group, double enough) {
    double best = smallest(asked, own, enough);
    if (asked->adjacency != MFPG_ADJACENCY_REPLACE || asked->rdp->orders || best <= enough) return best;
    return fmin(best, smallest(asked, group, enough));
}

/* Returns a bound from the divergence nearest to order 1, which bounds the total variation distance best. */
static double distance(const sampled_sum *rdp, mfpg_adjacency adjacency) {
    double order = MFPG_FIRST_ORDER;
    for (ptrdiff_t i = 0; i < rdp->order_count; i++)
        order = i == 0 ? rdp->orders[0] : fmin(order, rdp->orders[i]);
    double one = mfpg_rdp_distance(divergence(rdp, adjacency, order));
    if (adjacency != MFPG_ADJACENCY_REPLACE || rdp->orders) return one;
    return fmin(one, 2.0 * mfpg_rdp_distance(divergence(rdp, MFPG_ADJACENCY_ZERO_OUT, order)));
}

/* Without a list of orders the answer of Gaussian DP is used too: it is exact without sampling, and always
 * valid. */
static double answer_epsilon(const sampled_sum *rdp, mfpg_adjacency adjacency, double delta, double enough) {
    const question asked = {rdp, adjacency, delta};
    double plain = (double)INFINITY;
    if (!rdp->orders) plain = mfpg_gdp_epsilon(sampled_sum_plain_mu(rdp, adjacency), delta);
    if (plain <= enough || (!rdp->orders && rdp->sampled.used == 0)) return plain;
    if (distance(rdp, adjacency) <= delta) return 0.0;
    return fmin(plain, best_route(&asked, epsilon_at_order, group_epsilon_at_order, enough));
}

static double answer_delta(const sampled_sum *rdp, mfpg_adjacency adjacency, double epsilon) {
    const question asked = {rdp, adjacency, epsilon};
    double plain = rdp->orders ? 1.0 : mfpg_gdp_delta(sampled_sum_plain_mu(rdp, adjacency), epsilon);
    if (!rdp->orders && rdp->sampled.used == 0) return plain;
    if (isinf(epsilon)) return 0.0;
    double tail = best_route(&asked, log_delta_at_order, group_log_delta_at_order, -(double)INFINITY);
    return fmin(plain, fmin(exp(tail) * ROUNDED_UP + DBL_TRUE_MIN, distance(rdp, adjacency)));
}

static mfpg_status answer(
    mfpg_context *ctx, const void *state, const mfpg_question *asked, mfpg_bounds *out) {
    (void)ctx;
    out->upper = asked->for_delta ? answer_delta(state, asked->adjacency, asked->given)
                                  : answer_epsilon(state, asked->adjacency, asked->given, asked->enough);
    return MFPG_OK;
}

const mfpg_accountant_ops mfpg_accountant_rdp = {
    .name = "rdp",
    .help = "Renyi DP at integer and real orders, with credit for Poisson batches; never worse than gdp",
    .certifies = 1,
    .facts = MFPG_ACCOUNTANT_CREDITS_SAMPLING | MFPG_ACCOUNTANT_TAKES_ORDERS,
    .state_size = sizeof(sampled_sum),
    .record = sampled_sum_record,
    .answer = answer,
    .start = start,
    .finish = sampled_sum_finish,
    .copy = sampled_sum_copy,
    .mu = sampled_sum_mu,
    .renyi = renyi,
    .covers = sampled_sum_covers,
};
