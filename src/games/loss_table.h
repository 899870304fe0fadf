/* The loss of a client as a table over the grid of actions, made by running the mechanism (theory S3.1): what the costs
 * measured and measured-budget put in the place of a formula. */
#ifndef MFPG_GAMES_LOSS_TABLE_H
#define MFPG_GAMES_LOSS_TABLE_H

#include "cost.h"

/* The table of a game of that control: one finite number for each action of a grid, and with more noise of its own no
 * client loses less. MFPG_ERR_INPUT names two actions where one does. */
mfpg_status mfpg_loss_table_check(mfpg_context *ctx, const mfpg_game *game, mfpg_control control);

/* The loss at action x: the table's at an action of the grid, linear between two. Where nothing was measured it is one that
 * no true loss exceeds: with less noise than any action's that of the quietest, with more +INFINITY. */
double mfpg_loss_table_at(const mfpg_game *game, mfpg_control control, double x);

#endif
