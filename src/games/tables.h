/* costs.def and games.def as tables. */
#ifndef MFPG_GAMES_TABLES_H
#define MFPG_GAMES_TABLES_H

#include "solver.h"

enum {
#define ENTRY(name) MFPG_COST_INDEX_##name,
#include "costs.def"
#undef ENTRY
    MFPG_COST_COUNT
};

enum {
#define ENTRY(name) MFPG_GAME_INDEX_##name,
#include "games.def"
#undef ENTRY
    MFPG_GAME_COUNT
};

extern const mfpg_cost_ops *const mfpg_costs[MFPG_COST_COUNT];
extern const mfpg_game_ops *const mfpg_games[MFPG_GAME_COUNT]; /* indexed by mfpg_players */

#endif
