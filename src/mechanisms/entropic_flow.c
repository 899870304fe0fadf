/* Algorithm 3: one Euler step of the entropic free energy's flow with strength e (more strength, more
 * noise),
 * x' = x - tau [g + (e/sigma^2) x + lambda (x - mean x)] + sqrt(2 e tau) z,
 * followed, if requested, by the barycentric Sinkhorn map of x' onto itself. If the particles are the
 * parameters, g is their clipped gradient; their mean depends on the released state only, and the
 * regularisers follow the clip (theory S2.0, S2.2). If the particles are a client's records, these are
 * clipped beforehand, and g is the gradient of each record's loss in its features (theory S5.2). */
#include "mechanism_ops.h"

#include <float.h>
#include <math.h>

#include "base/error.h"
#include "base/number.h"
#include "models/losses.h"
#include "numerics/transport/transport_report.h"

/* Returns the factor that turns a strength into e: 1, or S^2 under the promise's adjacency. */
static double unit_of_strength(const mfpg_mechanism *mechanism, ptrdiff_t rows) {
    if (mechanism->options.scale == MFPG_SCALE_ABSOLUTE) return 1.0;
    double sensitivity = mfpg_mechanism_sensitivity(mechanism, rows);
    if (mechanism->options.promise.adjacency == MFPG_ADJACENCY_REPLACE) sensitivity *= 2.0;
    return sensitivity * sensitivity;
}

static double rate(const mfpg_mechanism_options *options) {
    return options->step;
}

/* Writes the number cut to six digits, towards zero, for a message. */
static char *six_digits(double value, char buffer[MFPG_NUMBER_SIZE]) {
    double shift = pow(10.0, 5.0 - floor(log10(value)));
    return mfpg_number_format(floor(value * shift) / shift, buffer);
}

/* The Euler step multiplies deviations from the mean by 1 - tau (e/sigma^2 + lambda); below -1 they grow
 * without bound. For records the gradient of their loss is added, whose curvature contributes at most M0. */
static mfpg_status check_stable(mfpg_context *ctx, const mfpg_mechanism *mechanism, double e, double unit) {
    const mfpg_mechanism_options *o = &mechanism->options;
    double bound = mechanism->ops->particles == MFPG_PARTICLES_DATA ? o->input_smoothness : 0.0;
    double penalised = o->variance_penalty + bound;
    if (o->step * (e / o->prior_variance + penalised) <= 2.0) return MFPG_OK;
    double largest = (2.0 / o->step - penalised) * o->prior_variance / unit;
    char strength[MFPG_NUMBER_SIZE], step[MFPG_NUMBER_SIZE], variance[MFPG_NUMBER_SIZE],
        penalty[MFPG_NUMBER_SIZE], allowed[MFPG_NUMBER_SIZE] = "";
    if (largest > 0.0) six_digits(largest, allowed);
    return mfpg_fail(ctx, MFPG_ERR_DOMAIN,
        "strength %s is unstable with entropic step %s, prior variance %s and variance penalty %s%s; "
        "allowed strengths: %s%s",
        mfpg_number_format(e / unit, strength), mfpg_number_format(o->step, step),
        mfpg_number_format(o->prior_variance, variance), mfpg_number_format(penalised, penalty),
        bound > 0.0 ? " (the loss's curvature in the features included)" : "",
        largest > 0.0 ? "up to " : "none, as step times penalty reaches 2", allowed);
}

static mfpg_status noise_sd(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_release *release,
    ptrdiff_t rows, double *sd) {
    double step = mechanism->options.step, unit = unit_of_strength(mechanism, rows), e;
    if (release->action.control == MFPG_CONTROL_MULTIPLIER) {
        *sd = release->action.multiplier * release->sensitivity;
        e = *sd * *sd / (2.0 * step);
    } else {
        e = release->action.strength.value * unit;
        *sd = sqrt(2.0 * e * step);
    }
    return check_stable(ctx, mechanism, e, unit);
}

static mfpg_action action_for(
    const mfpg_mechanism *mechanism, double sd, double sensitivity, ptrdiff_t rows) {
    (void)sensitivity;
    double e = sd * sd / (2.0 * mechanism->options.step);
    return (mfpg_action){
        .control = MFPG_CONTROL_STRENGTH, .strength = {.value = e / unit_of_strength(mechanism, rows)}};
}

/* Returns tau e/sigma^2, computed from the noise of a step as noise_sd^2 / (2 sigma^2). */
static double decay_of(const mfpg_mechanism_options *o, double noise_sd) {
    return noise_sd * noise_sd / (2.0 * o->prior_variance);
}

