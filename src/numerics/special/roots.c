#include "roots.h"

#include <math.h>

static int narrow_enough(double low, double high, double tolerance) {
    if (high - low <= tolerance * fmax(fabs(low), fabs(high))) return 1;
    double middle = low + 0.5 * (high - low);
    return middle <= low || middle >= high;
}

/* The false position, kept strictly inside the bracket. */
static double interpolated(double low, double f_low, double high, double f_high) {
    double at = low - f_low * (high - low) / (f_high - f_low);
    double middle = low + 0.5 * (high - low);
    return at > low && at < high ? at : middle;
}

mfpg_root mfpg_root_bracket(
    mfpg_scalar_function f, const void *arg, double low, double high, double tolerance) {
    double f_low = f(low, arg), f_high = f(high, arg);
    mfpg_root root = {.low = low, .high = high};
    if (f_low == 0.0 || f_high == 0.0) {
        root.low = root.high = f_low == 0.0 ? low : high;
        root.converged = 1;
        return root;
    }
    root.residual = fmin(fabs(f_low), fabs(f_high));
    if (!((f_low < 0.0) != (f_high < 0.0)) || isnan(f_low) || isnan(f_high)) return root;
    int stalled = 0;
    while (!narrow_enough(root.low, root.high, tolerance)) {
        double width = root.high - root.low, middle = root.low + 0.5 * width;
        double at = stalled || isinf(f_low) || isinf(f_high)
                        ? middle
                        : interpolated(root.low, f_low, root.high, f_high);
        double value = f(at, arg);
        root.iterations++;
        if (isnan(value)) return root;
        if (value == 0.0) {
            root.low = root.high = at;
            root.residual = 0.0;
            root.converged = 1;
            return root;
        }
        if ((value < 0.0) == (f_low < 0.0)) {
            root.low = at;
            f_low = value;
        } else {
            root.high = at;
            f_high = value;
        }
        stalled = root.high - root.low > 0.5 * width; /* then the next step halves */
    }
    root.residual = fmin(fabs(f_low), fabs(f_high));
    root.converged = 1;
    return root;
}
