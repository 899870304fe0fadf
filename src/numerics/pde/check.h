/* What a model and its options must fulfil. Messages name the field as the headers do. */
#ifndef MFPG_PDE_CHECK_H
#define MFPG_PDE_CHECK_H

#include "control.h"

mfpg_status mfpg_pde_check_model(mfpg_context *ctx, const mfpg_pde_model *model);
mfpg_status mfpg_pde_check_options(
    mfpg_context *ctx, const mfpg_pde_model *model, const mfpg_pde_options *options);

/* Domain, nodes and horizon, as the forward equation alone has them too. */
mfpg_status mfpg_pde_check_grid(mfpg_context *ctx, double low, double high, ptrdiff_t nodes, double horizon);

/* MFPG_ERR_DOMAIN: "continuous game: WHAT is VALUE; allowed: WORDS". */
mfpg_status mfpg_pde_refuse(mfpg_context *ctx, const char *what, double value, const char *words);

#endif
