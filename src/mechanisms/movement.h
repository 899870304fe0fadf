/* A release on its way over the parameters, piece by piece, so that everything that happens to an entry happens while it
 * is in the nearest cache. */
#ifndef MFPG_MECHANISMS_MOVEMENT_H
#define MFPG_MECHANISMS_MOVEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/random.h"

typedef struct mfpg_movement {
    const float *from; /* the state before */

    /* What data add to it. Either floats, of which factor times the displacement counts: of `displacement`, or, if that is
     * NULL, of to - from. Or integers, of which rate times the sum counts: `sum`, or what is nearest to `sum_floats`. */
    const float *displacement;
    double factor;
    const int64_t *sum;
    const float *sum_floats; /* below 2^49 */
    double rate;             /* weights a unit of the sum */

    double noise_sd, grid; /* noise 0: no grid, and no sum */
    double sensitivity;    /* floats under noise: the norm that none of their integers may exceed */
    float *total;          /* += what data add; NULL if this release is the only one */
    float *to;             /* the state after; may be from */

    /* A share of a sum: weight, the state that the sum is counted from, and the place of the share. NULL: the state moves
     * on a grid of its own. */
    double weight;
    const float *origin;
    int64_t *share;

    /* Of what has been passed; zero at the start. */
    float largest;             /* |to_i|, NaN once one was */
    double signal2;            /* square of the norm of what data add, without noise */
    unsigned __int128 squares; /* of the floats' integers, in units of grid 2^-20 */
} mfpg_movement;

/* Passes n parameters; see mfpg_mechanism_update for what is computed. noise and vector are read if noise_sd > 0. 0 if the integers
 * of the floats exceed the sensitivity, which a clip of factor 1 - 2^-21 and rounding towards zero rule out. */
int mfpg_movement_pass(mfpg_movement *m, const mfpg_stream *noise, uint64_t vector, ptrdiff_t n);

/* floor(x^2) for 0 <= x < 2^62. */
unsigned __int128 mfpg_whole_square(double x);

#endif
