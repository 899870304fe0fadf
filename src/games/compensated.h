/* A running sum whose rounding error is carried along (Neumaier), for sums that are updated many times. */
#ifndef MFPG_GAMES_COMPENSATED_H
#define MFPG_GAMES_COMPENSATED_H

#include <math.h>

typedef struct mfpg_compensated {
    double sum, rest;
} mfpg_compensated;

static inline void mfpg_compensated_add(mfpg_compensated *total, double x) {
    double sum = total->sum + x;
    total->rest += fabs(total->sum) >= fabs(x) ? (total->sum - sum) + x : (x - sum) + total->sum;
    total->sum = sum;
}

static inline double mfpg_compensated_value(const mfpg_compensated *total) {
    return total->sum + total->rest;
}

#endif
