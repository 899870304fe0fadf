/** The privacy game: every client chooses its control before training, from public inputs only. A game has a cost
 *  (costs.def) and players (N-player Nash or mean field). Controls are plain numbers: a budget for costs gaussian and
 *  measured-budget, a strength for the others; mfpg_equilibrium.control says which. Source: docs/theory.md, S3. */
#ifndef MFPG_GAME_H
#define MFPG_GAME_H

#include <stddef.h>

#include "context.h"
#include "release.h"

typedef enum mfpg_players {
    MFPG_PLAYERS_NONE = 0,
    MFPG_PLAYERS_FINITE,
    MFPG_PLAYERS_MEAN_FIELD
} mfpg_players;

/** The set of actions: a grid of count values (ascending, positive), or the interval [low, high]; low 0 and high
 *  +INFINITY is every positive number. */
typedef struct mfpg_action_set {
    const double *grid; /* NULL: the interval */
    ptrdiff_t count;
    double low, high;
} mfpg_action_set;

/** A game. Pointers are borrowed for the call. Symbols in brackets are those of the test vectors. If all clients have the
 *  same number, its array may be NULL and the number named ..._all is that of every client (NAN: not given). */
typedef struct mfpg_game {
    const char *cost;         /* name in costs.def */
    mfpg_players players;     /* finite or mean-field */
    ptrdiff_t clients;        /* N >= 1 */
    const double *preference; /* clients; beta_k > 0: how much client k minds privacy loss */
    /* clients, p_k >= 0 summing to 1 within 1e-9; NULL: 1/N each. Read by gaussian and entropic; finite entropic
     * needs equal ones */
    const double *weight;
    mfpg_action_set actions;
    /* gaussian and entropic */
    double curvature;       /* [h] bound on the Hessian's norm */
    double dimension;       /* [d] parameters, bias included */
    double personalisation; /* [omega] in [0,1] */
    /* gaussian: cost A q^2 k0_k^2 / b^2 + beta b^p / p with A = h d / 2 */
    const double *noise_unit; /* clients; [k0] noise sd on the weights at budget 1; NULL: noise_unit_all */
    double noise_unit_all;
    double privacy_power; /* [p] 1 or 2 */
    /* entropic: cost f(mean) + c_k e + beta B_k / e; interaction: c e (1 + zeta s) + beta B / e */
    const double *privacy_scale; /* clients; [B]; NULL: privacy_scale_all */
    double privacy_scale_all;
    const double *own_cost; /* clients; [c]; NULL: own_cost_all */
    double own_cost_all;
    /* clients, > 0; NULL: 1 each. Absolute strength of action 1: B and c are per unit of action, while the averaged model
     * (entropic) and eq. (dpbound) (paper, which needs one unit for all) depend on the absolute strength */
    const double *strength_unit;
    double prior_variance; /* [sig2] */
    double step;           /* [tau] */
    double optimum_norm2;  /* [abar2]; entropic: with mean-field it moves the cost and the optimum only */
    double interaction;    /* [zeta] */
    /* paper: L/(e + offset) + beta delta(e), eq. (br) with the raw exponential of eq. (dpbound); measured: L e + beta B/e */
    double loss;             /* [L] */
    double offset;           /* [c] of (br) */
    double gradient_norm;    /* [G] */
    double variance_penalty; /* [lam] */
    double rounds;           /* [K] */
    /* What clients measured on their data if actions are chosen each round, >= 0: read by measured (loss) and paper
     * (both). NULL: the public constants loss and gradient_norm */
    const double *measured_loss, *measured_gradient;
    /* clients, >= 0; NULL: none. What client k pays for its own noise on top: price/b^2 (gaussian) or price e (entropic);
     * no other cost takes one. A transfer: it moves actions and exploitability, and counts in no cost */
    const double *price;
    int skip_optimum; /* 1: no social optimum, which takes 8 bytes a client more */
    /* actions.count; T of every action of the grid, a finite number that does not fall with a client's own noise: measured
     * (then T(e) in place of L e, and no measured_loss) and measured-budget, which needs it: T(b) + beta b^p/p. NULL: none */
    const double *loss_table;
} mfpg_game;

/** Unit curvature, dimension 1, omega 0.5, p 1, prior variance 1, step 0.1, optimum_norm2 1, no interaction, the
 *  paper's constants loss 0.01, offset 0.01, gradient norm 1, penalty 0.01, rounds 10; mean-field; every positive
 *  action. The caller sets the cost and the clients. */
