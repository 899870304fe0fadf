/* The doors of a game: each returns MFPG_OK, or fails with what was found and what is allowed. NaN passes none. */
#ifndef MFPG_GAMES_CHECK_H
#define MFPG_GAMES_CHECK_H

#include "mfpg/context.h"
#include <stddef.h>

mfpg_status mfpg_check_positive(mfpg_context *ctx, const char *what, double value);    /* finite, > 0 */
mfpg_status mfpg_check_nonnegative(mfpg_context *ctx, const char *what, double value); /* finite, >= 0 */
mfpg_status mfpg_check_fraction(mfpg_context *ctx, const char *what, double value);    /* in [0, 1] */

/* One finite value > 0 for each client; NULL fails with MFPG_ERR_INPUT. */
mfpg_status mfpg_check_clients(mfpg_context *ctx, const char *what, const double *values, ptrdiff_t clients);

/* The same, or where values is NULL one for all; NAN there is nothing at all. */
mfpg_status mfpg_check_clients_or_all(
    mfpg_context *ctx, const char *what, const double *values, double all, ptrdiff_t clients);

/* One finite value >= 0 for each client; NULL is fine. */
mfpg_status mfpg_check_optional(mfpg_context *ctx, const char *what, const double *values, ptrdiff_t clients);

#endif
