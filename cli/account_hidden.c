/* mfpg account --view final --assume: the entropic flow where nothing but its last state is seen (theory S2.3, S2.4). */
#include <math.h>
#include <string.h>

#include "account.h"
#include "options.h"

#include "mfpg/hidden_state.h"

/* ---- which options go together ---- */

int account_check_hidden(const account_settings *chosen) {
    static const char *const of_assumption[] = {"smoothness", "strong-convexity", "projection-radius", NULL};
    static const char *const not_hidden[] = {"noise-multiplier", "mu", "width", "input-smoothness", NULL};
    const char *command = chosen->command, *name = chosen->accountant;
    int wants = name && strcmp(name, "hidden-state") == 0;
    if (chosen->particles == MFPG_PARTICLES_DATA && (chosen->view || chosen->assume))
        return cli_refuse(command,
            "--%s is about parameters; of noised records --exogenous says that the last "
            "state alone is seen",
            chosen->assume ? "assume" : "view");
    if (chosen->assume <= MFPG_HIDDEN_NONE) {
        const char *number = account_first_given(chosen, of_assumption);
        if (number) return cli_refuse(command, "--%s belongs to --assume", number);
        return wants ? cli_refuse(command, "--accountant hidden-state needs --view final and --assume") : 0;
    }
    if (chosen->view != MFPG_VIEW_FINAL)
        return cli_refuse(command, "--assume needs --view final: states that are seen are not hidden");
    const char *other = account_first_given(chosen, not_hidden);
    if (chosen->blocks) other = "blocks";
    if (chosen->order) other = "order";
    if (other || !account_given(chosen->strength))
        return cli_refuse(command, "--assume goes with --mechanism entropic and --strength%s%s",
            other ? ", not with --" : "", other ? other : "");
    if (name && !wants)
        return cli_refuse(
            command, "--assume is priced by accountant hidden-state; --accountant %s knows no view", name);
    if (!account_given(chosen->smoothness))
        return cli_refuse(command, "--assume %s needs --smoothness, a public bound on the Hessian's norm",
            mfpg_hidden_case_name(chosen->assume));
    if (account_or(chosen->strong_convexity, 0) > chosen->smoothness)
        return cli_refuse(command,
            "--strong-convexity: found %g; allowed: a number from 0 up to --smoothness, which is %g",
            chosen->strong_convexity, chosen->smoothness);
    return 0;
}

/* ---- the assumption ---- */

/* A sensitivity that is given may be that of a gradient that is never clipped; case convex and nonconvex are about clips,
 * and case glm says where the clip is, unless a strong convexity says that there is none. */
static mfpg_clipping clipping_of(const account_settings *chosen) {
    int unclipped = account_given(chosen->sensitivity) &&
                    (chosen->assume == MFPG_HIDDEN_QUADRATIC || account_or(chosen->strong_convexity, 0) > 0);
    if (unclipped) return MFPG_CLIPPING_NONE;
    return chosen->assume == MFPG_HIDDEN_GLM ? MFPG_CLIPPING_EXAMPLE : MFPG_CLIPPING_VECTOR;
}

static mfpg_hidden_assumption assumption_of(const account_settings *chosen) {
    return (mfpg_hidden_assumption){.kind = (mfpg_hidden_case)chosen->assume,
        .strong_convexity = account_or(chosen->strong_convexity, 0),
        .smoothness = chosen->smoothness,
        .clipping = clipping_of(chosen),
        .projection_radius = account_or(chosen->projection_radius, (double)INFINITY)};
}

/* ---- the price ---- */

/* One step in the units of the gradient: moved by at most S, blurred by sqrt(2 e/tau). Returns 0 or the exit code. */
static int fill_step(mfpg_context *ctx, const account_settings *chosen, mfpg_hidden_step *out) {
    mfpg_hidden_assumption assumption = assumption_of(chosen);
    double step = account_or(chosen->step, 0.1), doubled = chosen->adjacency == ACCOUNT_REPLACE ? 2 : 1;
    out->shift = account_or(chosen->sensitivity, doubled * account_or(chosen->clip, 1));
    out->noise_sd = mfpg_strength_noise(chosen->strength, step);
    out->times = (int64_t)account_or(chosen->steps, 1);
    mfpg_status status = mfpg_hidden_contraction(ctx, &assumption, step,
        chosen->strength / account_or(chosen->prior_variance, 1), account_or(chosen->variance_penalty, 0.01),
        (ptrdiff_t)fmin(account_or(chosen->dimension, 5), 1e9), &out->contraction);
    if (status == MFPG_OK) return 0;
    return cli_refuse(
        chosen->command, "--assume %s: %s", mfpg_hidden_case_name(chosen->assume), mfpg_context_message(ctx));
}

