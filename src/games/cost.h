/* The interface behind which the costs stand. Client k that plays x while the aggregate is a pays
 *
 *     U_k(x; a) = u_k(a) S(x) + v_k P(x) + E(aggregate),
 *
 * S the shape of the utility loss, P the shape of the privacy cost, both the same for all clients, and u_k, v_k >= 0
 * the client's own scales. The aggregate is the sum of every client's share; what a client meets is the sum over the
 * others. E is what the aggregate costs everybody. So one client's best response needs two numbers of it and two
 * tables of the grid, whatever the cost. */
#ifndef MFPG_GAMES_COST_H
#define MFPG_GAMES_COST_H

#include "chunks.h"
#include "mfpg/game.h"
#include "switches.h"

/* How others enter a client's best response. */
typedef enum mfpg_coupling {
    MFPG_COUPLING_NONE = 0, /* not at all: a dominant strategy; E, if any, is of the others' shares alone */
    MFPG_COUPLING_PRICE,    /* u_k depends on the aggregate of the others */
    MFPG_COUPLING_SHARED    /* E depends on the aggregate with the client's own share in it */
} mfpg_coupling;

/* The rules that choose an equilibrium: mfpg_equilibrium.selection. */
#define MFPG_CHOSEN_DOMINANT  "dominant strategies"
#define MFPG_CHOSEN_ONLY      "the only one"
#define MFPG_CHOSEN_SMALLEST  "smallest mean"
#define MFPG_CHOSEN_POTENTIAL "best responses in turn, a local minimum of the potential"

/* How a solver ended; fields as in mfpg_equilibrium. */
typedef struct mfpg_report {
    int unique, converged, iterations;
    double residual;
    const char *selection;
} mfpg_report;

/* What a fixed point of the limit leaves beside the actions. */
typedef struct mfpg_field {
    double mean; /* the aggregate that the best responses used */
    mfpg_mixing *mixing;
    ptrdiff_t mixing_count;
    mfpg_fixed_point *fixed_point;
    ptrdiff_t fixed_point_count;
    int fixed_point_more;
} mfpg_field;

/* How far one client's measurements can move, and how large they are at most. */
typedef struct mfpg_swing {
    double loss, loss_most, gradient, gradient_most;
} mfpg_swing;

typedef struct mfpg_cost_ops mfpg_cost_ops;

/* A validated game with its tables. Made by mfpg_play_prepare, freed by mfpg_play_release. */
typedef struct mfpg_play {
    const mfpg_game *game;
    const mfpg_cost_ops *cost;
    int limit;   /* 1: the mean-field limit, in which no client moves the aggregate; 0: N players */
    int planner; /* 1: one planner chooses all actions and minds the sum of all costs */
    double *utility, *privacy; /* S and P on the grid, actions.count each; NULL on an interval */
    mfpg_switches *switches;   /* of the grid, or NULL */
    mfpg_chunks chunks;        /* for sums over the clients */
} mfpg_play;

struct mfpg_cost_ops {
    const char *name, *help;
    mfpg_control control;
    int consistent; /* S grows and P falls with the client's own noise: asserted when the game is validated */
    int has_optimum; /* the social optimum is known (theory S3.2, S3.3) */
    int takes_price; /* mfpg_play_price is part of u_k */
    int measures;    /* MFPG_MEASURES_*: what it reads of private data; others then move no part of it */
    int facts;       /* MFPG_COST_* of game.h, without INCONSISTENT, which is said above */
    mfpg_coupling finite, limit;

    /* The cost's own fields; the fields all costs share are checked before. */
    mfpg_status (*validate)(mfpg_context *ctx, const mfpg_play *play);
    double (*utility)(const mfpg_play *play, double x);
    double (*privacy)(const mfpg_play *play, double x);
    /* u_k and v_k of the clients first .. first + count - 1, client first + i meeting the aggregate others[i]. */
    void (*scales)(
        const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, const double *others, double *u, double *v);
    /* argmin over all x > 0 of u S(x) + v P(x), which is unimodal; 0 or +INFINITY where it is not attained. */
    double (*minimiser)(const mfpg_play *play, double u, double v);

