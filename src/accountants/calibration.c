/* Finds the number with which a schedule meets a target. A bracket around it is shrunk by evaluating the
 * accountant's upper end, and the side that was found to meet the target is returned. */
#include "accounting.h"

#include <float.h>
#include <math.h>

#include "base/error.h"
#include "base/number.h"
#include "numerics/special/roots.h"
#include "release_check.h"

/* ---- one Gaussian release, in closed form ---- */

double mfpg_calibrate_noise(double epsilon, double delta, double sensitivity) {
    int sound = epsilon >= 0.0 && delta >= 0.0 && delta < 1.0 && sensitivity >= 0.0 && isfinite(sensitivity);
    if (!sound) return (double)INFINITY;
    if (sensitivity == 0.0 || isinf(epsilon)) return 0.0;
    double noise = sensitivity / mfpg_gdp_mu(epsilon, delta);
    return nextafter(noise, (double)INFINITY);
}

double mfpg_paper_classical_noise(double epsilon, double delta, double sensitivity) {
    int sound = epsilon > 0.0 && isfinite(epsilon) && delta > 0.0 && delta < 1.0 && sensitivity > 0.0 &&
                isfinite(sensitivity);
    return sound ? sensitivity * sqrt(2.0 * log(1.25 / delta)) / epsilon : (double)NAN;
}

double mfpg_strength_noise(double strength, double step) {
    if (!(strength >= 0.0 && isfinite(strength) && step > 0.0 && isfinite(step))) return (double)NAN;
    double noise = sqrt(2.0 * strength / step);
    return noise > 0.0 ? nextafter(nextafter(noise, 0.0), 0.0) : 0.0;
}

/* ---- a schedule in which one number is replaced ---- */

#define MOST_STEPS 9007199254740992.0 /* 2^53 */

typedef struct search {
    mfpg_context *ctx;
    const mfpg_calibration_options *asked;
    double epsilon; /* of the last position */
    int evaluations;
    mfpg_status status; /* status of the first evaluation that failed; no further evaluation is made */
} search;

static mfpg_release with_value(const mfpg_calibration_options *asked, double value) {
    mfpg_release release = asked->schedule[asked->unknown];
    switch (asked->solve) {
    case MFPG_SOLVE_NOISE: release.noise_sd = release.last_sd = value; break;
    case MFPG_SOLVE_STRENGTH:
        release.noise_sd = release.last_sd = mfpg_strength_noise(value, asked->step);
        release.action = (mfpg_action){
            .control = value > 0.0 ? MFPG_CONTROL_STRENGTH : MFPG_CONTROL_NONE, .strength = {value}};
        break;
    case MFPG_SOLVE_RATE: release.sampling_rate = value; break;
    case MFPG_SOLVE_STEPS: release.steps = (int64_t)value; break;
    }
    return release;
}

/* Creates an accountant that has recorded the schedule; for a step count below 1 the unknown release is left
 * out. */
static mfpg_status accountant_with(
    mfpg_context *ctx, const mfpg_calibration_options *asked, double value, mfpg_accountant **out) {
    mfpg_accountant *made = NULL;
    mfpg_status status = mfpg_accountant_create(ctx, asked->accountant, asked->options, &made);
    for (ptrdiff_t i = 0; i < asked->count && status == MFPG_OK; i++) {
        int unknown = i == asked->unknown;
        const mfpg_release release = unknown ? with_value(asked, value) : asked->schedule[i];
        if (!unknown || value > 0.0 || asked->solve != MFPG_SOLVE_STEPS)
            status = mfpg_accountant_record(ctx, made, &release);
    }
    if (status == MFPG_OK)
        *out = made;
    else
        mfpg_accountant_destroy(made);
    return status;
}

static mfpg_status evaluate(search *s, double value) {
    mfpg_accountant *accountant = NULL;
    mfpg_status status = accountant_with(s->ctx, s->asked, value, &accountant);
    if (status == MFPG_OK) status = mfpg_accountant_epsilon(s->ctx, accountant, s->asked->delta, &s->epsilon);
    mfpg_accountant_destroy(accountant);
    s->evaluations++;
    return status;
}

/* ---- positions: the cost falls as they grow ---- */

/* Noise and strength are searched by their logarithms, a rate by minus its logarithm, and steps by minus
 * their number. */
static double value_at(mfpg_solve solve, double position) {
    if (solve == MFPG_SOLVE_STEPS) return -position;
    return exp(solve == MFPG_SOLVE_RATE ? -position : position);
}

static double position_of(mfpg_solve solve, double value) {
    if (solve == MFPG_SOLVE_STEPS) return -rint(value);
    return solve == MFPG_SOLVE_RATE ? -log(value) : log(value);
}

/* Returns log(epsilon / target), whose sign is exact. If the target is 0 or infinite, only the sign is
 * meaningful. */
static double excess(double position, const void *arg) {
    search *s = (search *)(size_t)arg;
    if (s->status == MFPG_OK) s->status = evaluate(s, value_at(s->asked->solve, position));
    if (s->status != MFPG_OK) return (double)NAN;
    double target = s->asked->epsilon;
    if (target == 0.0 || isinf(target)) return s->epsilon > target ? 1.0 : -1.0;
    double value = log(s->epsilon / target);
    return s->epsilon > target ? fmax(value, DBL_EPSILON) : fmin(value, 0.0);
}

