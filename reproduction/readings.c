/* The possible meanings of the paper's best response (reproduction 3), and the constants with which each
 * reading is drawn. */
#include <math.h>

#include "readings.h"

const double mfpg_reading_action[MFPG_READING_ACTIONS] = {0.1, 0.3, 0.5, 1.0, 2.0};

/* The paper's quadratic task: d = N = 5, ten rounds, so that C_d/sqrt(N) = 1; its logistic task counts the bias. */
#define QUADRATIC                                                                                            \
    { .dimension = 5, .clients = 5, .alpha = 1, .variance_penalty = 0.01, .gradient_norm = 1, .step = 0.1 }
#define LOGISTIC                                                                                             \
    {                                                                                                        \
        .dimension = 21, .clients = 8, .alpha = 1, .variance_penalty = 0.01, .gradient_norm = 0.6,           \
        .step = 0.1, .envelope = 1                                                                           \
    }

static const mfpg_reading readings[] = {
#define READING(word, loss_is, size, shift, coupling, privacy_is, scale, of, spread, count, text)            \
    {.name = word,                                                                                           \
        .says = text,                                                                                        \
        .loss_form = MFPG_READING_LOSS_##loss_is,                                                            \
        .privacy_form = MFPG_READING_PRIVACY_##privacy_is,                                                   \
        .loss = size,                                                                                        \
        .offset = shift,                                                                                     \
        .interaction = coupling,                                                                             \
        .privacy_scale = scale,                                                                              \
        .bound = of,                                                                                         \
        .gradient_spread = spread,                                                                           \
        .rounds = count},
#include "readings.def"
#undef READING
};

const mfpg_reading *mfpg_reading_get(ptrdiff_t index) {
    return index >= 0 && index < (ptrdiff_t)(sizeof readings / sizeof readings[0]) ? &readings[index] : NULL;
}

double mfpg_reading_delta(const mfpg_reading *reading, double strength, double gradient_norm) {
    mfpg_paper_bound bound = reading->bound;
    bound.gradient_norm = gradient_norm;
    return mfpg_paper_lsi_delta(&bound, strength, reading->rounds);
}

double mfpg_reading_privacy_term(const mfpg_reading *reading, double e, double mean, double gradient_norm) {
    switch (reading->privacy_form) {
    case MFPG_READING_PRIVACY_BOUND: return mfpg_reading_delta(reading, e, gradient_norm);
    case MFPG_READING_PRIVACY_BOUND_AT_MEAN: return mfpg_reading_delta(reading, mean, gradient_norm);
    case MFPG_READING_PRIVACY_BUDGET: return e;
    case MFPG_READING_PRIVACY_RECIPROCAL: return reading->privacy_scale / e;
    }
    return (double)NAN;
}

double mfpg_reading_cost(
    const mfpg_reading *reading, double e, double mean, double beta, double gradient_norm) {
    double loss = reading->loss_form == MFPG_READING_LOSS_INVERSE
                      ? reading->loss / (e + reading->offset)
                      : reading->loss * e * (1.0 + reading->interaction * mean);
    return loss + beta * mfpg_reading_privacy_term(reading, e, mean, gradient_norm);
}

double mfpg_reading_closed_form(const mfpg_reading *reading, double beta, double m, double low, double high) {
    const mfpg_paper_bound *bound = &reading->bound;
    mfpg_pde_cost cost = {.scale = fmin(sqrt(bound->dimension), 10.0) / sqrt(bound->clients),
        .rate = 0.5 * bound->alpha * reading->rounds * bound->step,
        .offset = (bound->variance_penalty + bound->gradient_norm) / bound->alpha};
    return mfpg_pde_optimal_control(&cost, beta, m, low, high);
}
