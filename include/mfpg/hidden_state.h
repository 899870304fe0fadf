/** Hidden states: what the last model alone reveals if nobody sees the ones before it (theory S2.3, S2.4). Holds for
 *  an outsider who sees nothing of a run but its last state, under assumptions that are declared, never found out. */
#ifndef MFPG_HIDDEN_STATE_H
#define MFPG_HIDDEN_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"

/* ---- from maps to mu ---- */

/** Equal steps in a row: x <- phi(x) + N(0, noise_sd^2 I). In one of the two runs that are compared phi multiplies
 *  distances by at most `contraction`, a constant that knows no data; the two phi lie at most `shift` apart everywhere. */
typedef struct mfpg_hidden_step {
    double contraction; /* c >= 0; may exceed 1 */
    double shift;       /* Delta >= 0 */
    double noise_sd;    /* s >= 0 */
    int64_t times;      /* >= 1 */
} mfpg_hidden_step;

/** mu of the state after the last step by the greatest convex minorant of theory S2.3, rounded up; that of composition
 *  if every c is 1. Linear in count, for any times, but for steps with c > 1, which are taken one by one (beyond
 *  65,536 of them they are paid in full, which is never too little).
 *  @param[in]  step       count of them, in the order of the run; 0: nothing was released
 *  @param[in]  start_gap  how far the two starts may lie apart (infinity-Wasserstein), >= 0; 0: the start is public
 *  @param[out] mu         +INFINITY if a gap is left that no noise hides, and on failure
 *  @return MFPG_OK, MFPG_ERR_DOMAIN for NaN, an infinite or a negative number, MFPG_ERR_MEMORY. ctx may be NULL. */
mfpg_status mfpg_hidden_mu(
    mfpg_context *ctx, const mfpg_hidden_step *step, ptrdiff_t count, double start_gap, double *mu);

/* ---- from assumptions to contractions ---- */

typedef enum mfpg_hidden_case {
    MFPG_HIDDEN_NONE = 0,  /* nothing is assumed: every state counts as seen */
    MFPG_HIDDEN_QUADRATIC, /* Hessians between strong_convexity and smoothness */
    MFPG_HIDDEN_GLM,       /* convex loss of one scalar margin of each example, that is clipped by itself */
    MFPG_HIDDEN_CONVEX,    /* any convex smooth loss, any clip of a norm */
    MFPG_HIDDEN_NONCONVEX  /* any smooth loss, any clip of a norm */
} mfpg_hidden_case;

/** What norm is clipped. */
typedef enum mfpg_clipping {
    MFPG_CLIPPING_NONE = 0, /* nowhere, or where it never acts */
    MFPG_CLIPPING_EXAMPLE,  /* every example's gradient by itself */
    MFPG_CLIPPING_VECTOR    /* the gradient of several examples together */
} mfpg_clipping;

/** What is taken for granted of the loss. All numbers are public and hold for every data set and every minibatch that
 *  could have been; a number found on the data at hand does not. */
typedef struct mfpg_hidden_assumption {
    mfpg_hidden_case kind;
    double strong_convexity; /* m >= 0 */
    double smoothness;       /* M >= m: of the gradient that is clipped; its mean if examples are clipped */
    mfpg_clipping clipping;
    /* Every state is projected onto a public ball of that radius on which the clip never acts, for any data; +INFINITY:
     * none is. */
    double projection_radius;
} mfpg_hidden_assumption;

/** c of one step x - step [g(x) + decay x + penalty (x - mean of the entries of x)], g the clipped gradient, rounded up:
 *  the smallest that the case allows (theory S2.4). Above 1 nothing contracts, and no gain over composition comes of it.
 *  @param[in] dimension  parameters, >= 1: with one, a clipped convex gradient stays monotone
 *  @return MFPG_OK; MFPG_ERR_INPUT with the reason if the case does not hold (strong convexity with a clip that
 *  acts, case glm with a clip over several examples, nothing assumed); MFPG_ERR_DOMAIN for NaN or a number out of range.
 *  *c is +INFINITY then. */
mfpg_status mfpg_hidden_contraction(mfpg_context *ctx, const mfpg_hidden_assumption *assumption, double step,
    double decay, double penalty, ptrdiff_t dimension, double *c);

#endif
