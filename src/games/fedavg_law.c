#include "fedavg_law.h"

#include <math.h>

double mfpg_fedavg_stable_below(const mfpg_fedavg_law *law) {
    return law->prior_variance * (2.0 / law->step - law->curvature);
}

static int stable(const mfpg_fedavg_law *law, double ebar) {
    return ebar < mfpg_fedavg_stable_below(law);
}

/* D = X (1 - tau X/2). */
static double damping(const mfpg_fedavg_law *law, double ebar) {
    double x = law->curvature + ebar / law->prior_variance;
    return x * (1.0 - 0.5 * law->step * x);
}

double mfpg_fedavg_shrinkage(const mfpg_fedavg_law *law, double ebar) {
    return law->curvature / (law->curvature + ebar / law->prior_variance);
}

double mfpg_fedavg_variance(const mfpg_fedavg_law *law, double ebar) {
    double d = damping(law, ebar);
    return stable(law, ebar) && d > 0.0 ? law->variance_share * ebar / d : (double)INFINITY;
}

double mfpg_fedavg_excess(const mfpg_fedavg_law *law, double ebar) {
    double kap = ebar / law->prior_variance, lost = kap / (law->curvature + kap);
    double variance = mfpg_fedavg_variance(law, ebar);
    return 0.5 * law->curvature * (law->optimum_norm2 * lost * lost + law->dimension * variance);
}

/* S3.3 writes the variance's part as (D - ebar D')/D^2. Its numerator is h (1 - tau h/2) + tau kap^2/2, written so
 * below because every term is positive where the law is stable and nothing cancels. */
double mfpg_fedavg_slope(const mfpg_fedavg_law *law, double ebar) {
    double h = law->curvature, tau = law->step, kap = ebar / law->prior_variance, x = h + kap;
    double d = damping(law, ebar);
    if (!stable(law, ebar) || !(d > 0.0)) return INFINITY;
    double bias = law->optimum_norm2 * 2.0 * kap * h / (x * x * x * law->prior_variance);
    double noise =
        law->dimension * law->variance_share * (h * (1.0 - 0.5 * tau * h) + 0.5 * tau * kap * kap) / (d * d);
    return 0.5 * h * (bias + noise);
}
