/* Distributions of counts and ranks, for tests and their bounds: binomial with exact bounds of its
 * probability (Clopper and Pearson 1934), and the rank sum of two normal samples. */
#ifndef MFPG_NUMERICS_LAWS_H
#define MFPG_NUMERICS_LAWS_H

#include <stddef.h>
#include <stdint.h>

/* More than the relative error of a mass or a tail for n <= 1e8 if it is above 1e-290, for bounds that must hold;
 * measured against 50 digits at some thousands of random places: 3e-12. */
#define MFPG_BINOMIAL_ERROR 1e-11

/* Returns P(X = k), 0 <= k <= n, for X ~ Bin(n, p), 0 <= p <= 1. */
double mfpg_binomial_mass(int64_t k, int64_t n, double p);

/* Return P(X >= k) and P(X <= k) for any k, with small relative error even if they are tiny. */
double mfpg_binomial_upper_tail(int64_t k, int64_t n, double p);
double mfpg_binomial_lower_tail(int64_t k, int64_t n, double p);

/* One-sided bounds of p after k successes in n >= 1 trials, 0 <= k <= n, each wrong with probability at most alpha in (0, 1):
 * lower is rounded down and 0 for k = 0, upper is rounded up and 1 for k = n. Numbers out of range: 0 and 1. */
double mfpg_proportion_lower(int64_t k, int64_t n, double alpha);
double mfpg_proportion_upper(int64_t k, int64_t n, double alpha);

/* Of two samples of normal numbers with standard deviation 1 and means 0 and shift >= 0, U is the share of pairs (one of n0, one
 * of n1) in which the second is larger (Mann and Whitney). */
typedef struct mfpg_rank_sum {
    double mean; /* Phi(shift / sqrt 2) */
    double sd;   /* rounded up by 1e-12 of itself */
} mfpg_rank_sum;

mfpg_rank_sum mfpg_rank_sum_law(double shift, double n0, double n1);

/* Returns P(U = 1), rounded up: the integral of n0 phi(z) Phi(z)^(n0-1) Phi(shift-z)^n1. n0, n1 >= 1. */
double mfpg_rank_separation(double shift, double n0, double n1);

/* A score with a random number that decides between equal scores, because the law above has no ties. */
typedef struct mfpg_scored {
    double score; /* no NaN */
    uint64_t tie;
} mfpg_scored;

/* Ascending, for qsort. */
int mfpg_scored_compare(const void *a, const void *b);

/* Returns U of two samples, n0, n1 >= 1, which are sorted here. */
double mfpg_rank_share(mfpg_scored *x0, ptrdiff_t n0, mfpg_scored *x1, ptrdiff_t n1);

/* Owen's function T(h, a) for 0 <= a <= 1. */
double mfpg_owen(double h, double a);

/* log n! - log(sqrt(2 pi n) (n/e)^n) for n > 0 (n! is Gamma(n + 1)); absolute error below 2e-14. */
double mfpg_stirling_rest(double n);

/* x log(x/m) + m - x >= 0 for x >= 0, m > 0, to a few units of itself. */
double mfpg_deviance(double x, double m);

#endif
