/* The greatest convex minorant of theory S2.3, on numbers that were checked. */
#ifndef MFPG_ACCOUNTANTS_HIDDEN_STATE_GCM_H
#define MFPG_ACCOUNTANTS_HIDDEN_STATE_GCM_H

#include "mfpg/hidden_state.h"

/* mfpg_hidden_mu without its checks: count >= 1. 0 where memory ran out. */
int gcm_mu(const mfpg_hidden_step *step, ptrdiff_t count, double start_gap, double *mu);

#endif
