/* The computations of `exact`: epsilon(delta) and delta(epsilon) of composed Poisson-sampled Gaussian steps,
 * enclosed between two ends, by numerical inversion of a Laplace transform with every error bounded.
 * laplace.c answers questions, laplace_curve.c sums, loss_nodes.c evaluates one step's moments in the
 * complex plane, loss_decay.c bounds what is left out, and loss_saddle.c chooses the contour. */
#ifndef MFPG_ACCOUNTANTS_EXACT_LOSS_H
#define MFPG_ACCOUNTANTS_EXACT_LOSS_H

#include <complex.h>

#include "mfpg/accountant.h"

#include "accountants/sampled/sampled_steps.h"

typedef long double complex complex_number;

static inline complex_number complex_of(long double re, long double im) {
    return __builtin_complex(re, im); /* clang lacks CMPLXL */
}

/* What was composed, in one direction. */
typedef struct loss_sum {
    const sampled_step *kind; /* rates in (0, 1) */
    int kinds;
    double gauss; /* sum of mu^2 of the steps without sampling */
    loss_direction direction;
} loss_sum;

/* ---- laplace.c ---- */

/* Returns both ends of the smallest epsilon >= 0 with delta(epsilon) <= delta, for delta in (0, 1), no
 * further apart than width max(1, epsilon) if possible. The ends are always valid; in the worst case the
 * lower end is 0 and the upper end is Chernoff's bound. No answer takes more than a few seconds, or 64 MiB.
 * The sum must have at least one kind, or gauss > 0. */
mfpg_bounds laplace_epsilon(const loss_sum *sum, double delta, double width);

/* Returns both ends of delta at epsilon >= 0, at a distance of at most width times the upper end if
 * possible. */
mfpg_bounds laplace_delta(const loss_sum *sum, double epsilon, double width);

/* Returns an upper bound of epsilon from few moments. It is cheap and usually a little above the upper end
 * of laplace_epsilon. */
double laplace_chernoff(const loss_sum *sum, double delta);

/* ---- loss_saddle.c: on the real line ---- */

/* The interval of u that contains the integrands of one step, except tails below e^-70 of their peaks. */
typedef struct loss_window {
    double low, high;
} loss_window;

loss_window loss_window_at(const sampled_step *kind, loss_direction direction, double c);

/* Returns the widest strip |Im u| < eta on which the trapezoid rule is used: l is analytic up to pi z, and
 * beyond 1.6 the Gaussian weight grows faster than the rule gains. */
double loss_strip(double reach);

/* The loss tilted by e^(c loss): log M(c) and its first two derivatives, for c > 0, by the trapezoid rule.
 * Their error is less than 1e-9 of M - 1 (and of each of its derivatives); log_m is +INFINITY if M exceeds
 * e^600 or the window needs too many nodes. */
typedef struct loss_moments {
    double log_m, mean, variance;
} loss_moments;

loss_moments loss_moments_at(const sampled_step *kind, loss_direction direction, double c);

/* Returns the largest loss of the sum, rounded up; +INFINITY if it is unbounded. */
double loss_sum_most(const loss_sum *sum);

/* A point of the curve and its abscissa c, accurate to a few per cent; c is 0 if none was found. */
typedef struct loss_saddle {
    double c, epsilon, log_delta;
    double chernoff; /* a valid bound: of epsilon if delta was given, otherwise of log delta */
} loss_saddle;

/* Returns the saddle whose epsilon, or otherwise whose log delta, is the target. */
loss_saddle loss_saddle_for(const loss_sum *sum, int for_epsilon, double target);

enum { LOSS_LINE_RIGHT = 8 };
#define LOSS_LINE_RATIO 1.15

/* The line Re z = c, sampled with step h. */
typedef struct loss_line {
    double c, h;
    double accuracy; /* the share of delta allowed for aliasing and for the terms left out */
    double log_m[LOSS_LINE_RIGHT + 1]; /* bounds of log M(c LOSS_LINE_RATIO^i) */
} loss_line;

