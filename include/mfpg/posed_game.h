/** Games posed by options: what `mfpg solve --cost NAME` makes of its options, as a call. */
#ifndef MFPG_POSED_GAME_H
#define MFPG_POSED_GAME_H

#include <stddef.h>

#include "context.h"
#include "game.h"

/** Numbers as they are typed, or the numbers themselves; neither: not given. Borrowed. */
typedef struct mfpg_numbers {
    const char *text;    /* "0.1,0.3", and what else the option takes */
    const double *value; /* count >= 1; looked at where text is NULL */
    ptrdiff_t count;
} mfpg_numbers;

/** The options of the same names. Numbers are NaN and texts NULL where they are not given; then the default counts that the
 *  help of the command names. Borrowed. */
typedef struct mfpg_game_options {
    const char *cost; /* name in costs.def */
    int players;      /* 0: finite; 1, and -1 (not given): mean-field */
    double population;
    mfpg_numbers
        beta; /* "B", "B,B,...", "LOW:HIGH", "uniform:LOW:HIGH", "lognormal:MEDIAN:SD"; or one number a client */
    const char *beta_file, *column;
    mfpg_numbers weights; /* one a client */
    mfpg_numbers actions; /* "A,B,...", "LOW:HIGH", "continuous"; or an ascending grid */
    double curvature, dimension, personalisation, learning_rate, clip, privacy_power, own_cost, privacy_scale;
    double optimum_norm2, prior_variance, step, interaction, loss;
    const char *loss_table; /* a file */
    double offset, gradient_norm, variance_penalty, rounds;
    int no_optimum;
    int price; /* 1: the corrective price will be asked for, which needs the optimum */
} mfpg_game_options;

/** Of which nothing is given. */
mfpg_game_options mfpg_game_options_none(void);

/** A game with the arrays that it borrows. */
typedef struct mfpg_posed_game {
    mfpg_game game;
    double *preference, *weight, *grid, *loss_table; /* owned; NULL: none, or the caller's own are borrowed */
    int named_population; /* 1: population was given, so that the limit of many clients can be played among these too */
} mfpg_posed_game;

/** From options to a game, with everything checked that does not need the solver. Whether the cost reads an option is not
 *  looked at.
 *  @param[out] out  borrows the numbers of the options; free with mfpg_posed_game_clear; set on success only
 *  @return MFPG_OK; MFPG_ERR_INPUT with the option, as the command line writes it, and what is allowed; MFPG_ERR_DOMAIN,
 *  MFPG_ERR_IO of files, MFPG_ERR_MEMORY */
mfpg_status mfpg_game_pose(mfpg_context *ctx, const mfpg_game_options *options, mfpg_posed_game *out);
void mfpg_posed_game_clear(mfpg_posed_game *posed);

/** The part of it that reads a set of actions, with the text that stands for those that are not given.
 *  @param[out] grid  owned where the text lists actions, else NULL; free it in any case */
mfpg_status mfpg_actions_read(mfpg_context *ctx, const mfpg_numbers *actions, const char *fallback,
    mfpg_action_set *out, double **grid);

/** The numbers of a list "A,B,...", every one finite and above 0, or with_zero from 0.
 *  @param[in]  option  whose they are, for messages; words: what is allowed
 *  @param[out] values  count numbers; borrowed, or *owned, which is to be freed in any case */
mfpg_status mfpg_numbers_read(mfpg_context *ctx, const char *option, const mfpg_numbers *numbers,
    int with_zero, const char *words, const double **values, ptrdiff_t *count, double **owned);

#endif
