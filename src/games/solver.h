/* How a game is solved, how a profile is evaluated, and the social optimum. */
#ifndef MFPG_GAMES_SOLVER_H
#define MFPG_GAMES_SOLVER_H

#include "cost.h"

/* The players axis, games.def. */
typedef struct mfpg_game_ops {
    const char *name, *help;
    int limit; /* the play's */
    /* Fills action (one per client) and report, and field if the game is a limit. */
    mfpg_status (*solve)(
        mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_field *field, mfpg_report *report);
} mfpg_game_ops;

#define ENTRY(name) extern const mfpg_game_ops mfpg_game_##name;
#include "games.def"
#undef ENTRY

/* ---- finite.c ---- */

/* Computes the equilibrium of N players or, with play->planner, the planner's optimum. It is exact if
 * strategies are dominant and on an interval; on a grid with coupling, no change of a single action improves
 * it. field is not used. */
mfpg_status mfpg_finite_solve(
    mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_field *field, mfpg_report *report);

/* Lets one client after the other move to a better action of the grid, from the actions given, until none has one: a
 * pure Nash equilibrium. For games with a potential (entropic, interaction, and every planner). report->unique is -1. */
mfpg_status mfpg_sweep(mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_report *report);

/* ---- exploitability.c ---- */

typedef struct mfpg_profile {
    const double *action;      /* one per client; the lower action if a client mixes */
    const mfpg_mixing *mixing; /* ascending by client */
    ptrdiff_t mixing_count;
    double aggregate; /* sum of all shares; in the limit, the mean field to which the clients respond */
} mfpg_profile;

typedef struct mfpg_appraisal {
    /* gain of a client by its exact best response while the others are fixed (theory S3.5) */
    double max, mean;
    double cost; /* sum over clients, without prices */
} mfpg_appraisal;

/* Evaluates a profile: its costs and the possible gains. It runs in parallel; the bits do not depend on the
 * number of threads. */
mfpg_status mfpg_appraise(
    mfpg_context *ctx, const mfpg_play *play, const mfpg_profile *profile, mfpg_appraisal *out);

/* The cost alone, of a pure profile. */
double mfpg_total_cost(const mfpg_play *play, const double *action);

/* ---- social.c ---- */

/* Fills out's social_* and price_of_anarchy for a solution whose actions and cost are set (NAN and NULL if
 * theory S3 gives no optimum, or if no profile has a finite cost). */
mfpg_status mfpg_social_optimum(mfpg_context *ctx, const mfpg_play *play, mfpg_equilibrium *out);

#endif
