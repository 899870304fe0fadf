/* What is reported of the laws, time by time. */
#ifndef MFPG_PDE_MOMENTS_H
#define MFPG_PDE_MOMENTS_H

#include "flow.h"

/* Fills solution->moments from control and from density, which holds masses per node here. */
void mfpg_moments_fill(const mfpg_problem *problem, mfpg_pde_solution *solution);

#endif
