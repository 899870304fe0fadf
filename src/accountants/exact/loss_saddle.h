/* The composed privacy loss on the real line: where its curve has its saddle, Chernoff's bound, and the vertical line along
 * which to invert its transform. */
#ifndef MFPG_ACCOUNTANTS_EXACT_LOSS_SADDLE_H
#define MFPG_ACCOUNTANTS_EXACT_LOSS_SADDLE_H

#include "loss_cumulant.h"

/* What was composed, in one direction. */
typedef struct loss_sum {
    const sampled_step *kind; /* rates in (0, 1) */
    int kinds;
    double gauss; /* sum of mu^2 of the steps without sampling */
    loss_direction direction;
} loss_sum;

/* The largest loss there can be, rounded up; +INFINITY where there is none. */
double loss_sum_most(const loss_sum *sum);

/* A point of the curve and the abscissa c that belongs to it, to a few per cent; c is 0 where none was found. */
typedef struct loss_saddle {
    double c, epsilon, log_delta;
    double chernoff; /* a bound that holds: of epsilon where delta was asked for, of log delta else */
} loss_saddle;

loss_saddle loss_saddle_for_delta(const loss_sum *sum, double log_delta);
loss_saddle loss_saddle_for_epsilon(const loss_sum *sum, double epsilon);

enum { LOSS_LINE_RIGHT = 8 };
#define LOSS_LINE_RATIO 1.15

/* The line Re z = c, to be sampled with step h. */
typedef struct loss_line {
    double c, h;
    double accuracy; /* share of delta that aliases, and what is left out of the sum, may amount to */
    double log_m[LOSS_LINE_RIGHT + 1]; /* bounds of log M(c LOSS_LINE_RATIO^i) */
} loss_line;

/* Any c > 0 gives a bound; h is 0 where nothing can be done. At the saddle of M(c) e^(-ce)/(c (c+1)) the terms are largest
 * together with the curve. Left of it they are larger than the curve, which loses precision, but where the moments explode
 * (rare, enormous losses) the step can be so much longer that this pays. */
loss_line loss_line_for(
    const loss_sum *sum, double saddle, double epsilon, double log_delta, double accuracy);

#endif
