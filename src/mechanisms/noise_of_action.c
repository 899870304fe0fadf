/* Converts actions to noise and back, from public numbers alone. */
#include "mechanism_ops.h"

#include <float.h>
#include <math.h>

#include "base/error.h"
#include "base/number.h"
#include "base/release_parts.h"
#include "base/grid_noise.h"

/* Noise outside these bounds is refused: float draws lose digits if multiplied by a smaller sd, and overflow
 * if multiplied by a larger one. */
#define SMALLEST_NOISE 0x1p-100
#define LARGEST_NOISE  0x1p100

/* All n records of a client together can move by up to sqrt(n) clips; the result is rounded up. */
static double records_sensitivity(const mfpg_mechanism_options *o, ptrdiff_t rows) {
    if (rows < 1) return (double)INFINITY;
    if (o->promise.unit == MFPG_UNIT_EXAMPLE || rows == 1) return o->clip;
    return o->clip * sqrt((double)rows) * (1.0 + 2.0 * DBL_EPSILON);
}

double mfpg_mechanism_sensitivity(const mfpg_mechanism *mechanism, ptrdiff_t rows) {
    const mfpg_mechanism_options *o = &mechanism->options;
    if (mechanism->ops->particles == MFPG_PARTICLES_DATA) return records_sensitivity(o, rows);
    if (o->promise.unit == MFPG_UNIT_CLIENT) return o->clip;
    return rows >= 1 ? o->clip / (o->batch_rate * (double)rows) : (double)INFINITY;
}

static mfpg_clipped clipped(const mfpg_mechanism *mechanism) {
    if (mechanism->ops->particles == MFPG_PARTICLES_DATA) return MFPG_CLIPPED_RECORDS;
    return mechanism->options.promise.unit == MFPG_UNIT_EXAMPLE ? MFPG_CLIPPED_EXAMPLES : MFPG_CLIPPED_UPDATE;
}

/* Sums over examples are rounded; vectors clipped as a whole and records are not. The sum of integers is
 * multiplied by a public number in double, with a relative error of 2^-53 in each of two neighbouring runs.
 * Together this is less than 2^-20 of the clip for fewer than 2^32 rows, each of which contributes at most a
 * clip. */
static double rounding(const mfpg_mechanism *mechanism, ptrdiff_t rows) {
    if (clipped(mechanism) != MFPG_CLIPPED_EXAMPLES || !mfpg_mechanism_clips(mechanism)) return 0.0;
    return (mechanism->options.sum_rounding + (double)rows * 0x1p-51) * (1.0 + 4.0 * DBL_EPSILON);
}

double mfpg_mechanism_state_sensitivity(const mfpg_mechanism *mechanism, ptrdiff_t rows) {
    double moved = mfpg_mechanism_sensitivity(mechanism, rows), rho = rounding(mechanism, rows);
    if (rho > 0.0) moved *= (1.0 + rho) * (1.0 + 4.0 * DBL_EPSILON);
    int as_it_is = mechanism->ops->particles == MFPG_PARTICLES_DATA || mfpg_mechanism_clips_update(mechanism);
    return as_it_is ? moved : moved * mechanism->ops->rate(&mechanism->options);
}

static const char *control_name(mfpg_control control) {
    static const char *const names[] = {[MFPG_CONTROL_NONE] = "no control",
        [MFPG_CONTROL_BUDGET] = "a budget",
        [MFPG_CONTROL_STRENGTH] = "a strength",
        [MFPG_CONTROL_MULTIPLIER] = "a noise multiplier"};
    return (unsigned)control <= MFPG_CONTROL_MULTIPLIER ? names[control] : "an unknown control";
}

static mfpg_status check_action(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_action *action) {
    mfpg_control own = mechanism->ops->control;
    int fits =
        action->control == own || (action->control == MFPG_CONTROL_MULTIPLIER && own != MFPG_CONTROL_NONE);
    if (!fits)
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "mechanism %s takes %s%s, not %s", mechanism->ops->name,
            control_name(own), own == MFPG_CONTROL_NONE ? "" : " or a noise multiplier",
            control_name(action->control));
    double value = mfpg_action_value(action);
    if (own == MFPG_CONTROL_NONE || (value > 0.0 && isfinite(value))) return MFPG_OK;
    char found[MFPG_NUMBER_SIZE];
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN, "mechanism %s: %s of %s; it must be positive and finite",
        mechanism->ops->name, control_name(action->control), mfpg_number_format(value, found));
}