static void drift(const mfpg_mechanism *mechanism, const mfpg_release *release, ptrdiff_t n, float *x) {
    const mfpg_mechanism_options *o = &mechanism->options;
    double sum = 0.0, decay = decay_of(o, release->noise_sd), penalty = o->step * o->variance_penalty;
    for (ptrdiff_t i = 0; i < n; i++) sum += (double)x[i];
    float keep = (float)(1.0 - decay - penalty), pull = (float)(penalty * (sum / (double)n));
    for (ptrdiff_t i = 0; i < n; i++) x[i] = keep * x[i] + pull;
}

static void pull(
    const mfpg_mechanism *mechanism, const mfpg_release *release, double *decay, double *penalty) {
    const mfpg_mechanism_options *o = &mechanism->options;
    *decay = decay_of(o, release->noise_sd) / o->step;
    *penalty = o->variance_penalty;
}

/* Projects every tensor separately, as the paper does. A tensor of one entry equals its own mean, so it does
 * not change. */
static mfpg_status project(mfpg_context *ctx, const mfpg_mechanism *mechanism, const mfpg_model *model,
    float *x, mfpg_update_report *report) {
    const mfpg_mechanism_options *o = &mechanism->options;
    if (o->regularisation.value == 0.0) return MFPG_OK;
    for (ptrdiff_t t = 0; t < model->tensors; t++) {
        mfpg_tensor tensor = model->tensor[t];
        mfpg_sinkhorn_result result;
        if (tensor.size < 2 || (o->transport_cap > 0 && tensor.size > o->transport_cap)) continue;
        mfpg_status status =
            mfpg_sinkhorn_project(ctx, tensor.size, o->regularisation, x + tensor.offset, &result);
        if (status != MFPG_OK) return status;
        if (!result.converged)
            return mfpg_fail(ctx, MFPG_ERR_NUMERIC,
                "Sinkhorn projection of tensor %td: a row of the plan is still off by %.3g after %d "
                "iterations",
                t, result.residual, result.iterations);
        mfpg_transport_count(&report->transport, t, &result);
    }
    return MFPG_OK;
}

/* ---- records as particles (theory S5.2) ---- */

static void map(const mfpg_mechanism *mechanism, double noise_sd, ptrdiff_t n, const double *gradient,
    const double *mean, double *x) {
    const mfpg_mechanism_options *o = &mechanism->options;
    double penalty = o->step * o->variance_penalty, keep = 1.0 - decay_of(o, noise_sd) - penalty;
    for (ptrdiff_t i = 0; i < n; i++) x[i] = keep * x[i] + penalty * mean[i] - o->step * gradient[i];
}

/* The step x - tau [grad l(x; w) + kappa x + lambda (x - xbar)] of all records of a client together is the gradient
 * step of a function: its symmetrised Jacobian is I - tau (H + kappa I + lambda P), H block-diagonal with blocks between
 * 0 and M0, P the centring projection. The eigenvalues of the bracket lie in [kappa, M0 + kappa + lambda]. */
double mfpg_flow_contraction(double step, double decay, double variance_penalty, double input_smoothness) {
    const double number[] = {step, decay, variance_penalty, input_smoothness};
    for (int i = 0; i < 4; i++)
        if (!(number[i] >= 0.0 && isfinite(number[i]))) return (double)INFINITY;
    double least = step * decay, most = step * (input_smoothness + decay + variance_penalty);
    double c = fmax(fabs(1.0 - least), fabs(1.0 - most));
    /* for four roundings here and the roundings of decay = e/sigma^2 */
    return c + 8.0 * DBL_EPSILON * (1.0 + most);
}

static double contraction(const mfpg_mechanism *mechanism, const mfpg_release *release) {
    const mfpg_mechanism_options *o = &mechanism->options;
    return mfpg_flow_contraction(
        o->step, decay_of(o, release->noise_sd) / o->step, o->variance_penalty, o->input_smoothness);
}

static double learning_rate(const mfpg_mechanism_options *options) {
    return options->learning_rate;
}

static const mfpg_mechanism_ops of_data = {
    .name = "entropic",
    .help = "records flow down the entropic free energy, the noise set by a strength",
    .control = MFPG_CONTROL_STRENGTH,
    .rate = learning_rate,
    .noise_sd = noise_sd,
    .action_for = action_for,
    .particles = MFPG_PARTICLES_DATA,
    .map = map,
    .contraction = contraction,
};

const mfpg_mechanism_ops mfpg_mechanism_entropic = {
    .name = "entropic",
    .help = "clipped Euler steps of the entropic free energy, the noise set by a strength (MFEP, MFPG)",
    .control = MFPG_CONTROL_STRENGTH,
    .flow = 1,
    .rate = rate,
    .noise_sd = noise_sd,
    .action_for = action_for,
    .drift = drift,
    .pull = pull,
    .project = project,
    .of_data = &of_data,
};
