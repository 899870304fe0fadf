/** A solved game for people: its certificate in words, what is wrong with it, its clients in a table or a file. */
#ifndef MFPG_SOLUTION_H
#define MFPG_SOLUTION_H

#include <stddef.h>
#include <stdio.h>

#include "context.h"
#include "game.h"

/** What a price on everybody's own noise makes of a game (mfpg_solution_find_price). */
typedef struct mfpg_priced {
    double *price;         /* clients, owned: x/b^2 for a budget b, x e for a strength e */
    double mean_action;    /* of the equilibrium under the price */
    double difference;     /* the largest |action - optimum|/optimum of a client there */
    double exploitability; /* the largest gain there, the price paid */
} mfpg_priced;

/** Borrowed for the call. */
typedef struct mfpg_solution {
    const mfpg_game *game; /* with the preferences that were solved for */
    const mfpg_equilibrium *equilibrium;
    /* The returned actions played in the game of N players (mfpg_solution_judge_finite); NAN if that is not asked or not
     * known. */
    double finite_max, finite_mean;
    double preference_factor;  /* what all given preferences were multiplied with; 0: nothing */
    const mfpg_priced *priced; /* NULL: not asked */
    /* Of clients that have names; NULL: their numbers. */
    const char *(*name)(const void *user, ptrdiff_t client);
    const void *name_user;
} mfpg_solution;

/** "budget" or "strength": what a client chooses. */
const char *mfpg_solution_control(const mfpg_solution *solution);

/** How far the solution is from an equilibrium of the game among its N clients themselves: exploitability, by exact best
 *  responses, of its actions with players finite. If clients mix, so many of those that are alike play the upper action
 *  as their weight says (rounded). Both NAN if that game is not defined: its model diverges, or its weights are unequal.
 *  @return MFPG_OK, or MFPG_ERR_MEMORY */
mfpg_status mfpg_solution_judge_finite(
    mfpg_context *ctx, const mfpg_game *game, const mfpg_equilibrium *equilibrium, double *max, double *mean);

/** The corrective price of a solved game (mfpg_game_corrective_price), and the game solved under it to show that the optimum
 *  is then an equilibrium. Status as mfpg_game_solve; MFPG_ERR_INPUT too if the optimum is not known. Free with
 *  mfpg_priced_clear. */
mfpg_status mfpg_solution_find_price(mfpg_context *ctx, const mfpg_solution *solution, mfpg_priced *out);
void mfpg_priced_clear(mfpg_priced *priced);

/** The certificate in one sentence without its period. */
void mfpg_solution_certificate(const mfpg_solution *solution, char *text, size_t size);

/** The solution and its certificate in one line without a line end. */
void mfpg_solution_line(const mfpg_solution *solution, char *text, size_t size);

/** Why a solution that is none may still be worthless: a pure public good, preferences that decide nothing. Writes the
 *  index-th such warning and returns 1, or 0 past the last. */
int mfpg_solution_warning(const mfpg_solution *solution, ptrdiff_t index, char *text, size_t size);

/** What follows the table of mfpg_solution_print. */
void mfpg_solution_sentences(const mfpg_solution *solution, FILE *out);

/** Up to so many clients are printed one by one, more by quantiles. */
enum { MFPG_SOLUTION_LISTED = 24 };

/** Clients or quantiles, certificate, uniqueness, mixing, optimum and price of anarchy; for people. Warnings are not
 *  printed: the caller asks for them by mfpg_solution_warning. */
mfpg_status mfpg_solution_print(mfpg_context *ctx, const mfpg_solution *solution, FILE *out);

/** A CSV file, whole or absent: client,name,preference,action,upper_action,upper_weight,social_action,price, one row a client
 *  (numbered from 0). A client that mixes plays upper_action with probability upper_weight; fields that do not exist are
 *  empty. */
mfpg_status mfpg_solution_write(mfpg_context *ctx, const mfpg_solution *solution, const char *path);

/** The quantiles of count numbers at 0, 1/(points - 1), ..., 1, each the nearest number itself; points >= 2. Numbers that
 *  ascend or descend already are not copied. */
mfpg_status mfpg_solution_quantiles(
    mfpg_context *ctx, const double *values, ptrdiff_t count, ptrdiff_t points, double *out);

#endif
