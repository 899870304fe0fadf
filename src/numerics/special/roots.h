/* Roots of scalar functions by bracketing: slow steps are allowed, a wrong answer is not. */
#ifndef MFPG_NUMERICS_ROOTS_H
#define MFPG_NUMERICS_ROOTS_H

typedef double (*mfpg_scalar_function)(double x, const void *arg);

typedef struct mfpg_root {
    double low,
        high; /* the final bracket: f(low) and f(high) have opposite signs, or low == high where f is 0 */
    double residual; /* |f| at the end of the bracket where it is smaller */
    int converged;   /* the bracket is no wider than tolerance, or has no double between its ends */
    int iterations;
} mfpg_root;

/* Shrinks [low, high], f(low) f(high) <= 0, until high - low <= tolerance * max(|low|, |high|); tolerance 0: until the
 * ends are neighbouring doubles. Interpolates (ITP-like: the false position, pulled to the middle when it stalls), so
 * that at most about twice the steps of bisection are taken and usually far fewer. A NaN value or a bracket without a
 * change of sign gives converged 0 and the bracket as it was. The caller picks the end of the bracket that is safe. */
mfpg_root mfpg_root_bracket(
    mfpg_scalar_function f, const void *arg, double low, double high, double tolerance);

#endif
