/** The privacy game: every client chooses its control before training, from public inputs only.
 *  Costs (theory: Gaussian public good with personalisation, entropic FedAvg, interaction on a grid, the paper's
 *  literal best response) and players (N-player Nash or mean field) span the games. Controls are plain numbers here:
 *  a budget for cost gaussian, a strength for the others; mfpg_equilibrium.control says which. */
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
const char *mfpg_players_name(mfpg_players players); /* "none", "finite", "mean-field" */

/** The set of actions: a grid of count values (ascending, positive), or the interval [low, high]; low 0 and high
 *  +INFINITY is every positive number. */
typedef struct mfpg_action_set {
    const double *grid; /* NULL: the interval */
    ptrdiff_t count;
    double low, high;
} mfpg_action_set;

/** A game. Pointers are borrowed for the call. Symbols in brackets are those of the test vectors. */
typedef struct mfpg_game {
    const char *cost;         /* name in costs.def */
    mfpg_players players;     /* finite or mean-field */
    ptrdiff_t clients;        /* N >= 1 */
    const double *preference; /* clients; beta_k > 0: how much client k minds privacy loss */
    const double *weight;     /* clients, p_k >= 0 summing to 1; NULL: 1/N each */
    mfpg_action_set actions;
    /* gaussian and entropic */
    double curvature;       /* [h] bound on the Hessian's norm */
    double dimension;       /* [d] parameters, bias included */
    double personalisation; /* [omega] in [0,1] */
    /* gaussian: cost A q^2 k0_k^2 / b^2 + beta b^p / p with A = h d / 2 */
    const double *noise_unit; /* clients; [k0] noise sd on the weights at budget 1 */
    double privacy_power;     /* [p] 1 or 2 */
    /* entropic: cost f(mean) + c_k e + beta B_k / e; interaction: c e (1 + zeta s) + beta B / e */
    const double *privacy_scale; /* clients; [B] */
    const double *own_cost;      /* clients; [c] */
    double prior_variance;       /* [sig2] */
    double step;                 /* [tau] */
    double optimum_norm2;        /* [abar2]; finite entropic only */
    double interaction;          /* [zeta] */
    /* paper: L/(e + offset) + beta delta(e), eq. (br) with the raw exponential of eq. (dpbound) */
    double loss;             /* [L] */
    double offset;           /* [c] of (br) */
    double gradient_norm;    /* [G] */
    double variance_penalty; /* [lam] */
    double rounds;           /* [K] */
} mfpg_game;

/** Unit curvature, dimension 1, omega 0.5, p 1, prior variance 1, step 0.1, optimum_norm2 1, no interaction, the
 *  paper's constants loss 0.01, offset 0.01, gradient norm 1, penalty 0.01; every positive action. */
mfpg_game mfpg_game_default(void);

typedef struct mfpg_mixing {
    ptrdiff_t
        client; /* ties between two actions: plays `upper` with probability weight, else the action in actions[] */
    double upper, weight;
} mfpg_mixing;

/** A solution with its certificate. Free the arrays with mfpg_equilibrium_clear. */
typedef struct mfpg_equilibrium {
    mfpg_control control;
    ptrdiff_t clients;
    double *action; /* clients; the lower action where a client mixes */
    ptrdiff_t mixing_count;
    mfpg_mixing *mixing;
    double mean_action;        /* expectation over mixing */
    double exploitability_max; /* largest gain of one client by its exact best response, others fixed */
    double exploitability_mean;
    double consistency_gap; /* |mean used by the best responses - mean of the solution|; 0 for finite games */
    double cost;            /* sum over clients at the solution */
    double social_mean,
        social_cost;         /* the social optimum; NAN where it is not computed (interaction, paper) */
    double *social_action;   /* clients, or NULL */
    double price_of_anarchy; /* cost / social_cost; NAN likewise */
    int unique;              /* 1 yes, 0 no, -1 unknown */
    int converged;
    int iterations;
    double residual;
} mfpg_equilibrium;

/** Solves a game: closed forms, one scalar root, or a sorted sweep; never an iteration that can cycle.
 *  @return MFPG_OK with out filled (out->converged 0 where a root was not reached), MFPG_ERR_INPUT where the game has
 *  no solution or a setting contradicts another (message says which), MFPG_ERR_DOMAIN for a number out of range or
 *  NaN, MFPG_ERR_MEMORY. Threads: safe on different contexts. */
mfpg_status mfpg_game_solve(mfpg_context *ctx, const mfpg_game *game, mfpg_equilibrium *out);
void mfpg_equilibrium_clear(mfpg_equilibrium *equilibrium);

/** Names and help of games.def and costs.def; NULL past the end. */
const char *mfpg_game_name(ptrdiff_t index);
const char *mfpg_game_help(ptrdiff_t index);
const char *mfpg_cost_name(ptrdiff_t index);
const char *mfpg_cost_help(ptrdiff_t index);

#endif
