/* Poisson batches: every row takes part by a coin of its own, so that batch sizes vary and may be 0. */
#ifndef MFPG_MECHANISMS_BATCH_H
#define MFPG_MECHANISMS_BATCH_H

#include "mfpg/random.h"

/* Writes the rows of the batch of one local step, ascending, and returns how many. Row i of step s is decided by uniform
 * number 2^31 s + i of the stream, so that the coin of a row depends on nothing but its place.
 * rows < 2^31, rate in (0,1]; out has room for all rows. */
ptrdiff_t mfpg_batch_draw(const mfpg_stream *stream, int64_t step, ptrdiff_t rows, double rate, int32_t *out);

#endif
