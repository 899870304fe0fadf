/* Numbers put in order in linear time. */
#ifndef MFPG_NUMERICS_ORDER_FLOATS_H
#define MFPG_NUMERICS_ORDER_FLOATS_H

#include <stddef.h>
#include <stdint.h>

#include "mfpg/context.h"

/* order[0..n) becomes the places of x in ascending order, equal numbers by place; 0 and -0 are equal. x finite,
 * 0 <= n < 2^31. Memory: 8 n bytes beside order while it runs. MFPG_ERR_MEMORY. */
mfpg_status mfpg_order_floats(mfpg_context *ctx, ptrdiff_t n, const float *x, int32_t *order);

#endif
