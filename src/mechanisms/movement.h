/* A release on its way over the parameters, piece by piece, so that everything that happens to an entry happens while it
 * is in the nearest cache. */
#ifndef MFPG_MECHANISMS_MOVEMENT_H
#define MFPG_MECHANISMS_MOVEMENT_H

#include <stddef.h>

enum { MFPG_MOVEMENT_PIECE = 2048 };

typedef struct mfpg_movement {
    const float *from; /* the state before */
    float
        *displacement; /* of this release, without noise: multiplied by factor on the way. NULL: to - from */
    double factor;
    float *total; /* += displacement; NULL where this release is the only one */
    double noise_sd;
    float *to; /* the state after; may be from */

    /* Of what has been passed; zero at the start. */
    float largest;     /* |to_i|, NaN once one was */
    double squares[8]; /* of the displacement, by lanes, up to the last whole eight */
    double rest[7];    /* squares of those behind it, */
    ptrdiff_t rests;   /* so many */
} mfpg_movement;

/* to = from + factor displacement + noise_sd z for entries first to first + n - 1, the product rounded to float, the sum
 * in double and rounded once: the sum of data and noise is then what the certificate is about, and its rounding to float is
 * post-processing. Rounded before the noise goes in, two neighbouring states could come to lie a whole unit of a large
 * weight apart. z NULL: no noise, and a sum of floats. Pieces come in order, of at
 * most MFPG_MOVEMENT_PIECE entries where displacement is NULL, all but the last of a multiple of eight. */
void mfpg_movement_pass(mfpg_movement *m, ptrdiff_t first, ptrdiff_t n, const float *z);

/* mfpg_vector_norm of the displacement once all has been passed, to the last bit. */
double mfpg_movement_norm(const mfpg_movement *m);

#endif
