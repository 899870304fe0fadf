/* FedAvgM (Hsu, Qi, Brown 2019): m = beta m + D, w + eta m. beta 0 has the bits of sgd. */
#include "optimiser.h"

static void step(const mfpg_server_optimiser_options *options, ptrdiff_t n, const float *average,
    double *memory, float *w) {
    for (ptrdiff_t i = 0; i < n; i++) {
        double moved = (double)average[i] - (double)w[i];
        memory[i] = options->momentum * memory[i] + moved;
        w[i] = (float)((double)average[i] + (options->learning_rate * memory[i] - moved));
    }
}

const mfpg_server_optimiser mfpg_server_momentum = {
    .name = "momentum",
    .help = "each round goes on with a share of the movement before it",
    .reads = MFPG_OPTIMISER_READS_MOMENTUM,
    .vectors = 1,
    .step = step,
};
