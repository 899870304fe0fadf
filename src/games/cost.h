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

/* A running sum whose rounding error is carried along (Neumaier), for sums that are updated many times. */
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

/* Clients of one task; clients whose numbers fit into the first-level cache. */
enum { MFPG_CHUNK = 16384, MFPG_BLOCK = 256 };

typedef struct mfpg_chunks {
    mfpg_context *ctx;
    ptrdiff_t clients, count; /* clients >= 1; chunks */
    double *parts;            /* count: what each chunk adds */
} mfpg_chunks;

mfpg_status mfpg_chunks_init(mfpg_context *ctx, ptrdiff_t clients, mfpg_chunks *out);
void mfpg_chunks_clear(mfpg_chunks *chunks);

/* What the clients first .. first + count - 1 add. It must not fail. */
typedef double (*mfpg_chunk_sum)(const void *arg, ptrdiff_t first, ptrdiff_t count);
double mfpg_chunks_sum(const mfpg_chunks *chunks, mfpg_chunk_sum sum, const void *arg);

/* Calls work for every block of at most MFPG_BLOCK clients, for those of one chunk in their order. It must not fail, and writes
 * only to what belongs to its clients or its chunk. */
typedef void (*mfpg_block_work)(void *arg, ptrdiff_t chunk, ptrdiff_t first, ptrdiff_t count);
void mfpg_blocks_run(const mfpg_chunks *chunks, mfpg_block_work work, void *arg);

/* The sum of up to a chunk of numbers, in lanes by block, so that few roundings follow one another. */
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

/* Step i: at r < below the lower action is cheaper for any rounding, at r > above the upper one. flip: the bits in
 * which the two actions differ. */
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

/* *out is NULL if the t_i do not rise or their bands touch: then every comparison must be made. */
mfpg_status mfpg_thresholds_create(mfpg_context *ctx, mfpg_control control, ptrdiff_t actions,
    const double *grid, const double *utility, const double *privacy, mfpg_thresholds **out);
void mfpg_thresholds_destroy(mfpg_thresholds *thresholds);

/* The cheapest actions of `count` clients, a multiple of MFPG_THRESHOLD_TILE, NaN if the exact comparison is needed;
 * returns whether there is such a client. utility and privacy: the shapes there, or both NULL. */
enum { MFPG_THRESHOLD_TILE = 4 };
int mfpg_thresholds_choose(const mfpg_thresholds *thresholds, ptrdiff_t count, const double *u,
    const double *v, double *action, double *utility, double *privacy);

/* ---- costs ---- */

