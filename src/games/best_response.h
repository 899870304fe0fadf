/* Exact best responses: enumeration on a grid, closed form or one scalar root on an interval. */
#ifndef MFPG_GAMES_BEST_RESPONSE_H
#define MFPG_GAMES_BEST_RESPONSE_H

#include "cost.h"

typedef struct mfpg_response {
    double action;
    double cost; /* mfpg_movable_cost there */
    int tied;    /* another action of the grid costs exactly the same */
} mfpg_response;

/* The part of client k's cost that its own action moves, where the others' aggregate is `others`. */
double mfpg_movable_cost(const mfpg_play *play, ptrdiff_t k, double x, double others);

/* The rest of it, which only the others move; 0 where the client moves all of it. In the limit `others` is the mean
 * field, and every client has the same rest. */
double mfpg_fixed_cost(const mfpg_play *play, double others);

/* Client k's best response over the game's action set. Ties go to the more private action. */
mfpg_response mfpg_best_response(const mfpg_play *play, ptrdiff_t k, double others);

/* The same for every client against one aggregate, not for MFPG_COUPLING_SHARED. Returns 1 where some client is tied. */
int mfpg_respond(const mfpg_play *play, double others, double *action);

/* Sum of all shares, in the order of the clients. */
double mfpg_aggregate(const mfpg_play *play, const double *action);

/* x moved into [low, high]. */
static inline double mfpg_clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

#endif
