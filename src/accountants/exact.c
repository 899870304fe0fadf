/* The composition itself, enclosed: epsilon and delta of sampled and unsampled Gaussian steps between two ends that are a
 * requested width apart (laplace.h), where every other accountant has one bound of unknown slack. The upper end is the
 * certificate.
 *
 * zero-out is the larger of removing and adding, for any contribution of norm at most 1 and any dimension. replace with
 * sampling is neither at twice the sensitivity (the answer is that of pld, which composes a curve of its own); without it, it
 * is. Where an enclosure is not to be had the upper end is the smallest of Chernoff's bound, Gaussian DP without credit and
 * rdp, and the lower end what is known, at worst 0: a gap wider than asked says so.
 *
 * What was recorded is released exactly so only in the local view: elsewhere a last step hides behind noise that was
 * counted with care (theory S2.2), and the lower end is 0. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "exact/laplace.h"
#include "ops.h"
#include "sampled/step_curve.h"
#include "sampled/sum.h"

typedef struct exact_state {
    sampled_sum kept;
    double width;
} exact_state;

static mfpg_status start(mfpg_context *ctx, void *state, const mfpg_accountant_options *options) {
    (void)ctx;
    *(exact_state *)state = (exact_state){sampled_sum_empty(options, SAMPLED_STEPS_EXACT), options->width};
    return MFPG_OK;
}

static void finish(void *state) {
    sampled_sum_clear(&((exact_state *)state)->kept);
}

static int copy(const void *state, void *out) {
    const exact_state *exact = state;
    ((exact_state *)out)->width = exact->width;
    return sampled_sum_copy(&exact->kept, &((exact_state *)out)->kept);
}

static mfpg_status record(mfpg_context *ctx, void *state, const mfpg_release *release, int64_t times) {
    return sampled_sum_record(ctx, &((exact_state *)state)->kept, "exact", release, times);
}

static double mu(const void *state) {
    return sampled_sum_mu(&((const exact_state *)state)->kept);
}

static int covers(const void *state, const void *less) {
    return sampled_sum_covers(&((const exact_state *)state)->kept, &((const exact_state *)less)->kept);
}

/* ---- answers ---- */

/* epsilon at a delta, or delta at an epsilon, for one adjacency. */
typedef struct question {
    const exact_state *exact;
    mfpg_adjacency adjacency;
    int for_delta;
    double given;
} question;

/* Without sampling the curve is that of one Gaussian mechanism; its lower end is that of a mu smaller by more than mu and the
 * conversions were rounded up. */
static mfpg_bounds of_gaussian(const question *asked) {
    double mu = sampled_sum_plain_mu(&asked->exact->kept, asked->adjacency), below = mu * (1.0 - 1e-10);
    return asked->for_delta
               ? (mfpg_bounds){mfpg_gdp_delta(below, asked->given), mfpg_gdp_delta(mu, asked->given)}
               : (mfpg_bounds){mfpg_gdp_epsilon(below, asked->given), mfpg_gdp_epsilon(mu, asked->given)};
}

static loss_sum sum_of(const exact_state *exact, loss_direction direction) {
    square_sum plain;
    int kinds = sampled_sum_split(&exact->kept, &plain);
    return (loss_sum){exact->kept.sampled.kind, kinds, plain.high * (1.0 + DBL_EPSILON), direction};
}

static mfpg_bounds of_direction(const question *asked, loss_direction direction) {
    const sampled_steps *steps = &asked->exact->kept.sampled;
    const loss_sum sum = sum_of(asked->exact, direction);
    int single = steps->used == 1 && steps->kind[0].count == 1 && sum.gauss == 0.0;
    if (single && asked->for_delta) return sampled_step_delta(steps->kind, direction, asked->given);
    if (single) return sampled_step_epsilon(steps->kind, direction, asked->given);
    return asked->for_delta ? laplace_delta(&sum, asked->given, asked->exact->width)
                            : laplace_epsilon(&sum, asked->given, asked->exact->width);
}

