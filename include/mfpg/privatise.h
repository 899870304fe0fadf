/** Privatising an update that was trained elsewhere (a client of another system): all that is needed are its arrays. */
#ifndef MFPG_PRIVATISE_H
#define MFPG_PRIVATISE_H

#include <stddef.h>

#include "context.h"
#include "mechanism.h"
#include "random.h"
#include "release.h"

typedef enum mfpg_element { MFPG_ELEMENT_FLOAT32 = 0, MFPG_ELEMENT_FLOAT64 } mfpg_element;

/** One array of an update: count numbers in a row, the caller's. */
typedef struct mfpg_buffer {
    void *values; /* count floats or doubles; NULL is fine where count is 0 */
    ptrdiff_t count;
    mfpg_element element;
} mfpg_buffer;

/** Replaces an update, in place, by its private version: all arrays together are one vector, which is scaled to norm at most
 *  C and blurred once, the whole release of this client in this round. An update of zeros stays zero under the clip, and is
 *  noised like any other. The sum of data and noise is computed in double and rounded to float once, for arrays of doubles
 *  too: the noise has the digits of a float, and further digits of the sum would be those of the data.
 *  What an entropic flow does besides (decay, variance penalty, projection) needs no data: whoever knows the model can do it
 *  to what comes back.
 *  @param[in]     mechanism  gaussian or entropic over parameters, clip_at update, which clips and noises as its options say
 *  @param[in]     action     as the mechanism takes it: a noise multiplier (sd over the clip), a budget or a strength
 *  @param[in]     noise      stream of (NOISE, round, client); no stream may be used for two releases
 *  @param[in,out] buffer     count of them, not overlapping, at least one number in all; unchanged on error
 *  @param[out]    release    what was released, for accountant and ledger; its round, client and weight are the caller's to
 *                            fill (0, 0 and 1 here). Set only on success
 *  @return MFPG_OK; MFPG_ERR_INPUT for NaN or infinity in an array (which one and where), no number at all, or a mechanism
 *  that does not clip updates; MFPG_ERR_DOMAIN as mfpg_mechanism_release, and for noise below 2^-17 of the clip, which
 *  the rounding of floats would hide.
 *  Time: two passes. Memory: allocates nothing. Threads: safe on different buffers and contexts. */
mfpg_status mfpg_privatise(mfpg_context *ctx, const mfpg_mechanism *mechanism, mfpg_action action,
    const mfpg_stream *noise, const mfpg_buffer *buffer, ptrdiff_t count, mfpg_release *release);

#endif
