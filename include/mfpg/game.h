/** The privacy game: every client chooses its control before training, from public inputs only. A game has a
 *  cost (costs.def) and players (N-player Nash or mean field). Controls are plain numbers: a budget for the
 *  costs gaussian and measured-budget, a strength for the others; mfpg_equilibrium.control tells which.
 *  Source: docs/theory.md, S3. */
#ifndef MFPG_GAME_H
#define MFPG_GAME_H

#include <stddef.h>

#include "context.h"
#include "names.h"
#include "release.h"

typedef enum mfpg_players {
    MFPG_PLAYERS_NONE = 0,
    MFPG_PLAYERS_FINITE,
    MFPG_PLAYERS_MEAN_FIELD
} mfpg_players;

/** The set of actions: a grid of count values (ascending, positive), or the interval [low, high]; low 0 and
 *  high +INFINITY mean every positive number. */
typedef struct mfpg_action_set {
    const double *grid; /* NULL: the interval */
    ptrdiff_t count;
    double low, high;
} mfpg_action_set;

/** A game. Pointers are borrowed for the call. Symbols in brackets are those of the test vectors. If all
 *  clients have the same number, its array may be NULL and the field ..._all holds the number (NAN: not
 *  given). */
typedef struct mfpg_game {
    const char *cost;         /* name in costs.def */
    mfpg_players players;     /* finite or mean-field */
    ptrdiff_t clients;        /* N >= 1 */
    const double *preference; /* one per client; beta_k > 0: how strongly client k dislikes privacy loss */
    /* one per client: p_k >= 0 with sum 1 within 1e-9; NULL: 1/N each. Used by gaussian and entropic;
     * entropic with finite players needs equal weights */
    const double *weight;
    mfpg_action_set actions;
    /* gaussian and entropic */
    double curvature;       /* [h] bound on the Hessian's norm */
    double dimension;       /* [d] parameters, bias included */
    double personalisation; /* [omega] in [0,1] */
    /* gaussian: cost A q^2 k0_k^2 / b^2 + beta b^p / p with A = h d / 2 */
    /* one per client; [k0] noise sd on the weights at budget 1; NULL: noise_unit_all */
    const double *noise_unit;
    double noise_unit_all;
    double privacy_power; /* [p] 1 or 2 */
    /* entropic: cost f(mean) + c_k e + beta B_k / e; interaction: c e (1 + zeta s) + beta B / e */
    const double *privacy_scale; /* clients; [B]; NULL: privacy_scale_all */
    double privacy_scale_all;
    const double *own_cost; /* clients; [c]; NULL: own_cost_all */
    double own_cost_all;
    /* one per client, > 0; NULL: 1 each. The absolute strength of action 1. B and c are per unit of action,
     * while the averaged model (entropic) and eq. (dpbound) (paper, which needs one unit for all) depend on
     * the absolute strength */
    const double *strength_unit;
    double prior_variance; /* [sig2] */
    double step;           /* [tau] */
    /* [abar2]; entropic: with players mean-field it changes only the cost and the optimum */
    double optimum_norm2;
    double interaction; /* [zeta] */
    /* paper: L/(e + offset) + beta delta(e), eq. (br) with the raw exponential of eq. (dpbound); measured: L e + beta B/e */
    double loss;             /* [L] */
    double offset;           /* [c] of (br) */
    double gradient_norm;    /* [G] */
    double variance_penalty; /* [lam] */
    double rounds;           /* [K] */
    /* What clients measured on their data if actions are chosen in each round, >= 0. Used by measured (loss)
     * and paper (both). NULL: the public constants loss and gradient_norm are used */
    const double *measured_loss, *measured_gradient;
    /* One per client, >= 0; NULL: none. An additional charge to client k for its own noise: price/b^2
     * (gaussian) or price e (entropic); no other cost accepts one. It is a transfer: it changes actions and
     * exploitability but is part of no reported cost */
    const double *price;
    int skip_optimum; /* 1: the social optimum, which needs 8 more bytes per client, is not computed */
    /* One per action of the grid: T, a finite number that does not fall as a client's own noise grows. Used
     * by measured (T(e) then replaces L e, and measured_loss is not allowed) and measured-budget, which
     * requires it: T(b) + beta b^p/p. NULL: none */
    const double *loss_table;
} mfpg_game;

/** Returns the defaults: unit curvature, dimension 1, omega 0.5, p 1, prior variance 1, step 0.1,
 *  optimum_norm2 1, no interaction, the paper's constants loss 0.01, offset 0.01, gradient norm 1, penalty
 *  0.01, rounds 10; players mean-field; every positive action. The caller sets the cost and the clients. */
