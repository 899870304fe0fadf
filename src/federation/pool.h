/* All clients' rows as one set. */
#ifndef MFPG_FEDERATION_POOL_H
#define MFPG_FEDERATION_POOL_H

#include "mfpg/dataset.h"
#include "mfpg/model.h"

/* Metrics of parameters w on the training rows (train 1) or the test rows of all clients together. MFPG_ERR_MEMORY only. */
mfpg_status mfpg_pool_evaluate(mfpg_context *ctx, const mfpg_federated_data *data, int train,
    const mfpg_model *model, const float *w, mfpg_metrics *out);

#endif
