/* The study of continuous time and space: from options to a model, and its answer. */
#ifndef MFPG_CLI_SOLVE_CONTINUOUS_H
#define MFPG_CLI_SOLVE_CONTINUOUS_H

#include "mfpg/pde.h"

#include "solve.h"

/* What was found. */
typedef struct continuous_answer {
    const mfpg_pde_model *model;
    const mfpg_pde_options *options;
    const mfpg_pde_solution *solution;
    ptrdiff_t particles;                       /* 0: none were followed */
    double particles_mean, particles_variance; /* at the horizon */
} continuous_answer;

/* Of the whole population at the horizon. */
double continuous_variance(const continuous_answer *answer);

/* Prints it as asked for and returns the exit code: CLI_FAILED where the path did not converge. */
int continuous_print(const solve_settings *chosen, const continuous_answer *answer);

#endif
