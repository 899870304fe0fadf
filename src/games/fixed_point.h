/* Fixed points of the averaged best response if ambient noise s scales the price of own noise (theory S3.4): client k
 * minimises e (1 + slope s) + R_k/e, and s must be the mean of the answers. All answers move the same way with s, so their
 * mean is a monotone function of s; what lies between two values of s is known from the two means, and brackets that can
 * hold no fixed point are dropped. The map is not iterated, and nothing is kept for a client: a pass over the clients
 * counts on which side of its steps each client is, and only what is left in a narrow bracket is listed and sorted. */
#ifndef MFPG_GAMES_FIXED_POINT_H
#define MFPG_GAMES_FIXED_POINT_H

#include "cost.h"

typedef struct mfpg_steps mfpg_steps;

/* The numbers of clients on either side of the steps, at some s. */
typedef struct mfpg_step_counts {
    ptrdiff_t *below; /* number of clients on the lower side of step i */
    double roots;     /* interval: the sum of sqrt R over the clients at neither end */
} mfpg_step_counts;

/* A client passes one of its steps at ambient noise `at`. */
typedef struct mfpg_passage {
    double at, root; /* root: sqrt R */
    ptrdiff_t step;
} mfpg_passage;

/* A fixed point. Pure: clients whose step is at or below edge have passed it. Mixed: at s = edge some clients tie, and
 * play the upper action with probability weight. */
typedef struct mfpg_landing {
    double mean, edge, weight;
    int mixes;
} mfpg_landing;

/* The part (low, high] of the line. passage: all passages in it, sorted; NULL: more than a list holds, all at high. */
typedef struct mfpg_bracket {
    double low, high;
    const mfpg_step_counts *at_low, *at_high;
    const mfpg_passage *passage;
    ptrdiff_t count;
} mfpg_bracket;

/* Fixed points in ascending order. */
typedef struct mfpg_landings {
    mfpg_landing at[MFPG_FIXED_POINTS_MOST];
    ptrdiff_t count;
    int one;  /* 1: the fixed point is unique, so the search ends with it */
    int more; /* there are more than fit */
} mfpg_landings;

/* Client k is on the lower side of step i as long as R_k/(1 + slope s) <= product[i]. On a grid step i leads from
 * action i to i + 1, product e_i e_{i+1}; an interval has the steps low^2 and high^2, between which the answer is
 * sqrt(R/(1 + slope s)). */
struct mfpg_steps {
    const mfpg_play *play;
    double slope; /* zeta, not 0 */
    /* computes R_k > 0 of the clients first .. first + count - 1 */
    void (*ratios)(const mfpg_play *play, ptrdiff_t first, ptrdiff_t count, double *out);
    ptrdiff_t count;
    double *product; /* count, ascending; 0 or infinite if no client can pass the step */

    /* The mean of the answers to s. */
    double (*mean)(const mfpg_steps *steps, const mfpg_step_counts *counts, double s);
    /* Adds the fixed points of a bracket with mfpg_landings_add; counts is scratch, and holds those of
     * bracket->low on entry. */
    void (*walk)(const mfpg_steps *steps, const mfpg_bracket *bracket, mfpg_step_counts *counts,
        mfpg_landings *landings);
};

/* Returns the ambient noise at which a client of that ratio passes the step. */
static inline double mfpg_passage_at(const mfpg_steps *steps, ptrdiff_t step, double ratio) {
    return (ratio / steps->product[step] - 1.0) / steps->slope;
}

/* Returns the largest R >= 0 that is on the lower side of the step at ambient noise s, in rounded
 * arithmetic. */
double mfpg_step_limit(const mfpg_steps *steps, ptrdiff_t step, double s);

/* One pass over the clients. */
void mfpg_steps_count(const mfpg_steps *steps, double s, mfpg_step_counts *out);

/* Ignores what repeats the last one. */
void mfpg_landings_add(mfpg_landings *landings, mfpg_landing found);

/* Finds all fixed points between low > 0 and high, ascending, and the number of passes. */
mfpg_status mfpg_fixed_points_find(mfpg_context *ctx, const mfpg_steps *steps, double low, double high,
    mfpg_landings *landings, int *passes);

/* On a grid the averaged answer is a step function of s. slope > 0: it falls, so exactly one s is a fixed point of the
 * convexified map: on a flat part, pure, or at a jump, at which the clients that tie play the upper action with the weight
 * that makes the mean s. slope < 0: it rises, and several can be fixed points; the smallest is played, which is always
 * pure. action holds the lower action if a client mixes. */
mfpg_status mfpg_fixed_point_grid(
    mfpg_context *ctx, mfpg_steps *steps, double *action, mfpg_field *field, mfpg_report *report);

/* Does the same on an interval, on which the averaged answer is continuous: between two sorted values of s
 * it is a + b/sqrt(1 + slope s). MFPG_ERR_INPUT if slope < 0 and no fixed point exists (unbounded actions). */
mfpg_status mfpg_fixed_point_interval(
    mfpg_context *ctx, mfpg_steps *steps, double *action, mfpg_field *field, mfpg_report *report);

/* Fills in what both return: the list, its first entry and the rule. */
mfpg_status mfpg_field_fill(
    mfpg_context *ctx, const mfpg_landings *landings, mfpg_field *field, mfpg_report *report);

#endif
