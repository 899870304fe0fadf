/* Sums of squares in twice the precision of a double, so that neither the number of terms nor their order shows in
 * the first 100 bits. */
#ifndef MFPG_ACCOUNTANTS_SQUARE_SUM_H
#define MFPG_ACCOUNTANTS_SQUARE_SUM_H

#include <math.h>

typedef struct square_sum {
    double high, low; /* their exact sum is the value; high alone where it is infinite */
} square_sum;

static inline void square_sum_add(square_sum *sum, double term) {
    double square = term * term, total = sum->high + square;
    if (!isfinite(total)) {
        *sum = (square_sum){.high = total};
        return;
    }
    double part = total - sum->high;
    double lost = (sum->high - (total - part)) + (square - part);
    double low = sum->low + (lost + fma(term, term, -square));
    sum->high = total + low;
    sum->low = low - (sum->high - total);
}

/* Root of the sum, not below it (up to 2^-100). */
static inline double square_sum_root_up(const square_sum *sum) {
    if (!(sum->high > 0.0 && isfinite(sum->high))) return sum->high;
    double root = sqrt(sum->high), left = fma(-root, root, sum->high) + sum->low;
    return left > 0.0 ? nextafter(root, (double)INFINITY) : root;
}

#endif
