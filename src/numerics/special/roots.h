/* Roots of scalar functions by bracketing; slow convergence is acceptable, a wrong answer is not. */
#ifndef MFPG_NUMERICS_ROOTS_H
#define MFPG_NUMERICS_ROOTS_H

typedef double (*mfpg_scalar_function)(double x, const void *arg);

typedef struct mfpg_root {
    /* The final bracket: f(low) and f(high) have opposite signs, or low == high and f is 0 there. */
    double low, high;
    double residual; /* the smaller |f| at the two ends of the bracket */
    int converged;   /* the bracket is at most as wide as the tolerance, or has no double between its ends */
    int iterations;
} mfpg_root;

/* Shrinks [low, high], f(low) f(high) <= 0, until high - low <= tolerance * max(|low|, |high|); tolerance 0: until the
 * ends are neighbouring doubles. Interpolates (ITP-like: the false position, pulled to the middle when it stalls), so
 * that at most about twice the steps of bisection are taken and usually far fewer. A NaN value or a bracket without a
 * change of sign gives converged 0 and the bracket as it was. The caller picks the end of the bracket that is safe. */
mfpg_root mfpg_root_bracket(
    mfpg_scalar_function f, const void *arg, double low, double high, double tolerance);

/* ---- the crossing of 0 by a falling function, approached from the side on which it is not positive ----
 * For functions that are costly, may be undefined at some positions, may jump, and whose result must be on
 * the safe side. */

typedef struct mfpg_crossing_options {
    double start;      /* a first guess; f is not NaN there */
    double low, high;  /* no position outside is tried */
    double first_step; /* > 0: of the walk away from start */
    double growth;     /* >= 1: the factor by which every further step is longer */
    double tolerance;  /* >= 0: the largest distance of the two ends; 0: neighbouring doubles */
    int whole;         /* 1: positions, start, low and high are whole numbers, and the ends are neighbours */
} mfpg_crossing_options;

typedef enum mfpg_crossing_kind {
    MFPG_CROSSING_FOUND = 0, /* inside and outside are its two sides */
    MFPG_CROSSING_ALWAYS,    /* f <= 0 as far down as was searched; inside is the lowest position tried */
    MFPG_CROSSING_NEVER,     /* f > 0 as far up as was searched; outside is the highest position tried */
    MFPG_CROSSING_UNDEFINED  /* f is NaN at the start, or became NaN between the two sides */
} mfpg_crossing_kind;

typedef struct mfpg_crossing {
    mfpg_crossing_kind kind;
    double inside;  /* f was evaluated to at most 0 here */
    double outside; /* f was evaluated to above 0 here; below inside */
    int evaluations;
} mfpg_crossing;

/* f falls, or at least its sign changes once, from + to -. Walks from start to the other sign, approaching positions with
 * NaN by ever smaller steps, and then closes in: by the false position, a little beyond it, so that both ends move, and by
 * halving if that does not halve the bracket in two steps. A smooth function takes about as many evaluations as the
 * secant method; none takes more than two or three times those of bisection. */
mfpg_crossing mfpg_crossing_find(
    mfpg_scalar_function f, const void *arg, const mfpg_crossing_options *options);

#endif
