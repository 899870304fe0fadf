/* Exact best responses, of one client and of a whole population: enumeration on a grid, closed form or one scalar root on an
 * interval. */
#ifndef MFPG_GAMES_BEST_RESPONSE_H
#define MFPG_GAMES_BEST_RESPONSE_H

#include "cost.h"

typedef struct mfpg_response {
    double action;
    double cost; /* mfpg_movable_cost there */
    int tied;    /* MFPG_TIED, MFPG_NEARLY_TIED, or 0 */
} mfpg_response;

/* Another action of the grid costs the same, or nearly the same, so that rounding may have decided. */
enum { MFPG_TIED = 1, MFPG_NEARLY_TIED = 2 };

/* Returns what ties imply for uniqueness if strategies are dominant: 1 unique, 0 not unique, -1 unknown. */
static inline int mfpg_tied_unique(int tied) {
    return tied & MFPG_TIED ? 0 : tied ? -1 : 1;
}

/* Returns the part of client k's cost that its own action moves, if the others' aggregate is `others`. */
double mfpg_movable_cost(const mfpg_play *play, ptrdiff_t k, double x, double others);

/* Returns the rest of the cost, which only the others move; 0 if the client moves all of it. In the limit
 * `others` is the mean field, and the rest is the same for every client. */
double mfpg_fixed_cost(const mfpg_play *play, double others);

/* Returns client k's best response over the game's action set; it is found faster if it is near `guess` (0:
 * none). Of equal actions the more private one is taken. */
mfpg_response mfpg_best_response(const mfpg_play *play, ptrdiff_t k, double others, double guess);

/* Clients first .. first + count - 1, count <= MFPG_BLOCK: the aggregate that they meet, and their best
 * responses. */
typedef struct mfpg_block {
    ptrdiff_t first, count;
    double others[MFPG_BLOCK], u[MFPG_BLOCK], v[MFPG_BLOCK];
    double best[MFPG_BLOCK];                         /* NaN: ask mfpg_best_response */
    double utility[MFPG_BLOCK], privacy[MFPG_BLOCK]; /* S and P at best; undefined if it is NaN */
} mfpg_block;

/* Fills u, v, best, utility and privacy from first, count and others; not for MFPG_COUPLING_SHARED. The
 * costs have the same bits as those of mfpg_movable_cost. */
void mfpg_block_answer(const mfpg_play *play, mfpg_block *block);

/* Computes the best response of every client to one aggregate, in parallel; not for MFPG_COUPLING_SHARED.
 * Returns whether some client is tied. */
int mfpg_respond(const mfpg_play *play, double others, double *action);

/* Sum of all shares. */
double mfpg_aggregate(const mfpg_play *play, const double *action);

/* If all clients' shares are equal, the aggregate's effect on a client that moves from one action of the
 * grid to another depends only on the two actions. A row of this table, for all clients at one action, saves
 * computing it for each of them. The bits are those of mfpg_best_response. */
typedef struct mfpg_share_table {
    const mfpg_play *play;
    double *share;     /* actions */
    double *aggregate; /* one per action: the aggregate for which the row was computed; NAN: none */
    double *cost;      /* actions x actions: E if one client at the row's action moves to the column's */
} mfpg_share_table;

/* out is NULL if the coupling is not MFPG_COUPLING_SHARED on a grid, if shares differ, or if the grid is too
 * fine for a table. */
mfpg_status mfpg_share_table_create(mfpg_context *ctx, const mfpg_play *play, mfpg_share_table **out);
void mfpg_share_table_destroy(mfpg_share_table *table);

/* Computes the row of an action of the grid for an aggregate, if the aggregate has changed. */
void mfpg_share_table_update(mfpg_share_table *table, ptrdiff_t row, double aggregate);

/* Returns the row of action x, or -1 if the grid has no such action. */
ptrdiff_t mfpg_share_table_row(const mfpg_share_table *table, double x);

/* Returns the best response of a client with scales u and v at the row's action, and in *now what it pays
 * there. The row must be up to date. */
mfpg_response mfpg_share_table_answer(
    const mfpg_share_table *table, ptrdiff_t row, double u, double v, double *now);

#endif
