/* Single operations rounded up: the result is never below the exact value, and equal to it where that is a double.
 * The error of each operation is computed exactly (by fma, or Knuth's two-sum) and only its sign is used. Arguments
 * are >= 0 (of add_up they may have any sign); results below 1e-290 may still be rounded to nearest, as their error is no longer a double. */
#ifndef MFPG_ACCOUNTANTS_UPWARD_H
#define MFPG_ACCOUNTANTS_UPWARD_H

#include <math.h>

static inline double raised_if(int too_small, double value) {
    return too_small ? nextafter(value, (double)INFINITY) : value;
}

static inline double add_up(double a, double b) {
    double sum = a + b, part = sum - a;
    double error = (a - (sum - part)) + (b - part);
    return raised_if(error > 0.0, sum);
}

static inline double multiply_up(double a, double b) {
    double product = a * b;
    return raised_if(fma(a, b, -product) > 0.0, product);
}

/* 0 for a = 0, else +INFINITY for b = 0 (also for its negative twin). */
static inline double divide_up(double a, double b) {
    if (a == 0.0 || b == 0.0) return a == 0.0 ? 0.0 : (double)INFINITY;
    double quotient = a / b;
    return raised_if(fma(-quotient, b, a) > 0.0, quotient);
}

static inline double root_up(double a) {
    double root = sqrt(a);
    return raised_if(fma(root, root, -a) < 0.0, root);
}

#endif
