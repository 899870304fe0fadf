/** Builds games from options: what `mfpg solve --cost NAME` makes of its options, as a call. */
#ifndef MFPG_POSED_GAME_H
#define MFPG_POSED_GAME_H

#include <stddef.h>

#include "context.h"
#include "game.h"
#include "option.h"

/** The options of the same names. Numbers that are not given are NaN and texts are NULL; the default in the
 *  help of the command then applies. Borrowed. */
typedef struct mfpg_game_options {
    const char *cost; /* name in costs.def */
    int players;      /* 0: finite; 1, or -1 if not given: mean-field */
    double population;
    /* "B", "B,B,...", "LOW:HIGH", "uniform:LOW:HIGH", "lognormal:MEDIAN:SD", or one number per client */
    mfpg_numbers beta;
    const char *beta_file, *column;
    mfpg_numbers weights; /* one a client */
    mfpg_numbers actions; /* "A,B,...", "LOW:HIGH", "continuous"; or an ascending grid */
    double curvature, dimension, personalisation, learning_rate, clip, privacy_power, own_cost, privacy_scale;
    double optimum_norm2, prior_variance, step, interaction, loss;
    const char *loss_table; /* a file */
    double offset, gradient_norm, variance_penalty, rounds;
    int no_optimum;
    int price; /* 1: the corrective price will be requested, which requires the optimum */
} mfpg_game_options;

/** Everything that `mfpg solve` accepts: the options of a game and those of studies. If an option is not
 *  given, its number is NaN, its word -1, its text NULL and its flag 0. Filled by mfpg_option_set with
 *  mfpg_solve_options(). */
typedef struct mfpg_solve_request {
    mfpg_game_options game;
    char *out, *study;
    double seed;
    int shape, scheme;
    double running_curvature, well_position, well_barrier, privacy_rate, privacy_offset, horizon, start_mean;
    double start_variance, nodes, time_steps, iterations, particles;
    char *domain;
    int is_public;
    double reference, measured_rounds, draws, repeats;
    mfpg_number_list populations;
} mfpg_solve_request;

/** The options of `mfpg solve`. Threads: safe. */
const mfpg_options *mfpg_solve_options(void);

/** Who reads the options: a game from options, a game of a configuration, or a study. */
typedef enum mfpg_solve_reader {
    MFPG_SOLVE_GAME = 0,
    MFPG_SOLVE_CONFIGURATION,
    MFPG_SOLVE_COSTS,
    MFPG_SOLVE_CONTINUOUS,
    MFPG_SOLVE_LIMIT,
    MFPG_SOLVE_FIGURE,
    MFPG_SOLVE_OUTPUT
} mfpg_solve_reader;

/** Checks that this reader, or the given cost, reads every option that was given. Otherwise fails with
 *  MFPG_ERR_INPUT, naming the first option that is not read and the readers that do read it. A game whose
 *  cost is missing or unknown is refused by mfpg_game_pose instead. */
mfpg_status mfpg_solve_check(mfpg_context *ctx, const mfpg_solve_request *request, mfpg_solve_reader reader);

/** A game with the arrays that it borrows. */
typedef struct mfpg_posed_game {
    mfpg_game game;
    /* owned; NULL if there is none or the caller's array is borrowed */
    double *preference, *weight, *grid, *loss_table;
    /* 1: a population was given, so that the limit of many clients can also be played by these finitely many
     * clients */
    int named_population;
} mfpg_posed_game;

/** Builds a game from options and checks everything that does not need the solver. It does not check whether
 *  the cost reads an option.
 *  @param[out] out  borrows the numbers of the options; free with mfpg_posed_game_clear; set on success only
 *  @return MFPG_OK; MFPG_ERR_INPUT with the option, as the command line writes it, and what is allowed;
 *  MFPG_ERR_DOMAIN; MFPG_ERR_IO for files; MFPG_ERR_MEMORY */
mfpg_status mfpg_game_pose(mfpg_context *ctx, const mfpg_game_options *options, mfpg_posed_game *out);
void mfpg_posed_game_clear(mfpg_posed_game *posed);

/** Reads a set of actions only; the text is the default that applies if no actions are given.
 *  @param[out] grid  owned if the text lists actions, otherwise NULL; free it in any case */
mfpg_status mfpg_actions_read(mfpg_context *ctx, const mfpg_numbers *actions, const char *fallback,
    mfpg_action_set *out, double **grid);

/** Reads the numbers of a list "A,B,...". Each must be finite and above 0 (with_zero: at least 0).
 *  @param[in]  option  name of the option, for messages; words: what is allowed
 *  @param[out] values  count numbers; borrowed, or equal to *owned, which must be freed in any case */
mfpg_status mfpg_numbers_read(mfpg_context *ctx, const char *option, const mfpg_numbers *numbers,
    int with_zero, const char *words, const double **values, ptrdiff_t *count, double **owned);

#endif
