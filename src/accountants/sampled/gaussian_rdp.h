/* The Renyi divergence of one step of the Poisson-sampled Gaussian mechanism, as a bound that holds. */
#ifndef MFPG_ACCOUNTANTS_SAMPLED_GAUSSIAN_RDP_H
#define MFPG_ACCOUNTANTS_SAMPLED_GAUSSIAN_RDP_H

/* D_order((1-q) N(0, z^2) + q N(1, z^2) || N(0, z^2)) with q = rate and z = 1/reach: what a step reveals, in Renyi terms,
 * of whether one example is there. It is the larger of the two directions, for any dimension and any contribution of
 * norm at most 1 (Mironov, Talwar, Zhang 2019, theorems 4 and 5). Rounded up, by less than 1e-11 of itself wherever the
 * order is an integer up to 2^14 or the noise is not tiny (quadrature below); order 1 is the Kullback-Leibler limit.
 * rate in [0, 1], reach >= 0, order >= 1 and finite; else +INFINITY. */
double mfpg_sampled_gaussian_rdp(double rate, double reach, double order);

#endif