static mfpg_status fill_noise(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, ptrdiff_t rows, mfpg_release *release) {
    if (!mechanism->ops->noise_sd) return MFPG_OK;
    double sd = 0.0;
    mfpg_status status = mechanism->ops->noise_sd(ctx, mechanism, release, rows, &sd);
    if (status != MFPG_OK) return status;
    if (!(sd >= SMALLEST_NOISE && sd <= LARGEST_NOISE)) {
        char found[MFPG_NUMBER_SIZE], low[MFPG_NUMBER_SIZE], high[MFPG_NUMBER_SIZE];
        return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
            "mechanism %s: noise of standard deviation %s; allowed: %s to %s", mechanism->ops->name,
            mfpg_number_format(sd, found), mfpg_number_format(SMALLEST_NOISE, low),
            mfpg_number_format(LARGEST_NOISE, high));
    }
    release->noise_sd = release->last_sd = sd;
    return MFPG_OK;
}

static mfpg_status fill_grid(mfpg_context *ctx, const mfpg_mechanism *mechanism, mfpg_release *release) {
    double asked = mechanism->options.grid;
    if (release->noise_sd == 0.0) return MFPG_OK;
    release->grid = asked > 0.0 ? asked : mfpg_grid_for(release->noise_sd);
    return mfpg_mechanism_check_grid(ctx, mechanism, release->grid, release->noise_sd, release->sensitivity);
}

mfpg_status mfpg_mechanism_check_grid(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, double grid, double sd, double sensitivity) {
    const char *fault = mfpg_grid_fault(grid, sd, sensitivity);
    char step[MFPG_NUMBER_SIZE], noise[MFPG_NUMBER_SIZE], allowed[MFPG_NUMBER_SIZE];
    if (!fault) return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
        "mechanism %s: %s (noise.grid): %s, noise of standard deviation %s; allowed: auto, or a power of two "
        "up to %s",
        mechanism->ops->name, fault, mfpg_number_format(grid, step), mfpg_number_format(sd, noise),
        mfpg_number_format(4.0 * mfpg_grid_for(sd), allowed));
}

mfpg_status mfpg_mechanism_release(mfpg_context *ctx, const mfpg_mechanism *mechanism, mfpg_action action,
    ptrdiff_t rows, mfpg_release *out) {
    const mfpg_mechanism_options *o = &mechanism->options;
    int data = mechanism->ops->particles == MFPG_PARTICLES_DATA;
    mfpg_release release = {
        .particles = mechanism->ops->particles,
        .unit = o->promise.unit,
        .clipped = clipped(mechanism),
        .rounding = rounding(mechanism, rows),
        .steps = data ? 1 : mfpg_mechanism_steps(mechanism),
        .sensitivity = mfpg_mechanism_state_sensitivity(mechanism, rows),
        .contraction = 1.0,
        /* a client's own minibatches do not hide the client, and every record is noised */
        .sampling_rate = o->promise.unit == MFPG_UNIT_EXAMPLE && !data ? o->batch_rate : 1.0,
        .action = action,
    };
    mfpg_status status =
        rows >= 1 ? MFPG_OK
                  : mfpg_fail(ctx, MFPG_ERR_DOMAIN, "%td declared rows; at least 1 is needed", rows);
    if (status == MFPG_OK) status = check_action(ctx, mechanism, &action);
    if (status == MFPG_OK) status = fill_noise(ctx, mechanism, rows, &release);
    if (status == MFPG_OK) status = fill_grid(ctx, mechanism, &release);
    if (status == MFPG_OK && mechanism->ops->contraction)
        release.contraction = mechanism->ops->contraction(mechanism, &release);
    if (status != MFPG_OK) {
        release.sensitivity = INFINITY;
        release.noise_sd = release.last_sd = release.grid = 0.0;
    }
    *out = release;
    return status;
}

mfpg_status mfpg_mechanism_check_release(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release, ptrdiff_t rows) {
    int data = mechanism->ops->particles == MFPG_PARTICLES_DATA;
    int noises = mechanism->ops->control != MFPG_CONTROL_NONE;
    if (release->particles != mechanism->ops->particles || release->unit != mechanism->options.promise.unit ||
        release->steps != (data ? 1 : mfpg_mechanism_steps(mechanism)) ||
        (release->noise_sd > 0.0) != noises ||
        !(release->sensitivity >= mfpg_mechanism_state_sensitivity(mechanism, rows)))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "mechanism %s: the release is not one that it makes for %td declared rows "
            "(mfpg_mechanism_release)",
            mechanism->ops->name, rows);
    if (!noises) return MFPG_OK;
    return mfpg_mechanism_check_grid(ctx, mechanism, release->grid, release->noise_sd, release->sensitivity);
}

mfpg_action mfpg_mechanism_action_for(const mfpg_mechanism *mechanism, double multiplier, ptrdiff_t rows) {
    if (!mechanism->ops->action_for) return (mfpg_action){.control = MFPG_CONTROL_NONE};
    double sensitivity = mfpg_mechanism_state_sensitivity(mechanism, rows);
    double sd = multiplier > 0.0 ? multiplier * sensitivity : (double)NAN;
    return mechanism->ops->action_for(mechanism, sd, sensitivity, rows);
}
