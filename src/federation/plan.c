/* The plan of a round in which everybody takes part, from public numbers alone: what each client will release, its
 * share of the average, and how far the view hides it. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "internal.h"

/* The record names the strength e of the noise sqrt(2 e tau) itself, whatever unit the action is in: that is what the
 * paper's formulas are about. */
static void name_strength(const mfpg_mechanism *mechanism, double tau, mfpg_release *release) {
    if (mfpg_mechanism_control(mechanism) != MFPG_CONTROL_STRENGTH) return;
    double e = release->noise_sd * release->noise_sd / (2.0 * tau);
    release->action = (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {e}};
}

static mfpg_status plan_client(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_client_data *client, const mfpg_mechanism *mechanism, mfpg_action action, mfpg_release *out) {
    if (client->train.rows < 1)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "client '%s' has no rows to train on", client->name);
    mfpg_status status = mfpg_mechanism_release(ctx, mechanism, action, client->train.rows, out);
    if (status != MFPG_OK) return mfpg_fail_in(ctx, status, "client '%s'", client->name);
    name_strength(mechanism, options->paper.step, out);
    return MFPG_OK;
}

static double raw_weight(
    const mfpg_federation_options *options, ptrdiff_t rows, const mfpg_release *release) {
    switch (options->weights) {
    case MFPG_WEIGHTS_EQUAL: return 1.0;
    case MFPG_WEIGHTS_INVERSE_NOISE:
        return 1.0 / ((double)release->steps * release->noise_sd * release->noise_sd);
    case MFPG_WEIGHTS_EXAMPLES: break;
    }
    return (double)rows;
}

static mfpg_status share_weights(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_federated_data *data, mfpg_release *plan) {
    double total = 0.0;
    for (ptrdiff_t k = 0; k < data->clients; k++) {
        if (options->weights == MFPG_WEIGHTS_INVERSE_NOISE && plan[k].particles == MFPG_PARTICLES_DATA)
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "train.weights: inverse-noise; the noise of client '%s' is in its records, not in its "
                "updates",
                data->client[k].name);
        plan[k].weight = raw_weight(options, data->client[k].train.rows, &plan[k]);
        if (!(plan[k].weight > 0.0) || !isfinite(plan[k].weight))
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "train.weights: inverse-noise needs noise in every client's updates; client '%s' has none",
                data->client[k].name);
        total += plan[k].weight;
    }
    for (ptrdiff_t k = 0; k < data->clients; k++) plan[k].weight /= total;
    return MFPG_OK;
}

/* The others' noise hides a client in a sum only where it stands there as it was added: no member may project its noised
 * state. Else every client keeps the certificate of the local view, which bounds the others. */
int mfpg_noise_adds_up(const mfpg_mechanism *const *mechanism, ptrdiff_t clients) {
    for (ptrdiff_t k = 0; k < clients; k++)
        if (mfpg_mechanism_projects(mechanism[k])) return 0;
    return 1;
}

/* Where cohorts are drawn, the others' noise cannot be counted on beforehand: the plan then keeps the local view,
 * which bounds the average view from above. Each round's own cohort is accounted with its own view. */
static int everybody_takes_part(const mfpg_federation_options *options) {
    return options->clients_per_round == 0 && options->client_rate >= 1.0;
}

/* Sums are kept in units of 2^-40: a share of noise far below 2^-30 would be lost in them before it can hide anybody. */
static mfpg_status check_share(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_client_data *client, const mfpg_release *release) {
    double share = release->weight * release->noise_sd;
    if (options->promise.view == MFPG_VIEW_LOCAL || release->particles != MFPG_PARTICLES_PARAMETERS ||
        !(release->noise_sd > 0.0) || share >= 0x1p-30)
        return MFPG_OK;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "client '%s': its share of noise in the average, %.3g, is too small to count on; view local can do "
        "with less",
        client->name, share);
}

mfpg_status mfpg_federation_plan(mfpg_context *ctx, const mfpg_federation_options *options,
    const mfpg_federated_data *data, const mfpg_mechanism *const *mechanism, const mfpg_action *action,
    mfpg_release *plan) {
    for (ptrdiff_t k = 0; k < data->clients; k++) {
        mfpg_status status = plan_client(ctx, options, &data->client[k], mechanism[k], action[k], &plan[k]);
        if (status != MFPG_OK) return status;
        plan[k].client = k;
    }
    mfpg_status status = share_weights(ctx, options, data, plan);
    for (ptrdiff_t k = 0; k < data->clients && status == MFPG_OK; k++)
        status = check_share(ctx, options, &data->client[k], &plan[k]);
    if (status == MFPG_OK && everybody_takes_part(options) && mfpg_noise_adds_up(mechanism, data->clients))
        mfpg_view_apply(&options->promise, options->colluder, options->participants, plan, data->clients);
    return status == MFPG_OK ? mfpg_federation_hide(ctx, options, data, mechanism, plan) : status;
}

mfpg_status mfpg_federation_replan(mfpg_context *ctx, mfpg_federation *f, ptrdiff_t k) {
    mfpg_release release;
    mfpg_status status =
        plan_client(ctx, &f->options, &f->data->client[k], f->mechanism[k], f->client[k].action, &release);
    if (status != MFPG_OK) return status;
    release.client = k;
    release.weight = f->plan[k].weight;
    status = check_share(ctx, &f->options, &f->data->client[k], &release);
    if (status == MFPG_OK) f->plan[k] = release;
    return status;
}

double mfpg_plan_signal_to_noise(const mfpg_federation_options *options, const mfpg_release *plan,
    const mfpg_federated_data *data, ptrdiff_t dimension) {
    double signal = 0.0, noise2 = 0.0;
    for (ptrdiff_t k = 0; k < data->clients; k++) {
        const mfpg_release *r = &plan[k];
        if (r->particles != MFPG_PARTICLES_PARAMETERS) return (double)NAN;
        double steps = (double)r->steps, bound = r->sensitivity;
        /* An example's share is 1/(rate n) of the clipped mean, whose norm the clip bounds. */
        if (options->promise.unit == MFPG_UNIT_EXAMPLE)
            bound *= r->sampling_rate * (double)data->client[k].train.rows;
        signal += r->weight * steps * bound;
        noise2 += r->weight * r->weight * steps * r->noise_sd * r->noise_sd;
    }
    if (noise2 == 0.0) return (double)INFINITY;
    return sqrt((double)options->rounds) * signal / sqrt((double)dimension * noise2);
}
