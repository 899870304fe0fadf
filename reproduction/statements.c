/* Judges the paper's statements about its equilibrium by a reading's solutions. Every judge can decide
 * either way; none depends on the name of the reading. */
#include <math.h>

#include "readings.h"

static const mfpg_statement statements[] = {
#define STATEMENT(name, says, number) {#name, says, number},
#include "statements.def"
#undef STATEMENT
};

enum { STATEMENTS = sizeof statements / sizeof statements[0] };

const mfpg_statement *mfpg_statement_get(ptrdiff_t index) {
    return index >= 0 && index < STATEMENTS ? &statements[index] : NULL;
}

static reading_answer answer(int holds, double number) {
    return (reading_answer){.applies = 1, .holds = holds, .number = number};
}

static reading_answer no_question(void) {
    return (reading_answer){.number = NAN};
}

static int is_budget(const reading_evidence *of) {
    return of->reading->privacy_form == MFPG_READING_PRIVACY_BUDGET;
}

static int has_bound(const reading_evidence *of) {
    return of->reading->privacy_form == MFPG_READING_PRIVACY_BOUND ||
           of->reading->privacy_form == MFPG_READING_PRIVACY_BOUND_AT_MEAN;
}

/* Returns how a quantity changes along the sweep: its largest rise between neighbours if it rises anywhere,
 * otherwise its last minus its first value. It is negative if the quantity falls overall and rises nowhere. */
static double movement(const double *value, ptrdiff_t count) {
    double rise = 0.0;
    for (ptrdiff_t i = 1; i < count; i++) rise = fmax(rise, value[i] - value[i - 1]);
    return rise > 0.0 ? rise : value[count - 1] - value[0];
}

/* Returns the same for positive numbers as a factor; below 1 if the quantity falls. */
static double factor(const double *value, ptrdiff_t count) {
    double rise = 1.0;
    for (ptrdiff_t i = 1; i < count; i++) rise = fmax(rise, value[i] / value[i - 1]);
    return rise > 1.0 ? rise : value[count - 1] / value[0];
}

static reading_answer judge_mean_falls(const reading_evidence *of) {
    double moved = movement(of->sweep[MFPG_SWEEP_MEAN], of->options->beta_count);
    return answer(moved < 0.0, moved);
}

static reading_answer judge_delta_tightens(const reading_evidence *of) {
    double moved = factor(of->sweep[MFPG_SWEEP_DELTA], of->options->beta_count);
    return answer(moved < 1.0, moved);
}

static reading_answer judge_delta_at_mean_tightens(const reading_evidence *of) {
    double moved = factor(of->sweep[MFPG_SWEEP_AT_MEAN], of->options->beta_count);
    return answer(moved < 1.0, moved);
}

static reading_answer judge_privacy_falls(const reading_evidence *of) {
    double moved = factor(of->sweep[MFPG_SWEEP_PRIVACY], of->options->beta_count);
    return answer(moved < 1.0, moved);
}

/* Stillness is a budget, or minus a strength, so more noise means that stillness falls. */
static reading_answer judge_noise_grows(const reading_evidence *of) {
    double stillness[MFPG_MOST_BETAS];
    ptrdiff_t count = of->options->beta_count;
    for (ptrdiff_t i = 0; i < count; i++)
        stillness[i] = is_budget(of) ? of->sweep[MFPG_SWEEP_MEAN][i] : -of->sweep[MFPG_SWEEP_MEAN][i];
    double moved = movement(stillness, count);
    return answer(moved < 0.0, -moved);
}

/* Both of them, as the figure shows. */
static reading_answer judge_two_actions(const reading_evidence *of) {
    double elsewhere = 0.0;
    for (int i = 0; i < MFPG_READING_ACTIONS; i++)
        if (i != 1 && i != 2) elsewhere += of->spread.count[i];
    return answer(elsewhere == 0.0 && of->spread.count[1] > 0.0 && of->spread.count[2] > 0.0, elsewhere);
}

static reading_answer judge_mean_half(const reading_evidence *of) {
    return answer(of->spread.mean >= 0.40 && of->spread.mean <= 0.55, of->spread.mean);
}

static reading_answer judge_ten_iterations(const reading_evidence *of) {
    return answer(of->iterations <= 10.0, of->iterations);
}

static reading_answer judge_pure_equilibrium(const reading_evidence *of) {
    return answer(of->mixed_populations == 0, (double)of->mixed_populations);
}

