/** A solved game, presented for people: its certificate in words, warnings, and its clients in a table or a
 *  file. */
#ifndef MFPG_SOLUTION_H
#define MFPG_SOLUTION_H

#include <stddef.h>
#include <stdio.h>

#include "context.h"
#include "game.h"

/** The game with a price on every client's own noise (mfpg_solution_find_price). */
typedef struct mfpg_priced {
    double *price;         /* one price per client, owned: x/b^2 for a budget b, x e for a strength e */
    double mean_action;    /* of the equilibrium under the price */
    double difference;     /* the largest |action - optimum|/optimum of any client under these prices */
    double exploitability; /* the largest gain there, the price paid */
} mfpg_priced;

/** Borrowed for the call. */
typedef struct mfpg_solution {
    const mfpg_game *game; /* with the preferences that were solved for */
    const mfpg_equilibrium *equilibrium;
    /* Exploitability of the returned actions in the game of N players (mfpg_solution_judge_finite); NAN if
     * it was not requested or is not known. */
    double finite_max, finite_mean;
    /* the factor by which all given preferences were multiplied; 0: they were not */
    double preference_factor;
    const mfpg_priced *priced; /* NULL: not asked */
    /* Returns the name of a client; NULL: clients are shown by number. */
    const char *(*name)(const void *user, ptrdiff_t client);
    const void *name_user;
} mfpg_solution;

/** "budget" or "strength": what a client chooses. */
const char *mfpg_solution_control(const mfpg_solution *solution);

/** Computes how far the solution is from an equilibrium of the game among its N actual clients: the
 *  exploitability, by exact best responses, of its actions with players finite. If clients mix, a share of
 *  identical clients equal to the weight (rounded) plays the upper action. Both results are NAN if that game
 *  is not defined, because its model diverges or its weights are unequal.
 *  @return MFPG_OK, or MFPG_ERR_MEMORY */
mfpg_status mfpg_solution_judge_finite(
    mfpg_context *ctx, const mfpg_game *game, const mfpg_equilibrium *equilibrium, double *max, double *mean);

/** Computes the corrective price of a solved game (mfpg_game_corrective_price) and solves the game with this
 *  price, to show that the optimum is then an equilibrium. Status as mfpg_game_solve; also MFPG_ERR_INPUT if
 *  the optimum is not known. Free with mfpg_priced_clear. */
mfpg_status mfpg_solution_find_price(mfpg_context *ctx, const mfpg_solution *solution, mfpg_priced *out);
void mfpg_priced_clear(mfpg_priced *priced);

/** Writes the certificate as one sentence without its period. */
void mfpg_solution_certificate(const mfpg_solution *solution, char *text, size_t size);

/** Writes the solution and its certificate in one line without a line end. */
void mfpg_solution_line(const mfpg_solution *solution, char *text, size_t size);

/** Writes a reason why a solution may be misleading although it is correct, for instance a pure public good
 *  or preferences that have no influence. Writes the warning with that index and returns 1, or returns 0 past
 *  the last. */
int mfpg_solution_warning(const mfpg_solution *solution, ptrdiff_t index, char *text, size_t size);

/** What follows the table of mfpg_solution_print. */
void mfpg_solution_sentences(const mfpg_solution *solution, FILE *out);

/** Up to this many clients are printed one by one; more are printed as quantiles. */
enum { MFPG_SOLUTION_LISTED = 24 };

/** Prints for people: clients or quantiles, certificate, uniqueness, mixing, optimum and price of anarchy. It
 *  does not print warnings; the caller gets them from mfpg_solution_warning. */
mfpg_status mfpg_solution_print(mfpg_context *ctx, const mfpg_solution *solution, FILE *out);

/** Writes a CSV file, completely or not at all:
 *  client,name,preference,action,upper_action,upper_weight,social_action,price, with one row per client
 *  (numbered from 0). A client that mixes plays upper_action with probability upper_weight; missing values
 *  are empty fields. */
mfpg_status mfpg_solution_write(mfpg_context *ctx, const mfpg_solution *solution, const char *path);

/** Computes the quantiles of count numbers at 0, 1/(points - 1), ..., 1; each is one of the numbers (the
 *  nearest); points >= 2. Numbers that already ascend or descend are not copied. */
mfpg_status mfpg_solution_quantiles(
    mfpg_context *ctx, const double *values, ptrdiff_t count, ptrdiff_t points, double *out);

#endif
