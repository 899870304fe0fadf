/** What an attack's success proves: lower bounds of privacy loss from counts, each wrong with probability at most alpha
 *  whatever the mechanism really does. A bound is 0 where nothing is proved: never negative, never NaN. Arm 0 and arm 1 are
 *  runs on two neighbouring inputs, scores are expected to be larger in arm 1, and a score that is larger in arm 0 proves
 *  nothing. Two bounds from the same data at alpha each hold together at 2 alpha.
 *
 *  mu-GDP says that no test tells the arms apart better than N(0,1) from N(mu,1). Numbers out of range (alpha outside (0,1),
 *  counts that do not fit, NaN) prove nothing: 0. Threads: safe. Memory: allocates nothing. Source: Clopper and Pearson 1934;
 *  Jagielski, Ullman and Oprea 2020; Steinke, Nasr and Jagielski 2023; Mahloujifar, Melis and Chaudhuri 2024; docs/audit.md. */
#ifndef MFPG_AUDIT_BOUNDS_H
#define MFPG_AUDIT_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

/** What a test at a threshold fixed beforehand got wrong: arm 0 taken for arm 1, arm 1 taken for arm 0. */
typedef struct mfpg_error_counts {
    int64_t false_positives, runs0;
    int64_t false_negatives, runs1;
} mfpg_error_counts;

/** epsilon at delta in [0,1), without any assumption (alpha/2 per rate; both directions come from one event). */
double mfpg_audit_epsilon_direct(const mfpg_error_counts *counts, double delta, double alpha);

/** mu from the same two rates. */
double mfpg_audit_mu_two_error(const mfpg_error_counts *counts, double alpha);

/** Total variation between the arms from the same two rates. */
double mfpg_audit_tv(const mfpg_error_counts *counts, double alpha);

/** mu from guesses of which arm a run is, `correct` of `runs` in equal numbers of both arms, at a threshold fixed beforehand;
 *  or one guess a fresh fair coin. */
double mfpg_audit_mu_accuracy(int64_t correct, int64_t runs, double alpha);

/** mu from pairs, one run of each arm, made before looking: in `wins` of them the score of arm 1 is larger. */
double mfpg_audit_mu_pairs(int64_t wins, int64_t pairs, double alpha);

/** mu from ranks: auc is the share of all pairs (arm 0, arm 1) in which the score of arm 1 is larger, ties broken at random.
 *  Exact where auc is 1; else the law of auc under an exact shift is taken as normal, which errs on the safe side for mu > 0. */
double mfpg_audit_mu_rank(double auc, int64_t runs0, int64_t runs1, double alpha);

/** One run with m canaries, each present or absent by its own fair coin, and `guesses` of them guessed, `correct` of these
 *  rightly; which number of guesses is made was fixed beforehand. p-value of (epsilon, delta)-DP; the largest epsilon refuted; the largest mu refuted. */
double mfpg_audit_one_run_pvalue(
    int64_t canaries, int64_t guesses, int64_t correct, double epsilon, double delta);
double mfpg_audit_one_run_epsilon(
    int64_t canaries, int64_t guesses, int64_t correct, double delta, double alpha);
double mfpg_audit_one_run_mu(int64_t canaries, int64_t guesses, int64_t correct, double alpha);

/** What the last one tends to, the more canaries, all guessed, under an exact mu: its ceiling, a limit and no bound. */
double mfpg_audit_one_run_ceiling(double mu, double alpha);

/** A few runs with many canaries by fair coins, all guessed: share[j] is the share of right guesses in run j. May be asked
 *  after every run and stopped at any time. Natural log of the wealth at success rate rate in (0,1), NaN out of range; and mu. */
double mfpg_audit_bet_log_wealth(const double *share, ptrdiff_t runs, double rate);
double mfpg_audit_mu_bet(const double *share, ptrdiff_t runs, double alpha);

/** The largest success rate that the bets refute, in (1/2, 1), or 0; and what such a rate of guessing fair coins proves: mu,
 *  epsilon at delta, total variation, the latter two without any assumption. */
double mfpg_audit_rate_bet(const double *share, ptrdiff_t runs, double alpha);
double mfpg_audit_rate_mu(double rate);
double mfpg_audit_rate_epsilon(double rate, double delta);
double mfpg_audit_rate_tv(double rate);

/** The largest auc (as above) of any score under mu-GDP, and in one round with Poisson sampling at a rate in [0,1]; rounded up. */
double mfpg_audit_auc_cap(double mu);
double mfpg_audit_auc_cap_sampled(double rate, double mu);

/** The largest chance of telling which of `candidates` is the client's own under mu-GDP (zero-out), rounded up. */
double mfpg_audit_identification_cap(double mu, int64_t candidates);

/** Half the width of a one-sided band that holds a whole distribution function of n draws (Dvoretzky, Kiefer, Wolfowitz). */
double mfpg_audit_band(int64_t runs, double alpha);

/** More false alarms than this among audits of true promises happen with probability below 1/1000. */
int64_t mfpg_audit_false_alarms_allowed(int64_t audits, double alpha);

/* ---- planning: no proofs ---- */

typedef enum mfpg_audit_route {
    MFPG_ROUTE_NONE = 0, /* nothing is proved */
    MFPG_ROUTE_RANK,
    MFPG_ROUTE_ACCURACY,
    MFPG_ROUTE_PAIRS,
    MFPG_ROUTE_TWO_ERROR,
    MFPG_ROUTE_BET,
    MFPG_ROUTE_ONE_RUN
} mfpg_audit_route;

const char *mfpg_audit_route_name(mfpg_audit_route route); /* "none", "rank", ... */

/** The chance that a route (rank, pairs, accuracy, two-error) with n runs an arm proves at least `wanted` where mu is true; the
 *  threshold, where there is one, is mu/2. NaN for other routes and numbers out of range. */
double mfpg_audit_power(mfpg_audit_route route, double mu, double wanted, int64_t n, double alpha);

/** The fewest runs, both arms together, with which ranks refute `promised` with that power where mu is true > promised; 0 where
 *  2^40 do not. */
int64_t mfpg_audit_runs_needed(double mu, double promised, double alpha, double power);

/** The number of guesses, among a fixed list of shares of the canaries, with which one run proves most where mu is true; and what
 *  that many prove half of the time. 0 where nothing is proved, and for numbers out of range. */
int64_t mfpg_audit_one_run_guesses(int64_t canaries, double mu, double alpha);
double mfpg_audit_one_run_expected(int64_t canaries, int64_t guesses, double mu, double alpha);

/** A fitted Gaussian: the gap of the means over the pooled deviation of n0 and n1 scores, at least 0. An estimate, no proof. */
double mfpg_audit_mu_estimate(const double *score0, ptrdiff_t n0, const double *score1, ptrdiff_t n1);

/* ---- tests of the code by its model: no proofs of leakage ---- */

/** Chance of so little noise: sum of (residual / promised sd)^2 over dof entries, or less, where the noise is as promised. */
double mfpg_audit_noise_pvalue(double sum_squares, double dof);

/** The fewest entries with which noise of `factor` < 1 times the promised sd gives a p-value of at most alpha with that power. */
int64_t mfpg_audit_noise_entries_needed(double factor, double alpha, double power);

#endif
