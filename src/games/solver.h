/* How a game is solved, what a profile is worth, and what is best for all. */
#ifndef MFPG_GAMES_SOLVER_H
#define MFPG_GAMES_SOLVER_H

#include "cost.h"

/* The players axis, games.def. */
typedef struct mfpg_game_ops {
    const char *name, *help;
    int limit; /* the play's */
    /* Fills action (clients) and report, and field if the game is a limit. */
    mfpg_status (*solve)(
        mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_field *field, mfpg_report *report);
} mfpg_game_ops;

#define ENTRY(name) extern const mfpg_game_ops mfpg_game_##name;
#include "games.def"
#undef ENTRY

/* ---- finite.c ---- */

/* The equilibrium of N players, or with play->planner the planner's optimum: exact if strategies are dominant and
 * on an interval; on a grid with coupling no change of a single action improves it. field is left alone. */
mfpg_status mfpg_finite_solve(
    mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_field *field, mfpg_report *report);

/* Lets one client after the other move to a better action of the grid, from the actions given, until none has one: a
 * pure Nash equilibrium. For games with a potential (entropic, interaction, and every planner). report->unique is -1. */
mfpg_status mfpg_sweep(mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_report *report);

/* ---- exploitability.c ---- */

typedef struct mfpg_profile {
    const double *action;      /* clients; the lower action if a client mixes */
    const mfpg_mixing *mixing; /* ascending by client */
    ptrdiff_t mixing_count;
    double aggregate; /* sum of all shares; in the limit the mean field that the clients answer */
} mfpg_profile;

typedef struct mfpg_appraisal {
    double max, mean; /* gain of a client by its exact best response, the others fixed (theory S3.5) */
    double cost;      /* sum over clients, without what they pay as a price */
} mfpg_appraisal;

/* What a profile is worth and what it leaves to gain. In parallel; the same bits for any number of threads. */
mfpg_status mfpg_appraise(
    mfpg_context *ctx, const mfpg_play *play, const mfpg_profile *profile, mfpg_appraisal *out);

/* The cost alone, of a pure profile. */
double mfpg_total_cost(const mfpg_play *play, const double *action);

/* ---- social.c ---- */

/* Fills out's social_* and price_of_anarchy (NAN and NULL if theory S3 gives no optimum, or if no profile has a
 * finite cost) for a solution whose actions and cost are set. */
mfpg_status mfpg_social_optimum(mfpg_context *ctx, const mfpg_play *play, mfpg_equilibrium *out);

#endif
