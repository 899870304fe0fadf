/** Privacy filters (theory S4): a budget that is fixed beforehand, and a sum of what was spent of it. A step
 *  and its cost may be chosen after looking at what earlier steps released. Every step is one mechanism that
 *  is mu-GDP (a Gaussian release, or one priced by mfpg_release_mu); mu itself must depend only on public or
 *  released quantities. */
#ifndef MFPG_FILTER_H
#define MFPG_FILTER_H

#include <stdint.h>

#include "context.h"

typedef enum mfpg_filter_kind {
    /** No filter: the run's accountant enforces the budget. This is sound only if noise, rates and the choice
     *  of participating clients are public and fixed before the run, so that the composed releases are a
     *  fixed schedule. */
    MFPG_FILTER_ACCOUNTANT = 0,
    /** Admits a step while sum mu_t^2, including this step, is at most mu^2: the whole is then mu-GDP (Smith,
     *  Thakurta 2022). */
    MFPG_FILTER_GDP,
    /** Admits a step while sum mu_t^2/2, including this step, is at most rho: the whole is then rho-zCDP.
     *  This is a filter for every Renyi order at once (Feldman, Zrnic 2021). It also accepts steps that are
     *  only known to be rho_t-zCDP: they count as mu = sqrt(2 rho_t). */
    MFPG_FILTER_ZCDP
} mfpg_filter_kind;

/** One filter, a plain value that may be copied. Only the functions below may change its fields. */
typedef struct mfpg_filter {
    mfpg_filter_kind kind;
    double budget; /* mu or rho; never more than epsilon and delta allow */
    double high, low,
        over; /* the sum of mu_t^2 is at most high + low + over, where `over` bounds the loss by rounding */
} mfpg_filter;

/** Starts a filter with the largest budget that is (epsilon, delta)-DP, rounded down, and nothing spent.
 *  epsilon must be > 0 (+INFINITY: no limit) and delta in (0,1); otherwise, and for MFPG_FILTER_ACCOUNTANT,
 *  which is not a filter, the result is MFPG_ERR_DOMAIN. */
mfpg_status mfpg_filter_start(
    mfpg_context *ctx, mfpg_filter_kind kind, double epsilon, double delta, mfpg_filter *out);

/** Returns 1 if one more step of this mu >= 0 stays within the budget or reaches it exactly; rounding never
 *  admits a step too many. Returns 0 for NaN, for a negative number and, unless the budget is infinite, for
 *  +INFINITY. */
int mfpg_filter_admits(const mfpg_filter *filter, double mu);

/** Charges a step that the budget admits and returns 1; for any other step it returns 0 and changes nothing.
 *  Call it before releasing. */
int mfpg_filter_spend(mfpg_filter *filter, double mu);

/** Converts rho-zCDP to epsilon at delta with the best order, rounded up; +INFINITY if no order gives a
 *  bound. */
double mfpg_zcdp_epsilon(double rho, double delta);

/** What has been spent so far, for display; valid however the steps were chosen. It is the first of the GDP
 *  filters of budget mu_i^2 = 2 rho_i, rho_i = 2^i/128, each at delta/2^(i+1), that is not exceeded. "At most
 *  epsilon at delta" is then true at every moment; a smaller number would not be justified. */
typedef struct mfpg_odometer {
    int64_t index; /* i; -1 if no filter applies, and epsilon is then +INFINITY */
    double rho;    /* rho_i */
    double delta;  /* of that filter: delta / 2^(i+1) */
    double epsilon;
} mfpg_odometer;

/** The words that go with it. */
#define MFPG_ODOMETER_NOTE                                                                                   \
    "display at any moment, whatever is still to come; nothing sharper than \"at most\" is certified"

#endif
