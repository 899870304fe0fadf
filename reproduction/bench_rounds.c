/* Privacy as the rounds go on (theory S1, S2.3): one noised chain with the paper's constants, from formulas alone. */
#include <float.h>
#include <math.h>

#include "base/number.h"
#include "bench.h"

#define STRENGTH 2.0 /* alpha e = 2 exceeds lambda + G = 1.01, the paper's own condition */
#define STEP     0.1
#define DELTA    1e-5

/* One step of a client's clipped gradient, zero-out, of a generalised linear model with smoothness 1, in weight units. */
static void one_step(mfpg_release *out) {
    const mfpg_paper_bound paper = mfpg_accountant_options_default().paper;
    const mfpg_hidden_assumption assumption = {.kind = MFPG_HIDDEN_GLM,
        .smoothness = 1.0,
        .clipping = MFPG_CLIPPING_EXAMPLE,
        .projection_radius = (double)INFINITY};
    *out = (mfpg_release){.steps = 1,
        .sensitivity = STEP,
        .noise_sd = sqrt(2.0 * STRENGTH * STEP) * (1.0 - 4.0 * DBL_EPSILON),
        .weight = 1.0,
        .sampling_rate = 1.0,
        .hidden_shift = STEP};
    out->last_sd = out->noise_sd;
    mfpg_hidden_contraction(
        NULL, &assumption, STEP, STRENGTH * paper.alpha, paper.variance_penalty, 2, &out->hidden_contraction);
}

/* epsilon of that many steps where only the last state is seen, or every one; infinity where memory runs out. */
static double epsilon_of(mfpg_view view, const mfpg_release *step, int64_t rounds) {
    mfpg_accountant_options options = mfpg_accountant_options_default();
    mfpg_accountant *accountant = NULL;
    double epsilon = (double)INFINITY;
    options.promise.view = view;
    mfpg_status status = mfpg_accountant_create(NULL, "hidden-state", &options, &accountant);
    if (status == MFPG_OK) status = mfpg_accountant_record_times(NULL, accountant, step, rounds);
    if (status == MFPG_OK) status = mfpg_accountant_epsilon(NULL, accountant, DELTA, &epsilon);
    mfpg_accountant_destroy(accountant);
    return status == MFPG_OK ? epsilon : (double)INFINITY;
}

/* The total variation distance of the two last models, which is delta at epsilon 0, where the loss is linear and one of
 * the clients turns from nothing to a gradient of norm 1: theory S1.2 with h = 0, in closed form. */
static double exact_distance(double rounds) {
    double kappa = STRENGTH * mfpg_accountant_options_default().paper.alpha, a = 1.0 - STEP * kappa;
    double gap = STEP * (1.0 - pow(a, rounds)) / (1.0 - a);
    double variance = 2.0 * STRENGTH * STEP * (1.0 - pow(a, 2.0 * rounds)) / (1.0 - a * a);
    return mfpg_gdp_delta(gap / sqrt(variance), 0.0);
}

void bench_print_rounds(FILE *out) {
    mfpg_release step;
    mfpg_paper_bound paper = mfpg_accountant_options_default().paper;
    one_step(&step);
    paper.dimension = paper.clients = 1.0;
    paper.envelope = 0;
    fprintf(out,
        "#### Privacy as the rounds go on\n\n"
        "One chain of the entropic flow: strength 2, step 0.1, prior variance 1, variance penalty 0.01, "
        "clip 1, unit client,\nzero-out, delta 1e-05; for the last model alone, a generalised linear "
        "model of smoothness 1. The distance is the exact\ntotal variation between the last models of "
        "two linear losses; the paper's delta (one dimension, one client) claims to\nbound it.\n\n"
        "| rounds | epsilon, every model seen | epsilon, last model alone | exact distance | the "
        "paper's delta |\n|---|---|---|---|---|\n");
    for (int64_t rounds = 1; rounds <= 1000000; rounds *= 10)
        fprintf(out, "| %lld | %.3f | %.3f | %.4f | %.3g |\n", (long long)rounds,
            mfpg_number_up(epsilon_of(MFPG_VIEW_LOCAL, &step, rounds), 3),
            mfpg_number_up(epsilon_of(MFPG_VIEW_FINAL, &step, rounds), 3), exact_distance((double)rounds),
            mfpg_paper_lsi_delta(&paper, STRENGTH, (double)rounds));
    fprintf(out, "\n");
}
