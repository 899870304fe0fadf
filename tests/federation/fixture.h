/* A small federation for the tests of this folder: planted logistic or quadratic data, one mechanism for all. */
#ifndef TESTS_FEDERATION_FIXTURE_H
#define TESTS_FEDERATION_FIXTURE_H

#include "testing.h"

#include "mfpg/federation.h"

#include "federation/plan.h"

enum { MOST_CLIENTS = 16 };

typedef struct fixture {
    mfpg_context *ctx;
    mfpg_key key;
    mfpg_federated_data *data;
    mfpg_model *model;
    mfpg_mechanism *mechanism;
    const mfpg_mechanism *mechanisms[MOST_CLIENTS];
    mfpg_action action[MOST_CLIENTS];
    mfpg_federation_options options;
    mfpg_federation *federation;
} fixture;

/* Data of clients x rows and a mechanism; actions are budgets, strengths or multipliers of that value for everybody. */
static inline fixture fixture_open(int threads, const char *model, ptrdiff_t clients, ptrdiff_t rows,
    const mfpg_mechanism_options *mechanism, mfpg_action action) {
    fixture f = {.ctx = testing_context(threads), .key = mfpg_key_from_seed(11)};
    mfpg_data_options data = mfpg_data_options_default();
    data.format = "synthetic";
    data.synthetic = strcmp(model, "quadratic") == 0 ? MFPG_SYNTHETIC_QUADRATIC : MFPG_SYNTHETIC_LOGISTIC;
    data.clients = clients;
    data.rows = rows;
    data.dimension = 4;
    data.test_fraction = 0.25;
    data.binary_labels = strcmp(model, "logistic") == 0;
    CHECK_OK(f.ctx, mfpg_federated_data_create(f.ctx, &data, &f.key, &f.data));
    const ptrdiff_t hidden[] = {40, 9}; /* of a network; more parameters than a short vector of noise has */
    mfpg_model_options shape = {
        .kind = model, .features = f.data->features, .classes = 2, .hidden = hidden, .hidden_layers = 2};
    CHECK_OK(f.ctx, mfpg_model_create(f.ctx, &shape, &f.model));
    CHECK_OK(f.ctx, mfpg_mechanism_create(f.ctx, mechanism, &f.mechanism));
    for (ptrdiff_t k = 0; k < clients; k++) {
        f.mechanisms[k] = f.mechanism;
        f.action[k] = action;
    }
    f.options = mfpg_federation_options_default();
    f.options.promise = mechanism->promise;
    f.options.weights = MFPG_WEIGHTS_EQUAL;
    return f;
}

static inline mfpg_status fixture_start(fixture *f) {
    return mfpg_federation_create(
        f->ctx, &f->options, f->data, f->model, f->mechanisms, f->action, &f->key, &f->federation);
}

/* What every client will release. */
static inline mfpg_status fixture_plan(fixture *f, mfpg_release *release) {
    mfpg_plan *plan = NULL;
    mfpg_status status = mfpg_plan_create(f->ctx, &f->options, f->data, f->mechanisms, f->action, &plan);
    for (ptrdiff_t k = 0; status == MFPG_OK && k < f->data->clients; k++)
        release[k] = mfpg_plan_release(plan, k);
    mfpg_plan_destroy(plan);
    return status;
}

static inline mfpg_round_report fixture_round(fixture *f) {
    mfpg_round_report report = {0};
    int done = 0;
    CHECK_OK(f->ctx, mfpg_federation_round(f->ctx, f->federation, &report, &done));
    assert_false(done);
    return report;
}

static inline void fixture_close(fixture *f) {
    mfpg_federation_destroy(f->federation);
    mfpg_mechanism_destroy(f->mechanism);
    mfpg_model_destroy(f->model);
    mfpg_federated_data_destroy(f->data);
    mfpg_context_destroy(f->ctx);
}

static inline mfpg_action multiplier(double z) {
    return (mfpg_action){.control = MFPG_CONTROL_MULTIPLIER, .multiplier = z};
}

#endif
