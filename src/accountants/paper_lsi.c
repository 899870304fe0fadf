/* The paper's bound for the entropic methods, equation (dpbound): the strength is called epsilon, and delta
 * is claimed to fall exponentially with the rounds. The claim is false (theory S1: the true delta tends to a
 * positive constant); the number reproduces a column of the paper and certifies nothing. */
#include <math.h>

#include "base/error.h"
#include "accountant_ops.h"

#define LARGEST_FACTOR 10.0 /* C_d = min(sqrt d, 10) */

static int is_magnitude(double value) {
    return value >= 0.0 && isfinite(value);
}

static int usable(const mfpg_paper_bound *b) {
    const double number[] = {
        b->dimension, b->clients, b->alpha, b->step, b->variance_penalty, b->gradient_norm};
    for (int i = 0; i < 6; i++)
        if (!is_magnitude(number[i]) || (i < 4 && number[i] == 0.0)) return 0;
    return 1;
}

double mfpg_paper_lsi_delta(const mfpg_paper_bound *bound, double strength, double rounds) {
    if (!usable(bound) || !is_magnitude(strength) || strength == 0.0 || !is_magnitude(rounds))
        return (double)INFINITY;
    double factor = fmin(sqrt(bound->dimension), LARGEST_FACTOR) / sqrt(bound->clients);
    double rate = bound->alpha * strength - bound->variance_penalty - bound->gradient_norm;
    double value = bound->envelope && rate <= 0.0 ? factor / (rounds + 1.0)
                                                  : factor * exp(-0.5 * rate * rounds * bound->step);
    return bound->clamp ? fmin(1.0, value) : value;
}

typedef struct paper_lsi_state {
    mfpg_paper_bound bound;
    double strength; /* of the latest release */
    double steps;    /* of all releases */
} paper_lsi_state;

static mfpg_status start(mfpg_context *ctx, void *state, const mfpg_accountant_options *options) {
    if (!usable(&options->paper))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "paper_lsi: dimension, clients, alpha and step must be positive, variance penalty and gradient "
            "norm must not be negative");
    ((paper_lsi_state *)state)->bound = options->paper;
    return MFPG_OK;
}

static mfpg_status record(mfpg_context *ctx, void *state, const mfpg_release *release, int64_t times) {
    paper_lsi_state *lsi = state;
    if (release->action.control != MFPG_CONTROL_STRENGTH)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "paper_lsi: the release carries no entropic strength");
    lsi->strength = release->action.strength.value;
    lsi->steps += (double)times * (double)release->steps;
    return MFPG_OK;
}

/* "A linear budget": the paper prints the strength itself for every delta, and its delta holds for every epsilon. */
static mfpg_status answer(
    mfpg_context *ctx, const void *state, const mfpg_question *asked, mfpg_bounds *out) {
    (void)ctx;
    const paper_lsi_state *lsi = state;
    out->upper =
        asked->for_delta ? mfpg_paper_lsi_delta(&lsi->bound, lsi->strength, lsi->steps) : lsi->strength;
    return MFPG_OK;
}

const mfpg_accountant_ops mfpg_accountant_paper_lsi = {
    .name = "paper_lsi",
    .help = "the paper's strength and exponentially falling delta (equation dpbound); certifies nothing",
    .facts = MFPG_ACCOUNTANT_BOUNDS_DISTANCE,
    .state_size = sizeof(paper_lsi_state),
    .record = record,
    .answer = answer,
    .start = start,
};
