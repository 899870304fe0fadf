/** Privatises an update that was trained elsewhere (by a client of another system); only its arrays are
 *  needed. */
#ifndef MFPG_PRIVATISE_H
#define MFPG_PRIVATISE_H

#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "mechanism.h"
#include "random.h"
#include "release.h"

typedef enum mfpg_element { MFPG_ELEMENT_FLOAT32 = 0, MFPG_ELEMENT_FLOAT64 } mfpg_element;

/** One array of an update: count consecutive numbers in the caller's memory. */
typedef struct mfpg_buffer {
    void *values; /* count floats or doubles; may be NULL if count is 0 */
    ptrdiff_t count;
    mfpg_element element;
} mfpg_buffer;

/** Replaces an update, in place, by its private version. All arrays together form one vector, which is scaled
 *  to norm at most C, rounded towards zero to integers whose norm is verified, and noised once on the
 *  release's grid (src/base/grid_noise.h). This is the client's whole release in this round. The results are
 *  integers times the grid: exact in doubles, and in floats below 2^24 steps.
 *  An update of zeros stays zero under the clip and is noised like any other. An update with NaN or infinity
 *  becomes zero and is noised too, because whether an update is finite depends on private data and must not
 *  be visible. No call fails because of the content of the arrays.
 *  The promise is about the client (unit client): zero-out hides whether it learnt anything, replace hides
 *  what it learnt. One record may change the whole update from one vector of norm C to another, so a record
 *  is protected only at the epsilon for replace.
 *  The other parts of an entropic flow (decay, variance penalty, projection) need no data: anyone who knows
 *  the model can apply them to the result.
 *  @param[in]     mechanism  gaussian or entropic over parameters, unit client, clip_at update
 *  @param[in]     release    the release, from mfpg_mechanism_release with 1 row; accountant and ledger must
 *  have recorded it
 *  before the arrays leave
 *  @param[in]     noise      stream of (NOISE, round, client); no stream may be used for two releases
 *  @param[in,out] buffer     count of them, not overlapping, at least one number in all; unchanged on error
 *  @param[out]    zeroed     1 if the update was not finite and became zero, otherwise 0; only for the
 *  client's own log
 *  @return MFPG_OK; MFPG_ERR_INPUT for no number at all, a mechanism that does not clip updates, or a release
 *  that is not its own; MFPG_ERR_DOMAIN for a grid that does not fit.
 *  Time: three passes. Memory: allocates nothing. Threads: safe on different buffers and contexts. */
mfpg_status mfpg_privatise(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release,
    const mfpg_stream *noise, const mfpg_buffer *buffer, ptrdiff_t count, int *zeroed);

/** Computes a client's share of a secure sum (secure_sum.h): the integers K_j = [p (x_j + s Z_j)/grid], where x is the
 *  update, clipped as above, p the release's weight, s its noise_sd and grid the round's common grid. With the same
 *  stream they are the integers of mfpg_mechanism_update (mfpg_local_round.share) for clip_at update and an update
 *  that is trained - received in floats. Numbers in doubles are rounded to float first; what is then infinite counts as
 *  not finite.
 *  @param[in]  release  from mfpg_mechanism_release with 1 row; weight in (0,1] and grid are set by the caller
 *  @param[in]  noise    as for mfpg_privatise; another attempt at the same round needs another stream
 *  @param[in]  buffer   count of them; unchanged
 *  @param[out] share    as many integers as there are numbers in all; unchanged on error
 *  @return as mfpg_privatise; MFPG_ERR_DOMAIN also for a weight out of range; MFPG_ERR_MEMORY. Time: three passes.
 *  Memory: 4 bytes per number. Threads: safe on different buffers and contexts. */
mfpg_status mfpg_privatise_share(mfpg_context *ctx, const mfpg_mechanism *mechanism,
    const mfpg_release *release, const mfpg_stream *noise, const mfpg_buffer *buffer, ptrdiff_t count,
    int64_t *share, int *zeroed);

/** Updates (or gradients) of single examples that were computed elsewhere. */
typedef struct mfpg_example_updates {
    /* array b holds `held` times as many numbers as result b, one example after the other */
    const mfpg_buffer *array;
    ptrdiff_t held; /* number of examples present, >= 0; it is private */
    ptrdiff_t rows; /* declared public row count, >= 1, by which the sum is divided */
} mfpg_example_updates;

/** Computes the private mean, over the declared rows, of the updates of single examples. The arrays of an
 *  example together form one vector, which is scaled to norm at most C and rounded towards zero to integers
 *  whose norm is verified. The integers are added exactly (a sum beyond 2^53 units, which needs more examples
 *  than declared rows, saturates), multiplied by the mechanism's rate (the learning rate; 1 for updates in
 *  the units of the weights), divided by `rows`, and noised once on the release's grid. One example moves the
 *  mean by at most rate C/rows, with no rounding error to add, so the promise is about the example (unit
 *  example). An example with NaN or infinity counts as zero. No call fails because of the content of the
 *  arrays.
 *  @param[in]  mechanism  gaussian over parameters, unit example, clip_at step, one local step, batch rate 1
 *  @param[in]  release    from mfpg_mechanism_release with the declared rows
 *  @param[in]  noise      as for mfpg_privatise
 *  @param[out] result     count arrays, at least one number in all; unchanged on error
 *  @param[out] zeroed     number of examples that were not finite; only for the client's own log
 *  @return MFPG_OK; MFPG_ERR_INPUT for arrays whose sizes do not match, no number at all, another mechanism,
 *  or a release that is not its own; MFPG_ERR_DOMAIN for a grid that does not fit, or is too fine for sums of
 *  so many rows; MFPG_ERR_MEMORY. Time: three passes over the examples. Memory: 8 bytes per number of the
 *  result.
 *  Threads: safe on different arrays and contexts. */
mfpg_status mfpg_privatise_examples(mfpg_context *ctx, const mfpg_mechanism *mechanism,
    const mfpg_release *release, const mfpg_stream *noise, const mfpg_example_updates *examples,
    const mfpg_buffer *result, ptrdiff_t count, int64_t *zeroed);

#endif
