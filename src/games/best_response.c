#include "best_response.h"

/* Every comparison of two actions goes through this one sum, so that a solver and the certificate that checks it see the
 * same bits. Where the client moves the aggregate (shared), E with its own share in it belongs to the sum. */
static double assembled(const mfpg_play *play, ptrdiff_t k, int shared, double own, double x, double others) {
    if (!shared) return own;
    return own + play->cost->external(play, others + mfpg_play_share(play, k, x));
}

static int moves_aggregate(const mfpg_play *play) {
    return mfpg_play_coupling(play) == MFPG_COUPLING_SHARED;
}

double mfpg_movable_cost(const mfpg_play *play, ptrdiff_t k, double x, double others) {
    double u, v;
    play->cost->scales(play, k, 1, &others, &u, &v);
    double own = u * play->cost->utility(play, x) + v * play->cost->privacy(play, x);
    return assembled(play, k, moves_aggregate(play), own, x, others);
}

double mfpg_fixed_cost(const mfpg_play *play, double others) {
    return play->cost->external && !moves_aggregate(play) ? play->cost->external(play, others) : 0.0;
}

static mfpg_response best_on_grid(const mfpg_play *play, ptrdiff_t k, double u, double v, double others) {
    const mfpg_action_set *set = &play->game->actions;
    int shared = moves_aggregate(play);
    mfpg_response best = {0};
    for (ptrdiff_t j = 0; j < set->count; j++) {
        double own = u * play->utility[j] + v * play->privacy[j];
        double cost = assembled(play, k, shared, own, set->grid[j], others);
        mfpg_response_offer(&best, j == 0, set->grid[j], cost, play->cost->control);
    }
    return best;
}

mfpg_response mfpg_best_response(const mfpg_play *play, ptrdiff_t k, double others, double guess) {
    const mfpg_action_set *set = &play->game->actions;
    double u, v;
    play->cost->scales(play, k, 1, &others, &u, &v);
    if (set->grid) return best_on_grid(play, k, u, v, others);
    mfpg_response best = {0};
    best.action = moves_aggregate(play) ? play->cost->reply(play, k, others, set->low, set->high, guess)
                                        : mfpg_clamp(play->cost->minimiser(play, u, v), set->low, set->high);
    best.cost = mfpg_movable_cost(play, k, best.action, others);
    return best;
}
