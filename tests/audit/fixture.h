/* A small federation to be audited. */
#ifndef TESTS_AUDIT_FIXTURE_H
#define TESTS_AUDIT_FIXTURE_H

#include "testing.h"

#include "mfpg/accountant.h"
#include "mfpg/audit.h"
#include "mechanisms/mechanism_ops.h"

enum { MOST_CLIENTS = 8 };

typedef struct subject {
    mfpg_context *ctx;
    mfpg_federated_data *data;
    mfpg_model *model;
    mfpg_mechanism *mechanism;
    const mfpg_mechanism *mechanisms[MOST_CLIENTS];
    mfpg_action action[MOST_CLIENTS];
    mfpg_federation_options options;
    mfpg_audit_options audit;
    mfpg_audit_client client[MOST_CLIENTS];
    mfpg_audit_plan plan;
} subject;

/* The default options of a mechanism of that kind, for that promise. */
static inline mfpg_mechanism_options kind_options(const char *kind, mfpg_promise promise) {
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.kind = kind;
    o.promise = promise;
    return o;
}

/* clients x 4 rows of 4 features (5 parameters with the bias of a logistic model), everybody with that multiplier. */
static inline subject subject_open(int threads, ptrdiff_t clients, int64_t rounds, const char *model,
    const mfpg_mechanism_options *mechanism, double multiplier) {
    subject s = {.ctx = testing_context(threads)};
    mfpg_data_options data = mfpg_data_options_default();
    mfpg_key key = mfpg_key_from_seed(3);
    data.format = "synthetic";
    data.synthetic = strcmp(model, "quadratic") == 0 ? MFPG_SYNTHETIC_QUADRATIC : MFPG_SYNTHETIC_LOGISTIC;
    data.clients = clients;
    data.rows = 4;
    data.dimension = 4;
    data.test_fraction = 0;
    data.binary_labels = strcmp(model, "logistic") == 0;
    CHECK_OK(s.ctx, mfpg_federated_data_create(s.ctx, &data, &key, &s.data));
    const ptrdiff_t hidden[] = {3};
    mfpg_model_options shape = {
        .kind = model, .features = 4, .classes = 2, .hidden = hidden, .hidden_layers = 1};
    CHECK_OK(s.ctx, mfpg_model_create(s.ctx, &shape, &s.model));
    CHECK_OK(s.ctx, mfpg_mechanism_create(s.ctx, mechanism, &s.mechanism));
    for (ptrdiff_t k = 0; k < clients; k++) {
        s.mechanisms[k] = s.mechanism;
        s.action[k] = mfpg_mechanism_action_for(s.mechanism, multiplier, 4);
    }
    s.options = mfpg_federation_options_default();
    s.options.promise = mechanism->promise;
    s.options.rounds = rounds;
    s.options.weights = MFPG_WEIGHTS_EQUAL;
    s.options.paper.step = mechanism->step;
    s.audit = mfpg_audit_options_default();
    s.audit.runs = 600;
    s.audit.confidence = 0.9999; /* no alarm in the lifetime of these tests, whatever their seed */
    s.audit.seed = testing_seed();
    return s;
}

/* clients x rows of that many features; each client with noise of that multiplier. Confidence: no alarm in the lifetime of these
 * tests. */
static inline subject crowd_open(int threads, ptrdiff_t clients, ptrdiff_t rows, ptrdiff_t features,
    int64_t rounds, const mfpg_mechanism_options *mechanism, double multiplier) {
    subject s = {.ctx = testing_context(threads)};
    mfpg_data_options data = mfpg_data_options_default();
    mfpg_key key = mfpg_key_from_seed(3);
    data.format = "synthetic";
    data.synthetic = MFPG_SYNTHETIC_COINS;
    data.clients = clients;
    data.rows = rows;
    data.dimension = features;
    data.test_fraction = 0;
    data.binary_labels = 1;
    CHECK_OK(s.ctx, mfpg_federated_data_create(s.ctx, &data, &key, &s.data));
    const mfpg_model_options shape = {.kind = "logistic", .features = features};
    CHECK_OK(s.ctx, mfpg_model_create(s.ctx, &shape, &s.model));
    CHECK_OK(s.ctx, mfpg_mechanism_create(s.ctx, mechanism, &s.mechanism));
    for (ptrdiff_t k = 0; k < clients; k++) {
        s.mechanisms[k] = s.mechanism;
        s.action[k] = mfpg_mechanism_action_for(s.mechanism, multiplier, rows);
    }
    s.options = mfpg_federation_options_default();
    s.options.promise = mechanism->promise;
    s.options.rounds = rounds;
    s.options.weights = MFPG_WEIGHTS_EQUAL;
    s.options.paper.step = mechanism->step;
    s.audit = mfpg_audit_options_for(MFPG_AUDIT_FEW_RUNS);
    s.audit.runs = 40;
    s.audit.confidence = 0.9999;
    s.audit.seed = testing_seed();
    return s;
}

static inline mfpg_status subject_audit(subject *s) {
    return mfpg_audit_federation(
        s->ctx, &s->audit, &s->options, s->data, s->model, s->mechanisms, s->action, s->client, &s->plan);
}

static inline void subject_close(subject *s) {
    mfpg_mechanism_destroy(s->mechanism);
    mfpg_model_destroy(s->model);
    mfpg_federated_data_destroy(s->data);
    mfpg_context_destroy(s->ctx);
}

#endif
