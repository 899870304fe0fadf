#include "regularisation.h"

#include <float.h>
#include <math.h>

#include "base/error.h"
#include "base/number.h"

mfpg_status mfpg_regularisation_check(mfpg_context *ctx, mfpg_regularisation regularisation) {
    char text[MFPG_NUMBER_SIZE];
    if (regularisation.scale != MFPG_REGULARISATION_ABSOLUTE &&
        regularisation.scale != MFPG_REGULARISATION_VARIANCE)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "Sinkhorn projection: scale %d of the regularisation; allowed: absolute (%d), variance (%d)",
            (int)regularisation.scale, MFPG_REGULARISATION_ABSOLUTE, MFPG_REGULARISATION_VARIANCE);
    if (regularisation.value > 0.0 && isfinite(regularisation.value)) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
        "Sinkhorn projection: the regularisation is %s, allowed is a number above 0",
        mfpg_number_format(regularisation.value, text));
}

double mfpg_regularisation_absolute(mfpg_regularisation regularisation, double variance) {
    double eta = regularisation.value;
    if (regularisation.scale == MFPG_REGULARISATION_VARIANCE) {
        if (!(variance > 0.0)) return 0.0;
        eta *= variance;
    }
    return fmin(fmax(eta, 1e-100), DBL_MAX);
}
