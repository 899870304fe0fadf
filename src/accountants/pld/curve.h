/* delta(epsilon) of a composition as an upper bound, by the fast Fourier transform. */
#ifndef MFPG_ACCOUNTANTS_PLD_CURVE_H
#define MFPG_ACCOUNTANTS_PLD_CURVE_H

#include "guide.h"

#include "mfpg/status.h"

typedef struct pld_curve pld_curve;

/* The bound, made for one question: it holds for every epsilon and is close near the one that the aim is about. *out is NULL
 * where no grid can carry the case (noise below 1/60 of the sensitivity, losses beyond 600 in a sampled step, delta below
 * 1e-240, more than 2^53 steps of a kind); MFPG_ERR_MEMORY without memory. At most 2^22 points: 150 MiB while it is made, a
 * few seconds; usually 2^14 and some milliseconds. */
mfpg_status pld_curve_create(const pld_mechanism *mechanism, pld_side side, pld_aim aim, pld_curve **out);

void pld_curve_destroy(pld_curve *curve);

/* An upper bound of delta at epsilon >= 0, which may exceed 1. Falls in epsilon. */
double pld_curve_delta(const pld_curve *curve, double epsilon);

/* The ends between which epsilon can be looked for: below low the bound is useless. */
double pld_curve_low(const pld_curve *curve);
double pld_curve_high(const pld_curve *curve);

/* What epsilon and delta were taken for where grid and tilt were chosen. */
pld_aim pld_curve_guess(const pld_curve *curve);

#endif
