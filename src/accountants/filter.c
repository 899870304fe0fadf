/* Filters compare the sum of mu_t^2 with a budget; the decision is the same as without any rounding (theory
 * S4). */
#include "accounting.h"

#include <math.h>

#include "base/error.h"
#include "renyi.h"
#include "upward.h"

/* Squares of smaller numbers lose bits to underflow: a smaller step is rounded up to this number, a smaller
 * budget down to 0. */
#define SMALLEST 1e-120

static const struct {
    const char *word, *name;
} kinds[] = {
    [MFPG_FILTER_ACCOUNTANT] = {"accountant", "accountant of a public schedule"},
    [MFPG_FILTER_GDP] = {"gdp", "GDP filter"},
    [MFPG_FILTER_ZCDP] = {"zcdp", "zCDP filter"},
};

const char *mfpg_filter_word(mfpg_filter_kind kind) {
    return (unsigned)kind <= MFPG_FILTER_ZCDP ? kinds[kind].word : "unknown";
}

const char *mfpg_filter_name(mfpg_filter_kind kind) {
    return (unsigned)kind <= MFPG_FILTER_ZCDP ? kinds[kind].name : "unknown";
}

/* ---- zCDP ---- */

typedef struct conversion {
    double rho, delta;
} conversion;

static double epsilon_at_order(double order, const void *arg) {
    const conversion *c = arg;
    return mfpg_rdp_epsilon(multiply_up(c->rho, order), order, c->delta);
}

double mfpg_zcdp_epsilon(double rho, double delta) {
    const conversion c = {rho, delta};
    if (!(rho >= 0.0 && delta >= 0.0 && delta < 1.0)) return (double)INFINITY;
    return rho == 0.0 ? 0.0 : mfpg_order_search(epsilon_at_order, &c, 0.0);
}

double mfpg_zcdp_rho(double epsilon, double delta) {
    if (!(epsilon >= 0.0 && delta > 0.0 && delta < 1.0)) return 0.0;
    if (isinf(epsilon)) return (double)INFINITY;
    double low = 1.0, high = 1.0;
    while (mfpg_zcdp_epsilon(low, delta) > epsilon && low > 0.0) low *= 0.5;
    if (low < high) high = 2.0 * low;
    while (mfpg_zcdp_epsilon(high, delta) <= epsilon) high *= 2.0; /* infinite at last */
    for (int i = 0; i < 64; i++) {
        double middle = low + 0.5 * (high - low);
        if (mfpg_zcdp_epsilon(middle, delta) <= epsilon)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- the sum ---- */

/* Adds mu^2 to high + low exactly except for the last bits of low; if these are positive, they are added to
 * over. */
static void add_square(mfpg_filter *filter, double mu) {
    if (mu == 0.0) return;
    double term = fmax(mu, SMALLEST), square = term * term, lost, cut, rest;
    double sum = two_sum(filter->high, square, &lost);
    if (!isfinite(sum)) {
        filter->high = (double)INFINITY;
        return;
    }
    double small = two_sum(lost, fma(term, term, -square), &cut);
    small = two_sum(filter->low, small, &rest);
    filter->high = two_sum(sum, small, &filter->low);
    filter->over = add_up(add_up(filter->over, fmax(cut, 0.0)), fmax(rest, 0.0));
}

/* Returns 1 if the sum is at most the square of the budget. After the two large parts are subtracted only
 * the sign of the rest matters, and a sum of two doubles always has the correct sign. */
static int fits(const mfpg_filter *filter) {
    double limit = filter->budget, most, tail = 0.0, lost;
    if (isinf(limit)) return 1;
    if (!isfinite(filter->high)) return 0;
    if (filter->kind == MFPG_FILTER_GDP) {
        if (limit < SMALLEST) limit = 0.0;
        most = limit * limit;
        if (isinf(most)) return 1;
        tail = fma(limit, limit, -most);
    } else {
        most = 2.0 * limit;
        if (isinf(most)) return 1;
    }
    double left = two_sum(filter->high, -most, &lost);
    return left + add_up(add_up(add_up(filter->low, -tail), lost), filter->over) <= 0.0;
}

int mfpg_filter_admits(const mfpg_filter *filter, double mu) {
    if (!(mu >= 0.0)) return 0;
    mfpg_filter after = *filter;
    add_square(&after, mu);
    return fits(&after);
}

int mfpg_filter_spend(mfpg_filter *filter, double mu) {
    if (!mfpg_filter_admits(filter, mu)) return 0;
    add_square(filter, mu);
    return 1;
}

double mfpg_filter_spent(const mfpg_filter *filter) {
    double sum = isinf(filter->high) ? filter->high : add_up(filter->high, add_up(filter->low, filter->over));
    return filter->kind == MFPG_FILTER_GDP ? root_up(sum) : 0.5 * sum;
}

/* ---- budgets ---- */

mfpg_status mfpg_filter_start_budget(
    mfpg_context *ctx, mfpg_filter_kind kind, double budget, mfpg_filter *out) {
    if (kind != MFPG_FILTER_GDP && kind != MFPG_FILTER_ZCDP)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%s is not a filter", mfpg_filter_name(kind));
    if (!(budget >= 0.0))
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "%s: a budget of %g; it must be >= 0", mfpg_filter_name(kind), budget);
    *out = (mfpg_filter){.kind = kind, .budget = budget};
    return MFPG_OK;
}

mfpg_status mfpg_filter_start(
    mfpg_context *ctx, mfpg_filter_kind kind, double epsilon, double delta, mfpg_filter *out) {
    if (!(epsilon > 0.0))
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "%s: epsilon is %g; it must be above 0", mfpg_filter_name(kind), epsilon);
    if (!(delta > 0.0 && delta < 1.0))
        return mfpg_fail(
            ctx, MFPG_ERR_DOMAIN, "%s: delta is %g; it must be in (0, 1)", mfpg_filter_name(kind), delta);
    double budget = kind == MFPG_FILTER_GDP ? mfpg_gdp_mu(epsilon, delta) : mfpg_zcdp_rho(epsilon, delta);
    return mfpg_filter_start_budget(ctx, kind, budget, out);
}

/* ---- the odometer: the first of a sequence of filters, all fixed beforehand, that has not been exceeded
 * ---- */

enum { FIRST_RHO_BITS = 7, MOST = 1000 }; /* rho_0 = 2^-7; delta / 2^MOST is near the smallest double */

/* Every filter fails with probability at most delta_i, and these add up to less than delta. With the
 * remaining probability none of them fails, so the one that is read off, which depends on what was spent,
 * does not fail either. */
mfpg_odometer mfpg_odometer_read(double mu, double delta) {
    const mfpg_odometer nothing = {.index = -1, .epsilon = (double)INFINITY};
    if (!(mu >= 0.0 && isfinite(mu) && delta > 0.0 && delta < 1.0)) return nothing;
    double square = multiply_up(mu, mu);
    for (int i = 0; i <= MOST; i++) {
        double rho = ldexp(1.0, i - FIRST_RHO_BITS), own = ldexp(delta, -(i + 1));
        if (square > 2.0 * rho) continue;
        return (mfpg_odometer){
            .index = i, .rho = rho, .delta = own, .epsilon = mfpg_gdp_epsilon(root_up(2.0 * rho), own)};
    }
    return nothing;
}
