/* Exact best responses: enumeration on a grid, closed form or one scalar root on an interval. */
#ifndef MFPG_GAMES_BEST_RESPONSE_H
#define MFPG_GAMES_BEST_RESPONSE_H

#include <math.h>

#include "cost.h"

typedef struct mfpg_response {
    double action;
    double cost; /* mfpg_movable_cost there */
    int tied;    /* MFPG_TIED, MFPG_NEARLY_TIED, or 0 */
} mfpg_response;

/* Another action of the grid costs the same, or so nearly that rounding may have decided. */
enum { MFPG_TIED = 1, MFPG_NEARLY_TIED = 2 };

/* What ties say of uniqueness where strategies are dominant: 1 yes, 0 no, -1 unknown. */
static inline int mfpg_tied_unique(int tied) {
    return tied & MFPG_TIED ? 0 : tied ? -1 : 1;
}

/* Keeps the cheaper of two actions. They come in ascending order, so the later one of two equals is the more private
 * where the action is a strength, the less private where it is a budget. */
static inline void mfpg_response_offer(
    mfpg_response *best, int first, double action, double cost, mfpg_control control) {
    int better = first || cost < best->cost || (cost == best->cost && control == MFPG_CONTROL_STRENGTH);
    int near = !first && fabs(cost - best->cost) <= 0x1p-48 * fabs(best->cost); /* sixteen roundings */
    if (better && !(cost == best->cost)) best->tied = 0; /* what tied before is no longer best */
    if (near) best->tied |= cost == best->cost ? MFPG_TIED : MFPG_NEARLY_TIED;
    if (!better) return;
    best->action = action;
    best->cost = cost;
}

/* The part of client k's cost that its own action moves, where the others' aggregate is `others`. */
double mfpg_movable_cost(const mfpg_play *play, ptrdiff_t k, double x, double others);

/* The rest of it, which only the others move; 0 where the client moves all of it. In the limit `others` is the mean
 * field, and every client has the same rest. */
double mfpg_fixed_cost(const mfpg_play *play, double others);

/* Client k's best response over the game's action set; sooner where it lies near `guess` (0: none). Ties go to the more
 * private action. */
mfpg_response mfpg_best_response(const mfpg_play *play, ptrdiff_t k, double others, double guess);

/* Clients first .. first + count - 1, count <= MFPG_BLOCK: what they meet and how they answer it. */
typedef struct mfpg_block {
    ptrdiff_t first, count;
    double others[MFPG_BLOCK], u[MFPG_BLOCK], v[MFPG_BLOCK];
    double best[MFPG_BLOCK];                         /* NaN: ask mfpg_best_response */
    double utility[MFPG_BLOCK], privacy[MFPG_BLOCK]; /* S and P at best; without meaning where it is NaN */
} mfpg_block;

/* Fills u, v, best, utility and privacy from first, count and others; not for MFPG_COUPLING_SHARED. The costs there are the
 * bits that mfpg_movable_cost gives. */
void mfpg_block_answer(const mfpg_play *play, mfpg_block *block);

/* The best response of every client to one aggregate, in parallel; not for MFPG_COUPLING_SHARED. Returns how some
 * client is tied. */
int mfpg_respond(const mfpg_play *play, double others, double *action);

/* Sum of all shares. */
double mfpg_aggregate(const mfpg_play *play, const double *action);

/* x moved into [low, high]. */
static inline double mfpg_clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

#endif
