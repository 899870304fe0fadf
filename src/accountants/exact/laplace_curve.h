/* The curve delta(epsilon) of a composed privacy loss as a trapezoid sum over a vertical line, with every error bounded. */
#ifndef MFPG_ACCOUNTANTS_EXACT_LAPLACE_CURVE_H
#define MFPG_ACCOUNTANTS_EXACT_LAPLACE_CURVE_H

#include "loss_saddle.h"

/* t_j = M(z_j) e^-log_scale / (z_j (z_j + 1)), z_j = c + ijh, j = 0 ... count - 1; they serve every epsilon. */
typedef struct laplace_curve {
    loss_line line;
    double tau2; /* square of the mu of a fictitious Gaussian step that is composed with everything */
    double log_scale;
    int count, room;
    long double *re, *im;                /* owned */
    long double error, density_error;    /* sums over j and -j of the errors of t, and of t z (z+1) */
    long double weighted;                /* of |t| |z|, for what epsilon adds to them */
    double remainder, density_remainder; /* of the terms that were left out; +INFINITY where unknown */
} laplace_curve;

/* Sums until what is left is negligible beside a delta of about e^log_delta at an epsilon near the given one. Returns 0 where
 * memory or work (which is counted down; one unit is about 3 ns) did not allow that. Either way to be cleared. */
int laplace_curve_build(const loss_sum *sum, const loss_line *line, double tau2, double epsilon,
    double log_delta, double *work, laplace_curve *out);
void laplace_curve_clear(laplace_curve *of);

typedef struct laplace_value {
    double delta, slope; /* estimates; slope is minus the derivative */
    double lower, upper; /* delta is between these, if epsilon was meant; NaN never leaves */
} laplace_value;

laplace_value laplace_curve_at(const laplace_curve *of, double epsilon);

#endif
