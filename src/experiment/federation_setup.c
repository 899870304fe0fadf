/* From the privacy, train and evaluate keys to the options of the round loop. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountants/accounting.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "internal.h"

/* The words of train.weights stand in the order of the interface, not of the enum. */
static mfpg_weights weights_of(const mfpg_config *config) {
    if (mfpg_config_is(config, "train.weights", "equal")) return MFPG_WEIGHTS_EQUAL;
    if (mfpg_config_is(config, "train.weights", "inverse-noise")) return MFPG_WEIGHTS_INVERSE_NOISE;
    return MFPG_WEIGHTS_EXAMPLES;
}

void mfpg_setup_promise(mfpg_experiment *experiment) {
    const mfpg_config *config = experiment->config;
    mfpg_federation_options *o = &experiment->options;
    *o = mfpg_config_fill(config).federation;
    double limit = mfpg_config_number(config, "privacy.stop_at_epsilon");
    int noised = mfpg_mechanism_kind_of(experiment->method.mechanism).control != MFPG_CONTROL_NONE;
    if (limit > 0.0 && noised) o->stop_at_epsilon = limit;
    o->weights = weights_of(config);
    o->paper_accountant = experiment->method.paper_accountant;
    if (mfpg_config_particles(config) == MFPG_PARTICLES_DATA)
        o->paper_accountant = NULL; /* the paper's formulas are about parameters */
}

static mfpg_status mark_colluders(mfpg_context *ctx, mfpg_experiment *experiment) {
    ptrdiff_t count = 0, clients = experiment->data->clients;
    const char *const *names = mfpg_config_texts(experiment->config, "privacy.colluders", &count);
    if (count == 0) return MFPG_OK;
    experiment->colluder = mfpg_alloc(clients, 1);
    if (!experiment->colluder) return mfpg_fail_memory(ctx);
    for (ptrdiff_t i = 0; i < count; i++) {
        ptrdiff_t k = 0;
        while (k < clients && strcmp(experiment->data->client[k].name, names[i]) != 0) k++;
        if (k == clients)
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: privacy.colluders: there is no client '%s'",
                mfpg_config_source(experiment->config, "privacy.colluders"), names[i]);
        experiment->colluder[k] = 1;
    }
    experiment->options.colluder = experiment->colluder;
    return MFPG_OK;
}

static int any_test_rows(const mfpg_federated_data *data) {
    for (ptrdiff_t k = 0; k < data->clients; k++)
        if (data->client[k].test.rows > 0) return 1;
    return data->common_test.rows > 0;
}

/* Without test rows there is nothing to test on: an error where somebody asked for it, training rows where nobody did. */
static mfpg_status settle_evaluation(mfpg_context *ctx, mfpg_experiment *experiment) {
    if (experiment->options.evaluate != MFPG_EVALUATE_TEST || any_test_rows(experiment->data)) return MFPG_OK;
    if (mfpg_config_given(experiment->config, "evaluate"))
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: evaluate: test, but no client has test rows (data.test_fraction is %g); take evaluate=train "
            "or evaluate=none",
            mfpg_config_source(experiment->config, "evaluate"),
            mfpg_config_number(experiment->config, "data.test_fraction"));
    experiment->options.evaluate = MFPG_EVALUATE_TRAIN;
    return mfpg_config_resolve(ctx, experiment->config, "evaluate", "train", "no client has test rows");
}

int mfpg_samples_examples(const mfpg_experiment *e) {
    double rate = mfpg_config_number(e->config, "train.batch.rate"),
           size = mfpg_config_number(e->config, "train.batch.size");
    if (rate > 0.0) return rate < 1.0;
    for (ptrdiff_t k = 0; k < e->data->clients && size > 0.0; k++)
        if (size < (double)e->data->client[k].train.rows) return 1;
    return 0;
}

int mfpg_credits_sampling(const mfpg_experiment *e) {
    return mfpg_samples_examples(e) && e->options.promise.unit == MFPG_UNIT_EXAMPLE &&
           mfpg_config_particles(e->config) == MFPG_PARTICLES_PARAMETERS &&
           (mfpg_accountant_facts(e->options.accountant) & MFPG_ACCOUNTANT_CREDITS_SAMPLING);
}

/* A certificate of parameters says nothing about records, nor the other way round (theory S5.4). */
static mfpg_status check_kind(mfpg_context *ctx, const mfpg_experiment *experiment) {
    mfpg_accountant *probe = NULL;
    const char *name = experiment->options.accountant;
    mfpg_particles noised = mfpg_config_particles(experiment->config);
    mfpg_status status = mfpg_accountant_create(ctx, name, NULL, &probe);
    mfpg_particles known = probe ? mfpg_accountant_particles(probe) : noised;
    mfpg_accountant_destroy(probe);
    if (status != MFPG_OK || known == noised) return status;
    return mfpg_fail(ctx, MFPG_ERR_INPUT,
        "%s: privacy.accountant: found '%s', which knows %s only; this run noises %s",
        mfpg_config_source(experiment->config, "privacy.accountant"), name, mfpg_particles_name(known),
        mfpg_particles_name(noised));
}

