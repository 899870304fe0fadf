/* Applies a release to the parameters piece by piece, so that everything that happens to an entry happens
 * while it is in the nearest cache. */
#ifndef MFPG_MECHANISMS_MOVEMENT_H
#define MFPG_MECHANISMS_MOVEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/random.h"

typedef struct mfpg_movement {
    const float *from; /* the state before */

    /* What data add. Either floats: factor times the displacement, which is `displacement` or, if that is
     * NULL, to - from. Or integers: rate times the sum, which is `sum` or the integers nearest to
     * `sum_floats`. */
    const float *displacement;
    double factor;
    const int64_t *sum;
    const float *sum_floats; /* below 2^49 */
    double rate;             /* weights a unit of the sum */

    double noise_sd, grid; /* noise 0: neither a grid nor a sum */
    double sensitivity;    /* floats under noise: an upper bound on the norm of their integers */
    float *total;          /* what data add is added to it; NULL if this release is the only one */
    float *to;             /* the state after; may be from */

    /* A share of a sum: its weight, the state from which the sum is counted, and the place of the share.
     * NULL: the state moves on a grid of its own. */
    double weight;
    const float *origin;
    int64_t *share;

    /* Results for what has been processed; zero at the start. */
    float largest;             /* |to_i|, NaN once one was */
    double signal2;            /* square of the norm of what data add, without noise */
    unsigned __int128 squares; /* sum of squares of the floats' integers, in units of grid 2^-20 */
} mfpg_movement;

/* Processes n parameters; see mfpg_mechanism_update for what is computed. noise and vector are read if
 * noise_sd > 0. Returns 0 if the integers of the floats exceed the sensitivity; a clip with factor 1 - 2^-21
 * and rounding towards zero exclude this. */
int mfpg_movement_pass(mfpg_movement *m, const mfpg_stream *noise, uint64_t vector, ptrdiff_t n);

/* Returns floor(x^2) for 0 <= x < 2^62. */
unsigned __int128 mfpg_whole_square(double x);

#endif
