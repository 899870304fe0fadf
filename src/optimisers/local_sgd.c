/* Plain gradient steps. */
#include "optimiser.h"

const mfpg_local_optimiser mfpg_local_sgd = {
    .name = "sgd",
    .help = "plain steps, each from its own gradient alone",
};