mfpg_game mfpg_game_default(void);

/** A client that ties between two actions. */
typedef struct mfpg_mixing {
    ptrdiff_t client;
    double upper, weight; /* it plays `upper` with probability weight, else its action in action[] */
} mfpg_mixing;

/** A mean that answers itself: the mean of the best responses to it, mixed at ties if mixes is 1. */
typedef struct mfpg_fixed_point {
    double mean;
    int mixes;
} mfpg_fixed_point;

enum { MFPG_FIXED_POINTS_MOST = 1000 }; /* that are listed */

/** A solution with its certificate. Free the arrays with mfpg_equilibrium_clear. */
typedef struct mfpg_equilibrium {
    mfpg_control control;
    ptrdiff_t clients;
    double *action; /* clients; the lower action if a client mixes */
    ptrdiff_t mixing_count;
    mfpg_mixing *mixing;
    double mean_action;        /* expectation over mixing */
    double exploitability_max; /* largest gain of one client by its exact best response, others fixed */
    double exploitability_mean;
    double consistency_gap; /* |mean used by the best responses - mean of the solution|; 0 for finite games */
    /* sum over clients at the solution, with mean-field of the limit's costs; +INFINITY if the averaged model of entropic
     * diverges there */
    double cost;
    /* the social optimum; NAN if it is not computed (interaction, paper, measured, skip_optimum) or no profile has a finite
     * cost */
    double social_mean, social_cost;
    double *social_action; /* clients, or NULL */
    int social_exact; /* 1: no profile is better; 0: the best of those found, which no change of one action improves */
    double price_of_anarchy; /* cost / social_cost; NAN likewise */
    int unique;              /* 1 yes, 0 no, -1 unknown */
    const char *selection;   /* the rule that chose this equilibrium, in words; static text */
    /* mean-field if the mean enters the best responses: every fixed point, ascending, at most MFPG_FIXED_POINTS_MOST of
     * them (the smallest; more: 1 if there are others). Else empty */
    mfpg_fixed_point *fixed_point;
    ptrdiff_t fixed_point_count;
    int fixed_point_more;
    int converged;
    int iterations;
    double residual;
} mfpg_equilibrium;

/** Solves a game: closed forms, one scalar root, or a sorted sweep; never an iteration that can cycle. Of equal actions on a
 *  grid the more private one is played. Interaction below 0 can have several mean-field equilibria: all are listed, and the one
 *  with the smallest mean is played; of several Nash equilibria on a grid the smallest one. Other finite games on a grid have a
 *  potential, of which the equilibrium returned is a local minimum: other equilibria may exist (unique -1). If more than 2^20
 *  clients tie at a mixed equilibrium, the first ones play the upper action and one mixes, to the same mean.
 *  @return MFPG_OK with out filled (out->converged 0 if a root was not reached), MFPG_ERR_INPUT if the game has no solution or
 *  a setting contradicts another (the message says which), MFPG_ERR_DOMAIN for a number out of range or NaN,
 *  MFPG_ERR_MEMORY; out is then empty, and clearing it is fine.
 *  The same bits for any number of threads. Threads: safe on different contexts. */
mfpg_status mfpg_game_solve(mfpg_context *ctx, const mfpg_game *game, mfpg_equilibrium *out);
void mfpg_equilibrium_clear(mfpg_equilibrium *equilibrium);

/** What clients could gain by deviating from given actions (clients, positive, not necessarily of the action set): the
 *  largest and the mean gain of a client's exact best response over the action set, the others fixed. With players
 *  mean-field the others' mean does not move. Status as mfpg_game_solve; *max and *mean are set only on success. */
mfpg_status mfpg_game_exploitability(
    mfpg_context *ctx, const mfpg_game *game, const double *action, double *max, double *mean);

/** What a cost reads of a client's private data; 0 for unknown names and for a cost of public inputs only. */
enum { MFPG_MEASURES_LOSS = 1, MFPG_MEASURES_GRADIENT = 2 };
int mfpg_cost_measures(const char *cost);

/** Names and help of games.def and costs.def; NULL past the end. */
const char *mfpg_game_name(ptrdiff_t index);
const char *mfpg_game_help(ptrdiff_t index);
const char *mfpg_cost_name(ptrdiff_t index);
const char *mfpg_cost_help(ptrdiff_t index);

#endif