    /* Where the cost has none of these, NULL. */
    int (*decoupled)(const mfpg_play *play); /* with these numbers nothing couples the clients after all */
    /* What the clients first .. first + count - 1 add to the aggregate by playing x. */
    void (*shares)(const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, const double *x, double *out);
    double (*external)(const mfpg_play *play, double aggregate); /* E */
    /* SHARED: the exact best response on the interval [low, high]; quickly where it lies near `guess`, > 0. */
    double (*reply)(const mfpg_play *play, ptrdiff_t k, double others, double low, double high, double guess);
    int (*alike)(const mfpg_play *play); /* SHARED: an action's share is the same for all clients */
    /* Coupled: the N-player equilibrium on the interval [low, high]. */
    mfpg_status (*nash)(mfpg_context *ctx, const mfpg_play *play, double low, double high, double *action,
        mfpg_report *report);
    /* Coupled, on a grid: actions from which best responses in turn end at the equilibrium that *rule names; NULL: those of
     * nash, rounded down. */
    mfpg_status (*start)(mfpg_context *ctx, const mfpg_play *play, double *action, const char **rule);
    /* Costs that measure: how far client k's disutility of x can move with its measurements (mfpg_game_disutility_changes),
     * and the largest disutility there is, both before rounding. */
    void (*change)(const mfpg_play *play, ptrdiff_t k, double x, const mfpg_swing *swing, double *moved,
        double *largest);
    /* takes_price: mfpg_game_corrective_price for a validated game. price is scratch until then. */
    mfpg_status (*corrective)(mfpg_context *ctx, const mfpg_play *play, double *price);
    /* PRICE in the limit: the fixed point of the averaged best response, on a grid by mixing at ties. */
    mfpg_status (*fixed_point)(
        mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_field *field, mfpg_report *report);
};

#define ENTRY(name) extern const mfpg_cost_ops mfpg_cost_##name;
#include "costs.def"
#undef ENTRY

/* The planner of the limit moves the aggregate, so it meets the coupling of N players. */
static inline mfpg_coupling mfpg_play_coupling(const mfpg_play *play) {
    if (play->cost->decoupled && play->cost->decoupled(play)) return MFPG_COUPLING_NONE;
    return play->limit && !play->planner ? play->cost->limit : play->cost->finite;
}

/* p_k of the game, 1/N each where no weights are given. */
static inline double mfpg_play_weight(const mfpg_play *play, ptrdiff_t k) {
    const mfpg_game *game = play->game;
    return game->weight ? game->weight[k] : 1.0 / (double)game->clients;
}

/* k0, B, c and the price of client k. The price is a transfer, which no planner minds. */
static inline double mfpg_play_noise_unit(const mfpg_play *play, ptrdiff_t k) {
    const mfpg_game *game = play->game;
    return game->noise_unit ? game->noise_unit[k] : game->noise_unit_all;
}

static inline double mfpg_play_privacy_scale(const mfpg_play *play, ptrdiff_t k) {
    const mfpg_game *game = play->game;
    return game->privacy_scale ? game->privacy_scale[k] : game->privacy_scale_all;
}

static inline double mfpg_play_own_cost(const mfpg_play *play, ptrdiff_t k) {
    const mfpg_game *game = play->game;
    return game->own_cost ? game->own_cost[k] : game->own_cost_all;
}

/* The same for the clients first .. first + count - 1: values of the array, or the number for all. */
static inline void mfpg_play_numbers(
    const double *values, double all, ptrdiff_t first, ptrdiff_t count, double *out) {
    for (ptrdiff_t i = 0; i < count; i++) out[i] = values ? values[first + i] : all;
}

static inline void mfpg_play_add_prices(const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, double *u) {
    if (!play->game->price || play->planner) return;
    for (ptrdiff_t i = 0; i < count; i++) u[i] += play->game->price[first + i];
}

static inline double mfpg_play_price(const mfpg_play *play, ptrdiff_t k) {
    return play->game->price && !play->planner ? play->game->price[k] : 0.0;
}

/* L and G of client k, measured or public. */
static inline double mfpg_play_loss(const mfpg_play *play, ptrdiff_t k) {
    const mfpg_game *game = play->game;
    return game->measured_loss ? game->measured_loss[k] : game->loss;
}

static inline double mfpg_play_gradient(const mfpg_play *play, ptrdiff_t k) {
    const mfpg_game *game = play->game;
    return game->measured_gradient ? game->measured_gradient[k] : game->gradient_norm;
}

/* What client k adds to the aggregate. */
static inline double mfpg_play_share(const mfpg_play *play, ptrdiff_t k, double x) {
    double share = 0.0;
    if (play->cost->shares) play->cost->shares(play, k, 1, &x, &share);
    return share;
}

#endif
