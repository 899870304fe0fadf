/* The interface of the costs. If the aggregate is a, client k pays for playing x
 *
 *     U_k(x; a) = u_k(a) S(x) + v_k P(x) + E(aggregate),
 *
 * S the shape of the utility loss, P the shape of the privacy cost, both the same for all clients, and u_k, v_k >= 0
 * the client's own scales. The aggregate is the sum of every client's share; what a client meets is the sum over the
 * others. E is what the aggregate costs everybody. So one client's best response needs two numbers of it and two
 * tables of the grid, for every cost. */
#ifndef MFPG_GAMES_COST_H
#define MFPG_GAMES_COST_H

#include <math.h>

#include <stddef.h>
#include <stdint.h>

#include "game_internal.h"

/* ---- parallel_sum.c: sums over many clients. Every chunk of clients is one task with a slot of its own, and the slots are added in
 * the order of the clients: the same bits for any number of threads ---- */

/* A running sum that also carries its rounding error (Neumaier), for sums that are updated many times. */
typedef struct mfpg_compensated {
    double sum, rest;
} mfpg_compensated;

static inline void mfpg_compensated_add(mfpg_compensated *total, double x) {
    double sum = total->sum + x;
    total->rest += fabs(total->sum) >= fabs(x) ? (total->sum - sum) + x : (x - sum) + total->sum;
    total->sum = sum;
}

static inline double mfpg_compensated_value(const mfpg_compensated *total) {
    return total->sum + total->rest;
}

/* Number of clients of one task, and number of clients whose data fit into the first-level cache. */
enum { MFPG_CHUNK = 16384, MFPG_BLOCK = 256 };

typedef struct mfpg_chunks {
    mfpg_context *ctx;
    ptrdiff_t clients, count; /* clients >= 1; chunks */
    double *parts;            /* count: what each chunk adds */
} mfpg_chunks;

mfpg_status mfpg_chunks_init(mfpg_context *ctx, ptrdiff_t clients, mfpg_chunks *out);
void mfpg_chunks_clear(mfpg_chunks *chunks);

/* Returns the sum over clients first .. first + count - 1. It must not fail. */
typedef double (*mfpg_chunk_sum)(const void *arg, ptrdiff_t first, ptrdiff_t count);
double mfpg_chunks_sum(const mfpg_chunks *chunks, mfpg_chunk_sum sum, const void *arg);

/* Call work for every chunk, and for every block of at most MFPG_BLOCK clients, in order within one chunk.
 * work must not fail, and writes only to the data of its clients or its chunk. */
typedef void (*mfpg_block_work)(void *arg, ptrdiff_t chunk, ptrdiff_t first, ptrdiff_t count);
void mfpg_chunks_run(const mfpg_chunks *chunks, mfpg_block_work work, void *arg);
void mfpg_blocks_run(const mfpg_chunks *chunks, mfpg_block_work work, void *arg);

/* Returns the sum of up to a chunk of numbers, in lanes by block, so that few roundings depend on each
 * other. */
double mfpg_chunk_add(const double *x, ptrdiff_t count);

/* ---- thresholds.c ---- */

/* Which action of a grid is cheapest, without computing the cost of each. Between two neighbouring actions a client
 * changes over when the ratio r of its two scales, v/u for a strength and u/v for a budget, passes
 *
 *     t_i = |S_{i+1} - S_i| / |P_i - P_{i+1}|    (strength; for a budget its inverse),
 *
 * and with convex shapes t_i rises with i, so the cheapest action is the one above as many t_i as lie below r: as many
 * comparisons as there are steps, the same for every client. Costs are compared after rounding everywhere else, so ratios
 * within a band around t_i, in which rounding could decide, are left to the exact comparison. */

/* An action with its shapes, as bits. */
typedef struct mfpg_choice_bits {
    int64_t action, utility, privacy;
} mfpg_choice_bits;

/* Step i: at r < below the lower action is cheaper for any rounding, at r > above the upper one is. flip:
 * the bits in which the two actions differ. */