/* ---- a first guess ---- */

/* Returns the sampling rate if the unit is the example and the accountant credits sampling, and otherwise 1. */
static double credited_rate(const mfpg_calibration_options *asked, const mfpg_release *release) {
    int credits = asked->options && asked->options->promise.unit == MFPG_UNIT_EXAMPLE &&
                  (mfpg_accountant_facts(asked->accountant) & MFPG_ACCOUNTANT_CREDITS_SAMPLING);
    return credits ? release->sampling_rate : 1.0;
}

/* The sensitivity under the promise. */
static double moved(const mfpg_calibration_options *asked, const mfpg_release *release) {
    int replace = asked->options && asked->options->promise.adjacency == MFPG_ADJACENCY_REPLACE;
    return replace ? 2.0 * release->sensitivity : release->sensitivity;
}

/* Returns mu^2 of a step divided by the square of its rate: 1/z^2 at rate 1, and in the limit of many
 * sampled steps exp(1/z^2) - 1 (Bu, Dong, Long and Su 2020). The result is kept finite so that guesses are
 * numbers. */
static double price_of_noise(const mfpg_calibration_options *asked, const mfpg_release *release) {
    double reach = moved(asked, release) / release->noise_sd, square = reach * reach;
    double price = credited_rate(asked, release) < 1.0 ? expm1(square) : square;
    return fmin(price, 1e200);
}

/* Returns the mu^2 that the target leaves for the unknown release. */
static double mu2_left(const mfpg_calibration_options *asked) {
    double mu = mfpg_gdp_mu(asked->epsilon, asked->delta), all = mu * mu, left = all;
    for (ptrdiff_t i = 0; i < asked->count; i++) {
        const mfpg_release *release = &asked->schedule[i];
        double rate = credited_rate(asked, release);
        if (i != asked->unknown)
            left -= (double)release->steps * rate * rate * price_of_noise(asked, release);
    }
    return left > 0.01 * all ? left : 0.01 * all;
}

/* Returns a value by the central limit theorem, which is exact without sampling; *exact tells whether it is. */
static double guess(const mfpg_calibration_options *asked, int *exact) {
    const mfpg_release *release = &asked->schedule[asked->unknown];
    double left = mu2_left(asked), rate = credited_rate(asked, release), steps = (double)release->steps;
    double price = price_of_noise(asked, release), value = 1.0;
    *exact = 1;
    for (ptrdiff_t i = 0; i < asked->count; i++)
        if (credited_rate(asked, &asked->schedule[i]) < 1.0) *exact = 0;
    if (asked->solve == MFPG_SOLVE_STEPS) {
        value = left / (rate * rate * price);
    } else if (asked->solve == MFPG_SOLVE_RATE) {
        *exact = 0;
        value = sqrt(left / (steps * price));
    } else {
        double per_step = left / (steps * rate * rate), square = rate < 1.0 ? log1p(per_step) : per_step;
        value = moved(asked, release) / sqrt(square);
        if (asked->solve == MFPG_SOLVE_STRENGTH) value = 0.5 * asked->step * value * value;
    }
    return value > 0.0 && isfinite(value) ? value : 1.0;
}

/* ---- the search ---- */

#define FARTHEST  300.0 /* of logarithms: e^300 */
#define TOLERANCE 1e-7  /* tolerance of logarithms: a tenth of what the header promises */

static mfpg_crossing_options search_options(const mfpg_calibration_options *asked) {
    int exact;
    double value = guess(asked, &exact);
    mfpg_crossing_options options = {
        .low = -FARTHEST, .high = FARTHEST, .tolerance = TOLERANCE, .first_step = 0.05, .growth = 4.0};
    if (exact) { /* then only rounding separates the guess from the solution */
        options.tolerance = 1e-11;
        options.first_step = 5e-12;
        options.growth = 32.0;
    }
    if (asked->solve == MFPG_SOLVE_RATE) {
        options.low = 0.0;
        value = fmin(value, 1.0);
    }
    if (asked->solve == MFPG_SOLVE_STEPS) {
        value = fmin(fmax(floor(value), 1.0), 0.5 * MOST_STEPS);
        options.low = -MOST_STEPS;
        options.high = 0.0;
        options.first_step = fmax(1.0, floor((exact ? 1e-12 : 0.05) * value));
        options.whole = 1;
    }
    options.start = fmin(fmax(position_of(asked->solve, value), options.low), options.high);
    return options;
}

