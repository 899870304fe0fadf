/* From a Renyi divergence at one order to (epsilon, delta); theory S2.1. */
#include <float.h>
#include <math.h>

#include "mfpg/accountant.h"

/* Each formula is a handful of terms, every one of them correct to a few units of DBL_EPSILON: the sum of their sizes
 * times 8 DBL_EPSILON is more than all roundings together. */
#define ROUNDINGS (8.0 * DBL_EPSILON)

static int out_of_range(double rdp, double order, double delta) {
    return !(rdp >= 0.0 && order > 1.0 && delta >= 0.0 && delta < 1.0);
}

/* Canonne, Kamath, Steinke 2020, proposition 12. A divergence that is small against delta^2 needs no epsilon at all:
 * the total variation distance is at most sqrt(1 - exp(-KL)) and KL <= rdp (Bretagnolle, Huber). */
double mfpg_rdp_epsilon(double rdp, double order, double delta) {
    if (out_of_range(rdp, order, delta)) return (double)INFINITY;
    if (sqrt(-expm1(-rdp)) * (1.0 + ROUNDINGS) <= delta) return 0.0;
    if (isinf(order)) return rdp; /* pure differential privacy */
    if (delta == 0.0) return (double)INFINITY;
    double gain = log1p(-1.0 / order), odds = (log(delta) + log(order)) / (order - 1.0);
    double size = rdp - gain + (fabs(log(delta)) + log(order)) / (order - 1.0);
    return fmax(0.0, rdp + gain - odds + ROUNDINGS * size);
}

/* Mironov 2017, proposition 3. */
double mfpg_rdp_epsilon_classic(double rdp, double order, double delta) {
    if (out_of_range(rdp, order, delta)) return (double)INFINITY;
    if (isinf(order)) return rdp;
    return (rdp - log(delta) / (order - 1.0)) * (1.0 + ROUNDINGS);
}
