/* The entropic flow if only its last state is seen (theory S2.3, S2.4). */
#include "base/error.h"
#include "mfpg/hidden_state.h"
#include "account_request.h"

/* A given sensitivity may be that of a gradient that is never clipped. The cases convex and nonconvex are
 * about clipped gradients. Case glm states what is clipped, unless strong convexity is given, which means
 * that nothing is clipped. */
static mfpg_clipping clipping_of(const mfpg_question *q) {
    int unclipped = account_given(q->sensitivity) &&
                    (q->assume == MFPG_HIDDEN_QUADRATIC || account_or(q->strong_convexity, 0) > 0);
    if (unclipped) return MFPG_CLIPPING_NONE;
    return q->assume == MFPG_HIDDEN_GLM ? MFPG_CLIPPING_EXAMPLE : MFPG_CLIPPING_VECTOR;
}

/* Fills in one step in the units of the gradient: moved by at most S, with noise sqrt(2 e/tau). */
static mfpg_status fill_step(mfpg_context *ctx, const mfpg_question *q, mfpg_hidden_step *out) {
    const mfpg_hidden_assumption assumption = {.kind = (mfpg_hidden_case)q->assume,
        .strong_convexity = account_or(q->strong_convexity, 0),
        .smoothness = q->smoothness,
        .clipping = clipping_of(q),
        .projection_radius = account_or(q->projection_radius, (double)INFINITY)};
    double step = account_or(q->step, 0.1);
    out->shift = account_distance(q);
    out->noise_sd = mfpg_strength_noise(q->strength, step);
    out->times = (int64_t)account_or(q->steps, 1);
    mfpg_status status = mfpg_hidden_contraction(ctx, &assumption, step,
        q->strength / account_or(q->prior_variance, 1), account_or(q->variance_penalty, 0.01),
        (ptrdiff_t)fmin(account_or(q->dimension, 5), 1e9), &out->contraction);
    return status == MFPG_OK
               ? MFPG_OK
               : mfpg_fail_in(ctx, MFPG_ERR_INPUT, "--assume %s", mfpg_hidden_case_name(q->assume));
}

static mfpg_status record(mfpg_context *ctx, const mfpg_hidden_step *step, double *mu) {
    const mfpg_release seen = {.steps = 1,
        .sensitivity = step->shift,
        .noise_sd = step->noise_sd,
        .last_sd = step->noise_sd,
        .weight = 1,
        .sampling_rate = 1,
        .hidden_contraction = step->contraction,
        .hidden_shift = step->shift};
    mfpg_accountant_options made = mfpg_accountant_options_default(); /* replace is in the shift */
    mfpg_accountant *accountant = NULL;
    made.promise.view = MFPG_VIEW_FINAL;
    mfpg_status status = mfpg_accountant_create(
        ctx, mfpg_accountant_with(MFPG_ACCOUNTANT_CREDITS_FORGETTING), &made, &accountant);
    if (status == MFPG_OK) status = mfpg_accountant_record_times(ctx, accountant, &seen, step->times);
    if (status == MFPG_OK) *mu = mfpg_accountant_mu(accountant);
    mfpg_accountant_destroy(accountant);
    return status;
}

static mfpg_status price(
    mfpg_context *ctx, const mfpg_question *q, const mfpg_hidden_step *step, double *mu) {
    double bounded = (double)INFINITY, diameter = 2 * q->projection_radius / account_or(q->step, 0.1);
    *mu = 0; /* no steps: nothing is released */
    if (step->times == 0) return MFPG_OK;
    mfpg_status status = record(ctx, step, mu);
    if (status != MFPG_OK || !account_given(q->projection_radius)) return status;
    status = mfpg_hidden_bounded_mu(ctx, step, nextafter(diameter, (double)INFINITY), &bounded);
    *mu = fmin(*mu, bounded);
    return status;
}

/* ---- what is assumed ---- */

static void assume_quadratic(mfpg_answer *answer, const mfpg_question *q, const char *everyone) {
    int unclipped = clipping_of(q) == MFPG_CLIPPING_NONE;
    account_assume(answer, "the loss's Hessian lies between %g and %g, %s%s",
        account_or(q->strong_convexity, 0), q->smoothness, everyone,
        unclipped ? "; no gradient is clipped, and for two data sets the gradients differ by at most the "
                    "sensitivity"
                  : "");
    if (!unclipped && !account_given(q->projection_radius))
        account_assume(answer,
            "a clipped vector gradient need not be monotone, so the contraction is that of case convex; "
            "--sensitivity is for gradients that are not clipped");
}

static void assume_case(mfpg_answer *answer, const mfpg_question *q) {
    static const char everyone[] = "for every data set and minibatch, a public bound";
    switch ((mfpg_hidden_case)q->assume) {
    case MFPG_HIDDEN_QUADRATIC: assume_quadratic(answer, q, everyone); break;
    case MFPG_HIDDEN_GLM:
        account_assume(answer,
            "a generalised linear model: every example's loss is convex in one scalar margin, its gradient "
            "is clipped by itself, and the mean of their Hessians is at most %g, %s",
            q->smoothness, everyone);
        break;
    case MFPG_HIDDEN_CONVEX:
        account_assume(
            answer, "the loss is convex with a Hessian of at most %g, %s", q->smoothness, everyone);
        break;
    case MFPG_HIDDEN_NONCONVEX:
        account_assume(answer, "the loss's Hessian has a norm of at most %g, %s", q->smoothness, everyone);
        break;
    case MFPG_HIDDEN_NONE: break;
    }
}

static void assume(mfpg_answer *answer, const mfpg_question *q) {
    account_assume(answer, "whoever this is promised to sees the last state only: no state, loss, metric "
                           "or action before it");
    account_assume(answer, "states are real numbers: how they are rounded is not covered either");
    account_assume(answer, "the start is public; strength, step and number of steps are fixed in advance; no "
                           "momentum and no Sinkhorn map");
    if (account_given(q->sensitivity))
        account_assume(answer, "gradients of neighbours differ by at most the sensitivity %g that was given",
            q->sensitivity);
    else
        account_assume_contribution(answer, q);
    assume_case(answer, q);
    if (account_given(q->projection_radius))
        account_assume(answer,
            "every state is projected onto a public ball of radius %g, on which no gradient of any data set "
            "exceeds the clip",
            q->projection_radius);
    if (account_or(q->sampling_rate, 1) < 1)
        account_assume(answer, "sampling rate %g is not credited: the worst sequence of batches is certified",
            q->sampling_rate);
}

mfpg_status account_last_state(mfpg_context *ctx, const mfpg_question *q, mfpg_answer *out) {
    mfpg_hidden_step step = {0};
    double mu = (double)INFINITY;
    mfpg_status status = fill_step(ctx, q, &step);
    if (status == MFPG_OK) status = price(ctx, q, &step, &mu);
    if (status != MFPG_OK) return status;
    account_fill_gdp(q, mu, out);
    account_describe(q, mfpg_accountant_with(MFPG_ACCOUNTANT_CREDITS_FORGETTING),
        q->unit == MFPG_UNIT_EXAMPLE ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT, MFPG_VIEW_FINAL, out);
    out->contraction = step.contraction;
    out->certifies = 1;
    assume(out, q);
    return MFPG_OK;
}
