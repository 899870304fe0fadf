/* What other folders use of games, in addition to the public headers. */
#ifndef MFPG_GAMES_GAME_INTERNAL_H
#define MFPG_GAMES_GAME_INTERNAL_H

#include "mfpg/game.h"

enum {
#define ENTRY(name) MFPG_COST_INDEX_##name,
#include "costs.def"
#undef ENTRY
    MFPG_COST_COUNT
};

/* "none", "finite", "mean-field". */
const char *mfpg_players_name(mfpg_players players);

/* Returns the control of a cost's actions; MFPG_CONTROL_NONE for an unknown name. */
mfpg_control mfpg_cost_control(const char *cost);

/* The facts that follow from the name of a cost, as bits: the numbers of mfpg_game that it reads, and how
 * its players are coupled. */
enum {
    MFPG_COST_READS_CURVATURE = 1,
    MFPG_COST_READS_PERSONALISATION = 2,
    MFPG_COST_READS_PRIVACY_SCALE = 4, /* B of the privacy cost beta B/e */
    MFPG_COST_READS_OWN_COST =
        8, /* c of a unit of strength; derived from curvature and personalisation if not given */
    MFPG_COST_READS_PRIVACY_POWER = 16,
    MFPG_COST_READS_OPTIMUM = 32,
    MFPG_COST_READS_LOSS = 64,
    MFPG_COST_READS_INTERACTION = 128,
    MFPG_COST_READS_OFFSET = 256, /* and the gradient norm */
    MFPG_COST_TAKES_TABLE = 512,  /* a table of losses may replace its loss */
    MFPG_COST_NEEDS_TABLE = 1024, /* it has no other */
    /* the others are affected by a client's noise only through the average, by its weight */
    MFPG_COST_PUBLIC_GOOD = 2048,
    /* the mean strength of equally weighted clients determines the loss of all */
    MFPG_COST_COMMON_LOSS = 4096,
    /* its parts do not move in the directions of theory S3.1 (i), so it serves reproduction only */
    MFPG_COST_INCONSISTENT = 8192
};

/* Returns the bits of that cost; 0 for NULL and unknown names. */
int mfpg_cost_facts(const char *cost);

/* Checks the table of a game with that control: one finite number for each action of a grid, and no client
 * may lose less with more noise of its own. MFPG_ERR_INPUT names two actions that violate this. */
mfpg_status mfpg_loss_table_check(mfpg_context *ctx, const mfpg_game *game, mfpg_control control);

/* The price on own noise at which selfish clients do what is best for all: with it as game.price the Nash or mean-field
 * equilibrium is the social optimum (theory S3.2; for entropic the Pigou price, what a little more noise of client k costs
 * the others at the optimum). Costs gaussian, and entropic on an interval. A price that the game has is left aside.
 * price: clients; set only on success. MFPG_ERR_INPUT for another cost, or entropic on a grid. */
mfpg_status mfpg_game_corrective_price(mfpg_context *ctx, const mfpg_game *game, double *price);

/* Computes every client's disutility of every action of the grid, for costs that measure, of which the
 * others move no part. out: clients x actions.count. MFPG_ERR_INPUT without a grid, or for a cost that
 * measures nothing. */
mfpg_status mfpg_game_disutilities(mfpg_context *ctx, const mfpg_game *game, double *out);

/* How far any of these numbers of client k can move, their rounding included, if its measured loss (at most loss_most)
 * moves by at most loss[k] and its measured gradient norm (at most gradient_most) by at most gradient[k].
 * out: clients, rounded up; +INFINITY if numbers leave their range. */
mfpg_status mfpg_game_disutility_changes(mfpg_context *ctx, const mfpg_game *game, const double *loss,
    double loss_most, const double *gradient, double gradient_most, double *out);

#endif
