/* Fixed points of the averaged best response where ambient noise s scales the price of own noise (theory S3.4): client k
 * minimises e (1 + slope s) + R_k/e, and s must be the mean of the answers. No iteration: one sorted pass over the values
 * of s at which an answer changes its form. */
#ifndef MFPG_GAMES_FIXED_POINT_H
#define MFPG_GAMES_FIXED_POINT_H

#include "cost.h"

typedef struct mfpg_ratios {
    const double *ratio; /* R_k > 0, count of them */
    ptrdiff_t count;
    double slope; /* zeta, not 0 */
} mfpg_ratios;

/* On a grid the averaged answer is a step function of s. slope > 0: it falls, so exactly one s is a fixed point of the
 * convexified map: on a flat part, pure, or at a jump, where the clients that tie play the upper action with the weight
 * that makes the mean s. slope < 0: it rises, and the smallest fixed point is returned, which is always pure;
 * report->unique says whether there is another. action holds the lower action where a client mixes. */
mfpg_status mfpg_fixed_point_grid(mfpg_context *ctx, const mfpg_ratios *clients, const mfpg_action_set *set,
    double *action, mfpg_field *field, mfpg_report *report);

/* The same on an interval, where the averaged answer is continuous: between two sorted values of s it is
 * a + b/sqrt(1 + slope s). MFPG_ERR_INPUT where slope < 0 and no fixed point exists (unbounded actions). */
mfpg_status mfpg_fixed_point_interval(mfpg_context *ctx, const mfpg_ratios *clients,
    const mfpg_action_set *set, double *action, mfpg_field *field, mfpg_report *report);

#endif
