/* The exponential mechanism over a grid of actions (theory S4), drawn in whole numbers: a probability that underflows
 * in floating point would betray the data that made it vanish. */
#include "mfpg/private_action.h"

#include <math.h>

#include "base/streams.h"
#include "numerics/special/normal.h"

static double least_of(const double *disutility, ptrdiff_t count) {
    double least = (double)INFINITY;
    for (ptrdiff_t j = 0; j < count; j++)
        if (disutility[j] < least) least = disutility[j];
    return least;
}

void mfpg_choice_weights(
    const double *disutility, ptrdiff_t count, double epsilon, double change, uint64_t *weight) {
    double least = least_of(disutility, count), unit = floor(0x1p62 / (double)count);
    double rate = epsilon / (2.0 * change);
    for (ptrdiff_t j = 0; j < count; j++) {
        double share = exp(-rate * (disutility[j] - least));
        weight[j] = 1 + (isfinite(disutility[j]) && share > 0.0 ? (uint64_t)(share * unit) : 0);
    }
}

ptrdiff_t mfpg_choice_draw(const mfpg_stream *stream, const uint64_t *weight, ptrdiff_t count) {
    uint64_t total = 0;
    for (ptrdiff_t j = 0; j < count; j++) total += weight[j];
    uint64_t ticket = mfpg_stream_below(stream, 0, total);
    ptrdiff_t chosen = 0;
    while (chosen + 1 < count && ticket >= weight[chosen]) ticket -= weight[chosen++];
    return chosen;
}

/* With q = 1/(1 + exp(epsilon/2)), the smaller of the two probabilities, mu = -2 Phi^-1(q), computed with q a few roundings
 * too small. Exponents of weights above 1 are at most 43 in size and computed to a few roundings, in two neighbouring runs:
 * less than 2^-40 of epsilon. */
double mfpg_choice_mu(double epsilon) {
    if (epsilon == 0.0) return 0.0;
    if (!(epsilon > 0.0)) return (double)INFINITY;
    double less = exp(-0.5 * (epsilon + 0x1p-40)); /* for large epsilon exp(epsilon/2) would overflow */
    double q = less / (1.0 + less) * (1.0 - 0x1p-48);
    return q > 0.0 ? -2.0 * mfpg_normal_quantile(q) * (1.0 + 0x1p-48) : (double)INFINITY;
}
