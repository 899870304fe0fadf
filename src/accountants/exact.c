/* The composition enclosed between two ends: epsilon and delta of sampled and unsampled Gaussian steps, with
 * a requested width (exact/laplace.c). Other accountants give one bound of unknown slack. The upper end is
 * the certificate.
 *
 * zero-out is the larger of removing and adding, for any contribution of norm at most 1 and any dimension.
 * replace without sampling has twice the sensitivity. replace with sampling is not of this form: its answer
 * is that of pld, which composes a separate curve. If an enclosure cannot be computed, the upper end is the
 * smallest of Chernoff's bound, Gaussian DP without credit and rdp, and the lower end is what is known, in
 * the worst case 0; the wide gap then shows this.
 *
 * The records are exactly what was released only in the local view. In other views a last step is hidden by
 * noise that was counted cautiously (theory S2.2), so the lower end is 0. */
#include <float.h>
#include <math.h>

#include "base/error.h"
#include "exact/loss.h"
#include "gdp.h"
#include "sampled/sampled_steps.h"

static mfpg_status start(mfpg_context *ctx, void *state, const mfpg_accountant_options *options) {
    sampled_sum *exact = state;
    exact->sampled = SAMPLED_STEPS_EXACT;
    exact->width = options->width;
    return sampled_sum_start(ctx, state, options);
}

static loss_sum sum_of(const sampled_sum *exact, loss_direction direction) {
    square_sum plain;
    int kinds = sampled_sum_split(exact, &plain);
    return (loss_sum){exact->sampled.kind, kinds, plain.high * (1.0 + DBL_EPSILON), direction};
}

static mfpg_bounds of_direction(
    const sampled_sum *exact, const mfpg_question *asked, loss_direction direction) {
    const sampled_steps *steps = &exact->sampled;
    const loss_sum sum = sum_of(exact, direction);
    if (steps->used == 1 && steps->kind[0].count == 1 && sum.gauss == 0.0)
        return asked->for_delta ? sampled_step_delta(steps->kind, direction, asked->given)
                                : sampled_step_epsilon(steps->kind, direction, asked->given);
    return asked->for_delta ? laplace_delta(&sum, asked->given, exact->width)
                            : laplace_epsilon(&sum, asked->given, exact->width);
}

/* Removing comes first, because adding usually has the smaller epsilon, and a few moments show that. */
static mfpg_bounds of_both(const sampled_sum *exact, const mfpg_question *asked) {
    mfpg_bounds remove = of_direction(exact, asked, LOSS_REMOVE);
    const loss_sum sum = sum_of(exact, LOSS_ADD);
    if (!asked->for_delta && laplace_chernoff(&sum, asked->given) <= remove.lower) return remove;
    mfpg_bounds add = of_direction(exact, asked, LOSS_ADD);
    return (mfpg_bounds){fmax(remove.lower, add.lower), fmax(remove.upper, add.upper)};
}

/* Returns the enclosure. Under replace the other record may be one whose contribution is 0, so zero-out
 * gives a lower end. */
static mfpg_bounds enclosed(const sampled_sum *exact, const mfpg_question *asked) {
    switch (asked->adjacency) {
    case MFPG_ADJACENCY_ADD: return of_direction(exact, asked, LOSS_ADD);
    case MFPG_ADJACENCY_REMOVE: return of_direction(exact, asked, LOSS_REMOVE);
    case MFPG_ADJACENCY_ZERO_OUT: return of_both(exact, asked);
    case MFPG_ADJACENCY_REPLACE: break;
    }
    return (mfpg_bounds){of_both(exact, asked).lower, (double)INFINITY};
}

static int is_wide(const sampled_sum *exact, const mfpg_question *asked, mfpg_bounds bounds) {
    double unit = asked->for_delta ? bounds.upper : fmax(1.0, bounds.upper);
    return isinf(bounds.upper) || !(bounds.upper - bounds.lower <= exact->width * unit);
}

/* Lowers the lower end: reach and mu were rounded up by a relative 1e-15 at most. This changes epsilon by at
 * most the same relative amount, and log delta by the slope c of its curve times that. */
static double lowered(const sampled_sum *exact, const mfpg_question *asked, double lower) {
    double less =
        asked->for_delta ? lower * (1.0 - 1e-11 * (1.0 + asked->given)) : lower - 1e-12 * (1.0 + lower);
    return exact->loose || exact->sampled.dropped_bits >= 0 ? 0.0 : fmax(0.0, less);
}

/* Returns 1 if a few moments already show that epsilon is small enough. */
static int is_enough_by_moments(const sampled_sum *exact, const mfpg_question *asked) {
    if (asked->for_delta || !(asked->enough > 0.0) || asked->adjacency == MFPG_ADJACENCY_REPLACE) return 0;
    const loss_sum remove = sum_of(exact, LOSS_REMOVE), add = sum_of(exact, LOSS_ADD);
    return laplace_chernoff(&remove, asked->given) <= asked->enough &&
           laplace_chernoff(&add, asked->given) <= asked->enough;
}

/* Asks another accountant the same question about the same steps. */
static mfpg_status ask_other(mfpg_context *ctx, const mfpg_accountant_ops *other, const sampled_sum *exact,
    const mfpg_question *asked, double *out) {
    sampled_sum coarse;
    mfpg_bounds found = {0.0, (double)INFINITY};
    mfpg_status status = MFPG_OK;
    if (sampled_sum_coarse(exact, asked->adjacency, &coarse))
        status = other->answer(ctx, &coarse, asked, &found);
    else
        status = mfpg_fail(ctx, MFPG_ERR_MEMORY, "there is no room for another kind of step");
    sampled_sum_finish(&coarse);
    *out = found.upper;
    return status;
}

/* Without sampling the curve is that of one Gaussian mechanism, which is also an upper bound with sampling. */
static mfpg_status answer(
    mfpg_context *ctx, const void *state, const mfpg_question *asked, mfpg_bounds *out) {
    const sampled_sum *exact = state;
    int sampled = exact->sampled.used > 0;
    mfpg_bounds found = {0};
    gdp_answer(sampled_sum_plain_mu(exact, asked->adjacency), 0, asked, &found);
    out->upper = found.upper;
    if (out->upper <= asked->enough || (!asked->for_delta && asked->given == 0.0)) return MFPG_OK;
    if (sampled && is_enough_by_moments(exact, asked)) {
        out->upper = asked->enough;
        return MFPG_OK;
    }
    if (sampled) found = enclosed(exact, asked);
    out->upper = fmin(out->upper, found.upper);
    mfpg_status status = MFPG_OK;
    if (sampled && is_wide(exact, asked, found)) {
        int replace = asked->adjacency == MFPG_ADJACENCY_REPLACE;
        double bound;
        status = ask_other(ctx, replace ? &mfpg_accountant_pld : &mfpg_accountant_rdp, exact, asked, &bound);
        out->upper = fmin(out->upper, bound);
    }
    out->lower = fmin(lowered(exact, asked, found.lower), out->upper);
    return status;
}

const mfpg_accountant_ops mfpg_accountant_exact = {
    .name = "exact",
    .help = "the composition itself between two ends 1e-6 apart, with credit for Poisson batches",
    .certifies = 1,
    .facts = MFPG_ACCOUNTANT_CREDITS_SAMPLING | MFPG_ACCOUNTANT_TAKES_WIDTH,
    .state_size = sizeof(sampled_sum),
    .record = sampled_sum_record,
    .answer = answer,
    .start = start,
    .finish = sampled_sum_finish,
    .copy = sampled_sum_copy,
    .mu = sampled_sum_mu,
    .covers = sampled_sum_covers,
};
