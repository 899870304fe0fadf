/* The structs that the keys of a configuration fill (column "field" of keys.def). */
#ifndef MFPG_EXPERIMENT_CONFIG_FIELDS_H
#define MFPG_EXPERIMENT_CONFIG_FIELDS_H

#include "mfpg/config.h"
#include "mfpg/federation.h"

typedef struct mfpg_config_fields {
    mfpg_data_options data;
    mfpg_mechanism_options mechanism;
    mfpg_federation_options federation;
    mfpg_game game;
    mfpg_acting acting;
} mfpg_config_fields;

/* The defaults of these structs, and over them the values of all keys that count; texts are borrowed until the configuration
 * changes. */
mfpg_config_fields mfpg_config_fill(const mfpg_config *config);

#endif
