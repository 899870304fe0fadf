/* What other folders of the library use of accountants, in addition to the public headers. */
#ifndef MFPG_ACCOUNTANTS_ACCOUNTING_H
#define MFPG_ACCOUNTANTS_ACCOUNTING_H

#include "mfpg/accountant.h"
#include "mfpg/calibration.h"
#include "mfpg/filter.h"
#include "mfpg/hidden_state.h"

/* ---- kinds of accountants ---- */

/* Facts that follow from the name of an accountant, as bits. */
enum {
    /* its answers are smaller if examples are sampled in Poisson batches */
    MFPG_ACCOUNTANT_CREDITS_SAMPLING = 1,
    MFPG_ACCOUNTANT_CREDITS_FORGETTING = 2, /* later rounds hide earlier ones, under a declared assumption */
    MFPG_ACCOUNTANT_SUMS_SQUARES = 4,       /* its epsilon is that of the root of the sum of mu^2 */
    MFPG_ACCOUNTANT_TAKES_ORDERS = 8,       /* reads orders of its options */
    MFPG_ACCOUNTANT_TAKES_WIDTH = 16,       /* reads width of its options */
    MFPG_ACCOUNTANT_TAKES_DELTA = 32,       /* delta is given and never found */
    /* its delta is a total variation between last models and applies to every epsilon */
    MFPG_ACCOUNTANT_BOUNDS_DISTANCE = 64,
    MFPG_ACCOUNTANT_OF_DATA = 128 /* accepts releases of data and not of parameters */
};

/* The first of mfpg_accountants, those whose epsilon is a guarantee. */
extern const mfpg_kinds mfpg_certifying_accountants;

/* Returns the bits of that accountant; 0 for NULL and unknown names. */
int mfpg_accountant_facts(const char *name);

/* Returns the first accountant of accountants.def that has all these bits, or NULL. */
const char *mfpg_accountant_with(int facts);

/* Returns the accountant for runs that name none: the tightest one for such releases. */
const char *mfpg_accountant_default(mfpg_particles particles, int samples_examples);

/* Returns the kind of particles whose releases the accountant accepts. */
mfpg_particles mfpg_accountant_particles(const mfpg_accountant *accountant);

/* ---- further answers ---- */

/* Computes the result of mfpg_accountant_epsilon, or of _delta, as the upper end (paper_*: +INFINITY), and a
 * lower end. The lower end is 0 if the accountant knows none; it is valid if everything was released exactly
 * as recorded. */
mfpg_status mfpg_accountant_epsilon_bounds(
    mfpg_context *ctx, const mfpg_accountant *accountant, double delta, mfpg_bounds *epsilon);
mfpg_status mfpg_accountant_delta_bounds(
    mfpg_context *ctx, const mfpg_accountant *accountant, double epsilon, mfpg_bounds *delta);

/* Computes epsilon as if the promise had been made for this adjacency; +INFINITY if the accountant cannot
 * compute it. */
mfpg_status mfpg_accountant_epsilon_under(mfpg_context *ctx, const mfpg_accountant *accountant,
    mfpg_adjacency adjacency, double delta, double *epsilon);

/* Returns an upper bound on the Renyi divergence of an order >= 1 between neighbours, in both directions;
 * +INFINITY if none is known. */
double mfpg_accountant_renyi(const mfpg_accountant *accountant, double order);

/* Returns 1 if a cheap comparison shows that the epsilon of `accountant` is at least that of `less` at every
 * delta; both must have the same kind and options. */
int mfpg_accountant_covers(const mfpg_accountant *accountant, const mfpg_accountant *less);

/* Returns mu of the last state alone of a record that passed through steps >= 1 maps, each followed by noise
 * of sd noise_sd: (distance/noise_sd) c^K sqrt((1-c^2)/(1-c^(2K))), and (distance/noise_sd)/sqrt K at c = 1
 * (theory S5.2), rounded up; +INFINITY for numbers out of range. It is valid only if the states before the
 * last stay hidden, no map depends on the record (the models are public or were trained on other clients'
 * data alone), and every map multiplies distances by at most contraction = c >= 0. */
double mfpg_data_exogenous_mu(double distance, double noise_sd, double contraction, int64_t steps);

/* ---- calibration ---- */

/* Returns the largest mu for which mu-GDP is (epsilon, delta)-DP, rounded down (by a relative 1.1e-12).
 * Noise of sd sensitivity/mu therefore costs at most this epsilon. The result is +INFINITY for epsilon
 * +INFINITY, and 0 for NaN, for a value out of range and if no such mu exists. */
double mfpg_gdp_mu(double epsilon, double delta);