/* Removing first: adding usually has the smaller epsilon, which a few moments show. */
static mfpg_bounds of_both(const question *asked) {
    mfpg_bounds remove = of_direction(asked, LOSS_REMOVE);
    const loss_sum sum = sum_of(asked->exact, LOSS_ADD);
    if (!asked->for_delta && laplace_chernoff(&sum, asked->given) <= remove.lower) return remove;
    mfpg_bounds add = of_direction(asked, LOSS_ADD);
    return (mfpg_bounds){fmax(remove.lower, add.lower), fmax(remove.upper, add.upper)};
}

/* The answer of another accountant to the same question about the same steps; +INFINITY where it fails. */
static mfpg_status ask_other(mfpg_context *ctx, const char *name, const question *asked, double *out) {
    mfpg_accountant_options options = mfpg_accountant_options_default();
    options.promise = (mfpg_promise){MFPG_UNIT_EXAMPLE, asked->adjacency, MFPG_VIEW_LOCAL};
    mfpg_accountant *other = NULL;
    const sampled_steps *steps = &asked->exact->kept.sampled;
    mfpg_release step = {.unit = MFPG_UNIT_EXAMPLE,
        .clipped = MFPG_CLIPPED_EXAMPLES,
        .steps = 1,
        .noise_sd = 1.0,
        .last_sd = 1.0,
        .weight = 1.0,
        .sampling_rate = 1.0,
        .sensitivity = square_sum_root_up(&asked->exact->kept.unsampled)};
    mfpg_status status = mfpg_accountant_create(ctx, name, &options, &other);
    if (status == MFPG_OK) status = mfpg_accountant_record(ctx, other, &step);
    for (int i = 0; i < steps->used && status == MFPG_OK; i++) {
        step.sensitivity = steps->kind[i].reach;
        step.sampling_rate = steps->kind[i].rate;
        status = mfpg_accountant_record_times(ctx, other, &step, steps->kind[i].count);
    }
    *out = (double)INFINITY;
    if (status == MFPG_OK)
        status = asked->for_delta ? mfpg_accountant_delta(ctx, other, asked->given, out)
                                  : mfpg_accountant_epsilon(ctx, other, asked->given, out);
    mfpg_accountant_destroy(other);
    return status;
}

static int is_wide(const question *asked, mfpg_bounds bounds) {
    double unit = asked->for_delta ? bounds.upper : fmax(1.0, bounds.upper);
    return isinf(bounds.upper) || !(bounds.upper - bounds.lower <= asked->exact->width * unit);
}

/* reach and mu were rounded up by less than 1e-15 of themselves, which moves neither answer by more than this: epsilon by as
 * small a part of itself, and log delta by the slope c of its curve times that. */
static double lowered(const question *asked, double lower) {
    double less =
        asked->for_delta ? lower * (1.0 - 1e-11 * (1.0 + asked->given)) : lower - 1e-12 * (1.0 + lower);
    return asked->exact->kept.loose || asked->exact->kept.sampled.dropped_bits >= 0 ? 0.0 : fmax(0.0, less);
}

/* What the enclosures say. Under replace the other record may be one whose contribution is 0, so that zero-out is a lower end. */
static mfpg_bounds enclosed(const question *asked) {
    if (asked->exact->kept.sampled.used == 0) return of_gaussian(asked);
    if (asked->adjacency == MFPG_ADJACENCY_REPLACE)
        return (mfpg_bounds){of_both(asked).lower, (double)INFINITY};
    if (asked->adjacency == MFPG_ADJACENCY_ZERO_OUT) return of_both(asked);
    return of_direction(asked, asked->adjacency == MFPG_ADJACENCY_ADD ? LOSS_ADD : LOSS_REMOVE);
}