/* The accountant of privacy.accountant auto, and why. */
static const char *fitting_accountant(const mfpg_experiment *e, const char **why) {
    const mfpg_config *config = e->config;
    mfpg_particles particles = mfpg_config_particles(config);
    int samples = mfpg_samples_examples(e), examples = e->options.promise.unit == MFPG_UNIT_EXAMPLE;
    int each_round =
        e->method.players != MFPG_PLAYERS_NONE && mfpg_config_is(config, "game.update", "each-round");
    if (e->options.hidden != MFPG_HIDDEN_NONE) {
        *why = "nobody sees a model before the last one, and privacy.assume says what is forgotten";
        return mfpg_accountant_with(MFPG_ACCOUNTANT_CREDITS_FORGETTING);
    }
    *why = particles == MFPG_PARTICLES_DATA
               ? "every record is noised once, and the certificate is that of its noised form"
           : each_round ? "actions chosen each round are certified by the budget of a Gaussian-DP filter"
           : samples && examples ? "credits Poisson batches, and is the composition itself within 1e-6"
           : samples ? "drawing examples hides no client: Gaussian-DP composition, exact without sampling"
                     : "Gaussian-DP composition is exact for Gaussian releases without sampling";
    return mfpg_accountant_default(particles, samples && examples && !each_round);
}

static mfpg_status set_accountant(mfpg_context *ctx, mfpg_experiment *experiment) {
    const char *why, **accountant = &experiment->options.accountant;
    *accountant = fitting_accountant(experiment, &why);
    if (mfpg_config_is(experiment->config, "privacy.accountant", "auto"))
        return mfpg_config_resolve(ctx, experiment->config, "privacy.accountant", *accountant, why);
    *accountant = mfpg_config_text(experiment->config, "privacy.accountant");
    return check_kind(ctx, experiment);
}

/* What decides who stops. A sum of mu_t^2 is exact where no sampling is credited. Where some is, an accountant may be asked in
 * the place of a filter: noise, rates and cohorts are public and fixed before the run, so is who stops when, and what is
 * composed in the end is a schedule like any other (theory S4). */
static mfpg_status set_filter(mfpg_context *ctx, mfpg_experiment *experiment) {
    mfpg_federation_options *o = &experiment->options;
    int exact = mfpg_accountant_facts(o->accountant) & MFPG_ACCOUNTANT_SUMS_SQUARES;
    if (!isfinite(o->stop_at_epsilon)) return MFPG_OK;
    if (!mfpg_config_is(experiment->config, "privacy.filter", "auto")) {
        o->filter = (mfpg_filter_kind)(mfpg_config_choice(experiment->config, "privacy.filter") - 1);
        return MFPG_OK;
    }
    o->filter = exact ? MFPG_FILTER_GDP : MFPG_FILTER_ACCOUNTANT;
    return mfpg_config_resolve(ctx, experiment->config, "privacy.filter", mfpg_filter_word(o->filter),
        exact ? "GDP filter: the squares of mu add up to at most that of the budget"
              : "noise, rates and cohorts are public and fixed beforehand, so the accountant may be asked");
}

mfpg_status mfpg_setup_federation(mfpg_context *ctx, mfpg_experiment *experiment) {
    const mfpg_config *config = experiment->config;
    mfpg_federation_options *o = &experiment->options;
    o->paper = (mfpg_paper_bound){
        .dimension = (double)mfpg_model_parameters(experiment->model),
        .clients = (double)experiment->data->clients,
        .alpha = 1.0 / mfpg_config_number(config, "entropic.prior_variance"),
        .variance_penalty = mfpg_config_number(config, "entropic.variance_penalty"),
        .gradient_norm = mfpg_config_number(config, "privacy.clip"),
        .step = mfpg_config_number(config, "entropic.step"),
        .clamp = mfpg_config_truth(config, "paper.clamp"),
        .envelope = mfpg_config_truth(config, "paper.envelope"),
    };
    mfpg_status status = mfpg_setup_hidden(ctx, experiment);
    if (status == MFPG_OK) status = set_accountant(ctx, experiment);
    if (status == MFPG_OK) status = set_filter(ctx, experiment);
    if (status == MFPG_OK) status = mark_colluders(ctx, experiment);
    if (status == MFPG_OK) status = settle_evaluation(ctx, experiment);
    return status;
}
