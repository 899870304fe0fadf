/* A clipped sum as it is made, for those who read it once: without the pass that makes integers of floats, where one will do. */
#ifndef MFPG_MODELS_CLIPPED_SUM_H
#define MFPG_MODELS_CLIPPED_SUM_H

#include "mfpg/model.h"

typedef struct mfpg_clipped_sum {
    const int64_t *integers; /* NULL: floats it is */
    const float *floats;     /* below 2^49; the nearest integers, ties to even, are the sum */
    int64_t nonfinite;       /* what mfpg_model_clipped_sum returns */
} mfpg_clipped_sum;

/* The sum of mfpg_model_clipped_sum, in the memory of `sum`: floats where all drawn rows are one block that is summed in float. */
mfpg_clipped_sum mfpg_model_clipped_sum_as_made(const mfpg_model *model, const float *w,
    const mfpg_dataset *data, const int32_t *rows, ptrdiff_t count, double clip, double unit, int64_t *sum,
    float *work);

#endif
