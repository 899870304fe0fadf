/* Sums of squares in twice the precision of a double, so that neither the number of terms nor their order shows in
 * the first 100 bits. */
#ifndef MFPG_ACCOUNTANTS_SQUARE_SUM_H
#define MFPG_ACCOUNTANTS_SQUARE_SUM_H

#include <math.h>
#include <stdint.h>

typedef struct square_sum {
    double high, low; /* their exact sum is the value; high alone where it is infinite */
} square_sum;

static inline void square_sum_merge(square_sum *sum, const square_sum *more) {
    double total = sum->high + more->high;
    if (!isfinite(total)) {
        *sum = (square_sum){.high = total};
        return;
    }
    double part = total - sum->high;
    double lost = (sum->high - (total - part)) + (more->high - part);
    double low = sum->low + (lost + more->low);
    sum->high = total + low;
    sum->low = low - (sum->high - total);
}

static inline void square_sum_add(square_sum *sum, double term) {
    square_sum square = {.high = term * term};
    if (isfinite(square.high)) square.low = fma(term, term, -square.high);
    square_sum_merge(sum, &square);
}

/* The same for times >= 1 equal terms: doubling adds a sum to itself. */
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

/* Root of the sum, not below it (up to 2^-100). */
static inline double square_sum_root_up(const square_sum *sum) {
    if (!(sum->high > 0.0 && isfinite(sum->high))) return sum->high;
    double root = sqrt(sum->high), left = fma(-root, root, sum->high) + sum->low;
    return left > 0.0 ? nextafter(root, (double)INFINITY) : root;
}

#endif
