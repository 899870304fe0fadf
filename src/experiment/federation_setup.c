/* Builds the options of the round loop from a configuration: what is promised, and what is assumed of the
 * loss. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/mechanism_ops.h"
#include "internal.h"

static mfpg_status mark_colluders(mfpg_context *ctx, mfpg_experiment *e) {
    const mfpg_settings *set = &e->config->set;
    if (set->colluder_count == 0) return MFPG_OK;
    e->colluder = mfpg_alloc(e->data->clients, 1);
    if (!e->colluder) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < set->colluder_count; i++) {
        ptrdiff_t k = 0;
        while (k < e->data->clients && strcmp(e->data->client[k].name, set->colluders[i]) != 0) k++;
        if (k == e->data->clients)
            return mfpg_config_fail(
                ctx, e->config, "privacy.colluders", "there is no client '%s'", set->colluders[i]);
        if (e->colluder[k]++)
            return mfpg_config_fail(
                ctx, e->config, "privacy.colluders", "'%s' is named twice", set->colluders[i]);
    }
    e->options.colluder = e->colluder;
    return MFPG_OK;
}

/* Reads ROUND:CLIENT, which names a round and a client. */
static mfpg_status read_dropout(
    mfpg_context *ctx, const mfpg_experiment *e, const char *text, mfpg_dropout *out) {
    static const char key[] = "secure_sum.dropouts";
    char *name;
    errno = 0;
    out->round = strtoll(text, &name, 10);
    if (name == text || *name != ':' || errno || text[0] < '0' || text[0] > '9')
        return mfpg_config_fail(ctx, e->config, key, "found '%s'; allowed: ROUND:CLIENT, as in '3:%s'", text,
            e->data->client[0].name);
    if (out->round < 1 || out->round > e->options.rounds)
        return mfpg_config_fail(ctx, e->config, key, "'%s': there is no such round; train.rounds is %lld",
            text, (long long)e->options.rounds);
    for (out->client = 0; out->client < e->data->clients; out->client++)
        if (strcmp(e->data->client[out->client].name, name + 1) == 0) return MFPG_OK;
    return mfpg_config_fail(ctx, e->config, key, "there is no client '%s'", name + 1);
}

static mfpg_status list_dropouts(mfpg_context *ctx, mfpg_experiment *e) {
    const mfpg_settings *set = &e->config->set;
    mfpg_status status = MFPG_OK;
    if (set->dropout_count == 0) return MFPG_OK;
    e->dropout = mfpg_alloc(set->dropout_count, sizeof *e->dropout);
    if (!e->dropout) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < set->dropout_count && status == MFPG_OK; i++)
        status = read_dropout(ctx, e, set->dropouts[i], &e->dropout[i]);
    e->options.sum.dropout = e->dropout;
    e->options.sum.dropouts = set->dropout_count;
    return status;
}

/* Without test rows there can be no test: this is an error if evaluate: test was given; otherwise training
 * rows are used. */
static mfpg_status settle_evaluation(mfpg_context *ctx, mfpg_experiment *e) {
    if (e->options.evaluate != MFPG_EVALUATE_TEST || e->data->common_test.rows > 0) return MFPG_OK;
    for (ptrdiff_t k = 0; k < e->data->clients; k++)
        if (e->data->client[k].test.rows > 0) return MFPG_OK;
    if (mfpg_config_given(e->config, "evaluate"))
        return mfpg_config_fail(ctx, e->config, "evaluate",
            "test, but no client has test rows (data.test_fraction is %g); take evaluate=train or "
            "evaluate=none",
            e->config->set.data.test_fraction);
    e->options.evaluate = MFPG_EVALUATE_TRAIN;
    return mfpg_config_resolve(ctx, e->config, "evaluate", "train", "no client has test rows");
}

int mfpg_samples_examples(const mfpg_experiment *e) {
    const mfpg_settings *set = &e->config->set;
    if (set->batch_rate > 0.0) return set->batch_rate < 1.0;
    for (ptrdiff_t k = 0; k < e->data->clients && set->batch_size > 0; k++)
        if (set->batch_size < e->data->client[k].train.rows) return 1;
    return 0;
}

int mfpg_credits_sampling(const mfpg_experiment *e) {
    return mfpg_samples_examples(e) && e->options.promise.unit == MFPG_UNIT_EXAMPLE &&
           !mfpg_noises_records(e) &&
           (mfpg_accountant_facts(e->options.accountant) & MFPG_ACCOUNTANT_CREDITS_SAMPLING);
}

/* ---- what is assumed of the loss, so that a model whose rounds nobody sees forgets them (theory S2.4) ---- */

