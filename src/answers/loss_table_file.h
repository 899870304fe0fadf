/* Loss tables in files. */
#ifndef MFPG_ANSWERS_LOSS_TABLE_FILE_H
#define MFPG_ANSWERS_LOSS_TABLE_FILE_H

#include "mfpg/game.h"

/* Reads the losses of a game's actions from a CSV file with the columns action and loss. A column control,
 * if present, must name the cost's control (budget or strength); other columns are ignored.
 * @param[in]  game  its cost and its grid of actions are read
 * @param[out] out   actions.count numbers for mfpg_game.loss_table, which do not fall as the own noise
 * grows; free them; set
 * only on success
 * @return MFPG_OK, MFPG_ERR_INPUT with file and line, MFPG_ERR_IO, MFPG_ERR_MEMORY. */
mfpg_status mfpg_loss_table_read(mfpg_context *ctx, const char *path, const mfpg_game *game, double **out);

#endif
