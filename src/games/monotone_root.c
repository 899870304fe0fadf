#include "monotone_root.h"

mfpg_monotone_result mfpg_monotone_root(
    mfpg_scalar_function f, const void *arg, double low, double high, int rising) {
    double at_low = f(low, arg), at_high = f(high, arg);
    if (rising ? at_low >= 0.0 : at_low <= 0.0) return (mfpg_monotone_result){.x = low, .converged = 1};
    if (rising ? at_high <= 0.0 : at_high >= 0.0) return (mfpg_monotone_result){.x = high, .converged = 1};
    mfpg_root root = mfpg_root_bracket(f, arg, low, high, 0x1p-51);
    return (mfpg_monotone_result){.x = root.low, .converged = root.converged, .iterations = root.iterations};
}