/* The exponential has a Lipschitz constant of K tau alpha/2 times itself, so between neighbouring doubles a
 * continuous delta changes only by rounding. */
static reading_answer judge_delta_continuous(const reading_evidence *of) {
    if (!has_bound(of)) return no_question();
    const mfpg_paper_bound *bound = &of->reading->bound;
    double below = (bound->variance_penalty + of->gradient) / bound->alpha * (1.0 - 0x1p-50);
    double above = below * (1.0 + 0x1p-48);
    double jump = mfpg_reading_delta(of->reading, above, of->gradient) /
                  mfpg_reading_delta(of->reading, below, of->gradient);
    return answer(fabs(jump - 1.0) < 1e-9, jump);
}

static reading_answer judge_activation(const reading_evidence *of) {
    if (is_budget(of)) return no_question();
    const mfpg_paper_bound *bound = &of->reading->bound;
    double rate = bound->alpha * of->spread.mean - bound->variance_penalty - of->gradient;
    return answer(rate > 0.0, rate);
}

/* The theorem is stated at the mean, but its proof uses each client's own strength. */
static reading_answer judge_every_client(const reading_evidence *of) {
    if (is_budget(of)) return no_question();
    double at_mean = mfpg_reading_delta(of->reading, of->spread.mean, of->gradient), largest = 0.0;
    for (int i = 0; i < MFPG_READING_ACTIONS; i++)
        if (of->spread.count[i] > 0.0)
            largest = fmax(largest, mfpg_reading_delta(of->reading, mfpg_reading_action[i], of->gradient));
    return answer(largest <= at_mean * (1.0 + 1e-12), largest / at_mean); /* the mean is rounded */
}

/* If a loss is proportional to the strength, the factor is the curvature: theory S3.3, eq. (epsstar). */
static reading_answer judge_falls_with_curvature(const reading_evidence *of) {
    if (of->reading->loss_form != MFPG_READING_LOSS_PROPORTIONAL) return no_question();
    return answer(of->sharper_change < 0.0, of->sharper_change);
}

static reading_answer judge_sharp_more_noise(const reading_evidence *of) {
    if (of->reading->loss_form != MFPG_READING_LOSS_PROPORTIONAL) return no_question();
    double noise = is_budget(of) ? -of->sharper_change : of->sharper_change;
    return answer(noise > 0.0, noise);
}

/* The closed form belongs to a loss that grows with the strength, combined with the exponential of eq.
 * (dpbound). */
static int has_closed_form(const reading_evidence *of) {
    return of->reading->loss_form == MFPG_READING_LOSS_PROPORTIONAL &&
           of->reading->privacy_form == MFPG_READING_PRIVACY_BOUND && !of->reading->bound.envelope;
}

static double closed_form(const reading_evidence *of, double beta, double m) {
    return mfpg_reading_closed_form(of->reading, beta, m, -INFINITY, INFINITY);
}

static reading_answer judge_closed_falls_with_beta(const reading_evidence *of) {
    if (!has_closed_form(of)) return no_question();
    double change = closed_form(of, 2.0, of->reading->loss) - closed_form(of, 1.0, of->reading->loss);
    return answer(change < 0.0, change);
}

static reading_answer judge_closed_falls_with_curvature(const reading_evidence *of) {
    if (!has_closed_form(of)) return no_question();
    double change = closed_form(of, 1.0, 2.0 * of->reading->loss) - closed_form(of, 1.0, of->reading->loss);
    return answer(change < 0.0, change);
}

static reading_answer judge_large_log_low(const reading_evidence *of) {
    if (!has_closed_form(of)) return no_question();
    double low = mfpg_reading_action[0], high = mfpg_reading_action[MFPG_READING_ACTIONS - 1];
    const mfpg_paper_bound *bound = &of->reading->bound;
    double theta = 0.5 * bound->alpha * of->reading->rounds * bound->step;
    double front = fmin(sqrt(bound->dimension), 10.0) / sqrt(bound->clients);
    double strength = mfpg_reading_closed_form(of->reading, 1.0, theta * front * exp(-50.0), low, high);
    return answer(strength == low, strength);
}

reading_answer mfpg_statement_judge(ptrdiff_t index, const reading_evidence *evidence) {
    static reading_answer (*const judges[])(const reading_evidence *) = {
#define STATEMENT(name, says, number) judge_##name,
#include "statements.def"
#undef STATEMENT
    };
    return judges[index](evidence);
}
