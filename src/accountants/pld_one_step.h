/* delta(epsilon) of a single sampled step in closed form, and its inverse; both rounded up. */
#ifndef MFPG_ACCOUNTANTS_PLD_ONE_STEP_H
#define MFPG_ACCOUNTANTS_PLD_ONE_STEP_H

#include "pld_guide.h"

/* 0 < rate < 1, 0 < reach < INFINITY, as this side sees it (pld_kind); epsilon >= 0 and finite, 0 < delta < 1. */
double pld_one_step_delta(const sampled_step *kind, pld_side side, double epsilon);
double pld_one_step_epsilon(const sampled_step *kind, pld_side side, double delta);

#endif
