/* The machinery of `exact`: epsilon(delta) and delta(epsilon) of composed Poisson-sampled Gaussian steps between two ends,
 * by numerical inversion of a Laplace transform with every error bounded. laplace.c asks, laplace_curve.c sums,
 * loss_nodes.c evaluates one step's moments in the complex plane, loss_decay.c bounds what is left out, loss_saddle.c
 * chooses the contour. */
#ifndef MFPG_ACCOUNTANTS_EXACT_LOSS_H
#define MFPG_ACCOUNTANTS_EXACT_LOSS_H

#include "mfpg/accountant.h"

#include "accountants/sampled/sampled_steps.h"

/* What was composed, in one direction. */
typedef struct loss_sum {
    const sampled_step *kind; /* rates in (0, 1) */
    int kinds;
    double gauss; /* sum of mu^2 of the steps without sampling */
    loss_direction direction;
} loss_sum;

/* ---- laplace.c ---- */

/* Both ends of the smallest epsilon >= 0 with delta(epsilon) <= delta, delta in (0, 1), no further apart than width
 * max(1, epsilon) if that can be had; always sound, at worst the lower end is 0 and the upper one Chernoff's bound.
 * No answer takes more than a few seconds, or 64 MiB. At least one kind, or gauss > 0. */
mfpg_bounds laplace_epsilon(const loss_sum *sum, double delta, double width);

/* Both ends of delta at epsilon >= 0, their distance at most width times the upper one if that can be had. */
mfpg_bounds laplace_delta(const loss_sum *sum, double epsilon, double width);

/* An upper bound of epsilon from few moments: cheap, and usually a little above the upper end of the former. */
double laplace_chernoff(const loss_sum *sum, double delta);

/* ---- loss_saddle.c: on the real line ---- */

/* The interval of u that holds the integrands of one step, tails beyond e^-70 of their peaks left out. */
typedef struct loss_window {
    double low, high;
} loss_window;

loss_window loss_window_at(const sampled_step *kind, loss_direction direction, double c);

/* The widest strip |Im u| < eta on which the trapezoid rule is used: l is analytic up to pi z, and beyond 1.6 the Gaussian
 * weight grows faster than the rule gains. */
double loss_strip(double reach);

/* The loss tilted by e^(c loss): log M(c) and its first two derivatives. c > 0. Trapezoid rule, off by less than 1e-9 of M
 * - 1 (of each derivative of it, likewise); log_m +INFINITY if M exceeds e^600 or the window holds too many nodes. */
typedef struct loss_moments {
    double log_m, mean, variance;
} loss_moments;

loss_moments loss_moments_at(const sampled_step *kind, loss_direction direction, double c);

/* The largest loss of the sum, rounded up; +INFINITY if there is none. */
double loss_sum_most(const loss_sum *sum);

/* A point of the curve and the abscissa c that belongs to it, to a few per cent; c is 0 if none was found. */
typedef struct loss_saddle {
    double c, epsilon, log_delta;
    double chernoff; /* a bound that holds: of epsilon if delta was asked for, else of log delta */
} loss_saddle;

/* The saddle whose epsilon, or else whose log delta, is the target. */
loss_saddle loss_saddle_for(const loss_sum *sum, int for_epsilon, double target);

enum { LOSS_LINE_RIGHT = 8 };
#define LOSS_LINE_RATIO 1.15

/* The line Re z = c, to be sampled with step h. */
typedef struct loss_line {
    double c, h;
    double accuracy; /* share of delta that aliases, and what is left out of the sum, may amount to */
    double log_m[LOSS_LINE_RIGHT + 1]; /* bounds of log M(c LOSS_LINE_RATIO^i) */
} loss_line;

/* Any c > 0 gives a bound; h is 0 if nothing can be done. At the saddle of M(c) e^(-ce)/(c (c+1)) the terms are largest
 * together with the curve. Left of it they are larger than the curve, which loses precision, but if the moments explode
 * (rare, enormous losses) the step can be so much longer that this pays. */
loss_line loss_line_for(
    const loss_sum *sum, double saddle, double epsilon, double log_delta, double accuracy);

/* ---- loss_nodes.c: on a vertical line of the complex plane ---- */

/* M(c + iy) - 1 of one step, and how far it can be from the truth in the plane. */
typedef struct loss_value {
    long double re, im, error;
} loss_value;

typedef struct loss_nodes loss_nodes;

/* Quadrature nodes for z = c + i j h, j = 0, 1, ...; NULL if there is no memory or more than `room` nodes would be
 * needed. */
loss_nodes *loss_nodes_open(const sampled_step *kind, loss_direction direction, double c, double h, int room);
void loss_nodes_close(loss_nodes *nodes);
int loss_nodes_count(const loss_nodes *nodes);

/* The value at the next j, from 0 on. */
loss_value loss_nodes_next(loss_nodes *nodes);

/* From here on next works in double precision, many times as fast; its errors then grow by 1e-15 of M(c) a step. */
void loss_nodes_hurry(loss_nodes *nodes);

/* The value at any y >= 0. */
loss_value loss_nodes_at(const loss_nodes *nodes, double y);

/* ---- loss_decay.c: the end of a sum over that line ---- */

/* One kind of step in the composition. */
typedef struct decaying {
    const sampled_step *kind;
    loss_direction direction;
    const loss_nodes *nodes;
    loss_value start; /* at y = 0 */
    double deviation; /* of the tilted loss, not below the true one */
} decaying;

/* A bound of the sum over y = from + h, from + 2h, ... of h/y^2 times the modulus of M(c+iy)/M(c), M the product of all
 * M_b^count and of a factor exp(-gauss y^2/2); +INFINITY if none is found that is below e^-need / from. Every factor is at
 * most 1, so a few that fall fastest bound all. *points becomes the number of y that were looked at. */
double loss_decay_bound(
    const decaying *part, int parts, double gauss, double c, double h, double from, double need, int *points);

/* ---- laplace_curve.c: the curve delta(epsilon) as a trapezoid sum over that line ---- */

/* t_j = M(z_j) e^-log_scale / (z_j (z_j + 1)), z_j = c + ijh, j = 0 ... count - 1; they serve every epsilon. */
typedef struct laplace_curve {
    loss_line line;
    double tau2; /* square of the mu of a fictitious Gaussian step that is composed with everything */
    double log_scale;
    int count, room;
    long double *re, *im;                /* owned */
    long double error, density_error;    /* sums over j and -j of the errors of t, and of t z (z+1) */
    long double weighted;                /* of |t| |z|, for what epsilon adds to them */
    double remainder, density_remainder; /* of the terms that were left out; +INFINITY if unknown */
} laplace_curve;

/* Sums until what is left is negligible compared with a delta of about e^log_delta at an epsilon near the given one.
 * Returns 0 if memory or work (which is counted down; one unit is about 3 ns) did not allow that. Either way to be
 * cleared. */
int laplace_curve_build(const loss_sum *sum, const loss_line *line, double tau2, double epsilon,
    double log_delta, double *work, laplace_curve *out);
void laplace_curve_clear(laplace_curve *of);

typedef struct laplace_value {
    double delta, slope; /* estimates; slope is minus the derivative */
    double lower, upper; /* delta is between these, if epsilon was meant; NaN never leaves */
} laplace_value;

laplace_value laplace_curve_at(const laplace_curve *of, double epsilon);

#endif
