/* The forward equation of all types together: (I - dt A^T) p^{n+1} = p^n with the matrices of the backward one. */
#ifndef MFPG_PDE_FLOW_H
#define MFPG_PDE_FLOW_H

#include "problem.h"

/* What a pass over time has seen. */
typedef struct mfpg_flow_report {
    double edge_mass;   /* density at both ends times the standard deviation, of a type, largest */
    double added_noise; /* by the scheme: its mean over law and time */
    double noise;       /* the control's */
    double drift_step;  /* dt times the mean |db/dx| of a type, largest */
} mfpg_flow_report;

/* Masses per node of every type (types x n, row k, overwritten) under the policies control (types x (steps+1) x n): each step uses the mean
 * of the population at its beginning, so that no iteration is needed.
 *  path   steps+1: the population's mean, written
 *  cost   types: what a player of the type pays, written
 *  masses types x (steps+1) x n, written; or NULL
 *  report written; or NULL */
void mfpg_flow_run(const mfpg_problem *problem, const double *control, double *path, double *cost,
    double *current, double *masses, mfpg_flow_report *report);

/* p <- the mass after one step of the printed equation b' transposed, eps Laplace(mu). The chain's pivot and the four
 * arrays of n are workspace. */
void mfpg_flow_printed_step(
    const mfpg_chain *chain, double diffusion, const double *control, double *const further[4], double *p);

#endif
