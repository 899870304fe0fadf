#include "monotone_root.h"

mfpg_monotone_result mfpg_monotone_root(
    mfpg_scalar_function f, const void *arg, double low, double high, int rising) {
    double at_low = f(low, arg), at_high = f(high, arg);
    if (rising ? at_low >= 0.0 : at_low <= 0.0) return (mfpg_monotone_result){low, low, 1, 0};
    if (rising ? at_high <= 0.0 : at_high >= 0.0) return (mfpg_monotone_result){high, high, 1, 0};
    mfpg_root root = mfpg_root_bracket(f, arg, low, high, 0x1p-51);
    return (mfpg_monotone_result){root.low, root.high, root.converged, root.iterations};
}
