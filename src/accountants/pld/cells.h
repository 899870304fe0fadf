/* One step's privacy loss on a grid, pessimistically, by connecting the dots (Doroshenko et al. 2022). */
#ifndef MFPG_ACCOUNTANTS_PLD_CELLS_H
#define MFPG_ACCOUNTANTS_PLD_CELLS_H

#include "guide.h"

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
 * step with whatever else is released, is at least that of the step). log_scale is chosen so that the sum is about 1. */
void pld_cells_fold(const pld_setting *setting, const sampled_step *kind, pld_side side, int at,
    double *circle, pld_spread *out);

#endif
