/** Privacy filters (theory S4): a budget that is fixed beforehand, and the sum of what was spent of it. A step and its cost
 *  may be chosen after looking at what earlier steps released. Every step is one mechanism that is mu-GDP (a Gaussian
 *  release, or one of mfpg_release_mu); mu itself must be a function of public or released quantities only. */
#ifndef MFPG_FILTER_H
#define MFPG_FILTER_H

#include <stdint.h>

#include "context.h"

typedef enum mfpg_filter_kind {
    /** No filter of its own: the run's accountant is asked. Sound only if noise, rates and the choice of who takes part are
     *  public and fixed before the run, so that what is composed in the end is a fixed schedule. */
    MFPG_FILTER_ACCOUNTANT = 0,
    /** Go on while sum mu_t^2, the next step included, is at most mu^2: the whole is mu-GDP (Smith, Thakurta 2022). */
    MFPG_FILTER_GDP,
    /** Go on while sum mu_t^2/2 is at most rho: the whole is rho-zCDP, which is a filter for every Renyi order at once
     *  (Feldman, Zrnic 2021). Also for steps that are rho_t-zCDP and nothing better: they count as mu = sqrt(2 rho_t). */
    MFPG_FILTER_ZCDP
} mfpg_filter_kind;

/** One filter; a plain value that may be copied. Its fields belong to the functions below. */
typedef struct mfpg_filter {
    mfpg_filter_kind kind;
    double budget; /* mu or rho, never above what epsilon and delta allow */
    double high, low,
        over; /* the sum of mu_t^2 is at most high + low + over; over is what rounding may have lost */
} mfpg_filter;

/** The largest budget that is (epsilon, delta)-DP, rounded down; nothing is spent yet. epsilon > 0 (+INFINITY: no limit)
 *  and delta in (0,1), else MFPG_ERR_DOMAIN, as for MFPG_FILTER_ACCOUNTANT, which is not a filter. */
mfpg_status mfpg_filter_start(
    mfpg_context *ctx, mfpg_filter_kind kind, double epsilon, double delta, mfpg_filter *out);

/** 1 if one more step of this mu >= 0 stays within the budget, the exact boundary included: rounding never admits one
 *  too many. 0 also for NaN, a negative number and, but for an infinite budget, +INFINITY. */
int mfpg_filter_admits(const mfpg_filter *filter, double mu);

/** Charges a step that is admitted and returns 1; returns 0 and changes nothing for any other. Charge before releasing. */
int mfpg_filter_spend(mfpg_filter *filter, double mu);

/** rho-zCDP to epsilon at delta, the best order taken, rounded up; +INFINITY if there is none. */
double mfpg_zcdp_epsilon(double rho, double delta);

/** What has been spent so far, for display, however the steps were chosen: of the GDP filters of budget mu_i^2 = 2 rho_i,
 *  rho_i = 2^i/128, each at delta/2^(i+1), the first that is not exceeded. "At most epsilon at delta" is then true at every
 *  moment, and nothing sharper is claimed. */
typedef struct mfpg_odometer {
    int64_t index; /* i; -1 if nothing can be said, and epsilon is +INFINITY */
    double rho;    /* rho_i */
    double delta;  /* of that filter: delta / 2^(i+1) */
    double epsilon;
} mfpg_odometer;

/** The words that go with it. */
#define MFPG_ODOMETER_NOTE                                                                                   \
    "display at any moment, whatever is still to come; nothing sharper than \"at most\" is certified"

#endif
