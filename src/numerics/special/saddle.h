/* Parts of the saddle-point form of binomial, Poisson and gamma densities (Loader 2000, "Fast and accurate computation of
 * binomial probabilities"): nothing large is subtracted from anything large. */
#ifndef MFPG_NUMERICS_SADDLE_H
#define MFPG_NUMERICS_SADDLE_H

/* log n! - log(sqrt(2 pi n) (n/e)^n) for n > 0 (n! is Gamma(n + 1)); absolute error below 2e-14. */
double mfpg_stirling_rest(double n);

/* x log(x/m) + m - x >= 0 for x >= 0, m > 0; relative error of a few units. */
double mfpg_deviance(double x, double m);

#endif