typedef struct mfpg_threshold {
    double below, above;
    mfpg_choice_bits flip;
} mfpg_threshold;

typedef struct mfpg_thresholds {
    mfpg_control control;
    mfpg_choice_bits first;
    ptrdiff_t count; /* steps */
    mfpg_threshold *step;
    mfpg_choice_bits *choice; /* count + 1 */
} mfpg_thresholds;

/* out is NULL if the t_i do not rise or their bands touch; every comparison must then be made. */
mfpg_status mfpg_thresholds_create(mfpg_context *ctx, mfpg_control control, ptrdiff_t actions,
    const double *grid, const double *utility, const double *privacy, mfpg_thresholds **out);
void mfpg_thresholds_destroy(mfpg_thresholds *thresholds);

/* Computes the cheapest actions of `count` clients, a multiple of MFPG_THRESHOLD_TILE; NaN if the exact
 * comparison is needed. Returns whether there is such a client. utility and privacy: the shapes there, or
 * both NULL. */
enum { MFPG_THRESHOLD_TILE = 4 };
int mfpg_thresholds_choose(const mfpg_thresholds *thresholds, ptrdiff_t count, const double *u,
    const double *v, double *action, double *utility, double *privacy);

/* ---- costs ---- */

/* How others enter a client's best response. */
typedef enum mfpg_coupling {
    /* no coupling, so there is a dominant strategy; E, if any, depends on the others' shares alone */
    MFPG_COUPLING_NONE = 0,
    MFPG_COUPLING_PRICE, /* u_k depends on the aggregate of the others */
    MFPG_COUPLING_SHARED /* E depends on the aggregate, which includes the client's own share */
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

/* What a fixed point of the limit has in addition to the actions. */
typedef struct mfpg_field {
    double mean; /* the aggregate that the best responses used */
    mfpg_mixing *mixing;
    ptrdiff_t mixing_count;
    mfpg_fixed_point *fixed_point;
    ptrdiff_t fixed_point_count;
    int fixed_point_more;
} mfpg_field;

/* The sensitivities and the largest values of one client's measurements. */
typedef struct mfpg_swing {
    double loss, loss_most, gradient, gradient_most;
} mfpg_swing;

typedef struct mfpg_cost_ops mfpg_cost_ops;

/* A validated game with its tables. */
typedef struct mfpg_play {
    const mfpg_game *game;
    const mfpg_cost_ops *cost;
    int limit;   /* 1: the mean-field limit, in which no single client moves the aggregate; 0: N players */
    int planner; /* 1: one planner chooses all actions and minimises the sum of all costs */
    double *utility, *privacy;   /* S and P on the grid, actions.count numbers each; NULL on an interval */
    mfpg_thresholds *thresholds; /* of the grid, or NULL */
    mfpg_chunks chunks;          /* for sums over the clients */
} mfpg_play;

struct mfpg_cost_ops {
    const char *name, *help;
    mfpg_control control;
    /* 1: S grows and P falls with the client's own noise; this is checked when the game is validated */
    int consistent;
    int has_optimum; /* 1: the social optimum is known (theory S3.2, S3.3) */
    int takes_price; /* mfpg_add_prices is part of u_k */
    int measures;    /* MFPG_MEASURES_*: what it reads of private data; the others then move no part of it */
    /* MFPG_COST_* of game_internal.h, without INCONSISTENT; they determine which numbers are validated */
    int facts;
    mfpg_coupling finite, limit;

    /* Checks the cost's own numbers beyond what the facts imply. NULL: no further checks. */
    mfpg_status (*validate)(mfpg_context *ctx, const mfpg_play *play);
    double (*utility)(const mfpg_play *play, double x);
    double (*privacy)(const mfpg_play *play, double x);
    /* Computes u_k and v_k of the clients first .. first + count - 1, where client first + i meets the
     * aggregate others[i]. */
    void (*scales)(
        const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, const double *others, double *u, double *v);
    /* Returns the argmin over all x > 0 of u S(x) + v P(x), which is unimodal; 0 or +INFINITY if it is not
     * attained. NULL: the cost is only played on grids. */
    double (*minimiser)(const mfpg_play *play, double u, double v);

    /* Each of the following is NULL if it does not apply to the cost. */
    int (*decoupled)(const mfpg_play *play); /* with these numbers nothing couples the clients */
    /* Computes what the clients first .. first + count - 1 add to the aggregate by playing x. */
    void (*shares)(const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, const double *x, double *out);
    double (*external)(const mfpg_play *play, double aggregate); /* E */
    /* SHARED: returns the exact best response on the interval [low, high]; it is found faster if it is near
     * `guess`, > 0. */
    double (*reply)(const mfpg_play *play, ptrdiff_t k, double others, double low, double high, double guess);
    /* SHARED: returns whether an action's share is the same for all clients */
    int (*alike)(const mfpg_play *play);
    /* Coupled: computes the N-player equilibrium on the interval [low, high]. */
    mfpg_status (*nash)(mfpg_context *ctx, const mfpg_play *play, double low, double high, double *action,
        mfpg_report *report);
    /* Coupled, on a grid: returns actions from which best responses in turn reach the equilibrium that *rule
     * names; NULL: those of nash, rounded down. */
    mfpg_status (*start)(mfpg_context *ctx, const mfpg_play *play, double *action, const char **rule);
    /* Costs that measure: computes how far client k's disutility of x can move with its measurements
     * (mfpg_game_disutility_changes), and the largest disutility, both before rounding. */
    void (*change)(const mfpg_play *play, ptrdiff_t k, double x, const mfpg_swing *swing, double *moved,
        double *largest);
    /* takes_price: computes mfpg_game_corrective_price for a validated game. Until success, price is
     * scratch. */
    mfpg_status (*corrective)(mfpg_context *ctx, const mfpg_play *play, double *price);
    /* PRICE in the limit: computes the fixed point of the averaged best response, on a grid by mixing at
     * ties. */
    mfpg_status (*fixed_point)(
        mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_field *field, mfpg_report *report);
};

#define ENTRY(name) extern const mfpg_cost_ops mfpg_cost_##name;
#include "costs.def"
#undef ENTRY

/* ---- validate.c ---- */

/* Checks every number that the cost reads and the directions of utility and privacy, and builds the tables.
 * limit: 1 for the mean-field limit. *play is set only on success; free it with mfpg_play_release. */
mfpg_status mfpg_play_prepare(mfpg_context *ctx, const mfpg_game *game, int limit, mfpg_play *play);
void mfpg_play_release(mfpg_play *play);

/* Checks principle (i) of theory S3.1 over the action set: with more noise of its own a client loses more
 * utility and less privacy. Fails with MFPG_ERR_INPUT if a cost that is declared consistent violates it. */
mfpg_status mfpg_check_directions(mfpg_context *ctx, const mfpg_play *play);

/* Checks for one finite number > 0 per client or, if values is NULL, one for all; NaN means that it is not
 * given. */
mfpg_status mfpg_check_clients(
    mfpg_context *ctx, const char *what, const double *values, double all, ptrdiff_t clients);

/* ---- entropic.c ---- */

/* The law of the averaged model of entropic FedAvg in the long run (theory S3.3): one local step a round, equal
 * curvature, w' = w - tau [h (w - abar) + (ebar/sig2) w] + (sqrt(2 tau)/N) sum sqrt(e_k) z_k. With kap = ebar/sig2
 * and X = h + kap it is stable iff tau X < 2. */
typedef struct mfpg_fedavg_law {
    double curvature;      /* h > 0 */
    double prior_variance; /* sig2 > 0 */
    double step;           /* tau > 0 */
    double dimension;      /* d */
    double optimum_norm2;  /* |abar|^2 */
    /* 1/N: the share of one client's variance that the average keeps; 0 in the limit */
    double variance_share;
} mfpg_fedavg_law;

/* Returns the mean strength below which the model is stable: sig2 (2/tau - h), negative if there is none. */
double mfpg_fedavg_stable_below(const mfpg_fedavg_law *law);

/* Return v_inf = (ebar/N)/[X (1 - tau X/2)] per coordinate, the expected excess loss f(ebar) =
 * (h/2)(|abar|^2 (kap/X)^2 + d v_inf), and its derivative. All are +INFINITY if the model is unstable;
 * otherwise f' > 0 if optimum_norm2 > 0 or variance_share > 0. */
double mfpg_fedavg_variance(const mfpg_fedavg_law *law, double ebar);
double mfpg_fedavg_excess(const mfpg_fedavg_law *law, double ebar);
double mfpg_fedavg_slope(const mfpg_fedavg_law *law, double ebar);

/* ---- numbers of clients ---- */

/* Returns client k's number: from the array or, if there is none, the one for all. */
static inline double mfpg_number_of(const double *values, double all, ptrdiff_t k) {
    return values ? values[k] : all;
}

/* Returns p_k of the game, 1/N each if no weights are given. */
static inline double mfpg_play_weight(const mfpg_play *play, ptrdiff_t k) {
    return mfpg_number_of(play->game->weight, 1.0 / (double)play->game->clients, k);
}

static inline double mfpg_play_privacy_scale(const mfpg_play *play, ptrdiff_t k) {
    return mfpg_number_of(play->game->privacy_scale, play->game->privacy_scale_all, k);
}

static inline double mfpg_play_own_cost(const mfpg_play *play, ptrdiff_t k) {
    return mfpg_number_of(play->game->own_cost, play->game->own_cost_all, k);
}

/* Adds the prices of a block of clients to their u. A price is a transfer, so a planner ignores it. */
static inline void mfpg_add_prices(const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, double *u) {
    if (!play->game->price || play->planner) return;
    for (ptrdiff_t i = 0; i < count; i++) u[i] += play->game->price[first + i];
}

/* The planner of the limit moves the aggregate, so its coupling is that of N players. */
static inline mfpg_coupling mfpg_play_coupling(const mfpg_play *play) {
    if (play->cost->decoupled && play->cost->decoupled(play)) return MFPG_COUPLING_NONE;
    return play->limit && !play->planner ? play->cost->limit : play->cost->finite;
}

/* What client k adds to the aggregate. */
static inline double mfpg_play_share(const mfpg_play *play, ptrdiff_t k, double x) {
    double share = 0.0;
    if (play->cost->shares) play->cost->shares(play, k, 1, &x, &share);
    return share;
}

/* Returns the index of the largest action of the grid that is not above x, or of the smallest action. */
static inline ptrdiff_t mfpg_grid_index(const mfpg_action_set *set, double x) {
    ptrdiff_t low = 0, high = set->count;
    while (high - low > 1) {
        ptrdiff_t middle = low + (high - low) / 2;
        if (set->grid[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* x moved into [low, high]. */
static inline double mfpg_clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

/* ---- shapes that several costs share ---- */

/* Returns the loss at action x from the game's table: linear between two actions. Outside the table it is an
 * upper bound of the true loss: with less noise than any action, the loss of the action with the least
 * noise; with more noise, +INFINITY. */
double mfpg_loss_table_at(const mfpg_game *game, mfpg_control control, double x);

/* Strengths: S = e, P = 1/e, and the e that minimises u e + v/e; with a price u of 0 or less the cost falls
 * with e without end. */
static inline double mfpg_strength_utility(const mfpg_play *play, double e) {
    (void)play;
    return e;
}

static inline double mfpg_strength_privacy(const mfpg_play *play, double e) {
    (void)play;
    return 1.0 / e;
}

static inline double mfpg_strength_minimiser(const mfpg_play *play, double u, double v) {
    (void)play;
    return u > 0.0 ? sqrt(v / u) : (double)INFINITY;
}

/* Budgets: P = b^p/p. */
static inline double mfpg_budget_privacy(const mfpg_play *play, double b) {
    return play->game->privacy_power == 1.0 ? b : 0.5 * b * b;
}

#endif
