/** Calibration finds the noise, strength, sampling rate or number of steps with which a schedule meets a
 *  target (epsilon, delta). The accountant evaluated the returned number and found that it meets the target.
 *  The exact solution differs from it by at most a millionth. */
#ifndef MFPG_CALIBRATION_H
#define MFPG_CALIBRATION_H

#include <stddef.h>

#include "accountant.h"

/** Returns the smallest noise sd with which ONE Gaussian release of that sensitivity is (epsilon, delta)-DP
 *  (analytic Gaussian mechanism: Balle and Wang, ICML 2018), rounded up by less than a relative 1.2e-12. The
 *  sensitivity must be that of the intended adjacency: C for an update clipped to C under zero-out, 2C under
 *  replace. The result is 0 for epsilon +INFINITY and for sensitivity 0. It is +INFINITY if no noise is
 *  enough (delta 0), for NaN and for a value out of range: sensitivity must be finite and >= 0, epsilon >= 0,
 *  delta in [0, 1). */
double mfpg_calibrate_noise(double epsilon, double delta, double sensitivity);

/** The number to be found in one release of a schedule. */
typedef enum mfpg_solve {
    MFPG_SOLVE_NOISE = 0, /* the smallest noise_sd; last_sd is set to the same value */
    MFPG_SOLVE_STRENGTH,  /* the smallest action.strength; noise_sd is sqrt(2 strength/step), rounded down */
    MFPG_SOLVE_RATE,      /* the largest sampling_rate */
    MFPG_SOLVE_STEPS      /* the largest number of steps, exactly */
} mfpg_solve;

typedef struct mfpg_calibration_options {
    const char *accountant;                 /* name in accountants.def, of one that certifies */
    const mfpg_accountant_options *options; /* of the accountant; NULL: its defaults */
    double epsilon, delta;                  /* the target: epsilon >= 0 and delta in [0, 1) */
    mfpg_solve solve;
    /* an array of count >= 1 releases, all of which are made; borrowed for the call */
    const mfpg_release *schedule;
    ptrdiff_t count;
    ptrdiff_t unknown; /* index of the release that is solved; the field that is solved is not read */
    double step;       /* strength: of the entropic flow */
} mfpg_calibration_options;

typedef struct mfpg_calibration {
    /* noise sd, strength, rate or steps; steps are +INFINITY if more than 2^53 are within the target */
    double value;
    /* epsilon of the whole schedule with the value; the upper end is at most the target */
    mfpg_bounds epsilon;
    double mu;       /* mu of the same schedule; +INFINITY if the accountant has none */
    int evaluations; /* how often the accountant was asked */
} mfpg_calibration;

/** Solves for one number of a schedule. Fails with MFPG_ERR_DOMAIN or MFPG_ERR_INPUT, naming a parameter that
 *  is out of range. Also fails with MFPG_ERR_INPUT if the target cannot be reached, either because the other
 *  releases already cost too much or because no noise is enough. *out is set on success only. The call
 *  evaluates the accountant about ten times. For sampled steps the central limit theorem gives the first
 *  guess, which does not affect the result. */
mfpg_status mfpg_calibrate(mfpg_context *ctx, const mfpg_calibration_options *asked, mfpg_calibration *out);

#endif
