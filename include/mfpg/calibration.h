/** Calibration: the noise, strength, sampling rate or number of steps with which a schedule meets a target (epsilon,
 *  delta). What is returned was evaluated by the accountant and meets the target; the exact answer lies within a millionth
 *  of it. */
#ifndef MFPG_CALIBRATION_H
#define MFPG_CALIBRATION_H

#include <stddef.h>

#include "accountant.h"

/** Least noise sd of ONE Gaussian release of that sensitivity that is (epsilon, delta)-DP (analytic Gaussian mechanism: Balle
 *  and Wang, ICML 2018), rounded up by less than 1.2e-12 of itself. Sensitivity is that of the neighbours meant: C for an
 *  update clipped to C under zero-out, 2C under replace. 0 for epsilon +INFINITY and for sensitivity 0; +INFINITY if no
 *  noise is enough (delta 0), for NaN and for a value out of range: sensitivity finite and >= 0, epsilon >= 0, delta in
 *  [0, 1). */
double mfpg_calibrate_noise(double epsilon, double delta, double sensitivity);

/** What is to be found in one release of a schedule. */
typedef enum mfpg_solve {
    MFPG_SOLVE_NOISE = 0, /* the least noise_sd; last_sd is set to it */
    MFPG_SOLVE_STRENGTH,  /* the least action.strength; noise_sd is sqrt(2 strength/step), rounded down */
    MFPG_SOLVE_RATE,      /* the largest sampling_rate */
    MFPG_SOLVE_STEPS      /* the largest number of steps, exactly */
} mfpg_solve;

typedef struct mfpg_calibration_options {
    const char *accountant;                 /* name in accountants.def, of one that certifies */
    const mfpg_accountant_options *options; /* of the accountant; NULL: its defaults */
    double epsilon, delta;                  /* the target: epsilon >= 0, delta in [0, 1) */
    mfpg_solve solve;
    const mfpg_release *schedule; /* count >= 1 releases, all of them made; borrowed for the call */
    ptrdiff_t count;
    ptrdiff_t unknown; /* the one that is solved; what is solved of it is not read */
    double step;       /* strength: of the entropic flow */
} mfpg_calibration_options;

typedef struct mfpg_calibration {
    double
        value; /* noise sd, strength, rate or steps. Steps +INFINITY: more than 2^53 are within the target */
    mfpg_bounds epsilon; /* of the whole schedule with the value; the upper end is at most the target */
    double mu;           /* of the same, +INFINITY if the accountant has none */
    int evaluations;     /* how often the accountant was asked */
} mfpg_calibration;

/** Solves one number of a schedule. MFPG_ERR_DOMAIN or MFPG_ERR_INPUT names a parameter that is out of range.
 *  MFPG_ERR_INPUT also if the target cannot be reached: nothing of the unknown is little enough (the other releases cost
 *  too much by themselves), or no noise is enough. *out is set on success only. Costs about ten answers of the accountant;
 *  sampled steps are guessed by the central limit theorem, which decides nothing. */
mfpg_status mfpg_calibrate(mfpg_context *ctx, const mfpg_calibration_options *asked, mfpg_calibration *out);

#endif
