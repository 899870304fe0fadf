/* From a budget to noise and back, for every mechanism whose control is one. */
#ifndef MFPG_MECHANISMS_LAW_H
#define MFPG_MECHANISMS_LAW_H

#include "ops.h"

mfpg_status mfpg_budget_noise_sd(mfpg_context *ctx, const mfpg_mechanism *mechanism,
    const mfpg_release *release, ptrdiff_t rows, double *sd);
mfpg_action mfpg_budget_action_for(
    const mfpg_mechanism *mechanism, double sd, double sensitivity, ptrdiff_t rows);

#endif
