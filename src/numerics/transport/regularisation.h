/* The regularisation of a projection, as it is told and as it is used. */
#ifndef MFPG_NUMERICS_REGULARISATION_H
#define MFPG_NUMERICS_REGULARISATION_H

#include "mfpg/transport.h"

/* MFPG_ERR_DOMAIN: no scale, or a value that is not positive and finite. */
mfpg_status mfpg_regularisation_check(mfpg_context *ctx, mfpg_regularisation regularisation);

/* eta_S for a cloud of that variance: 0 where it is relative to none; else from 1e-100, below which all different floats are
 * too far apart to count, to the largest number. */
double mfpg_regularisation_absolute(mfpg_regularisation regularisation, double variance);

#endif
