/* The computations of `pld`: epsilon and delta of a composition, rounded up, for one direction or one
 * adjacency. answer.c answers questions, curve.c composes, cells.c puts one step on a grid, and
 * grid_choice.c chooses the grid. */
#ifndef MFPG_ACCOUNTANTS_PLD_PLD_H
#define MFPG_ACCOUNTANTS_PLD_PLD_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/release.h"
#include "mfpg/status.h"

#include "accountants/sampled/sampled_steps.h"

enum { PLD_KINDS = SAMPLED_STEPS_MOST + 1 };

/* Which of the two laws of a step is P, under which the loss log(P/Q) is drawn, and which is Q. With u = the noisy value
 * over the noise, N_m the normal law of mean m, w the reach and q the rate:
 *   remove   P = (1-q) N_0 + q N_w, Q = N_0: the record is there in the run that is judged;
 *   add      the two exchanged;
 *   replace  the symmetrised law of theory/accounting "replace-one with Poisson sampling": above the loss 0 that of remove
 *            at twice the reach, below 0 its mirror image. */
typedef enum pld_side { PLD_REMOVE, PLD_ADD, PLD_REPLACE } pld_side;

/* Independent steps: sampled ones by kind, and all steps without sampling as one step with Gaussian-DP
 * parameter mu. */
typedef struct pld_mechanism {
    const sampled_step *sampled;
    int used;
    double mu; /* 0: none */
} pld_mechanism;

/* ---- answer.c: the results are +INFINITY, or delta 1, if no grid can represent the case; MFPG_ERR_MEMORY
 * if memory is exhausted ---- */

/* Computes epsilon at 0 < delta < 1 or, if for_delta is set, delta at a finite epsilon >= 0. */
mfpg_status pld_side_answer(
    const pld_mechanism *mechanism, pld_side side, int for_delta, double given, double *out);

/* zero-out: the larger of remove and add. replace: the smaller of the symmetrised law and of twice zero-out,
 * because a replaced record is one removed and one added: (e, d) of zero-out gives (2 e, (1 + exp e) d). */
mfpg_status pld_answer(
    const pld_mechanism *mechanism, mfpg_adjacency adjacency, int for_delta, double given, double *out);

/* ---- grid_choice.c: these numbers affect only tightness; a bad choice makes the bound of a curve loose,
 * never invalid ---- */

/* Returns the kinds of a mechanism one by one, as this side needs them: the reach is doubled for replace,
 * and mu is one step of rate 1 at the end. */
int pld_kinds(const pld_mechanism *mechanism);
sampled_step pld_kind(const pld_mechanism *mechanism, pld_side side, int at);

/* The question: epsilon at this delta (epsilon 0), or delta at this epsilon (delta 0). Both given: epsilon
 * at this delta, with the given epsilon as an estimate. */
typedef struct pld_aim {
    double delta, epsilon;
} pld_aim;

typedef struct pld_setting {
    /* s > 0 of the factor e^(s loss), which moves the mass to the losses that determine the answer */
    double tilt;
    double more_tilt; /* a second tilt, for losses above the window */
    double h;         /* step of the grid of losses; it has few bits, so that its multiples are exact */
    ptrdiff_t n;      /* points, a power of two */
    double low;       /* the window of the composed loss is [low, low + n h) */
    double epsilon;   /* an estimate of epsilon, or the given epsilon */
    double delta;     /* likewise */
    double loose;     /* log of (Chernoff's bound of delta divided by delta) */
    struct {
        double low, high;          /* the range of u that is kept for a step */
        double log_moment;         /* log E[e^(tilt loss)], nearly */
        double log_moment_further; /* of tilt + more_tilt */
    } kind[PLD_KINDS];
} pld_setting;

/* Returns 1 on success, 0 if no grid can represent the case, -1 if memory is exhausted. */
int pld_set_up(const pld_mechanism *mechanism, pld_side side, pld_aim aim, pld_setting *out);

/* ---- cells.c: one step's loss on a grid, pessimistically, by connecting the dots (Doroshenko et al. 2022) ---- */

/* Sums of the masses on the circle. The grid points of the step are offset + i h for whole i. */
typedef struct pld_spread {
    double offset;
    double sum;      /* sum of the masses on the circle */
    double further;  /* sum of the same masses times e^(more_tilt i h - log_further), rounded up */
    double infinite; /* probability of a loss that counts as infinite, rounded up */
    double blur;     /* a loss may be this much above its grid point */
    double log_scale;
    double log_further;
} pld_spread;

/* Adds to circle[i mod n] the mass at every grid point i times e^(tilt i h - log_scale), each rounded up: together with the
 * chance of infinity they dominate the step, in the sense of which composition keeps (every hockey-stick divergence, of the
 * step with everything else that is released, is at least that of the step). log_scale is chosen so that the sum is about
 * 1. */
void pld_cells_fold(const pld_setting *setting, const sampled_step *kind, pld_side side, int at,
    double *circle, pld_spread *out);

/* ---- curve.c: delta(epsilon) as an upper bound, by the fast Fourier transform ---- */

typedef struct pld_curve {
    pld_setting set;  /* the setting with which it was made, including the estimates of epsilon and delta */
    double *mass;     /* n: tilted, cyclic; owned */
    int64_t first;    /* the grid point at which the window begins */
    double offset;    /* of the grid */
    double shift;     /* how much a loss may exceed its grid point */
    double log_scale; /* K */
    double size;      /* size of the terms of K, for their rounding error */
    double noise;     /* 2-norm of the error of mass */
    double infinite;  /* probability of infinite loss and of losses above the window */
    double low, high; /* the interval in which epsilon is searched: below `low` the bound is useless */
} pld_curve;

/* Creates the bound for one question: it is valid for every epsilon and tight near the one in the aim. *out
 * is NULL if no grid can represent the case (noise below 1/60 of the sensitivity, losses beyond 600 in a
 * sampled step, delta below 1e-240, more than 2^53 steps of a kind); MFPG_ERR_MEMORY if memory is exhausted.
 * It has at most 2^22 points, which need 150 MiB and a few seconds to make; usually 2^14 points and some
 * milliseconds. */
mfpg_status pld_curve_create(const pld_mechanism *mechanism, pld_side side, pld_aim aim, pld_curve **out);
void pld_curve_destroy(pld_curve *curve);

/* Returns an upper bound of delta at epsilon >= 0, which may exceed 1. It decreases in epsilon. */
double pld_curve_delta(const pld_curve *curve, double epsilon);

#endif
