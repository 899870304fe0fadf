#include "saddle.h"

#include <math.h>

#define HALF_LOG_TWO_PI 0.91893853320467274178

/* Stirling's series; what is left out is below 691/(360360 n^11), 2e-16 from 15 on. Below that the recurrence
 * rest(n) = rest(n+1) + (n + 1/2) log1p(1/n) - 1 climbs until the series serves: every step rounds by a unit of 1. */
double mfpg_stirling_rest(double n) {
    double climbed = 0.0;
    for (; n < 15.0; n += 1.0) climbed += (n + 0.5) * log1p(1.0 / n) - 1.0;
    double inverse2 = 1.0 / (n * n);
    return climbed +
           (1.0 / 12 -
               inverse2 * (1.0 / 360 - inverse2 * (1.0 / 1260 - inverse2 * (1.0 / 1680 - inverse2 / 1188)))) /
               n;
}

/* Near m the terms cancel to second order: with v = (x-m)/(x+m) the value is (x-m) v + 2 x sum_j v^(2j+1)/(2j+1), j >= 1. */
double mfpg_deviance(double x, double m) {
    if (x == 0.0) return m;
    if (!(fabs(x - m) < 0.1 * (x + m))) return x * log(x / m) + m - x;
    double v = (x - m) / (x + m), sum = (x - m) * v, term = 2.0 * x * v;
    for (int j = 1; j < 1000; j++) {
        double before = sum;
        term *= v * v;
        sum += term / (2 * j + 1);
        if (sum == before) break;
    }
    return sum;
}
