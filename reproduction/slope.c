/* The slope of a power law by least squares, and what it says about a theory. */
#include <math.h>

#include "study.h"

const char *mfpg_verdict_name(mfpg_verdict verdict) {
    static const char *const names[] = {"-", "holds", "fails", "undecided"};
    return names[verdict];
}

/* Two standard errors on either side: inside what theory allows, apart from it, or neither. A fit whose error is not known
 * decides nothing. */
static mfpg_verdict judge(const mfpg_slope *fit) {
    double low = fit->slope - 2.0 * fit->standard_error, high = fit->slope + 2.0 * fit->standard_error;
    double least = fit->expected - fit->window, most = fit->expected + fit->window;
    if (!(low <= high)) return MFPG_VERDICT_UNDECIDED;
    if (low >= least && high <= most) return MFPG_VERDICT_HOLDS;
    return high < least || low > most ? MFPG_VERDICT_FAILS : MFPG_VERDICT_UNDECIDED;
}

mfpg_slope mfpg_slope_fit(
    const ptrdiff_t *population, const double *value, ptrdiff_t count, double expected, double window) {
    mfpg_slope fit = {.slope = NAN, .standard_error = NAN, .expected = expected, .window = window};
    double x_sum = 0.0, y_sum = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
    for (ptrdiff_t i = 0; i < count; i++) {
        if (!(value[i] > 0.0) || isinf(value[i])) continue;
        fit.points++;
        x_sum += log((double)population[i]);
        y_sum += log(value[i]);
    }
    double points = (double)fit.points, x_mean = x_sum / points, y_mean = y_sum / points;
    for (ptrdiff_t i = 0; i < count; i++) {
        if (!(value[i] > 0.0) || isinf(value[i])) continue;
        double x = log((double)population[i]) - x_mean, y = log(value[i]) - y_mean;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    if (fit.points >= 3 && xx > 0.0) {
        fit.slope = xy / xx;
        double rest = fmax(0.0, yy - fit.slope * xy); /* sum of squares that the line leaves */
        fit.standard_error = sqrt(rest / (points - 2.0) / xx);
    }
    fit.verdict = judge(&fit);
    return fit;
}