/* Returns the paper's formula, sensitivity sqrt(2 ln(1.25/delta))/epsilon. It is proved for epsilon up to 1
 * and false for large epsilon (at delta 1e-5 from 8.42 on), so it serves reproduction only. NaN unless all
 * arguments are positive and finite and delta < 1. */
double mfpg_paper_classical_noise(double epsilon, double delta, double sensitivity);

/* Returns the noise sd of a step of the entropic flow in the units of the gradient, sqrt(2 strength / step),
 * rounded down. strength >= 0 and step > 0 must be finite; otherwise NaN. */
double mfpg_strength_noise(double strength, double step);

/* ---- filters ---- */

/* Returns "accountant", "gdp" or "zcdp", the name in a configuration. */
const char *mfpg_filter_word(mfpg_filter_kind kind);

/* Returns "GDP filter", "zCDP filter" or "accountant of a public schedule", the name for people. */
const char *mfpg_filter_name(mfpg_filter_kind kind);

/* Returns what was spent, in the unit of the budget, rounded up. It is for display: the certificate is the
 * whole budget. */
double mfpg_filter_spent(const mfpg_filter *filter);

/* Does the same as mfpg_filter_start for a budget >= 0 that is given directly: mu (gdp) or rho (zcdp). */
mfpg_status mfpg_filter_start_budget(
    mfpg_context *ctx, mfpg_filter_kind kind, double budget, mfpg_filter *out);

/* Returns the largest rho for which rho-zCDP is (epsilon, delta)-DP by mfpg_zcdp_epsilon, rounded down; 0 if
 * none exists. */
double mfpg_zcdp_rho(double epsilon, double delta);

/* Reads the odometer. mu is the root of the sum of the squares so far, rounded up; delta in (0,1) is that of
 * the whole odometer. */
mfpg_odometer mfpg_odometer_read(double mu, double delta);

/* ---- hidden states ---- */

/* Equal steps in a row: x <- phi(x) + N(0, noise_sd^2 I). In one of the two runs that are compared, phi
 * multiplies distances by at most `contraction`, a constant that does not depend on data. The two maps phi
 * differ by at most `shift` at every point. */
typedef struct mfpg_hidden_step {
    double contraction; /* c >= 0; may exceed 1 */
    double shift;       /* Delta >= 0 */
    double noise_sd;    /* s >= 0 */
    int64_t times;      /* >= 1 */
} mfpg_hidden_step;

/* Computes mu of the state after the last step by the greatest convex minorant of theory S2.3, rounded up.
 * If every c is 1, it equals mu by composition. Time is linear in count, whatever the `times` of a step.
 * Steps with c > 1 are the exception: they are taken one by one, and beyond 65,536 of them each is charged
 * in full, which never gives too small a mu.
 * @param[in]  step       count of them, in the order of the run; 0: nothing was released
 * @param[in]  start_gap  largest distance between the two starts (infinity-Wasserstein), >= 0; 0: the start
 * is public
 * @param[out] mu         +INFINITY if a gap is left that no noise hides, and on failure
 * @return MFPG_OK, MFPG_ERR_DOMAIN for NaN, an infinite or a negative number, MFPG_ERR_MEMORY. ctx may be
 * NULL. */
mfpg_status mfpg_hidden_mu(
    mfpg_context *ctx, const mfpg_hidden_step *step, ptrdiff_t count, double start_gap, double *mu);

/* Does the same as mfpg_hidden_mu for equal steps from a public start, if every state is projected onto a
 * public convex set of that diameter > 0 before the next step. At any step the distance that remains to be
 * hidden is then at most the diameter. */
mfpg_status mfpg_hidden_bounded_mu(
    mfpg_context *ctx, const mfpg_hidden_step *step, double diameter, double *mu);

const char *mfpg_hidden_case_name(ptrdiff_t index); /* "none", "quadratic", ...; NULL past the end */

/* ---- ledgers ---- */

/* Appends releases like mfpg_ledger_append, but computes them when they are read: release(user, i) returns
 * number i and must return the same each time. */
typedef mfpg_release (*mfpg_release_maker)(void *user, ptrdiff_t i);
mfpg_status mfpg_ledger_append_made(
    mfpg_context *ctx, mfpg_ledger *ledger, mfpg_release_maker release, void *user, ptrdiff_t count);

/* Opens the ledger of an interrupted run that is about to be repeated from next_round on. Lines of that
 * round and of later ones are kept: append compares with them and adds what is missing, including the rest
 * of an unfinished line. MFPG_ERR_INPUT if another process has the ledger open, or if the file belongs to
 * another run, which is detected here or, by its records, in append. */
mfpg_status mfpg_ledger_resume(mfpg_context *ctx, const char *path, const mfpg_ledger_header *header,
    int64_t next_round, mfpg_ledger **out);

#endif