mfpg_game mfpg_game_default(void);

/** A client that ties between two actions. */
typedef struct mfpg_mixing {
    ptrdiff_t client;
    /* the client plays `upper` with probability weight, and otherwise its action in action[] */
    double upper, weight;
} mfpg_mixing;

/** A fixed point: the mean equals the mean of the best responses to it (mixed at ties if mixes is 1). */
typedef struct mfpg_fixed_point {
    double mean;
    int mixes;
} mfpg_fixed_point;

enum { MFPG_FIXED_POINTS_MOST = 1000 }; /* that are listed */

/** A solution with its certificate. Free the arrays with mfpg_equilibrium_clear. */
typedef struct mfpg_equilibrium {
    mfpg_control control;
    ptrdiff_t clients;
    double *action; /* one per client; the lower action if a client mixes */
    ptrdiff_t mixing_count;
    mfpg_mixing *mixing;
    double mean_action; /* expectation over mixing */
    /* the largest gain of one client by its exact best response while the others are fixed */
    double exploitability_max;
    double exploitability_mean;
    /* |mean that the best responses used - mean of the solution|; 0 for finite games */
    double consistency_gap;
    /* sum over clients at the solution (with players mean-field: of the limit's costs); +INFINITY if the
     * averaged model of entropic diverges there */
    double cost;
    /* the social optimum; NAN if it is not computed (interaction, paper, measured, skip_optimum) or no
     * profile has finite cost */
    double social_mean, social_cost;
    /* clients, or NULL; if the clients are coupled and all profiles of a grid were tried, then of those that
     * cost the same the one in which the last client that they differ in has the smaller action */
    double *social_action;
    /* 1: no profile is better; 0: the best profile that was found, which no change of a single action
     * improves */
    int social_exact;
    double price_of_anarchy; /* cost / social_cost; NAN likewise */
    int unique;              /* 1 yes, 0 no, -1 unknown */
    const char *selection;   /* the rule that selected this equilibrium, in words; static text */
    /* For players mean-field if the mean enters the best responses: every fixed point, ascending, at most
     * MFPG_FIXED_POINTS_MOST (the smallest ones; `more` is 1 if there are others). Otherwise empty */
    mfpg_fixed_point *fixed_point;
    ptrdiff_t fixed_point_count;
    int fixed_point_more;
    int converged;
    int iterations;
    double residual;
} mfpg_equilibrium;

/** Solves a game by closed forms, one scalar root, or a sorted sweep, and never by an iteration that can
 *  cycle. If two actions of a grid cost the same, the more private one is played. With interaction below 0
 *  several mean-field equilibria can exist: all are listed and the one with the smallest mean is played; of
 *  several Nash equilibria on a grid the smallest is played. Other finite games on a grid have a potential,
 *  and the equilibrium returned is a local minimum of it: other equilibria may exist (unique -1). If more
 *  than 2^20 clients tie at a mixed equilibrium, the first ones play the upper action and one of them mixes,
 *  which gives the same mean.
 *  @return MFPG_OK with out filled (out->converged 0 if a root was not reached); MFPG_ERR_INPUT if the game
 *  has no solution or settings contradict each other (the message says which); MFPG_ERR_DOMAIN for a number
 *  out of range or NaN; MFPG_ERR_MEMORY. After a failure out is empty and may be cleared.
 *  The bits do not depend on the number of threads. Threads: safe on different contexts. */
mfpg_status mfpg_game_solve(mfpg_context *ctx, const mfpg_game *game, mfpg_equilibrium *out);
void mfpg_equilibrium_clear(mfpg_equilibrium *equilibrium);

/** Computes what clients could gain by deviating from given actions (one per client, positive, not
 *  necessarily in the action set): the largest and the mean gain of a client's exact best response over the
 *  action set while the others are fixed. With players mean-field the others' mean does not change. Status as
 *  mfpg_game_solve; *max and *mean are set only on success. */
mfpg_status mfpg_game_exploitability(
    mfpg_context *ctx, const mfpg_game *game, const double *action, double *max, double *mean);

/** The bits for what a cost reads of a client's private data; 0 for unknown names and for a cost of public
 *  inputs only. */
enum { MFPG_MEASURES_LOSS = 1, MFPG_MEASURES_GRADIENT = 2 };
int mfpg_cost_measures(const char *cost);

extern const mfpg_kinds mfpg_games; /**< what the players are (games.def), in the order of mfpg_players */
extern const mfpg_kinds mfpg_costs; /**< the cost models (costs.def) */

#endif
