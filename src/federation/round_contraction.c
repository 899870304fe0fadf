/* The effect of a round on a global model of which only the last state is seen (theory S2.3, S2.4). With
 * every client's early local noise held fixed, a round maps the global model by sum_j p_j phi_j and adds
 * every client's last noise. The map multiplies distances by at most c = sum_j p_j c_j^K_j, with c_j the
 * constant of one local step. Client k's data move its result by at most p_k S (1 + c_k + ... + c_k^(K_k -
 * 1)). */
#include <float.h>
#include <math.h>

#include "accountants/accounting.h"
#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/mechanism_ops.h"
#include "numerics/special/geometric.h"
#include "optimisers/optimiser.h"
#include "plan.h"

/* The coefficients of a step are rounded to 32 bits before they are used. */
#define ROUNDED_COEFFICIENTS 0x1p-22

/* States are rounded to a grid whose steps, over all dimensions together, are at most 2^-30 of the least
 * noise of a share, p_j s_j (mfpg_plan_refine_grid). Rounding increases the distance z of two states to at
 * most z + that, so every map contributes its c times this amount (theory S2.3 with Delta + c grid sqrt(d)).
 * The round's map of the rounded global state contributes c, and the local steps of client j from their
 * rounded inner states contribute p_j (c_j + ... + c_j^(K_j - 1)). In units of client k, whose share has the
 * weight p_k, the sum is at most that many times 2^-30 s_k. The maps themselves are assumed to be evaluated
 * exactly. */
#define ROUNDED_STATES 0x1p-30

/* Returns why rounds with these options are not hidden, or are not all alike; NULL if they are hidden. */
static const char *refusal(const mfpg_federation_options *o, ptrdiff_t clients) {
    if (o->promise.view != MFPG_VIEW_FINAL)
        return "it counts in view final, in which only the last model is seen";
    if (o->participants) return "privacy.observers: participants see the model of every round";
    for (ptrdiff_t k = 0; o->colluder && k < clients; k++)
        if (o->colluder[k]) return "privacy.colluders see the model of every round";
    if (o->clients_per_round > 0 || o->client_rate < 1.0)
        return "train.clients_per_round and train.client_rate draw who takes part, and a round is hidden "
               "by all clients together";
    if (isfinite(o->stop_at_epsilon))
        return "privacy.stop_at_epsilon counts what is spent round by round, which hidden rounds have no "
               "sum of";
    if (o->acting) return "game.update: each-round depends on the models on the way";
    if (!mfpg_server_is_plain(&o->server))
        return "server.optimiser makes another model than the average of the clients; allowed: sgd with "
               "server.learning_rate 1";
    return NULL;
}

/* Computes c of one local step of a client. The gradient of a Poisson batch is divided by the rate, so its
 * smoothness may be larger by that factor. */
static mfpg_status client_contraction(mfpg_context *ctx, const mfpg_federation_options *o,
    const mfpg_mechanism *mechanism, const mfpg_release *release, double *c) {
    mfpg_step_map map;
    mfpg_status status = mfpg_mechanism_step_map(ctx, mechanism, release, &map);
    if (status != MFPG_OK) return status;
    const mfpg_hidden_assumption assumption = {.kind = o->hidden,
        .smoothness = o->hidden_smoothness / map.batch_rate,
        .clipping = map.clips_examples ? MFPG_CLIPPING_EXAMPLE : MFPG_CLIPPING_VECTOR,
        .projection_radius = (double)INFINITY};
    /* two parameters are assumed, so the special case of a single parameter is not used */
    status = mfpg_hidden_contraction(ctx, &assumption, map.rate, map.decay, map.penalty, 2, c);
    *c += ROUNDED_COEFFICIENTS;
    return status;
}

/* Computes c^n and 1 + c + ... + c^(n-1), rounded up. */
static void powers_of(double c, int64_t n, double *power, double *sum) {
    double way = (double)n * fabs(mfpg_log_ratio(c)), slack = 1.0 + (16.0 + 8.0 * way) * DBL_EPSILON;
    *power = n == 1 ? c : exp((double)n * mfpg_log_ratio(c)) * slack;
    *sum = n == 1 ? 1.0 : mfpg_geometric_sum(c, (double)n) * slack;
}

mfpg_status mfpg_plan_hide(mfpg_context *ctx, mfpg_plan *plan) {
    const mfpg_federation_options *options = plan->options;
    double whole = 0.0, inner = 0.0;
    if (options->hidden == MFPG_HIDDEN_NONE) return MFPG_OK;
    const char *reason = refusal(options, plan->clients);
    if (reason) return mfpg_fail(ctx, MFPG_ERR_INPUT, "privacy.assume: %s", reason);
    for (ptrdiff_t k = 0; k < plan->clients; k++) {
        mfpg_release *release = &plan->class[plan->class_of[k]].release;
        double c, power, sum;
        mfpg_status status = client_contraction(ctx, options, plan->mechanism[k], release, &c);
        if (status != MFPG_OK)
            return mfpg_fail_in(ctx, status, "privacy.assume: %s: client '%s'",
                mfpg_hidden_case_name(options->hidden), plan->data->client[k].name);
        powers_of(c, release->steps, &power, &sum);
        release->hidden_shift = fmin(release->sensitivity * sum, DBL_MAX);
        whole += release->weight * power;
        if (release->steps > 1) inner += release->weight * c * sum;
    }
    /* the weights add up to 1, and the terms to their sum, up to one unit of rounding per client */
    whole *= 1.0 + 4.0 * (double)plan->clients * DBL_EPSILON;
    for (ptrdiff_t i = 0; i < plan->classes; i++) {
        mfpg_release *release = &plan->class[i].release;
        double rounded = ROUNDED_STATES * release->noise_sd * (inner + whole);
        release->hidden_contraction = fmin(whole, DBL_MAX);
        release->hidden_shift = fmin((release->hidden_shift + rounded) * (1.0 + 1e-12), DBL_MAX);
    }
    return MFPG_OK;
}
