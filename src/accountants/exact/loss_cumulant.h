/* The privacy loss of one Poisson-sampled Gaussian step on the real line: what is needed to choose a contour. */
#ifndef MFPG_ACCOUNTANTS_EXACT_LOSS_CUMULANT_H
#define MFPG_ACCOUNTANTS_EXACT_LOSS_CUMULANT_H

#include "accountants/sampled/steps.h"

/* With rate q, reach w = 1/z, u standard normal, x = w u - w^2/2, v = q (e^x - 1) and l = log(1 + v): removing a record has
 * the loss l under the density (1 + v) phi(u), adding one the loss -l under phi(u). */
typedef enum loss_direction { LOSS_REMOVE, LOSS_ADD } loss_direction;

/* The loss tilted by e^(c loss): log M(c) and its first two derivatives. */
typedef struct loss_moments {
    double log_m, mean, variance;
} loss_moments;

/* Where the integrands of one step live, tails beyond e^-70 of their peaks left out. */
typedef struct loss_window {
    double low, high;
} loss_window;

loss_window loss_window_at(const sampled_step *kind, loss_direction direction, double c);

/* The widest strip |Im u| < eta on which the trapezoid rule is used: l is analytic up to pi z, and beyond 1.6 the Gaussian
 * weight grows faster than the rule gains. */
double loss_strip(double reach);

/* c > 0. Trapezoid rule, off by less than 1e-9 of M - 1 (of each derivative of it, likewise); log_m +INFINITY where M
 * exceeds e^600 or the window holds too many nodes. */
loss_moments loss_moments_at(const sampled_step *kind, loss_direction direction, double c);

/* The largest loss that adding can have in one step; +INFINITY for removing. */
double loss_most(const sampled_step *kind, loss_direction direction);

#endif
