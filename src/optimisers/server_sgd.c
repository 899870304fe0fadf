/* w + eta D. With rate 1 the result is exactly the average. */
#include "optimiser.h"

static void step(const mfpg_server_optimiser_options *options, ptrdiff_t n, const float *average,
    double *memory, float *w) {
    (void)memory;
    for (ptrdiff_t i = 0; i < n; i++) {
        double moved = (double)average[i] - (double)w[i];
        w[i] = (float)((double)average[i] + (options->learning_rate * moved - moved));
    }
}

const mfpg_server_optimiser mfpg_server_sgd = {
    .name = "sgd",
    .help = "the average, or a longer or shorter step towards it",
    .averages = 1,
    .step = step,
};
