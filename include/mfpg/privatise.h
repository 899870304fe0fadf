/** Privatising an update that was trained elsewhere (a client of another system): all that is needed are its arrays. */
#ifndef MFPG_PRIVATISE_H
#define MFPG_PRIVATISE_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "mechanism.h"
#include "random.h"
#include "release.h"

typedef enum mfpg_element { MFPG_ELEMENT_FLOAT32 = 0, MFPG_ELEMENT_FLOAT64 } mfpg_element;

/** One array of an update: count numbers in a row, the caller's. */
typedef struct mfpg_buffer {
    void *values; /* count floats or doubles; NULL is fine if count is 0 */
    ptrdiff_t count;
    mfpg_element element;
} mfpg_buffer;

/** Replaces an update, in place, by its private version: all arrays together are one vector, which is scaled to norm at most
 *  C, rounded towards zero to integers whose norm is verified, and noised once on the release's grid (src/base/grid_noise.h): the whole release
 *  of this client in this round. What comes back are integers times the grid: exact in doubles, and in floats below 2^24 steps.
 *  An update of zeros stays zero under the clip, and is noised like any other; so is one that holds NaN or infinity, which becomes zero:
 *  whether an update is finite depends on private data, and nobody may see it. No call fails because of what the arrays hold.
 *  The promise is about the client (unit client): zero-out hides whether it learnt anything, replace what it learnt. One record of its
 *  data may change the whole update from one vector of norm C to another, so it is protected at the number for replace.
 *  What an entropic flow does besides (decay, variance penalty, projection) needs no data: it can be done
 *  to what comes back by all who know the model.
 *  @param[in]     mechanism  gaussian or entropic over parameters, unit client, clip_at update
 *  @param[in]     release    what is released, from mfpg_mechanism_release with 1 row: what accountant and ledger hold, which have to have
 *                            it before the arrays leave
 *  @param[in]     noise      stream of (NOISE, round, client); no stream may be used for two releases
 *  @param[in,out] buffer     count of them, not overlapping, at least one number in all; unchanged on error
 *  @param[out]    zeroed     1 if the update was not finite and became zero, else 0: for the client's own log, never for anybody else
 *  @return MFPG_OK; MFPG_ERR_INPUT for no number at all, a mechanism that does not clip updates, or a release that is not its own;
 *  MFPG_ERR_DOMAIN for a grid that does not fit.
 *  Time: three passes. Memory: allocates nothing. Threads: safe on different buffers and contexts. */
mfpg_status mfpg_privatise(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release,
    const mfpg_stream *noise, const mfpg_buffer *buffer, ptrdiff_t count, int *zeroed);

/** Updates (or gradients) of single examples that were computed elsewhere. */
typedef struct mfpg_example_updates {
    const mfpg_buffer *array; /* array b holds `held` times as many numbers as result b: example by example */
    ptrdiff_t held;           /* examples at hand, >= 0: a private number */
    ptrdiff_t rows;           /* declared public row count, >= 1: what the sum is divided by */
} mfpg_example_updates;

/** The mean over the declared rows of the updates of single examples, made private: the arrays of an example together are
 *  one vector, which is scaled to norm at most C and rounded towards zero to integers whose norm is verified; the integers
 *  are added exactly (a sum beyond 2^53 units, which needs more examples than declared rows, stays there), multiplied by
 *  the mechanism's rate (the learning rate; 1 for updates in the units of the weights), divided by `rows`, and noised once
 *  on the release's grid. One example moves the mean by at most rate C/rows, without any rounding, so that the promise is
 *  about the example (unit example). An example that holds NaN or infinity counts as zero. No call fails because of what
 *  the arrays hold.
 *  @param[in]  mechanism  gaussian over parameters, unit example, clip_at step, one local step, batch rate 1
 *  @param[in]  release    from mfpg_mechanism_release with the declared rows
 *  @param[in]  noise      as for mfpg_privatise
 *  @param[out] result     count arrays, at least one number in all; unchanged on error
 *  @param[out] zeroed     examples that were not finite: for the client's own log, never for anybody else
 *  @return MFPG_OK; MFPG_ERR_INPUT for arrays whose sizes do not belong together, no number at all, another mechanism, or a
 *               release that is not its own; MFPG_ERR_DOMAIN for a grid that does not fit, or is too fine for sums of so
 *               many rows; MFPG_ERR_MEMORY. Time: three passes over the examples. Memory: 8 bytes a number of the result.
 *               Threads: safe on different arrays and contexts. */
mfpg_status mfpg_privatise_examples(mfpg_context *ctx, const mfpg_mechanism *mechanism,
    const mfpg_release *release, const mfpg_stream *noise, const mfpg_example_updates *examples,
    const mfpg_buffer *result, ptrdiff_t count, int64_t *zeroed);

#endif
