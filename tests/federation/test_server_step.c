/* Optimisers of the server: the model by their formulas, from the clients' updates; what they leave alone; what refuses them. */
#include "federation/fixture.h"

#include "federation/federation_core.h"

enum { CLIENTS = 3, ROUNDS = 4, N = 5 };

static fixture open_with(const mfpg_server_optimiser_options *server) {
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.learning_rate = 0.5;
    fixture f = fixture_open(1, "logistic", CLIENTS, 20, &o, multiplier(1.0));
    f.options.server = *server;
    assert_int_equal(mfpg_model_parameters(f.model), N);
    return f;
}

/* The average of the round, in doubles. */
static void add_update(void *user, ptrdiff_t client, double weight, const float *model) {
    double *average = user;
    (void)client;
    for (int i = 0; i < N; i++) average[i] += weight * (double)model[i];
}

static double next_by_formula(
    const mfpg_server_optimiser_options *o, double w, double average, double *m, double *v) {
    double moved = average - w, eta = o->learning_rate, beta = o->momentum;
    if (strcmp(o->kind, "sgd") == 0) return w + eta * moved;
    if (strcmp(o->kind, "momentum") == 0) return w + eta * (*m = beta * *m + moved);
    *m = beta * *m + (1.0 - beta) * moved;
    *v = o->second_moment * *v + (1.0 - o->second_moment) * moved * moved;
    return w + eta * *m / (sqrt(*v) + o->floor);
}

static void test_the_next_model_is_that_of_the_formula(void **state) {
    (void)state;
    const mfpg_server_optimiser_options all[] = {{.kind = "sgd", .learning_rate = 0.3},
        {.kind = "sgd", .learning_rate = 1.7}, {.kind = "momentum", .learning_rate = 0.8, .momentum = 0.6},
        {.kind = "adam", .learning_rate = 0.1, .momentum = 0.5, .second_moment = 0.9, .floor = 0.01}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        fixture f = open_with(&all[i]);
        double average[N], m[N] = {0}, v[N] = {0};
        CHECK_OK(f.ctx, fixture_start(&f));
        mfpg_federation_watch(f.federation, add_update, average);
        for (int round = 0; round < ROUNDS; round++) {
            float before[N];
            memcpy(before, mfpg_federation_model(f.federation), sizeof before);
            memset(average, 0, sizeof average);
            fixture_round(&f);
            for (int j = 0; j < N; j++)
                check_near((double)mfpg_federation_model(f.federation)[j],
                    next_by_formula(&all[i], (double)before[j], average[j], &m[j], &v[j]), 1e-5, 1e-6,
                    all[i].kind);
        }
        fixture_close(&f);
    }
}

/* The model after some rounds, and what a client was certified. */
static double play(const mfpg_server_optimiser_options *server, mfpg_view view, float model[N]) {
    fixture f = open_with(server);
    mfpg_client_report client;
    f.options.promise.view = view;
    CHECK_OK(f.ctx, fixture_start(&f));
    for (int round = 0; round < ROUNDS; round++) fixture_round(&f);
    CHECK_OK(f.ctx, mfpg_federation_client(f.ctx, f.federation, 1, &client));
    memcpy(model, mfpg_federation_model(f.federation), N * sizeof *model);
    fixture_close(&f);
    return client.epsilon;
}

static void test_momentum_0_has_the_bits_of_sgd_and_rate_1_those_of_the_average(void **state) {
    (void)state;
    const double rates[] = {1.0, 0.7};
    for (int view = MFPG_VIEW_LOCAL; view <= MFPG_VIEW_AVERAGE; view++) {
        for (int i = 0; i < 2; i++) {
            mfpg_server_optimiser_options o = mfpg_server_optimiser_options_default();
            float sgd[N], zero[N];
            o.learning_rate = rates[i];
            double epsilon = play(&o, (mfpg_view)view, sgd);
            o.kind = "momentum";
            o.momentum = 0.0;
            assert_true(play(&o, (mfpg_view)view, zero) == epsilon);
            assert_memory_equal(sgd, zero, sizeof sgd);
        }
    }
}

