/* The loops over points of the symmetric relaxed iteration, in floats.
 *
 * Near the solution the errors of log u obey d <- (I - theta (I+P)) d, and P has its spectrum in [0,1], because the kernel is
 * positive semidefinite. For any spectrum in [1,2] the best relaxation with momentum (the heavy ball of Polyak),
 *
 *     s <- 0.0294 s - 0.6863 log r,   log u <- log u + s,
 *
 * contracts by (sqrt 2 - 1)/(sqrt 2 + 1) = 0.172, whatever n and eta: its numbers are 0.172^2 and (2/(sqrt 2 + 1))^2. */
#ifndef MFPG_NUMERICS_RELAXATION_H
#define MFPG_NUMERICS_RELAXATION_H

#include <stddef.h>

typedef struct mfpg_relaxation {
    ptrdiff_t n;
    float *u;       /* the scaling */
    float *moving;  /* what the next product is of: u, or u d */
    float *product; /* and what it gave */
    float *step;    /* s */
    float *d;       /* the change of log u, in units of the residual; refining only */
    float *aim;     /* what is wrong: 1 - r in units of the residual; refining only */
} mfpg_relaxation;

/* The parts of 6 n floats. */
void mfpg_relaxation_divide(mfpg_relaxation *at, ptrdiff_t n, float *work);

/* moving = 1; and once its product is there: u = moving = product^(-1/2). */
void mfpg_relaxation_begin(mfpg_relaxation *at);
void mfpg_relaxation_start(mfpg_relaxation *at);

/* A step of log u from the product of u; returns max |r - 1| before it, NAN included. */
float mfpg_relaxation_scale(mfpg_relaxation *at);

/* row_sum becomes r from K u; returns max |r - 1|, NAN included. */
double mfpg_relaxation_residual(ptrdiff_t n, const double *u, double *row_sum);

/* Sets out to solve (I + P) d = (1 - r)/residual, and makes the first step, which needs no product. */
void mfpg_relaxation_aim(mfpg_relaxation *at, const double *u, const double *row_sum, double residual);

/* A step of d from the product of u d; returns the largest that was wrong before it. */
float mfpg_relaxation_step(mfpg_relaxation *at);

/* u exp(residual d). */
void mfpg_relaxation_move(const mfpg_relaxation *at, double residual, double *u);

#endif
