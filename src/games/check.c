#include "check.h"

#include <math.h>

#include "base/error.h"
#include "base/number.h"

static mfpg_status refuse(mfpg_context *ctx, const char *what, double value, const char *allowed) {
    char text[MFPG_NUMBER_SIZE];
    return mfpg_fail(
        ctx, MFPG_ERR_DOMAIN, "%s is %s; it must be %s", what, mfpg_number_format(value, text), allowed);
}

mfpg_status mfpg_check_positive(mfpg_context *ctx, const char *what, double value) {
    return value > 0.0 && isfinite(value) ? MFPG_OK : refuse(ctx, what, value, "a finite number above 0");
}

mfpg_status mfpg_check_nonnegative(mfpg_context *ctx, const char *what, double value) {
    return value >= 0.0 && isfinite(value) ? MFPG_OK : refuse(ctx, what, value, "a finite number, 0 or more");
}

mfpg_status mfpg_check_fraction(mfpg_context *ctx, const char *what, double value) {
    return value >= 0.0 && value <= 1.0 ? MFPG_OK : refuse(ctx, what, value, "in [0, 1]");
}

mfpg_status mfpg_check_clients(mfpg_context *ctx, const char *what, const double *values, ptrdiff_t clients) {
    if (!values) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s is missing: one number for each client", what);
    for (ptrdiff_t k = 0; k < clients; k++) {
        char text[MFPG_NUMBER_SIZE];
        if (values[k] > 0.0 && isfinite(values[k])) continue;
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%s of client %td is %s; it must be a finite number above 0",
            what, k, mfpg_number_format(values[k], text));
    }
    return MFPG_OK;
}

mfpg_status mfpg_check_clients_or_all(
    mfpg_context *ctx, const char *what, const double *values, double all, ptrdiff_t clients) {
    if (values) return mfpg_check_clients(ctx, what, values, clients);
    if (isnan(all))
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "%s is missing: one number for each client, or one for all", what);
    return mfpg_check_positive(ctx, what, all);
}

mfpg_status mfpg_check_optional(
    mfpg_context *ctx, const char *what, const double *values, ptrdiff_t clients) {
    for (ptrdiff_t k = 0; values && k < clients; k++) {
        char text[MFPG_NUMBER_SIZE];
        if (values[k] >= 0.0 && isfinite(values[k])) continue;
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "%s of client %td is %s; it must be a finite number, 0 or more", what, k,
            mfpg_number_format(values[k], text));
    }
    return MFPG_OK;
}
