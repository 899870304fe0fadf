/* The quadratic game that tests of the continuous game share. */
#ifndef MFPG_TESTS_NUMERICS_PDE_MODEL_H
#define MFPG_TESTS_NUMERICS_PDE_MODEL_H

#include "mfpg/pde.h"

static inline mfpg_pde_model quadratic_game(const double *weight, ptrdiff_t types) {
    return (mfpg_pde_model){.potential = mfpg_pde_quadratic(1),
        .running = mfpg_pde_quadratic(1),
        .attraction = 0.5,
        .prior_variance = 2,
        .horizon = 1,
        .start_mean = 1,
        .start_variance = 0.25,
        .cost = {.scale = 0.5, .rate = 2, .offset = 0.2},
        .control_low = 0.05,
        .control_high = 1.5,
        .weight = weight,
        .types = types};
}

#endif
