/* The machinery of `pld`: epsilon and delta of a composition, rounded up, for one direction or one adjacency. answer.c
 * asks, curve.c composes, cells.c lays one step on a grid, grid_choice.c chooses the grid. */
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

/* Independent steps: sampled ones by kind, and all those without sampling as one, whose Gaussian-DP parameter is mu. */
typedef struct pld_mechanism {
    const sampled_step *sampled;
    int used;
    double mu; /* 0: none */
} pld_mechanism;

/* ---- answer.c: +INFINITY, or delta 1, if no grid can carry the case; MFPG_ERR_MEMORY without memory ---- */

/* epsilon at 0 < delta < 1, or for_delta delta at a finite epsilon >= 0. */
mfpg_status pld_side_answer(
    const pld_mechanism *mechanism, pld_side side, int for_delta, double given, double *out);

/* zero-out: the larger of remove and add. replace: the smaller of the symmetrised law and of twice zero-out, as a record that
 * is replaced is removed and another one added: from (e, d) of zero-out follows (2 e, (1 + exp e) d). */
mfpg_status pld_answer(
    const pld_mechanism *mechanism, mfpg_adjacency adjacency, int for_delta, double given, double *out);

/* ---- grid_choice.c: nothing sound rests on these numbers; a bad choice makes the bound of a curve wide, never wrong
 * ---- */

/* The kinds of a mechanism one by one, as this side sees them: the reach doubled for replace; mu as one step of rate 1 at
 * the end. */
int pld_kinds(const pld_mechanism *mechanism);
sampled_step pld_kind(const pld_mechanism *mechanism, pld_side side, int at);

/* What is asked for: epsilon at this delta (epsilon 0), or delta at this epsilon (delta 0). Both: epsilon at this delta, when it
 * is known to be about this one. */
typedef struct pld_aim {
    double delta, epsilon;
} pld_aim;

typedef struct pld_setting {
    double tilt;      /* s > 0 of the factor e^(s loss) that moves the mass to where the answer is decided */
    double more_tilt; /* a second one for what lies above the window */
    double h;         /* step of the grid of losses; few bits, so that its multiples are exact */
    ptrdiff_t n;      /* points, a power of two */
    double low;       /* the window of the composed loss is [low, low + n h) */
    double epsilon;   /* a guess of the answer, or the one given */
    double delta;     /* likewise */
    double loose;     /* log of Chernoff's bound of delta over delta */
    struct {
        double low, high;          /* what u is kept of a step */
        double log_moment;         /* log E[e^(tilt loss)], nearly */
        double log_moment_further; /* of tilt + more_tilt */
    } kind[PLD_KINDS];
} pld_setting;

/* 1 on success; 0 if no grid can carry the case; -1 without memory. */
int pld_set_up(const pld_mechanism *mechanism, pld_side side, pld_aim aim, pld_setting *out);

/* ---- cells.c: one step's loss on a grid, pessimistically, by connecting the dots (Doroshenko et al. 2022) ---- */

/* What the masses laid on the circle add up to. The grid points of the step are offset + i h for whole i. */
typedef struct pld_spread {
    double offset;
    double sum;      /* of what was laid on the circle */
    double further;  /* of the same times e^(more_tilt i h - log_further), rounded up */
    double infinite; /* chance of a loss that counts as infinite, rounded up */
    double blur;     /* a loss may lie this much above its grid point */
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
    pld_setting set;  /* also: what epsilon and delta were taken for when it was chosen */
    double *mass;     /* n: tilted, cyclic; owned */
    int64_t first;    /* the window begins at this grid point */
    double offset;    /* of the grid */
    double shift;     /* how much a loss may exceed its grid point */
    double log_scale; /* K */
    double size;      /* of the terms of K, for their rounding */
    double noise;     /* 2-norm of the error of mass */
    double infinite;  /* chance of infinite loss and of what lies above the window */
    double low, high; /* the ends between which epsilon can be looked for: below low the bound is useless */
} pld_curve;

/* The bound, made for one question: it holds for every epsilon and is close near the one that the aim is about. *out is NULL
 * if no grid can carry the case (noise below 1/60 of the sensitivity, losses beyond 600 in a sampled step, delta below
 * 1e-240, more than 2^53 steps of a kind); MFPG_ERR_MEMORY without memory. At most 2^22 points: 150 MiB while it is made, a
 * few seconds; usually 2^14 and some milliseconds. */
mfpg_status pld_curve_create(const pld_mechanism *mechanism, pld_side side, pld_aim aim, pld_curve **out);
void pld_curve_destroy(pld_curve *curve);

/* An upper bound of delta at epsilon >= 0, which may exceed 1. Falls in epsilon. */
double pld_curve_delta(const pld_curve *curve, double epsilon);

#endif
