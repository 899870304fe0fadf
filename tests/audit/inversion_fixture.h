/* Small pictures with labels, a network that learns them, and a client to be attacked. */
#ifndef TESTS_AUDIT_INVERSION_FIXTURE_H
#define TESTS_AUDIT_INVERSION_FIXTURE_H

#include "testing.h"

#include "audit/inversion.h"
#include "mechanisms/mechanism_ops.h"

enum { SIDE = 5, FEATURES = SIDE * SIDE, ROWS = 60, CLASSES = 4 };

typedef struct victim {
    mfpg_context *ctx;
    float x[ROWS * FEATURES], y[ROWS];
    mfpg_client_data client;
    mfpg_federated_data data;
    mfpg_model *model;
    mfpg_mechanism *mechanism;
    const mfpg_mechanism *mechanisms[1];
    mfpg_action action[1];
    float *w;
    mfpg_inversion_options options;
} victim;

/* mu: zero-out, of one step; INFINITY: no mechanism at all. */
static inline void victim_open(
    victim *v, int threads, const char *model, const mfpg_mechanism_options *mechanism, double mu) {
    const ptrdiff_t hidden[] = {24, 12};
    const mfpg_model_options shape = {
        .kind = model, .features = FEATURES, .classes = CLASSES, .hidden = hidden, .hidden_layers = 2};
    mfpg_mechanism_options own = *mechanism;
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 1, 0);
    *v = (victim){.ctx = testing_context(threads), .options = mfpg_inversion_options_default()};
    for (ptrdiff_t i = 0; i < ROWS * FEATURES; i++) {
        double uniform;
        mfpg_stream_uniform(&stream, (uint64_t)i, 1, &uniform);
        v->x[i] = (float)uniform;
    }
    int two = strcmp(model, "logistic") == 0;
    for (ptrdiff_t i = 0; i < ROWS; i++) v->y[i] = (float)(i % (two ? 2 : CLASSES));
    v->client = (mfpg_client_data){.name = (char *)(uintptr_t) "victim",
        .train = {.rows = ROWS, .features = FEATURES, .x = v->x, .y = v->y}};
    v->data = (mfpg_federated_data){.clients = 1, .features = FEATURES, .client = &v->client};
    CHECK_OK(v->ctx, mfpg_model_create(v->ctx, &shape, &v->model));
    if (isinf(mu)) own.kind = "none";
    CHECK_OK(v->ctx, mfpg_mechanism_create(v->ctx, &own, &v->mechanism));
    v->mechanisms[0] = v->mechanism;
    v->action[0] = mfpg_mechanism_action_for(v->mechanism, 1.0 / mu, ROWS);
    v->w = malloc((size_t)mfpg_model_parameters(v->model) * sizeof *v->w);
    assert_non_null(v->w);
    mfpg_model_start(v->model, &key, 1, v->w);
    v->options.examples = 10;
    v->options.candidates = 20;
    v->options.trials = 200;
    v->options.iterations = 0;
    v->options.confidence = 0.9999; /* no alarm in the lifetime of these tests, whatever their seed */
    v->options.seed = testing_seed();
}

static inline mfpg_mechanism_options example_unit(void) {
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.promise.unit = MFPG_UNIT_EXAMPLE;
    o.learning_rate = 1;
    o.sum_rounding = 5e-4; /* enough for a network */
    return o;
}

static inline mfpg_status victim_invert(victim *v, mfpg_inversion **out) {
    return mfpg_inversion_create(
        v->ctx, &v->options, &v->data, v->model, v->mechanisms, v->action, v->w, out);
}

static inline void victim_close(victim *v) {
    free(v->w);
    mfpg_mechanism_destroy(v->mechanism);
    mfpg_model_destroy(v->model);
    mfpg_context_destroy(v->ctx);
}

#endif
