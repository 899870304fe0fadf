/* A register of numbers. What includes it says before: the type `real`, and LANES, a power of 2. */
#ifndef MFPG_NUMERICS_LANES_H
#define MFPG_NUMERICS_LANES_H

#include <string.h>

#include "base/wide.h"

typedef real lanes __attribute__((vector_size(LANES * sizeof(real))));

/* No function returns a vector, because without AVX its registers would need another calling convention. */
static inline __attribute__((always_inline)) void load(const real *from, lanes *to) {
    memcpy(to, from, sizeof *to);
}

static inline __attribute__((always_inline)) real sum_of(const lanes *v) {
    real sum[LANES];
    memcpy(sum, v, sizeof sum);
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++) sum[l] += sum[l + width];
    return sum[0];
}

#endif