static mfpg_status answer(mfpg_context *ctx, const question *asked, mfpg_bounds *out) {
    double plain = sampled_sum_plain_mu(&asked->exact->kept, asked->adjacency);
    *out = (mfpg_bounds){
        0.0, asked->for_delta ? mfpg_gdp_delta(plain, asked->given) : mfpg_gdp_epsilon(plain, asked->given)};
    if (!asked->for_delta && asked->given == 0.0) return MFPG_OK;
    mfpg_bounds found = enclosed(asked);
    out->lower = lowered(asked, found.lower);
    out->upper = fmin(out->upper, found.upper);
    mfpg_status status = MFPG_OK;
    if (asked->exact->kept.sampled.used > 0 && is_wide(asked, found)) {
        double bound;
        status = ask_other(ctx, asked->adjacency == MFPG_ADJACENCY_REPLACE ? "pld" : "rdp", asked, &bound);
        out->upper = fmin(out->upper, bound);
    }
    out->lower = fmin(out->lower, out->upper);
    return status;
}

static mfpg_status epsilon_bounds(mfpg_context *ctx, const void *state, double delta, mfpg_bounds *out) {
    const exact_state *exact = state;
    return answer(ctx, &(question){exact, exact->kept.adjacency, 0, delta}, out);
}

static mfpg_status delta_bounds(mfpg_context *ctx, const void *state, double epsilon, mfpg_bounds *out) {
    const exact_state *exact = state;
    return answer(ctx, &(question){exact, exact->kept.adjacency, 1, epsilon}, out);
}

static mfpg_status epsilon(mfpg_context *ctx, const void *state, double delta, double *out) {
    mfpg_bounds bounds;
    mfpg_status status = epsilon_bounds(ctx, state, delta, &bounds);
    *out = bounds.upper;
    return status;
}

static mfpg_status delta(mfpg_context *ctx, const void *state, double at, double *out) {
    mfpg_bounds bounds;
    mfpg_status status = delta_bounds(ctx, state, at, &bounds);
    *out = bounds.upper;
    return status;
}

static int both_below(const exact_state *exact, double delta, double epsilon) {
    const loss_sum remove = sum_of(exact, LOSS_REMOVE), add = sum_of(exact, LOSS_ADD);
    return laplace_chernoff(&remove, delta) <= epsilon && laplace_chernoff(&add, delta) <= epsilon;
}

/* Few moments often show it. */
static int within(mfpg_context *ctx, const void *state, double delta, double epsilon) {
    const exact_state *exact = state;
    const question asked = {exact, exact->kept.adjacency, 0, delta};
    if (mfpg_gdp_epsilon(sampled_sum_plain_mu(&exact->kept, exact->kept.adjacency), delta) <= epsilon)
        return 1;
    if (exact->kept.sampled.used == 0 || delta == 0.0) return 0;
    int replace = exact->kept.adjacency == MFPG_ADJACENCY_REPLACE;
    if (!replace && both_below(exact, delta, epsilon)) return 1;
    mfpg_bounds bounds;
    return answer(ctx, &asked, &bounds) == MFPG_OK && bounds.upper <= epsilon;
}

static mfpg_status other(mfpg_context *ctx, const void *state, double delta, double *out) {
    const exact_state *exact = state;
    int replace = exact->kept.adjacency == MFPG_ADJACENCY_REPLACE;
    mfpg_bounds bounds;
    const question asked = {exact, replace ? MFPG_ADJACENCY_ZERO_OUT : MFPG_ADJACENCY_REPLACE, 0, delta};
    mfpg_status status = answer(ctx, &asked, &bounds);
    *out = bounds.upper;
    return status;
}

const mfpg_accountant_ops mfpg_accountant_exact = {
    .name = "exact",
    .help = "the composition itself between two ends 1e-6 apart, with credit for Poisson batches",
    .certifies = 1,
    .facts = MFPG_ACCOUNTANT_CREDITS_SAMPLING | MFPG_ACCOUNTANT_TAKES_WIDTH,
    .state_size = sizeof(exact_state),
    .record = record,
    .epsilon = epsilon,
    .delta = delta,
    .start = start,
    .finish = finish,
    .copy = copy,
    .mu = mu,
    .other = other,
    .epsilon_bounds = epsilon_bounds,
    .delta_bounds = delta_bounds,
    .within = within,
    .covers = covers,
};
