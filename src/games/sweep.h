/* Best responses in turn on a finite grid. */
#ifndef MFPG_GAMES_SWEEP_H
#define MFPG_GAMES_SWEEP_H

#include "cost.h"

/* Lets one client after the other move to a better action of the grid, from the actions given, until none has one: a
 * pure Nash equilibrium. For games with a potential (entropic, interaction, and every planner). report->unique is -1. */
mfpg_status mfpg_sweep(mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_report *report);

#endif
