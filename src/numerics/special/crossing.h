/* Where a falling function passes 0, seen from the side on which it is not positive. For functions that are costly, may be
 * undefined at some positions, may jump, and of which the answer has to be on the safe side for certain. */
#ifndef MFPG_NUMERICS_CROSSING_H
#define MFPG_NUMERICS_CROSSING_H

#include "roots.h"

typedef struct mfpg_crossing_options {
    double start;      /* a first guess, where f is no NaN */
    double low, high;  /* no position outside is tried */
    double first_step; /* > 0: of the walk away from start */
    double growth;     /* >= 1: every further step is longer by this factor */
    double tolerance;  /* >= 0: how far the two ends may lie apart; 0: neighbouring doubles */
    int whole; /* 1: positions are whole numbers, and so are start, low, high; the ends are neighbours */
} mfpg_crossing_options;

typedef enum mfpg_crossing_kind {
    MFPG_CROSSING_FOUND = 0, /* inside and outside are its two sides */
    MFPG_CROSSING_ALWAYS,    /* f <= 0 as far down as was looked; inside is the lowest position tried */
    MFPG_CROSSING_NEVER,     /* f > 0 as far up as was looked; outside is the highest position tried */
    MFPG_CROSSING_UNDEFINED  /* f is NaN at the start, or came to be NaN between the two sides */
} mfpg_crossing_kind;

typedef struct mfpg_crossing {
    mfpg_crossing_kind kind;
    double inside;  /* f was evaluated to at most 0 here */
    double outside; /* f was evaluated to above 0 here; below inside */
    int evaluations;
} mfpg_crossing;

/* f falls, or at least its sign changes once, from + to -. Walks from start to the other sign, approaching positions with
 * NaN by ever smaller steps, and then closes in: by the false position, a little beyond it, so that both ends move, and by
 * halving where that does not halve the bracket in two steps. A smooth function takes about as many evaluations as the
 * secant method; none takes more than two or three times those of bisection. */
mfpg_crossing mfpg_crossing_find(
    mfpg_scalar_function f, const void *arg, const mfpg_crossing_options *options);

#endif