static mfpg_status price(
    mfpg_context *ctx, const account_settings *chosen, const mfpg_hidden_step *step, double *mu) {
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
    *mu = 0; /* no steps: nothing is released */
    if (step->times == 0) return MFPG_OK;
    mfpg_status status = mfpg_accountant_create(ctx, "hidden-state", &made, &accountant);
    if (status == MFPG_OK) status = mfpg_accountant_record_times(ctx, accountant, &seen, step->times);
    if (status == MFPG_OK) *mu = mfpg_accountant_mu(accountant);
    mfpg_accountant_destroy(accountant);
    if (status != MFPG_OK || !account_given(chosen->projection_radius)) return status;
    double bounded = (double)INFINITY,
           diameter = 2 * chosen->projection_radius / account_or(chosen->step, 0.1);
    status = mfpg_hidden_bounded_mu(ctx, step, nextafter(diameter, (double)INFINITY), &bounded);
    *mu = fmin(*mu, bounded);
    return status;
}

/* ---- what is assumed ---- */

static void assume_case(account_answer *answer, const account_settings *chosen) {
    double m = account_or(chosen->strong_convexity, 0), M = chosen->smoothness;
    static const char everyone[] = "for every data set and minibatch, a public bound";
    switch ((mfpg_hidden_case)chosen->assume) {
    case MFPG_HIDDEN_QUADRATIC:
        account_assume(answer, "the loss's Hessian lies between %g and %g, %s%s", m, M, everyone,
            clipping_of(chosen) == MFPG_CLIPPING_NONE ? "; no gradient is clipped, and for two data sets the "
                                                        "gradients differ by at most the sensitivity"
                                                      : "");
        if (clipping_of(chosen) != MFPG_CLIPPING_NONE && !account_given(chosen->projection_radius))
            account_assume(answer,
                "a clipped vector gradient need not be monotone, so the contraction is "
                "that of case convex; --sensitivity is for gradients that are not clipped");
        break;
    case MFPG_HIDDEN_GLM:
        account_assume(answer,
            "a generalised linear model: every example's loss is convex in one scalar margin, its gradient "
            "is "
            "clipped by itself, and the mean of their Hessians is at most %g, %s",
            M, everyone);
        break;
    case MFPG_HIDDEN_CONVEX:
        account_assume(answer, "the loss is convex with a Hessian of at most %g, %s", M, everyone);
        break;
    case MFPG_HIDDEN_NONCONVEX:
        account_assume(answer, "the loss's Hessian has a norm of at most %g, %s", M, everyone);
        break;
    case MFPG_HIDDEN_NONE: break;
    }
}

static void assume(account_answer *answer, const account_settings *chosen) {
    account_assume(answer, "whoever this is promised to sees the last state only: no state, loss, metric "
                           "or action before it");
    account_assume(
        answer, "Gaussian noise is ideal and states are real numbers, up to floating-point rounding");
    account_assume(answer, "the start is public; strength, step and number of steps are fixed in advance; no "
                           "momentum and no Sinkhorn map");
    if (account_given(chosen->sensitivity))
        account_assume(answer, "gradients of neighbours differ by at most the sensitivity %g that was given",
            chosen->sensitivity);
    else
        account_assume(
            answer, "every contribution is clipped to norm %g, flattened", account_or(chosen->clip, 1));
    if (answer->adjacency && chosen->adjacency != ACCOUNT_REPLACE)
        account_assume(answer, "whoever is left out still adds its noise; weights and row counts are public");
    assume_case(answer, chosen);
    if (account_given(chosen->projection_radius))
        account_assume(answer,
            "every state is projected onto a public ball of radius %g, on which no gradient of any data set "
            "exceeds the clip",
            chosen->projection_radius);
    if (account_or(chosen->sampling_rate, 1) < 1)
        account_assume(answer, "sampling rate %g is not credited: the worst sequence of batches is certified",
            chosen->sampling_rate);
}

int account_hidden(mfpg_context *ctx, const account_settings *chosen) {
    mfpg_hidden_step step = {0};
    double mu = (double)INFINITY;
    int code = fill_step(ctx, chosen, &step), wants_delta = account_given(chosen->epsilon);
    if (code) return code;
    mfpg_status status = price(ctx, chosen, &step, &mu);
    if (status != MFPG_OK) return cli_fail(ctx, chosen->command, status);
    double delta = account_or(chosen->delta, ACCOUNT_DELTA);
    double asked = wants_delta ? mfpg_gdp_delta(mu, chosen->epsilon) : mfpg_gdp_epsilon(mu, delta);
    account_answer answer = {.epsilon = wants_delta ? chosen->epsilon : asked,
        .delta = wants_delta ? asked : delta,
        .mu = mu,
        .rdp = (double)NAN,
        .lower = 0,
        .upper = asked,
        .accountant = "hidden-state",
        .adjacency = account_adjacency_name(chosen),
        .unit = mfpg_unit_name(chosen->unit == MFPG_UNIT_EXAMPLE ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT),
        .view = mfpg_view_name(MFPG_VIEW_FINAL),
        .hidden = 1,
        .contraction = step.contraction,
        .certificate = 1};
    assume(&answer, chosen);
    return account_print_answer(chosen, &answer);
}
