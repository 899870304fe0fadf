/* The equilibrium of an experiment's game. */
#ifndef MFPG_TEST_EQUILIBRIUM_H
#define MFPG_TEST_EQUILIBRIUM_H

#include "mfpg/experiment.h"

static inline const mfpg_equilibrium *equilibrium_of(const mfpg_experiment *experiment) {
    mfpg_solution solution;
    return mfpg_experiment_solution(experiment, &solution) ? solution.equilibrium : NULL;
}

#endif