/* Refuses what the options of the federation cannot express: properties of the model. */
static mfpg_status check_model(mfpg_context *ctx, const mfpg_experiment *e) {
    const char *model = mfpg_model_name(e->model), *path = "privacy.assume";
    mfpg_hidden_case kind = e->options.hidden;
    int facts = mfpg_model_facts(model);
    if (mfpg_noises_records(e))
        return mfpg_config_fail(ctx, e->config, path, "records that are noised once have no hidden state");
    if (!(facts & MFPG_MODEL_SMOOTH))
        return mfpg_config_fail(ctx, e->config, path,
            "found '%s', but nobody can certify how smooth model %s is; allowed: none",
            mfpg_hidden_case_name(kind), model);
    if (kind == MFPG_HIDDEN_QUADRATIC && !(facts & MFPG_MODEL_SQUARES))
        return mfpg_config_fail(ctx, e->config, path,
            "found 'quadratic', which model %s is not; allowed: glm (logistic, unit example), convex, "
            "nonconvex",
            model);
    if (kind == MFPG_HIDDEN_GLM && !(facts & MFPG_MODEL_OF_MARGIN))
        return mfpg_config_fail(ctx, e->config, path,
            "found 'glm', but the loss of model %s is no function of one margin; allowed: convex, nonconvex",
            model);
    if (kind == MFPG_HIDDEN_GLM && e->options.promise.unit != MFPG_UNIT_EXAMPLE)
        return mfpg_config_fail(ctx, e->config, path,
            "found 'glm', which needs every example clipped by itself; privacy.unit client clips their mean; "
            "allowed: convex, or privacy.unit example");
    return MFPG_OK;
}

/* The federation refuses these as well, but here the message names the key. */
static mfpg_status check_rounds(mfpg_context *ctx, const mfpg_experiment *e) {
    const mfpg_federation_options *o = &e->options;
    ptrdiff_t colluders = e->config->set.colluder_count;
    int cohort = o->clients_per_round > 0;
    if (o->participants)
        return mfpg_config_fail(ctx, e->config, "privacy.observers",
            "found 'participants', who see the model of every round; with privacy.assume allowed: server");
    if (colluders > 0)
        return mfpg_config_fail(ctx, e->config, "privacy.colluders",
            "found %td named, who see the model of every round; with privacy.assume allowed: []", colluders);
    if (cohort || o->client_rate < 1.0)
        return mfpg_config_fail(ctx, e->config, cohort ? "train.clients_per_round" : "train.client_rate",
            "draws who takes part, and a round is hidden by all clients together; with privacy.assume "
            "allowed: %s",
            cohort ? "all" : "1");
    if (isfinite(o->stop_at_epsilon))
        return mfpg_config_fail(ctx, e->config, "privacy.stop_at_epsilon",
            "found %g, a budget of what is spent round by round, which hidden rounds have no sum of; with "
            "privacy.assume allowed: none",
            o->stop_at_epsilon);
    return MFPG_OK;
}

/* Sets the smoothness M to the given number, or to the bound that follows from public bounds of the
 * features. */
static mfpg_status set_smoothness(mfpg_context *ctx, mfpg_experiment *e) {
    if (!isnan(e->options.hidden_smoothness)) return MFPG_OK;
    char why[160];
    double norm2, bound = mfpg_public_curvature(e, &norm2);
    if (!isfinite(bound))
        return mfpg_config_fail(ctx, e->config, "privacy.smoothness",
            "auto knows no public bound here%s; state a number that holds for every data set",
            isnan(bound) ? "" : ", as the features have none (data.norm, data.scale.bounds)");
    snprintf(why, sizeof why, "%s: public bound from R^2 = %g%s", mfpg_model_name(e->model), norm2,
        norm2 > e->data->public_norm2 ? ", bias included" : "");
    e->options.hidden_smoothness = bound;
    return mfpg_config_resolve_number(ctx, e->config, "privacy.smoothness", bound, why);
}

static mfpg_status setup_hidden(mfpg_context *ctx, mfpg_experiment *e) {
    const char *accountant = e->config->all.federation.accountant;
    int forgets = mfpg_accountant_facts(accountant) & MFPG_ACCOUNTANT_CREDITS_FORGETTING;
    if (!mfpg_promises_anything(e)) return MFPG_OK;
    if (e->options.hidden == MFPG_HIDDEN_NONE &&
        forgets) /* the accountant would then only compose, under a name that suggests more */
        return mfpg_config_fail(ctx, e->config, "privacy.accountant",
            "found '%s', which needs privacy.view final and privacy.assume: quadratic, glm, convex or "
            "nonconvex",
            accountant);
    if (e->options.hidden == MFPG_HIDDEN_NONE) return MFPG_OK;
    if (e->options.promise.view != MFPG_VIEW_FINAL)
        return mfpg_config_fail(ctx, e->config, "privacy.assume",
            "found '%s', which counts in privacy.view final only", mfpg_hidden_case_name(e->options.hidden));
    if (strcmp(accountant, "auto") != 0 && !forgets)
        return mfpg_config_fail(ctx, e->config, "privacy.accountant",
            "found '%s', which knows no hidden state; with privacy.assume allowed: auto, %s", accountant,
            mfpg_accountant_with(MFPG_ACCOUNTANT_CREDITS_FORGETTING));
    mfpg_status status = check_model(ctx, e);
    if (status == MFPG_OK) status = check_rounds(ctx, e);
    return status == MFPG_OK ? set_smoothness(ctx, e) : status;
}