/* Post-processing: what a client is certified depends on no line of server.def. */
static void test_no_optimiser_changes_a_certificate(void **state) {
    (void)state;
    float model[N];
    mfpg_server_optimiser_options o = mfpg_server_optimiser_options_default();
    double plain = play(&o, MFPG_VIEW_AVERAGE, model);
    for (ptrdiff_t i = 0; (o.kind = mfpg_kind_name(&mfpg_server_optimisers, i)); i++) {
        assert_true(play(&o, MFPG_VIEW_AVERAGE, model) == plain);
        assert_true(strlen(mfpg_kind_help(&mfpg_server_optimisers, i)) > 0);
    }
}

static void test_a_model_that_leaves_the_range_is_named(void **state) {
    (void)state;
    mfpg_server_optimiser_options o = mfpg_server_optimiser_options_default();
    o.learning_rate = 1e300;
    fixture f = open_with(&o);
    mfpg_round_report report;
    int done;
    CHECK_OK(f.ctx, fixture_start(&f));
    assert_int_equal(mfpg_federation_round(f.ctx, f.federation, &report, &done), MFPG_ERR_NUMERIC);
    assert_non_null(strstr(mfpg_context_message(f.ctx), "round 1: server.optimiser sgd: parameter"));
    fixture_close(&f);
}

static void refuse(fixture *f, mfpg_status expected, const char *words) {
    assert_int_equal(fixture_start(f), expected);
    assert_null(f->federation);
    if (!strstr(mfpg_context_message(f->ctx), words))
        fail_msg("no '%s' in: %s", words, mfpg_context_message(f->ctx));
    fixture_close(f);
}

static void test_what_assumes_the_average_refuses_others_with_the_key(void **state) {
    (void)state;
    mfpg_server_optimiser_options o = mfpg_server_optimiser_options_default();
    o.kind = "momentum";
    fixture f = open_with(&o);
    f.options.promise.view = MFPG_VIEW_FINAL;
    f.options.accountant = "hidden-state";
    f.options.hidden = MFPG_HIDDEN_CONVEX;
    f.options.hidden_smoothness = 0.25;
    refuse(&f, MFPG_ERR_INPUT, "server.optimiser");

    f = open_with(&o);
    double loss[CLIENTS];
    CHECK_OK(f.ctx, fixture_start(&f));
    assert_int_equal(
        mfpg_federation_own_losses(f.ctx, f.federation, f.action, 1, 0.5, 0, loss), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(f.ctx), "server.optimiser"));
    fixture_close(&f);
}

static void test_unknown_kinds_and_impossible_numbers_are_refused(void **state) {
    (void)state;
    mfpg_server_optimiser_options o = mfpg_server_optimiser_options_default();
    o.kind = "adan";
    fixture f = open_with(&o);
    refuse(&f, MFPG_ERR_INPUT, "adam");
    const mfpg_server_optimiser_options wrong[] = {{.kind = "sgd", .learning_rate = 0.0},
        {.kind = "sgd", .learning_rate = NAN}, {.kind = "momentum", .learning_rate = 1.0, .momentum = 1.0},
        {.kind = "adam", .learning_rate = 1.0, .momentum = 0.9, .second_moment = -1.0, .floor = 1.0},
        {.kind = "adam", .learning_rate = 1.0, .momentum = 0.9, .second_moment = 0.9, .floor = 0.0}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        f = open_with(&wrong[i]);
        refuse(&f, MFPG_ERR_DOMAIN, "of the server");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_next_model_is_that_of_the_formula),
        cmocka_unit_test(test_momentum_0_has_the_bits_of_sgd_and_rate_1_those_of_the_average),
        cmocka_unit_test(test_no_optimiser_changes_a_certificate),
        cmocka_unit_test(test_a_model_that_leaves_the_range_is_named),
        cmocka_unit_test(test_what_assumes_the_average_refuses_others_with_the_key),
        cmocka_unit_test(test_unknown_kinds_and_impossible_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
