/* No privacy: plain gradient steps, neither clipped nor noised. */
#include "ops.h"

static double rate(const mfpg_mechanism_options *options) {
    return options->learning_rate;
}

const mfpg_mechanism_ops mfpg_mechanism_none = {
    .name = "none",
    .help = "plain gradient steps without clip and noise; certifies nothing",
    .control = MFPG_CONTROL_NONE,
    .rate = rate,
};
