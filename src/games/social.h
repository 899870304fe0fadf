/* The social optimum: one planner chooses every action. */
#ifndef MFPG_GAMES_SOCIAL_H
#define MFPG_GAMES_SOCIAL_H

#include "cost.h"

/* Fills out's social_* and price_of_anarchy (NAN and NULL where theory S3 gives no optimum, or where no profile has a
 * finite cost) for a solution whose actions and cost are set. */
mfpg_status mfpg_social_optimum(mfpg_context *ctx, const mfpg_play *play, mfpg_equilibrium *out);

#endif
