/* A name for the data's exact content. */
#ifndef MFPG_DATA_FINGERPRINT_H
#define MFPG_DATA_FINGERPRINT_H

#include "mfpg/dataset.h"

/* Sets data->fingerprint: BLAKE2b of the shapes of all sets and of every feature and label in order. */
void mfpg_fingerprint(mfpg_federated_data *data);

#endif
