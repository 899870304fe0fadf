/* What an attack's success proves: lower bounds of privacy loss from counts, each wrong with probability at
 * most alpha for any mechanism. A bound is 0 if nothing is proved, and never negative or NaN. Arm 0 and arm
 * 1 are runs on two neighbouring inputs. Scores should be larger in arm 1; a score that is larger in arm 0
 * proves nothing. Two bounds from the same data at alpha each hold together at 2 alpha.
 *
 * mu-GDP means that no test distinguishes the arms better than N(0,1) from N(mu,1). Numbers out of range
 * (alpha outside (0,1), inconsistent counts, NaN) prove nothing: 0. Threads: safe. Memory: allocates
 * nothing. Source: Clopper and Pearson 1934; Jagielski, Ullman and Oprea 2020; Steinke, Nasr and Jagielski
 * 2023; Mahloujifar, Melis and Chaudhuri 2024; docs/audit.md. */
#ifndef MFPG_AUDIT_BOUNDS_H
#define MFPG_AUDIT_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

/* Rounds a lower bound down, but not below 0: value minus a rounding error of `size` units of about 2^-43,
 * because special functions here err by tens of units of 2^-53. NaN becomes 0: nothing is proved. */
static inline double mfpg_below(double value, double size) {
    double below = value - 0x1p-43 * size;
    return below > 0.0 ? below : 0.0;
}

/* The errors of a test at a threshold fixed beforehand: arm 0 mistaken for arm 1, and arm 1 mistaken for arm
 * 0. */
typedef struct mfpg_error_counts {
    int64_t false_positives, runs0;
    int64_t false_negatives, runs1;
} mfpg_error_counts;

/* Return epsilon at delta in [0,1), without any assumption (alpha/2 per rate; both directions come from one
 * event), and total variation between the arms from the same two rates. */
double mfpg_bound_epsilon_direct(const mfpg_error_counts *counts, double delta, double alpha);
double mfpg_bound_tv(const mfpg_error_counts *counts, double alpha);

/* Returns mu from guesses of the arm of each run, `correct` of `runs` with equally many runs of both arms,
 * at a threshold fixed beforehand; or from one guess per independent fair coin. */
double mfpg_bound_mu_accuracy(int64_t correct, int64_t runs, double alpha);

/* Returns mu from ranks: auc is the share of all pairs (arm 0, arm 1) in which the score of arm 1 is larger,
 * with ties broken at random. It is exact if auc is 1; otherwise the law of auc under an exact shift is
 * approximated as normal, which errs on the safe side for mu > 0. */
double mfpg_bound_mu_rank(double auc, int64_t runs0, int64_t runs1, double alpha);

/* One run with m canaries, each present or absent by its own fair coin; `guesses` of them are guessed,
 * `correct` of these correctly; the number of guesses was fixed beforehand. The functions return the p-value
 * of (epsilon, delta)-DP, the largest epsilon refuted, and the largest mu refuted. */
double mfpg_bound_one_run_pvalue(
    int64_t canaries, int64_t guesses, int64_t correct, double epsilon, double delta);
double mfpg_bound_one_run_epsilon(
    int64_t canaries, int64_t guesses, int64_t correct, double delta, double alpha);
double mfpg_bound_one_run_mu(int64_t canaries, int64_t guesses, int64_t correct, double alpha);

/* These two prove nothing. They return the number of guesses, among a fixed list of shares of the canaries,
 * with which one run proves most if mu is true, and what that many prove in half of all runs. 0 if nothing
 * is proved, and for numbers out of range. */
int64_t mfpg_bound_one_run_guesses(int64_t canaries, double mu, double alpha);
double mfpg_bound_one_run_expected(int64_t canaries, int64_t guesses, double mu, double alpha);

/* A few runs with many canaries by fair coins, all guessed: share[j] is the share of correct guesses in run
 * j. The bound may be computed after every run, and the audit may stop at any time. The functions return the
 * natural log of the wealth at success rate `rate` in (0,1) (NaN out of range), and the largest success rate
 * in (1/2, 1) that the bets refute, or 0. */
double mfpg_bound_bet_log_wealth(const double *share, ptrdiff_t runs, double rate);
double mfpg_bound_rate_bet(const double *share, ptrdiff_t runs, double alpha);

/* Return what a success rate for guesses of fair coins proves: mu, epsilon at delta, and total variation,
 * the latter two without any assumption. */
double mfpg_bound_rate_mu(double rate);
double mfpg_bound_rate_epsilon(double rate, double delta);
double mfpg_bound_rate_tv(double rate);

/* Returns the largest probability of identifying the client's own among `candidates` under mu-GDP
 * (zero-out), rounded up. */
double mfpg_identification_cap(double mu, int64_t candidates);

/* Proves nothing: a fitted Gaussian, the difference of the means divided by the pooled deviation of n0 and
 * n1 scores, at least 0. */
double mfpg_mu_estimate(const double *score0, ptrdiff_t n0, const double *score1, ptrdiff_t n1);

#endif
