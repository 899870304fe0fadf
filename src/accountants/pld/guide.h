/* Where to look: tilt, window and grid for a composition of privacy losses. Nothing sound rests on these numbers; a bad
 * choice makes the bound of pld_curve.h wide, never wrong. */
#ifndef MFPG_ACCOUNTANTS_PLD_GUIDE_H
#define MFPG_ACCOUNTANTS_PLD_GUIDE_H

#include <stddef.h>
#include <stdint.h>

#include "accountants/sampled/steps.h"

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

/* Its kinds one by one, as this side sees them: the reach doubled for replace; mu as one step of rate 1 at the end. */
int pld_kinds(const pld_mechanism *mechanism);
sampled_step pld_kind(const pld_mechanism *mechanism, pld_side side, int at);

/* log(1 - q + q e^x), x = w u - w^2/2: the loss of remove at u. */
double pld_loss(double rate, double reach, double u);

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

/* 1 on success; 0 where no grid can carry the case; -1 without memory. */
int pld_set_up(const pld_mechanism *mechanism, pld_side side, pld_aim aim, pld_setting *out);

#endif
