/* What is declared of the loss, so that a model whose rounds nobody sees forgets them (theory S2.4). What cannot be told
 * from the options of the federation is refused here: what the model is, and how its smoothness is known. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "accountants/accounting.h"
#include "base/error.h"
#include "base/number.h"
#include "internal.h"
#include "models/losses.h"

static mfpg_status refuse(mfpg_context *ctx, const mfpg_experiment *e, const char *path, const char *format,
    ...) __attribute__((format(printf, 4, 5)));
static mfpg_status refuse(
    mfpg_context *ctx, const mfpg_experiment *e, const char *path, const char *format, ...) {
    char reason[512];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %s: %s", mfpg_config_source(e->config, path), path, reason);
}

/* Without an assumption its accountant would only compose, under a name that says more. */
static mfpg_status check_unused(mfpg_context *ctx, const mfpg_experiment *e) {
    const char *accountant = mfpg_config_text(e->config, "privacy.accountant");
    if (!(mfpg_accountant_facts(accountant) & MFPG_ACCOUNTANT_CREDITS_FORGETTING)) return MFPG_OK;
    return refuse(ctx, e, "privacy.accountant",
        "found '%s', which needs privacy.view final and privacy.assume: quadratic, glm, convex or nonconvex",
        accountant);
}

static mfpg_status check_model(mfpg_context *ctx, const mfpg_experiment *e, mfpg_hidden_case kind) {
    const char *model = mfpg_model_name(e->model);
    int facts = mfpg_model_facts(model);
    if (mfpg_config_particles(e->config) == MFPG_PARTICLES_DATA)
        return refuse(ctx, e, "privacy.assume", "records that are noised once have no hidden state");
    if (!(facts & MFPG_MODEL_SMOOTH))
        return refuse(ctx, e, "privacy.assume",
            "found '%s', but nobody can certify how smooth model %s is; allowed: none",
            mfpg_hidden_case_name(kind), model);
    if (kind == MFPG_HIDDEN_QUADRATIC && !(facts & MFPG_MODEL_SQUARES))
        return refuse(ctx, e, "privacy.assume",
            "found 'quadratic', which model %s is not; allowed: glm (logistic, unit example), convex, "
            "nonconvex",
            model);
    if (kind == MFPG_HIDDEN_GLM && !(facts & MFPG_MODEL_OF_MARGIN))
        return refuse(ctx, e, "privacy.assume",
            "found 'glm', but the loss of model %s is no function of one margin; allowed: convex, nonconvex",
            model);
    if (kind == MFPG_HIDDEN_GLM && e->options.promise.unit != MFPG_UNIT_EXAMPLE)
        return refuse(ctx, e, "privacy.assume",
            "found 'glm', which needs every example clipped by itself; privacy.unit client clips their mean; "
            "allowed: convex, or privacy.unit example");
    return MFPG_OK;
}

/* The federation refuses these as well, whoever calls it; here they are told at the key that asks for them. */
static mfpg_status check_rounds(mfpg_context *ctx, const mfpg_experiment *e) {
    const mfpg_federation_options *o = &e->options;
    int cohort = o->clients_per_round > 0;
    ptrdiff_t colluders = 0;
    mfpg_config_texts(e->config, "privacy.colluders", &colluders);
    if (o->participants)
        return refuse(ctx, e, "privacy.observers",
            "found 'participants', who see the model of every round; with privacy.assume allowed: server");
    if (colluders > 0)
        return refuse(ctx, e, "privacy.colluders",
            "found %td named, who see the model of every round; with privacy.assume allowed: []", colluders);
    if (cohort || o->client_rate < 1.0)
        return refuse(ctx, e, cohort ? "train.clients_per_round" : "train.client_rate",
            "draws who takes part, and a round is hidden by all clients together; with privacy.assume "
            "allowed: %s",
            cohort ? "all" : "1");
    if (isfinite(o->stop_at_epsilon))
        return refuse(ctx, e, "privacy.stop_at_epsilon",
            "found %g, a budget of what is spent round by round, which hidden rounds have no sum of; with "
            "privacy.assume allowed: none",
            o->stop_at_epsilon);
    return MFPG_OK;
}

/* M: a number, or the bound that public bounds of the features give. */
static mfpg_status set_smoothness(mfpg_context *ctx, mfpg_experiment *e) {
    const mfpg_config *config = e->config;
    if (!mfpg_config_is(config, "privacy.smoothness", "auto")) {
        e->options.hidden_smoothness = mfpg_config_number(config, "privacy.smoothness");
        return MFPG_OK;
    }
    int bias = mfpg_model_parameters(e->model) > e->data->features;
    double norm2 = e->data->public_norm2 + bias, bound = mfpg_model_curvature(e->model, norm2);
    if (!isfinite(bound))
        return refuse(ctx, e, "privacy.smoothness",
            "auto knows no public bound here%s; state a number that holds for every data set",
            isnan(bound) ? "" : ", as the features have none (data.norm, data.scale.bounds)");
    char text[MFPG_NUMBER_SIZE], why[160];
    snprintf(why, sizeof why, "%s: public bound from R^2 = %g%s", mfpg_model_name(e->model), norm2,
        bias ? ", bias included" : "");
    e->options.hidden_smoothness = bound;
    return mfpg_config_resolve(ctx, e->config, "privacy.smoothness", mfpg_number_format(bound, text), why);
}

mfpg_status mfpg_setup_hidden(mfpg_context *ctx, mfpg_experiment *e) {
    mfpg_hidden_case kind = (mfpg_hidden_case)mfpg_config_choice(e->config, "privacy.assume");
    const char *accountant = mfpg_config_text(e->config, "privacy.accountant");
    if (mfpg_mechanism_kind_of(e->method.mechanism).control == MFPG_CONTROL_NONE)
        return MFPG_OK; /* promises nothing */
    if (kind == MFPG_HIDDEN_NONE) return check_unused(ctx, e);
    if (e->options.promise.view != MFPG_VIEW_FINAL)
        return refuse(ctx, e, "privacy.assume", "found '%s', which counts in privacy.view final only",
            mfpg_hidden_case_name(kind));
    if (strcmp(accountant, "auto") != 0 &&
        !(mfpg_accountant_facts(accountant) & MFPG_ACCOUNTANT_CREDITS_FORGETTING))
        return refuse(ctx, e, "privacy.accountant",
            "found '%s', which knows no hidden state; with privacy.assume allowed: auto, %s", accountant,
            mfpg_accountant_with(MFPG_ACCOUNTANT_CREDITS_FORGETTING));
    mfpg_status status = check_model(ctx, e, kind);
    if (status == MFPG_OK) status = check_rounds(ctx, e);
    if (status == MFPG_OK) status = set_smoothness(ctx, e);
    if (status == MFPG_OK) e->options.hidden = kind;
    return status;
}
