/* Which action of a grid is cheapest, without computing the cost of each. Between two neighbouring actions a client
 * changes over where the ratio r of its two scales, v/u for a strength and u/v for a budget, passes
 *
 *     t_i = |S_{i+1} - S_i| / |P_i - P_{i+1}|    (strength; for a budget its inverse),
 *
 * and with convex shapes t_i rises with i, so the cheapest action is the one above as many t_i as lie below r: as many
 * comparisons as there are steps, the same for every client. Costs are compared after rounding everywhere else, so what
 * lies within a band around t_i in which rounding could decide is left to the exact comparison. */
#ifndef MFPG_GAMES_SWITCHES_H
#define MFPG_GAMES_SWITCHES_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/context.h"
#include "mfpg/release.h"

/* An action with its shapes, as bits. */
typedef struct mfpg_choice_bits {
    int64_t action, utility, privacy;
} mfpg_choice_bits;

/* Step i: at r < below the lower action is cheaper whatever the rounding, at r > above the upper one. flip: the bits in
 * which the two actions differ. */
typedef struct mfpg_switch {
    double below, above;
    mfpg_choice_bits flip;
} mfpg_switch;

typedef struct mfpg_switches {
    mfpg_control control;
    mfpg_choice_bits first;
    ptrdiff_t count; /* steps */
    mfpg_switch *step;
    mfpg_choice_bits *choice; /* count + 1 */
} mfpg_switches;

/* *out NULL where the t_i do not rise or their bands touch: then every comparison must be made. */
mfpg_status mfpg_switches_create(mfpg_context *ctx, mfpg_control control, ptrdiff_t actions,
    const double *grid, const double *utility, const double *privacy, mfpg_switches **out);
void mfpg_switches_destroy(mfpg_switches *switches);

/* The cheapest actions of `count` clients, a multiple of MFPG_SWITCH_TILE, NaN where the exact comparison is needed;
 * returns whether there is such a one. utility and privacy: the shapes there, or both NULL. */
enum { MFPG_SWITCH_TILE = 4 };
int mfpg_switches_choose(const mfpg_switches *switches, ptrdiff_t count, const double *u, const double *v,
    double *action, double *utility, double *privacy);

#endif
