/* Data that are made up, from the key alone. */
#ifndef MFPG_DATA_SYNTHETIC_H
#define MFPG_DATA_SYNTHETIC_H

#include "mfpg/context.h"
#include "mfpg/dataset.h"
#include "mfpg/random.h"

#include "frame.h"

/* Rounds of the streams (SYNTHETIC, round, client). A client's data do not depend on how many clients there are. */
enum mfpg_synthetic_round {
    MFPG_SYNTHETIC_X = 0,        /* features of a client */
    MFPG_SYNTHETIC_Y = 1,        /* what its labels need beside the features */
    MFPG_SYNTHETIC_WEIGHTS = 2,  /* the planted model, client 0 */
    MFPG_SYNTHETIC_COMMON_X = 3, /* features of the common test set, client 0 */
    MFPG_SYNTHETIC_COMMON_Y = 4
};

/* Fills an empty frame with the options' synthetic data, the common test set behind the clients' rows. */
mfpg_status mfpg_synthetic_fill(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_key *key, mfpg_frame *frame);

/* The kind MFPG_SYNTHETIC_CLINICS: its sizes and features are its own. Values are in natural units; the frame gets
 * the public bounds unless the options bring a scaling of their own. */
mfpg_status mfpg_clinics_fill(
    mfpg_context *ctx, const mfpg_data_options *options, const mfpg_key *key, mfpg_frame *frame);

#endif
