/* The binomial law, and exact bounds of its probability (Clopper and Pearson 1934). */
#ifndef MFPG_NUMERICS_BINOMIAL_H
#define MFPG_NUMERICS_BINOMIAL_H

#include <stdint.h>

/* More than the relative error of a mass or a tail for n <= 1e8 where it is above 1e-290, for bounds that must hold;
 * measured against 50 digits at some thousands of random places: 3e-12. */
#define MFPG_BINOMIAL_ERROR 1e-11

/* P(X = k), 0 <= k <= n, of X ~ Bin(n, p), 0 <= p <= 1. */
double mfpg_binomial_mass(int64_t k, int64_t n, double p);

/* P(X >= k) and P(X <= k), any k: accurate in relative terms however small. */
double mfpg_binomial_upper_tail(int64_t k, int64_t n, double p);
double mfpg_binomial_lower_tail(int64_t k, int64_t n, double p);

/* The smallest k with P(X <= k) >= level, 0 < level < 1. */
int64_t mfpg_binomial_quantile(double level, int64_t n, double p);

/* One-sided bounds of p after k successes in n >= 1 trials, 0 <= k <= n, each wrong with probability at most alpha in (0, 1):
 * lower is rounded down and 0 for k = 0, upper is rounded up and 1 for k = n. Numbers out of range: 0 and 1. */
double mfpg_proportion_lower(int64_t k, int64_t n, double alpha);
double mfpg_proportion_upper(int64_t k, int64_t n, double alpha);

#endif
