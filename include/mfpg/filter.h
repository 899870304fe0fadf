/** Privacy filters and the odometer (theory S4): a budget that is fixed beforehand, and the sum of what was spent of it, where a
 *  step and its cost may have been chosen after looking at what earlier steps released. Every step is one mechanism that is mu-GDP
 *  (a Gaussian release, or one of mfpg_release_mu); mu itself must be a function of public or released quantities only. */
#ifndef MFPG_FILTER_H
#define MFPG_FILTER_H

#include <stdint.h>

#include "context.h"

typedef enum mfpg_filter_kind {
    /** No filter of its own: the run's accountant is asked. Sound only where noise, rates and whatever decides who takes
     *  part are public and fixed before the run, so that what is composed in the end is a fixed schedule. */
    MFPG_FILTER_ACCOUNTANT = 0,
    /** Go on while sum mu_t^2, the next step included, is at most mu^2: the whole is mu-GDP (Smith, Thakurta 2022). */
    MFPG_FILTER_GDP,
    /** Go on while sum mu_t^2/2 is at most rho: the whole is rho-zCDP, which is a filter for every Renyi order at once
     *  (Feldman, Zrnic 2021). Also for steps that are rho_t-zCDP and nothing better: they count as mu = sqrt(2 rho_t). */
    MFPG_FILTER_ZCDP
} mfpg_filter_kind;

/** "accountant", "gdp", "zcdp": what a configuration calls it. */
const char *mfpg_filter_word(mfpg_filter_kind kind);

/** "GDP filter", "zCDP filter", "accountant of a public schedule": what people read. */
const char *mfpg_filter_name(mfpg_filter_kind kind);

/** One filter; a plain value that may be copied. Its fields belong to the functions below. */
typedef struct mfpg_filter {
    mfpg_filter_kind kind;
    double budget; /* mu or rho, never above what epsilon and delta allow */
    double high, low,
        over; /* the sum of mu_t^2 is at most high + low + over; over is what rounding may have lost */
} mfpg_filter;

/** The largest budget that is (epsilon, delta)-DP, rounded down; nothing is spent yet. epsilon > 0 (+INFINITY: no limit)
 *  and delta in (0,1), else MFPG_ERR_DOMAIN, as for MFPG_FILTER_ACCOUNTANT, which is no filter. */
mfpg_status mfpg_filter_start(
    mfpg_context *ctx, mfpg_filter_kind kind, double epsilon, double delta, mfpg_filter *out);

/** The same for a budget >= 0 that is given itself: mu (gdp) or rho (zcdp). */
mfpg_status mfpg_filter_start_budget(
    mfpg_context *ctx, mfpg_filter_kind kind, double budget, mfpg_filter *out);

/** 1 where one more step of this mu >= 0 stays within the budget, the exact boundary included: rounding never admits one
 *  too many. 0 also for NaN, a negative number and, but for an infinite budget, +INFINITY. */
int mfpg_filter_admits(const mfpg_filter *filter, double mu);

/** Charges a step that is admitted and returns 1; returns 0 and changes nothing for any other. Charge before releasing. */
int mfpg_filter_spend(mfpg_filter *filter, double mu);

/** What was spent, in the unit of the budget, rounded up. For display: what is certified is the budget. */
double mfpg_filter_spent(const mfpg_filter *filter);

/** rho-zCDP to epsilon at delta, the best order taken, rounded up; +INFINITY where there is none. */
double mfpg_zcdp_epsilon(double rho, double delta);

/** Largest rho for which rho-zCDP is (epsilon, delta)-DP by that conversion, rounded down; 0 where there is none. */
double mfpg_zcdp_rho(double epsilon, double delta);

/** What has been spent so far, for display, however the steps were chosen: of the GDP filters of budget mu_i^2 = 2 rho_i,
 *  rho_i = 2^i/128, each at delta/2^(i+1), the first that is not exceeded. "At most epsilon at delta" is then true at
 *  whatever moment one looks, and nothing sharper is claimed. */
typedef struct mfpg_odometer {
    int64_t index; /* i; -1 where nothing can be said, and epsilon is +INFINITY */
    double rho;    /* rho_i */
    double delta;  /* of that filter: delta / 2^(i+1) */
    double epsilon;
} mfpg_odometer;

/** The words that go with it. */
#define MFPG_ODOMETER_NOTE                                                                                   \
    "display at any moment, whatever is still to come; nothing sharper than \"at most\" is certified"

/** mu: the root of the sum of the squares so far, rounded up; delta in (0,1) for the whole odometer. */
mfpg_odometer mfpg_odometer_read(double mu, double delta);

#endif
