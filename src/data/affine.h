/* The affine shift of FLRA: x <- scale x + shift, feature by feature, for all clients or each client by numbers of its own
 * (Reisizadeh, Farnia, Pedarsani and Jadbabaie, "Robust federated learning: the case of affine distribution shifts", 2020).
 * It is deterministic: by itself it hides nothing. */
#ifndef MFPG_DATA_AFFINE_H
#define MFPG_DATA_AFFINE_H

#include "mfpg/context.h"
#include "mfpg/dataset.h"

#include "frame.h"

/* Applies options->affine_file to every row of the frame, whose clients are dealt and whose values are scaled; the common
 * test set follows the numbers for all. Where the frame has public bounds, the bound on the shifted features takes their
 * place. MFPG_ERR_INPUT with file and line of what is wrong: an unknown column or client, one given twice, no number. */
mfpg_status mfpg_affine_apply(mfpg_context *ctx, const mfpg_data_options *options, mfpg_frame *frame);

#endif
