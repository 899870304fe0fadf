/* Heavy-ball momentum within a round (Polyak 1964): step s adds beta (x_s - x_{s-1}), including the noise of
 * earlier steps; the first step of a round adds nothing. */
#include "optimiser.h"

#include <string.h>

static void carry(const mfpg_local_optimiser_options *options, int64_t step, ptrdiff_t n, const float *from,
    float *memory, float *carried) {
    float beta = (float)options->momentum;
    for (ptrdiff_t i = 0; i < n; i++) carried[i] = step == 0 ? 0.0F : beta * (from[i] - memory[i]);
    memcpy(memory, from, (size_t)n * sizeof *memory);
}

const mfpg_local_optimiser mfpg_local_momentum = {
    .name = "momentum",
    .help = "a step goes on with a share of the movement before it, within a round",
    .reads = MFPG_OPTIMISER_READS_MOMENTUM,
    .vectors = 1,
    .carry = carry,
};
