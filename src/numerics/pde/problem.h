/* A checked model on its grid: what the backward and the forward equation share. */
#ifndef MFPG_PDE_PROBLEM_H
#define MFPG_PDE_PROBLEM_H

#include "control.h"
#include "tridiagonal.h"

typedef struct mfpg_problem {
    const mfpg_pde_model *model;
    mfpg_pde_options options;
    ptrdiff_t n, steps, types;
    double h, inverse_h, dt;
    mfpg_controls controls;
    double *x;         /* n: the nodes; the arrays below are parts of the same block */
    double *slope;     /* n: L' */
    double *running;   /* n: l */
    double *pull;      /* n: x / prior variance */
    double *start;     /* n: the masses at time 0, sum 1 */
    double *share;     /* types */
    double *costs;     /* control_count: c of each control */
    double *workspace; /* 7 n a type */
} mfpg_problem;

/* Checks and tabulates; model is borrowed. Free with mfpg_problem_clear, also after a failure. */
mfpg_status mfpg_problem_create(
    mfpg_context *ctx, const mfpg_pde_model *model, const mfpg_pde_options *options, mfpg_problem *out);
void mfpg_problem_clear(mfpg_problem *problem);

/* The drift at node i without the part that the control scales, towards a population of that mean. */
static inline double mfpg_problem_drift(const mfpg_problem *p, ptrdiff_t i, double mean) {
    return -p->slope[i] - p->model->attraction * (p->x[i] - mean);
}

/* Fills the chain of one step: rates times dt for the policy's controls. */
void mfpg_problem_chain(const mfpg_problem *problem, double mean, const double *control, mfpg_chain *chain);

/* A chain in the workspace of a type, and four further arrays of n there. */
mfpg_chain mfpg_problem_workspace(const mfpg_problem *problem, ptrdiff_t type, double *further[4]);

#endif
