/* The curve of a single sampled Gaussian step, in closed form. */
#ifndef MFPG_ACCOUNTANTS_SAMPLED_STEP_CURVE_H
#define MFPG_ACCOUNTANTS_SAMPLED_STEP_CURVE_H

#include "accountants/exact/loss_cumulant.h"
#include "mfpg/accountant.h"

/* Both ends, about 1e-10 of mu apart. rate in (0, 1), reach > 0, epsilon >= 0, delta in (0, 1). */
mfpg_bounds sampled_step_delta(const sampled_step *kind, loss_direction direction, double epsilon);
mfpg_bounds sampled_step_epsilon(const sampled_step *kind, loss_direction direction, double delta);

#endif
