/* What other folders of the library ask of accountants, beyond the public headers. */
#ifndef MFPG_ACCOUNTANTS_ACCOUNTING_H
#define MFPG_ACCOUNTANTS_ACCOUNTING_H

#include "mfpg/accountant.h"
#include "mfpg/calibration.h"
#include "mfpg/filter.h"
#include "mfpg/hidden_state.h"

/* ---- kinds of accountants ---- */

/* What is fixed by the name of an accountant, as bits. */
enum {
    MFPG_ACCOUNTANT_CREDITS_SAMPLING = 1, /* Poisson batches of examples lower its answers */
    MFPG_ACCOUNTANT_CREDITS_FORGETTING =
        2,                            /* rounds forget earlier ones, by an assumption that is declared */
    MFPG_ACCOUNTANT_SUMS_SQUARES = 4, /* epsilon is that of the root of the sum of mu^2 */
    MFPG_ACCOUNTANT_TAKES_ORDERS = 8, /* reads orders of its options */
    MFPG_ACCOUNTANT_TAKES_WIDTH = 16, /* reads width of its options */
    MFPG_ACCOUNTANT_TAKES_DELTA = 32, /* delta is given and never found */
    MFPG_ACCOUNTANT_BOUNDS_DISTANCE =
        64,                       /* delta is a total variation between last models, for any epsilon */
    MFPG_ACCOUNTANT_OF_DATA = 128 /* knows releases of data, not of parameters */
};

/* The bits of that accountant; 0 for NULL and unknown names. */
int mfpg_accountant_facts(const char *name);

/* The first accountant of accountants.def with all these bits, or NULL. */
const char *mfpg_accountant_with(int facts);

/* The accountant of runs that name none: the tightest one for such releases. */
const char *mfpg_accountant_default(mfpg_particles particles, int samples_examples);

/* The one kind of release that it takes. */
mfpg_particles mfpg_accountant_particles(const mfpg_accountant *accountant);

/* ---- further answers ---- */

/* The answer of mfpg_accountant_epsilon, or of _delta, as upper end (paper_*: +INFINITY), and a lower end, which is 0 if
 * the accountant knows none, and holds if everything was released exactly as recorded. */
mfpg_status mfpg_accountant_epsilon_bounds(
    mfpg_context *ctx, const mfpg_accountant *accountant, double delta, mfpg_bounds *epsilon);
mfpg_status mfpg_accountant_delta_bounds(
    mfpg_context *ctx, const mfpg_accountant *accountant, double epsilon, mfpg_bounds *delta);

/* epsilon as if the promise had been made for this adjacency; +INFINITY if the accountant cannot tell. */
mfpg_status mfpg_accountant_epsilon_under(mfpg_context *ctx, const mfpg_accountant *accountant,
    mfpg_adjacency adjacency, double delta, double *epsilon);

/* A bound of the Renyi divergence of an order >= 1 between neighbours, in both directions; +INFINITY if none is known. */
double mfpg_accountant_renyi(const mfpg_accountant *accountant, double order);

/* 1 if it is plain that the epsilon of accountant is at least that of less at every delta; both are of one kind and
 * options. */
int mfpg_accountant_covers(const mfpg_accountant *accountant, const mfpg_accountant *less);

/* mu of the last state alone of a record that was pushed through steps >= 1 maps with noise of sd noise_sd each:
 * (distance/noise_sd) c^K sqrt((1-c^2)/(1-c^(2K))), at c = 1 (distance/noise_sd)/sqrt K (theory S5.2), rounded up;
 * +INFINITY for numbers out of range. Holds only if the states before the last stay hidden and no map depends on the record
 * (models public or trained on other people's data alone), and if every map multiplies distances by at most contraction = c
 * >= 0. */
double mfpg_data_exogenous_mu(double distance, double noise_sd, double contraction, int64_t steps);

/* ---- calibration ---- */

/* The formula of the paper, sensitivity sqrt(2 ln(1.25/delta))/epsilon: proved for epsilon up to 1 and false for large ones
 * (at delta 1e-5 from 8.42 on). For reproduction. NaN unless all are positive and finite and delta < 1. */
double mfpg_paper_classical_noise(double epsilon, double delta, double sensitivity);

/* Noise sd of a step of the entropic flow in the units of the gradient, sqrt(2 strength / step), rounded down. strength >=
 * 0, step > 0, both finite; else NaN. */
double mfpg_strength_noise(double strength, double step);

/* ---- filters ---- */

/* "accountant", "gdp", "zcdp": what a configuration calls it. */
const char *mfpg_filter_word(mfpg_filter_kind kind);

/* "GDP filter", "zCDP filter", "accountant of a public schedule": what people read. */
const char *mfpg_filter_name(mfpg_filter_kind kind);

/* What was spent, in the unit of the budget, rounded up. For display: what is certified is the budget. */
double mfpg_filter_spent(const mfpg_filter *filter);

/* As mfpg_filter_start, for a budget >= 0 that is given itself: mu (gdp) or rho (zcdp). */
mfpg_status mfpg_filter_start_budget(
    mfpg_context *ctx, mfpg_filter_kind kind, double budget, mfpg_filter *out);

/* Largest rho for which rho-zCDP is (epsilon, delta)-DP by mfpg_zcdp_epsilon, rounded down; 0 if there is none. */
double mfpg_zcdp_rho(double epsilon, double delta);

/* Reads the odometer. mu: the root of the sum of the squares so far, rounded up; delta in (0,1) for the whole odometer. */
mfpg_odometer mfpg_odometer_read(double mu, double delta);

/* ---- hidden states ---- */

/* As mfpg_hidden_mu, for equal steps from a public start if every state is projected onto a public convex set of that
 * diameter > 0 before the next step: from no step on can more than the diameter be left to hide. */
mfpg_status mfpg_hidden_bounded_mu(
    mfpg_context *ctx, const mfpg_hidden_step *step, double diameter, double *mu);

const char *mfpg_hidden_case_name(ptrdiff_t index); /* "none", "quadratic", ...; NULL past the end */

/* ---- ledgers ---- */

/* mfpg_ledger_append of releases that are made while they are read: release(user, i) is number i, every time that it is
 * asked. */
typedef mfpg_release (*mfpg_release_maker)(void *user, ptrdiff_t i);
mfpg_status mfpg_ledger_append_made(
    mfpg_context *ctx, mfpg_ledger *ledger, mfpg_release_maker release, void *user, ptrdiff_t count);

/* Opens the ledger of an interrupted run that is about to be repeated from next_round on. What it holds of that round and
 * later ones stays: append compares with it and adds what is missing, also the rest of an unfinished line. MFPG_ERR_INPUT
 * if another process has it open, or the file belongs to another run, now or, in append, by what it recorded. */
mfpg_status mfpg_ledger_resume(mfpg_context *ctx, const char *path, const mfpg_ledger_header *header,
    int64_t next_round, mfpg_ledger **out);

#endif
