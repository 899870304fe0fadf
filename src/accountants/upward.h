/* Single operations that round up, and sums of squares with twice the precision of a double. */
#ifndef MFPG_ACCOUNTANTS_UPWARD_H
#define MFPG_ACCOUNTANTS_UPWARD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* ---- operations rounded up ---- */

/* The result is never below the exact value, and equals it if that is a double. The error of each operation
 * is computed exactly (by fma, or Knuth's two-sum) and only its sign is used. Arguments must be >= 0 (those
 * of add_up may have any sign). Results below 1e-290 may still be rounded to nearest, because their error is
 * no longer a double. */
static inline double raised_if(int too_small, double value) {
    return too_small ? nextafter(value, (double)INFINITY) : value;
}

static inline double two_sum(double a, double b, double *error) {
    double sum = a + b, part = sum - a;
    *error = (a - (sum - part)) + (b - part);
    return sum;
}

static inline double add_up(double a, double b) {
    double error, sum = two_sum(a, b, &error);
    return raised_if(error > 0.0, sum);
}

static inline double multiply_up(double a, double b) {
    double product = a * b;
    return raised_if(fma(a, b, -product) > 0.0, product);
}

/* Returns 0 for a = 0, and otherwise +INFINITY for b = 0 (also for -0). */
static inline double divide_up(double a, double b) {
    if (a == 0.0 || b == 0.0) return a == 0.0 ? 0.0 : (double)INFINITY;
    double quotient = a / b;
    return raised_if(fma(-quotient, b, a) > 0.0, quotient);
}

static inline double root_up(double a) {
    double root = sqrt(a);
    return raised_if(fma(root, root, -a) < 0.0, root);
}

/* ---- sums of squares, precise enough that neither the number of terms nor their order affects the first
 * 100 bits ---- */

typedef struct square_sum {
    double high, low; /* the value is their exact sum; high alone if it is infinite */
} square_sum;

static inline void square_sum_merge(square_sum *sum, const square_sum *more) {
    double lost, total = two_sum(sum->high, more->high, &lost);
    if (!isfinite(total)) {
        *sum = (square_sum){.high = total};
        return;
    }
    double low = sum->low + (lost + more->low);
    sum->high = total + low;
    sum->low = low - (sum->high - total);
}

static inline void square_sum_add(square_sum *sum, double term) {
    square_sum square = {.high = term * term};
    if (isfinite(square.high)) square.low = fma(term, term, -square.high);
    square_sum_merge(sum, &square);
}

/* Does the same for times >= 1 equal terms, by doubling. */
static inline void square_sum_add_times(square_sum *sum, double term, int64_t times) {
    square_sum power = {0};
    square_sum_add(&power, term);
    for (;; times >>= 1) {
        if (times & 1) square_sum_merge(sum, &power);
        if (times <= 1) return;
        power.high *= 2.0;
        power.low *= 2.0;
    }
}

/* Returns the root of the sum, not below it (up to 2^-100). */
static inline double square_sum_root_up(const square_sum *sum) {
    if (!(sum->high > 0.0 && isfinite(sum->high))) return sum->high;
    double root = sqrt(sum->high), left = fma(-root, root, sum->high) + sum->low;
    return raised_if(left > 0.0, root);
}

#endif
