/* An enclosure of epsilon(delta) and delta(epsilon) of composed Poisson-sampled Gaussian steps, by numerical inversion of a
 * Laplace transform with every error bounded. */
#ifndef MFPG_ACCOUNTANTS_EXACT_LAPLACE_H
#define MFPG_ACCOUNTANTS_EXACT_LAPLACE_H

#include "loss_saddle.h"
#include "mfpg/accountant.h"

/* Both ends of the smallest epsilon >= 0 with delta(epsilon) <= delta, delta in (0, 1), no further apart than width
 * max(1, epsilon) where that can be had; always sound, at worst the lower end is 0 and the upper one Chernoff's bound.
 * No answer takes more than a few seconds, or 64 MiB. At least one kind, or gauss > 0. */
mfpg_bounds laplace_epsilon(const loss_sum *sum, double delta, double width);

/* Both ends of delta at epsilon >= 0, their distance at most width times the upper one where that can be had. */
mfpg_bounds laplace_delta(const loss_sum *sum, double epsilon, double width);

/* An upper bound of epsilon from few moments: cheap, and usually a little above the upper end of the former. */
double laplace_chernoff(const loss_sum *sum, double delta);

#endif