static mfpg_status fail_unreachable(search *s) {
    static const char *const least[] = {
        [MFPG_SOLVE_NOISE] = "with the most noise",
        [MFPG_SOLVE_STRENGTH] = "with the largest strength",
        [MFPG_SOLVE_RATE] = "with the smallest sampling rate",
        [MFPG_SOLVE_STEPS] = "without a step",
    };
    char epsilon[MFPG_NUMBER_SIZE], delta[MFPG_NUMBER_SIZE], found[MFPG_NUMBER_SIZE];
    return mfpg_fail(s->ctx, MFPG_ERR_INPUT,
        "epsilon %s at delta %s cannot be reached: %s the schedule still costs epsilon %s by accountant %s",
        mfpg_number_format(s->asked->epsilon, epsilon), mfpg_number_format(s->asked->delta, delta),
        least[s->asked->solve], mfpg_number_format(s->epsilon, found), s->asked->accountant);
}

/* Evaluates the result once more, with both ends, and reports it. */
static mfpg_status report(search *s, double value, mfpg_calibration *out) {
    mfpg_calibration made = {.value = value};
    mfpg_accountant *accountant = NULL;
    mfpg_status status = accountant_with(s->ctx, s->asked, value, &accountant);
    if (status == MFPG_OK)
        status = mfpg_accountant_epsilon_bounds(s->ctx, accountant, s->asked->delta, &made.epsilon);
    if (status == MFPG_OK) made.mu = mfpg_accountant_mu(accountant);
    mfpg_accountant_destroy(accountant);
    made.evaluations = s->evaluations + 1;
    if (status == MFPG_OK && !(made.epsilon.upper <= s->asked->epsilon))
        status = mfpg_fail(s->ctx, MFPG_ERR_NUMERIC,
            "calibration: accountant %s answered epsilon %g after it had answered at most %g",
            s->asked->accountant, made.epsilon.upper, s->asked->epsilon);
    if (status == MFPG_OK) *out = made;
    return status;
}

static mfpg_status solve(search *s, mfpg_calibration *out) {
    const mfpg_crossing_options options = search_options(s->asked);
    mfpg_solve what = s->asked->solve;
    mfpg_crossing crossing = mfpg_crossing_find(excess, s, &options);
    if (s->status != MFPG_OK) return s->status;
    if (crossing.kind == MFPG_CROSSING_NEVER) return fail_unreachable(s);
    double value = value_at(what, crossing.inside);
    int always = crossing.kind == MFPG_CROSSING_ALWAYS;
    if (always && (what == MFPG_SOLVE_NOISE ||
                      what == MFPG_SOLVE_STRENGTH)) { /* in this case noise 0 may meet the target too */
        s->status = evaluate(s, 0.0);
        if (s->status != MFPG_OK) return s->status;
        if (s->epsilon <= s->asked->epsilon) value = 0.0;
    }
    mfpg_status status = report(s, value, out);
    if (status == MFPG_OK && always && what == MFPG_SOLVE_STEPS) out->value = (double)INFINITY;
    return status;
}

/* ---- what is refused ---- */

static mfpg_status refuse_number(mfpg_context *ctx, const char *name, double value, const char *allowed) {
    char found[MFPG_NUMBER_SIZE];
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "calibration: %s is %s; it must be %s", name,
        mfpg_number_format(value, found), allowed);
}

static mfpg_status check_schedule(mfpg_context *ctx, const mfpg_calibration_options *asked) {
    if (!asked->schedule || asked->count < 1)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "calibration: schedule is empty");
    if (asked->unknown < 0 || asked->unknown >= asked->count)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "calibration: unknown is %td; it must be one of the %td releases", asked->unknown, asked->count);
    for (ptrdiff_t i = 0; i < asked->count; i++) {
        const mfpg_release release = i == asked->unknown ? with_value(asked, 1.0) : asked->schedule[i];
        const char *fault = mfpg_release_fault(&release);
        if (fault) return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "calibration: release %td: %s", i, fault);
    }
    return MFPG_OK;
}

static mfpg_status check(mfpg_context *ctx, const mfpg_calibration_options *asked) {
    if (!(asked->epsilon >= 0.0)) return refuse_number(ctx, "epsilon", asked->epsilon, "0 or more");
    if (!(asked->delta >= 0.0 && asked->delta < 1.0))
        return refuse_number(ctx, "delta", asked->delta, "in [0, 1)");
    if (!(asked->solve >= MFPG_SOLVE_NOISE && asked->solve <= MFPG_SOLVE_STEPS))
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "calibration: solve is unknown");
    if (asked->solve == MFPG_SOLVE_STRENGTH && !(asked->step > 0.0 && isfinite(asked->step)))
        return refuse_number(ctx, "step", asked->step, "above 0 and finite");
    mfpg_accountant *probe = NULL;
    mfpg_status status = check_schedule(ctx, asked);
    if (status == MFPG_OK) status = mfpg_accountant_create(ctx, asked->accountant, asked->options, &probe);
    if (status == MFPG_OK && !mfpg_accountant_certifies(probe))
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "calibration: accountant %s certifies nothing; take one that does", asked->accountant);
    mfpg_accountant_destroy(probe);
    return status;
}

mfpg_status mfpg_calibrate(mfpg_context *ctx, const mfpg_calibration_options *asked, mfpg_calibration *out) {
    search s = {.ctx = ctx, .asked = asked};
    mfpg_status status = check(ctx, asked);
    return status == MFPG_OK ? solve(&s, out) : status;
}
