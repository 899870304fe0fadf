/* Where all clients' shares are alike, what the aggregate costs a client that moves from one action of the grid to another
 * depends on the two actions alone. A row of it, for everybody at one action, saves each client computing it. The bits are
 * those that mfpg_best_response sees. */
#ifndef MFPG_GAMES_SHARE_TABLE_H
#define MFPG_GAMES_SHARE_TABLE_H

#include "best_response.h"

typedef struct mfpg_share_table {
    const mfpg_play *play;
    double *share;     /* actions */
    double *aggregate; /* actions: for which the row was computed; NAN: for none */
    double *cost;      /* actions x actions: E where one at the row's action moves to the column's */
} mfpg_share_table;

/* *out NULL where the coupling is not MFPG_COUPLING_SHARED on a grid, shares differ, or the grid is too fine for a table. */
mfpg_status mfpg_share_table_create(mfpg_context *ctx, const mfpg_play *play, mfpg_share_table **out);
void mfpg_share_table_destroy(mfpg_share_table *table);

/* Computes the row of an action of the grid for an aggregate, if that has changed. */
void mfpg_share_table_update(mfpg_share_table *table, ptrdiff_t row, double aggregate);

/* Where x stands in the grid, or -1. */
ptrdiff_t mfpg_share_table_row(const mfpg_share_table *table, double x);

/* The best response of a client with scales u and v at the row's action, and in *now what it pays there. The row must be
 * up to date. */
mfpg_response mfpg_share_table_answer(
    const mfpg_share_table *table, ptrdiff_t row, double u, double v, double *now);

#endif
