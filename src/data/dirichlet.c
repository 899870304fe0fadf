#include <math.h>

#include "partition.h"

/* The logarithm of a Gamma(alpha) draw: Gamma(alpha+1) by Marsaglia and Tsang (2000), times U^(1/alpha). Logarithms
 * because the draw itself underflows for small alpha. */
static double log_gamma_draw(const mfpg_stream *stream, double alpha) {
    const double two_pi = 6.283185307179586;
    double d = alpha + 1 - 1.0 / 3, c = 1 / sqrt(9 * d), boost;
    mfpg_stream_uniform(stream, 0, 1, &boost);
    for (uint64_t next = 1;; next += 3) {
        double u[3];
        mfpg_stream_uniform(stream, next, 3, u);
        double z = sqrt(-2 * log(u[0])) * cos(two_pi * u[1]);
        double v = 1 + c * z;
        if (!(v > 0)) continue;
        v = v * v * v;
        if (log(u[2]) < 0.5 * z * z + d - d * v + d * log(v)) return log(d * v) + log(boost) / alpha;
    }
}

void mfpg_dirichlet_draw(const mfpg_key *key, uint64_t round, double alpha, ptrdiff_t count, double *share) {
    double largest = -INFINITY, sum = 0;
    alpha = fmax(alpha, 1e-9); /* below, one share is 1 and the others 0 to the last bit either way */
    for (ptrdiff_t k = 0; k < count; k++) {
        mfpg_stream stream = mfpg_stream_open(key, MFPG_PURPOSE_PARTITION, round, (uint64_t)k);
        share[k] = log_gamma_draw(&stream, alpha);
        largest = fmax(largest, share[k]);
    }
    for (ptrdiff_t k = 0; k < count; k++) sum += share[k] = exp(share[k] - largest);
    for (ptrdiff_t k = 0; k < count; k++) share[k] /= sum;
}
