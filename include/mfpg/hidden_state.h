/** Hidden states: what the last model alone reveals if nobody sees the earlier ones (theory S2.3, S2.4). The
 *  bounds protect against an outsider who sees nothing of a run except its last state. They hold under
 *  assumptions that the caller declares; the library cannot verify them. */
#ifndef MFPG_HIDDEN_STATE_H
#define MFPG_HIDDEN_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"

typedef enum mfpg_hidden_case {
    MFPG_HIDDEN_NONE = 0,  /* no assumption: every state counts as seen */
    MFPG_HIDDEN_QUADRATIC, /* Hessians between strong_convexity and smoothness */
    /* the loss of each example is convex in one scalar margin, and each example's gradient is clipped by
     * itself */
    MFPG_HIDDEN_GLM,
    MFPG_HIDDEN_CONVEX,   /* any convex smooth loss, with any clip of a norm */
    MFPG_HIDDEN_NONCONVEX /* any smooth loss, with any clip of a norm */
} mfpg_hidden_case;

/** What norm is clipped. */
typedef enum mfpg_clipping {
    MFPG_CLIPPING_NONE = 0, /* nowhere, or where it never acts */
    MFPG_CLIPPING_EXAMPLE,  /* every example's gradient by itself */
    MFPG_CLIPPING_VECTOR    /* the gradient of several examples together */
} mfpg_clipping;

/** What is assumed of the loss. All numbers must be public and hold for every possible data set and
 *  minibatch; a number found from the actual data does not qualify. */
typedef struct mfpg_hidden_assumption {
    mfpg_hidden_case kind;
    double strong_convexity; /* m >= 0 */
    /* M >= m, the smoothness of the loss whose gradient is clipped; if examples are clipped, of their mean
     * loss */
    double smoothness;
    mfpg_clipping clipping;
    /* Every state is projected onto a public ball of that radius, inside which the clip never acts for any
     * data; +INFINITY: no projection. */
    double projection_radius;
} mfpg_hidden_assumption;

/** Computes c of one step x - step [g(x) + decay x + penalty (x - mean of the entries of x)], with g the
 *  clipped gradient, rounded up: the smallest c that the case allows (theory S2.4). If c is above 1, nothing
 *  contracts, and there is no gain over composition.
 *  @param[in] dimension  parameters, >= 1: in dimension 1 a clipped convex gradient stays monotone
 *  @return MFPG_OK; MFPG_ERR_INPUT with the reason if the case does not apply (strong convexity with a clip
 *  that acts, case glm with a clip over several examples, no assumption); MFPG_ERR_DOMAIN for NaN or a number
 *  out of range.
 *  After a failure *c is +INFINITY. */
mfpg_status mfpg_hidden_contraction(mfpg_context *ctx, const mfpg_hidden_assumption *assumption, double step,
    double decay, double penalty, ptrdiff_t dimension, double *c);

#endif