/* How others enter a client's best response. */
typedef enum mfpg_coupling {
    MFPG_COUPLING_NONE = 0, /* not at all: a dominant strategy; E, if any, is of the others' shares alone */
    MFPG_COUPLING_PRICE,    /* u_k depends on the aggregate of the others */
    MFPG_COUPLING_SHARED    /* E depends on the aggregate, which includes the client's own share */
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

/* What a fixed point of the limit has besides the actions. */
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

/* A validated game with its tables. */
typedef struct mfpg_play {
    const mfpg_game *game;
    const mfpg_cost_ops *cost;
    int limit;   /* 1: the mean-field limit, in which no client moves the aggregate; 0: N players */
    int planner; /* 1: one planner chooses all actions and minds the sum of all costs */
    double *utility, *privacy;   /* S and P on the grid, actions.count each; NULL on an interval */
    mfpg_thresholds *thresholds; /* of the grid, or NULL */
    mfpg_chunks chunks;          /* for sums over the clients */
} mfpg_play;

struct mfpg_cost_ops {
    const char *name, *help;
    mfpg_control control;
    int consistent;  /* S grows and P falls with the client's own noise: checked when the game is validated */
    int has_optimum; /* the social optimum is known (theory S3.2, S3.3) */
    int takes_price; /* mfpg_add_prices is part of u_k */
    int measures;    /* MFPG_MEASURES_*: what it reads of private data; others then move no part of it */
    int facts; /* MFPG_COST_* of game_internal.h, without INCONSISTENT; they say which numbers are validated */
    mfpg_coupling finite, limit;

    /* What the facts do not say of the cost's own numbers. NULL: nothing. */
    mfpg_status (*validate)(mfpg_context *ctx, const mfpg_play *play);
    double (*utility)(const mfpg_play *play, double x);
    double (*privacy)(const mfpg_play *play, double x);
    /* u_k and v_k of the clients first .. first + count - 1, of which client first + i meets the aggregate others[i]. */
    void (*scales)(
        const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, const double *others, double *u, double *v);
    /* argmin over all x > 0 of u S(x) + v P(x), which is unimodal; 0 or +INFINITY if it is not attained. NULL: the cost is
     * played on grids only. */
    double (*minimiser)(const mfpg_play *play, double u, double v);

    /* NULL if the cost has none of these. */
    int (*decoupled)(const mfpg_play *play); /* with these numbers nothing couples the clients */
    /* What the clients first .. first + count - 1 add to the aggregate by playing x. */
    void (*shares)(const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, const double *x, double *out);
    double (*external)(const mfpg_play *play, double aggregate); /* E */
    /* SHARED: the exact best response on the interval [low, high]; found sooner if it is near `guess`, > 0. */
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
extern const mfpg_cost_ops *const mfpg_costs[MFPG_COST_COUNT];

/* ---- validate.c ---- */

/* Checks every number that the cost reads and the directions of utility and privacy, and makes the tables.
 * limit: 1 for the mean-field limit. *play is set only on success; free it with mfpg_play_release. */
mfpg_status mfpg_play_prepare(mfpg_context *ctx, const mfpg_game *game, int limit, mfpg_play *play);
void mfpg_play_release(mfpg_play *play);

/* Principle (i) of theory S3.1 over the action set: with more noise of its own a client loses more utility and less
 * privacy. MFPG_ERR_INPUT if a cost that is declared consistent breaks it. */
mfpg_status mfpg_check_directions(mfpg_context *ctx, const mfpg_play *play);

/* One finite number > 0 for each client, or if values is NULL, one for all; NaN there is none. */
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
    double variance_share; /* 1/N: how much of one client's variance the average keeps; 0 in the limit */
} mfpg_fedavg_law;

/* The strengths below this mean keep the model stable: sig2 (2/tau - h), negative if none does. */
double mfpg_fedavg_stable_below(const mfpg_fedavg_law *law);

/* v_inf = (ebar/N)/[X (1 - tau X/2)] per coordinate; expected excess loss f(ebar) = (h/2)(|abar|^2 (kap/X)^2 + d v_inf), and its
 * derivative. All are +INFINITY if unstable; below that f' > 0 if optimum_norm2 > 0 or variance_share > 0. */
double mfpg_fedavg_variance(const mfpg_fedavg_law *law, double ebar);
double mfpg_fedavg_excess(const mfpg_fedavg_law *law, double ebar);
double mfpg_fedavg_slope(const mfpg_fedavg_law *law, double ebar);

/* ---- numbers of clients ---- */

/* Client k's number: that of the array, or if there is no array, the one for all. */
static inline double mfpg_number_of(const double *values, double all, ptrdiff_t k) {
    return values ? values[k] : all;
}

/* p_k of the game, 1/N each if no weights are given. */
static inline double mfpg_play_weight(const mfpg_play *play, ptrdiff_t k) {
    return mfpg_number_of(play->game->weight, 1.0 / (double)play->game->clients, k);
}

static inline double mfpg_play_privacy_scale(const mfpg_play *play, ptrdiff_t k) {
    return mfpg_number_of(play->game->privacy_scale, play->game->privacy_scale_all, k);
}

static inline double mfpg_play_own_cost(const mfpg_play *play, ptrdiff_t k) {
    return mfpg_number_of(play->game->own_cost, play->game->own_cost_all, k);
}

/* Adds the prices of a block of clients to their u. A price is a transfer, which no planner minds. */
static inline void mfpg_add_prices(const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, double *u) {
    if (!play->game->price || play->planner) return;
    for (ptrdiff_t i = 0; i < count; i++) u[i] += play->game->price[first + i];
}

/* The planner of the limit moves the aggregate, so it meets the coupling of N players. */
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

/* The largest action of the grid that is not above x, or the smallest of all: its index. */
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

/* The loss at action x by the game's table: linear between two actions. Where nothing was measured it is one that no true
 * loss exceeds: with less noise than any action's that of the quietest, with more +INFINITY. */
double mfpg_loss_table_at(const mfpg_game *game, mfpg_control control, double x);

/* Strengths: S = e, P = 1/e, and the e at which u e + v/e is least; with a price u of 0 or less it falls with e for ever. */
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
