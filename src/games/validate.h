/* From a caller's game to one that can be played. */
#ifndef MFPG_GAMES_VALIDATE_H
#define MFPG_GAMES_VALIDATE_H

#include "cost.h"

/* Checks every field that the cost reads, asserts the directions of utility and privacy, and makes the tables.
 * limit: 1 for the mean-field limit. *play is set only on success; free it with mfpg_play_release. */
mfpg_status mfpg_play_prepare(mfpg_context *ctx, const mfpg_game *game, int limit, mfpg_play *play);
void mfpg_play_release(mfpg_play *play);

/* Principle (i) of theory S3.1 over the action set: with more noise of its own a client loses more utility and less
 * privacy. Fails with MFPG_ERR_INPUT where a cost that is declared consistent breaks it. */
mfpg_status mfpg_check_directions(mfpg_context *ctx, const mfpg_play *play);

#endif