/* Chooses the line. Any c > 0 gives a bound; h is 0 if no line is possible. At the saddle of M(c) e^(-ce)/(c
 * (c+1)) the terms are of the size of the curve. To the left of it they are larger than the curve, which
 * loses precision; but if the moments explode (rare, very large losses), the step can be so much longer that
 * this pays. */
loss_line loss_line_for(
    const loss_sum *sum, double saddle, double epsilon, double log_delta, double accuracy);

/* ---- loss_nodes.c: on a vertical line of the complex plane ---- */

/* M(c + iy) - 1 of one step, and a bound on its error in the complex plane. */
typedef struct loss_value {
    long double re, im, error;
} loss_value;

typedef struct loss_nodes loss_nodes;

/* Creates quadrature nodes for z = c + i j h, j = 0, 1, ...; NULL if memory is exhausted or more than `room`
 * nodes would be needed. */
loss_nodes *loss_nodes_open(const sampled_step *kind, loss_direction direction, double c, double h, int room);
void loss_nodes_close(loss_nodes *nodes);
int loss_nodes_count(const loss_nodes *nodes);

/* Returns the value at the next j, starting with 0. */
loss_value loss_nodes_next(loss_nodes *nodes);

/* Switches to double precision for all further values. They are many times as fast; their errors grow by
 * 1e-15 of M(c) per step. */
void loss_nodes_hurry(loss_nodes *nodes);

/* Returns the value at any y >= 0. */
loss_value loss_nodes_at(const loss_nodes *nodes, double y);

/* ---- loss_decay.c: the end of a sum over that line ---- */

/* One kind of step in the composition. */
typedef struct decaying {
    const sampled_step *kind;
    loss_direction direction;
    const loss_nodes *nodes;
    loss_value start; /* at y = 0 */
    double deviation; /* deviation of the tilted loss, not below the true one */
} decaying;

/* Returns a bound on the sum over y = from + h, from + 2h, ... of h/y^2 times the modulus of M(c+iy)/M(c),
 * where M is the product of all M_b^count and of a factor exp(-gauss y^2/2); +INFINITY if no bound below
 * e^-need / from is found. Every factor is at most 1, so the few that fall fastest give a bound. *points
 * becomes the number of y that were evaluated. */
double loss_decay_bound(
    const decaying *part, int parts, double gauss, double c, double h, double from, double need, int *points);

/* ---- laplace_curve.c: the curve delta(epsilon) as a trapezoid sum over that line ---- */

/* t_j = M(z_j) e^-log_scale / (z_j (z_j + 1)), z_j = c + ijh, j = 0 ... count - 1. The same terms serve
 * every epsilon. */
typedef struct laplace_curve {
    loss_line line;
    double tau2; /* square of the mu of a fictitious Gaussian step that is composed with everything */
    double log_scale;
    int count, room;
    complex_number *term;                /* owned */
    long double error, density_error;    /* sums over j and -j of the errors of t and of t z (z+1) */
    long double weighted;                /* sum of |t| |z|, for the error that epsilon adds to the terms */
    double remainder, density_remainder; /* bounds on the terms that were left out; +INFINITY if unknown */
} laplace_curve;

/* Sums until the rest is negligible compared with a delta of about e^log_delta at an epsilon near the given
 * one. Returns 0 if memory or work (which is counted down; one unit is about 3 ns) did not suffice. In both
 * cases the curve must be cleared. */
int laplace_curve_build(const loss_sum *sum, const loss_line *line, double tau2, double epsilon,
    double log_delta, double *work, laplace_curve *out);
void laplace_curve_clear(laplace_curve *of);

typedef struct laplace_value {
    double delta, slope; /* estimates; slope is minus the derivative */
    double lower, upper; /* delta lies between these; NaN never leaves this folder */
} laplace_value;

laplace_value laplace_curve_at(const laplace_curve *of, double epsilon);

#endif
