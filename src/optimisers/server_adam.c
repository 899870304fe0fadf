/* FedAdam (Reddi et al. 2021, algorithm 2): m = beta m + (1 - beta) D, v = beta2 v + (1 - beta2) D^2, w + eta m/(sqrt(v) + floor). */
#include "optimiser.h"

#include <math.h>

static void step(const mfpg_server_optimiser_options *options, ptrdiff_t n, const float *average,
    double *memory, float *w) {
    double *first = memory, *second = memory + n;
    double beta = options->momentum, beta2 = options->second_moment;
    for (ptrdiff_t i = 0; i < n; i++) {
        double moved = (double)average[i] - (double)w[i];
        first[i] = beta * first[i] + (1.0 - beta) * moved;
        second[i] = beta2 * second[i] + (1.0 - beta2) * moved * moved;
        w[i] = (float)((double)w[i] + options->learning_rate * first[i] / (sqrt(second[i]) + options->floor));
    }
}

const mfpg_server_optimiser mfpg_server_adam = {
    .name = "adam",
    .help = "each parameter's step is divided by the size of its usual movement",
    .reads = MFPG_OPTIMISER_READS_MOMENTUM | MFPG_OPTIMISER_READS_SECOND_MOMENT,
    .vectors = 2,
    .step = step,
};
