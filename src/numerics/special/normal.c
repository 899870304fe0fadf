#include "normal.h"

#include <math.h>

#define SQRT_HALF     0.70710678118654752440 /* sqrt(1/2) */
#define SQRT_HALF_PI  1.25331413731550025121 /* sqrt(pi/2) */
#define ONE_OVER_ROOT 0.39894228040143267794 /* 1/sqrt(2 pi) */
#define ROOT_TWO_PI   2.50662827463100050242 /* sqrt(2 pi) */
#define MILLS_FROM    10.0                   /* from here on by the continued fraction */
#define SLOPE_FROM    4.0                    /* the same for 1 - x Mills(x) */
#define DENSITY_UNTIL 40.0                   /* phi(40) = e^-800 is below every double */

/* K(x) = 1/(x + 2/(x + 3/(x + ...))), with which the Mills ratio is 1/(x + K) (Laplace's continued fraction). To bring
 * K within 1e-17 takes 42, 30, 24, 18, 10, 8 terms at x = 4, 5, 6, 8, 20, 40, and the ratio, on which K weighs less,
 * 13, 11, 8, 6, 4 at 10, 12, 20, 40, 100 (found in 40-digit arithmetic); the callers take a few more. */
static double fraction(double x, int terms) {
    double value = x;
    for (int k = terms; k > 1; k--) value = x + k / value;
    return 1.0 / value;
}

double mfpg_normal_density(double x) {
    if (!(fabs(x) < DENSITY_UNTIL)) return isnan(x) ? x : 0.0;
    double square = x * x, rest = fma(x, x, -square); /* x^2 = square + rest exactly */
    return ONE_OVER_ROOT * exp(-0.5 * square) * (1.0 - 0.5 * rest);
}

/* exp(z^2) erfc(z) at z = x/sqrt 2. Both factors take the same rounded z and the square is exact in two parts, so
 * that the rounding of z moves the product, which is nearly flat, and not its factors, which are steep. */
double mfpg_normal_mills(double x) {
    if (x >= MILLS_FROM) return 1.0 / (x + fraction(x, 5 + (int)(90.0 / x)));
    if (x < 0.0) return 1.0 / mfpg_normal_density(x) - mfpg_normal_mills(-x); /* Phi(-x) = 1 - Phi(x) */
    double z = SQRT_HALF * x, square = z * z, rest = fma(z, z, -square);
    return SQRT_HALF_PI * exp(square) * (1.0 + rest) * erfc(z);
}

double mfpg_normal_mills_slope(double x) {
    if (!(x >= SLOPE_FROM)) return 1.0 - x * mfpg_normal_mills(x);
    double k = fraction(x, 5 + (int)(160.0 / x)); /* 1 - x/(x + K) = K/(x + K) */
    return k / (x + k);
}

double mfpg_normal_cdf(double x) {
    double tail = mfpg_normal_density(x) * (fabs(x) < DENSITY_UNTIL ? mfpg_normal_mills(fabs(x)) : 0.0);
    return x > 0.0 ? 1.0 - tail : tail;
}

double mfpg_normal_log_cdf(double x) {
    if (x > 0.0) return log1p(-mfpg_normal_cdf(-x));
    return -0.5 * (x * x) + log(mfpg_normal_mills(-x) * ONE_OVER_ROOT); /* both terms are negative */
}

/* log Phi is increasing and concave, so Newton's steps approach its root from below whatever the start; they are done
 * when they no longer climb. */
static double lower_quantile(double log_p) {
    double x = -sqrt(-2.0 * log_p); /* Phi(x) <= exp(-x^2/2): to the left of the root */
    for (int i = 0; i < 40; i++) {
        double step = (log_p - mfpg_normal_log_cdf(x)) * mfpg_normal_mills(-x); /* (log Phi)' = 1/Mills(-x) */
        if (!(step > 0x1p-53 * fabs(x))) break;
        x += step;
    }
    return x;
}

/* Phi(x) - 1/2 = erf(x/sqrt 2)/2 is concave on x > 0: the same, from the left. */
static double central_quantile(double excess) {
    double wanted = 2.0 * fabs(excess), x = ROOT_TWO_PI * fabs(excess);
    for (int i = 0; i < 40; i++) {
        double step = 0.5 * (wanted - erf(SQRT_HALF * x)) / mfpg_normal_density(x);
        if (!(step > 0x1p-53 * x)) break;
        x += step;
    }
    return copysign(x, excess);
}

double mfpg_normal_quantile(double p) {
    if (!(p >= 0.0 && p <= 1.0)) return (double)NAN;
    if (p == 0.0 || p == 1.0) return p == 0.0 ? -(double)INFINITY : (double)INFINITY;
    if (fabs(p - 0.5) < 0.25) return central_quantile(p - 0.5);
    return p < 0.5 ? lower_quantile(log(p)) : -lower_quantile(log(1.0 - p)); /* 1 - p is exact above 1/2 */
}
