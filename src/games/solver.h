/* The players axis: how a game is solved. */
#ifndef MFPG_GAMES_SOLVER_H
#define MFPG_GAMES_SOLVER_H

#include "cost.h"

typedef struct mfpg_game_ops {
    const char *name, *help;
    int limit; /* the play's */
    /* Fills action (clients) and report, and field where the game is a limit. */
    mfpg_status (*solve)(
        mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_field *field, mfpg_report *report);
} mfpg_game_ops;

#define ENTRY(name) extern const mfpg_game_ops mfpg_game_##name;
#include "games.def"
#undef ENTRY

/* The equilibrium of N players, or with play->planner the planner's optimum: exact where strategies are dominant and
 * on an interval; on a grid with coupling no change of a single action improves it. */
mfpg_status mfpg_finite_solve(mfpg_context *ctx, const mfpg_play *play, double *action, mfpg_report *report);

#endif