/* ---- which accountant is used and how the budget is enforced ---- */

/* A certificate of parameters says nothing about records, and vice versa (theory S5.4). */
static mfpg_status check_particles(mfpg_context *ctx, const mfpg_experiment *e) {
    mfpg_accountant *probe = NULL;
    mfpg_particles noised = e->config->set.mechanism.particles;
    mfpg_status status = mfpg_accountant_create(ctx, e->options.accountant, NULL, &probe);
    mfpg_particles known = probe ? mfpg_accountant_particles(probe) : noised;
    mfpg_accountant_destroy(probe);
    if (status != MFPG_OK || known == noised) return status;
    return mfpg_config_fail(ctx, e->config, "privacy.accountant",
        "found '%s', which knows %s only; this run noises %s", e->options.accountant,
        mfpg_particles_name(known), mfpg_particles_name(noised));
}

/* The accountant of privacy.accountant auto, and why. */
static const char *fitting_accountant(const mfpg_experiment *e, const char **why) {
    int samples = mfpg_samples_examples(e), examples = e->options.promise.unit == MFPG_UNIT_EXAMPLE;
    int each_round = e->config->set.each_round;
    if (e->options.hidden != MFPG_HIDDEN_NONE) {
        *why = "nobody sees a model before the last one, and privacy.assume says what is forgotten";
        return mfpg_accountant_with(MFPG_ACCOUNTANT_CREDITS_FORGETTING);
    }
    *why = mfpg_noises_records(e)
               ? "every record is noised once, and the certificate is that of its noised form"
           : each_round ? "actions chosen each round are certified by the budget of a Gaussian-DP filter"
           : samples && examples ? "credits Poisson batches, and is the composition itself within 1e-6"
           : samples ? "drawing examples hides no client: Gaussian-DP composition, exact without sampling"
                     : "Gaussian-DP composition is exact for Gaussian releases without sampling";
    return mfpg_accountant_default(e->config->set.mechanism.particles, samples && examples && !each_round);
}

static mfpg_status set_accountant(mfpg_context *ctx, mfpg_experiment *e) {
    const char *why, *given = e->config->all.federation.accountant;
    e->options.accountant = given;
    if (strcmp(given, "auto") != 0) return check_particles(ctx, e);
    e->options.accountant = fitting_accountant(e, &why);
    return mfpg_config_resolve(ctx, e->config, "privacy.accountant", e->options.accountant, why);
}

/* Selects what decides which clients stop. Without sampling credit a sum of mu_t^2 is exact. With credit, an
 * accountant may be used in place of a filter: noise, rates and cohorts are public and fixed before the run,
 * so the stopping times are too, and the composed releases are a fixed schedule (theory S4). */
static mfpg_status set_filter(mfpg_context *ctx, mfpg_experiment *e) {
    mfpg_federation_options *o = &e->options;
    int exact = mfpg_accountant_facts(o->accountant) & MFPG_ACCOUNTANT_SUMS_SQUARES;
    if (!isfinite(o->stop_at_epsilon)) return MFPG_OK;
    o->filter = exact ? MFPG_FILTER_GDP : MFPG_FILTER_ACCOUNTANT;
    if (e->config->set.filter >= 0) o->filter = (mfpg_filter_kind)e->config->set.filter;
    if (e->config->set.filter >= 0) return MFPG_OK;
    return mfpg_config_resolve(ctx, e->config, "privacy.filter", mfpg_filter_word(o->filter),
        exact ? "GDP filter: the squares of mu add up to at most that of the budget"
              : "noise, rates and cohorts are public and fixed beforehand, so the accountant may be asked");
}

mfpg_status mfpg_setup_federation(mfpg_context *ctx, mfpg_experiment *e) {
    e->options.paper.dimension = (double)mfpg_model_parameters(e->model);
    e->options.paper.clients = (double)e->data->clients;
    mfpg_status status = setup_hidden(ctx, e);
    if (status == MFPG_OK) status = set_accountant(ctx, e);
    if (status == MFPG_OK) status = set_filter(ctx, e);
    if (status == MFPG_OK) status = mark_colluders(ctx, e);
    if (status == MFPG_OK) status = list_dropouts(ctx, e);
    return status == MFPG_OK ? settle_evaluation(ctx, e) : status;
}
