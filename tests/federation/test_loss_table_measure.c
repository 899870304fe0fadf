/* What its own noise costs a client, against the expectation in closed form for quadratic losses; common random numbers;
 * doors. */
#include "fixture.h"

#include "federation/federation_core.h"

enum { CLIENTS = 5, ROWS = 12, D = 4, ACTIONS = 4 };

static const double STRENGTHS[ACTIONS] = {0.1, 0.3, 1, 3}, REFERENCE = 0.5, TAU = 0.01, PRIOR = 2;

static mfpg_action strength(double e) {
    return (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {e}};
}

static void list_strengths(mfpg_action *out) {
    for (int j = 0; j < ACTIONS; j++) out[j] = strength(STRENGTHS[j]);
}

/* No clip that binds and no pull to the mean of the entries: the round is linear in the model. The federation borrows from the
 * fixture, which must stay where it is. */
static void open_quadratic(int threads, double others, fixture *f) {
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.kind = "entropic";
    o.clip = 1e4;
    o.step = TAU;
    o.prior_variance = PRIOR;
    o.variance_penalty = 0;
    *f = fixture_open(threads, "quadratic", CLIENTS, ROWS, &o, strength(REFERENCE));
    for (ptrdiff_t k = 1; k < CLIENTS; k++) f->action[k] = strength(others);
    f->options.rounds = 6;
    CHECK_OK(f->ctx, fixture_start(f));
}

/* The noiseless local model of client k with strength e: w - tau [A'(A w - b) + (e/sigma^2) w]. */
static void local_mean(const fixture *f, ptrdiff_t k, double e, double *out) {
    const mfpg_dataset *data = &f->data->client[k].train;
    const float *w = mfpg_federation_model(f->federation);
    for (int i = 0; i < D; i++) out[i] = (double)w[i] * (1 - TAU * e / PRIOR);
    for (ptrdiff_t r = 0; r < data->rows; r++) {
        double residual = -(double)data->y[r];
        for (int i = 0; i < D; i++) residual += (double)data->x[r * D + i] * (double)w[i];
        for (int i = 0; i < D; i++) out[i] -= TAU * residual * (double)data->x[r * D + i];
    }
}

/* E of client k's loss at y for strength e: the loss at the mean of y and half the trace of A'A times the variance of an
 * entry, (omega + (1 - omega)/N)^2 2 tau e for its own noise and ((1 - omega)/N)^2 2 tau e' for each other's. */
static double expected_loss(const fixture *f, ptrdiff_t k, double e, double omega) {
    const mfpg_dataset *data = &f->data->client[k].train;
    double y[D] = {0}, mean[D], others = (1 - omega) / CLIENTS, own = omega + others, trace = 0, loss = 0;
    for (ptrdiff_t j = 0; j < CLIENTS; j++) {
        local_mean(f, j, j == k ? e : REFERENCE, mean);
        for (int i = 0; i < D; i++) y[i] += (j == k ? own : others) * mean[i];
    }
    for (ptrdiff_t r = 0; r < data->rows; r++) {
        double residual = -(double)data->y[r];
        for (int i = 0; i < D; i++) {
            residual += (double)data->x[r * D + i] * y[i];
            trace += (double)data->x[r * D + i] * (double)data->x[r * D + i];
        }
        loss += 0.5 * residual * residual;
    }
    double variance = 2 * TAU * (own * own * e + (CLIENTS - 1) * others * others * REFERENCE);
    return loss + 0.5 * trace * variance;
}

typedef struct moments {
    double sum, squares;
    int count;
} moments;

static void add(moments *m, double x) {
    m->sum += x;
    m->squares += x * x;
    m->count++;
}

static double mean_of(const moments *m) {
    return m->sum / m->count;
}

static double error_of(const moments *m) {
    double mean = mean_of(m);
    return sqrt(fmax(0, m->squares / m->count - mean * mean) / (m->count - 1));
}

/* Losses and paired differences lie within 4.5 standard errors of their expectation: 14 numbers a personalisation, a chance of
 * 1e-4. The seed of the fixture is fixed. */
static void test_quadratic_losses_are_those_of_theory(void **state) {
    const double personalisation[] = {0, 0.5, 1};
    mfpg_action action[ACTIONS];
    (void)state;
    list_strengths(action);
    fixture f;
    open_quadratic(1, REFERENCE, &f);
    for (int r = 0; r < 2; r++) fixture_round(&f);
    for (int o = 0; o < 3; o++) {
        moments at[ACTIONS] = {0}, difference[ACTIONS] = {0};
        double expected[ACTIONS] = {0};
        for (int j = 0; j < ACTIONS; j++)
            for (ptrdiff_t k = 0; k < CLIENTS; k++)
                expected[j] += expected_loss(&f, k, STRENGTHS[j], personalisation[o]) / CLIENTS;
        for (int d = 0; d < 1500; d++) {
            double loss[CLIENTS * ACTIONS], mean[ACTIONS] = {0};
            CHECK_OK(f.ctx, mfpg_federation_own_losses(
                                f.ctx, f.federation, action, ACTIONS, personalisation[o], d, loss));
            for (int i = 0; i < CLIENTS * ACTIONS; i++) mean[i % ACTIONS] += loss[i] / CLIENTS;
            for (int j = 0; j < ACTIONS; j++) {
                add(&at[j], mean[j]);
                add(&difference[j], mean[j] - mean[0]);
            }
        }
        for (int j = 0; j < ACTIONS; j++)
            check_near(mean_of(&at[j]), expected[j], 0, 4.5 * error_of(&at[j]), "loss");
        for (int j = 1; j < ACTIONS; j++) {
            check_near(mean_of(&difference[j]), expected[j] - expected[0], 0, 4.5 * error_of(&difference[j]),
                "difference of two strengths");
            double apart = hypot(error_of(&at[j]), error_of(&at[0]));
            assert_true(error_of(&difference[j]) < apart); /* what common random numbers are for */
        }
    }
    fixture_close(&f);
}

/* From w = 0 nothing decays, and the losses are a line in e: slope (tr A'A/2) (omega + (1 - omega)/N)^2 2 tau. */
static void test_from_zero_the_slope_is_the_own_cost(void **state) {
    (void)state;
    fixture f;
    open_quadratic(1, REFERENCE, &f);
    double slope = (expected_loss(&f, 0, 3, 0.5) - expected_loss(&f, 0, 1, 0.5)) / 2, trace = 0;
    const mfpg_dataset *data = &f.data->client[0].train;
    for (ptrdiff_t i = 0; i < data->rows * D; i++) trace += (double)data->x[i] * (double)data->x[i];
    check_near(slope, trace / 2 * 0.6 * 0.6 * 2 * TAU, 1e-10, 0, "h d/2 (omega + (1 - omega)/N)^2 2 tau");
    fixture_close(&f);
}

/* With omega 1 a client deploys its own update, whatever the others do; with omega 0 all of them deploy the average. */
static void test_personalisation_mixes_the_two_models(void **state) {
    mfpg_action action[ACTIONS];
    double one[CLIENTS * ACTIONS], again[CLIENTS * ACTIONS], zero[CLIENTS * ACTIONS];
    (void)state;
    list_strengths(action);
    fixture f, g;
    open_quadratic(1, REFERENCE, &f);
    open_quadratic(1, 7, &g);
    CHECK_OK(f.ctx, mfpg_federation_own_losses(f.ctx, f.federation, action, ACTIONS, 1, 3, one));
    CHECK_OK(g.ctx, mfpg_federation_own_losses(g.ctx, g.federation, action, ACTIONS, 1, 3, again));
    /* the average comes in and goes out again, in floats of models of size 1 */
    for (int j = 0; j < ACTIONS; j++) check_near(one[j], again[j], 1e-5, 1e-5, "omega 1");
    CHECK_OK(f.ctx, mfpg_federation_own_losses(f.ctx, f.federation, action, ACTIONS, 0, 3, zero));
    CHECK_OK(g.ctx, mfpg_federation_own_losses(g.ctx, g.federation, action, ACTIONS, 0, 3, again));
    assert_true(fabs(zero[0] - again[0]) > 1e-4 * fabs(zero[0])); /* the others' noise is felt */
    fixture_close(&f);
    fixture_close(&g);
}

/* Measuring leaves no trace in the run, and one and three threads give the same bits. */
static void test_a_run_does_not_notice(void **state) {
    mfpg_action action[ACTIONS];
    double one[CLIENTS * ACTIONS], three[CLIENTS * ACTIONS], other[CLIENTS * ACTIONS];
    (void)state;
    list_strengths(action);
    fixture f, g;
    open_quadratic(1, REFERENCE, &f);
    open_quadratic(3, REFERENCE, &g);
    for (int r = 0; r < 4; r++) {
        CHECK_OK(f.ctx, mfpg_federation_own_losses(f.ctx, f.federation, action, ACTIONS, 0.5, r, one));
        if (r == 3) {
            CHECK_OK(g.ctx, mfpg_federation_own_losses(g.ctx, g.federation, action, ACTIONS, 0.5, r, three));
            assert_memory_equal(one, three, sizeof one);
            CHECK_OK(f.ctx, mfpg_federation_own_losses(f.ctx, f.federation, action, ACTIONS, 0.5, 9, other));
            assert_true(one[0] != other[0]); /* another draw */
        }
        mfpg_round_report a = fixture_round(&f), b = fixture_round(&g);
        assert_true(a.epsilon == b.epsilon);
    }
    assert_memory_equal(
        mfpg_federation_model(f.federation), mfpg_federation_model(g.federation), D * sizeof(float));
    fixture_close(&f);
    fixture_close(&g);
}

static void test_what_cannot_be_measured_is_refused(void **state) {
    mfpg_action action[2] = {strength(1), {.control = MFPG_CONTROL_BUDGET, .budget = {1}}};
    double loss[2 * CLIENTS];
    (void)state;
    fixture f;
    open_quadratic(1, REFERENCE, &f);
    assert_int_equal(
        mfpg_federation_own_losses(f.ctx, f.federation, action, 2, 0.5, 0, loss), MFPG_ERR_DOMAIN);
    action[1] = strength(1e9); /* an unstable step */
    assert_int_equal(
        mfpg_federation_own_losses(f.ctx, f.federation, action, 2, 0.5, 0, loss), MFPG_ERR_DOMAIN);
    assert_non_null(strstr(mfpg_context_message(f.ctx), "unstable"));
    assert_int_equal(
        mfpg_federation_own_losses(f.ctx, f.federation, action, 1, NAN, 0, loss), MFPG_ERR_DOMAIN);
    assert_int_equal(
        mfpg_federation_own_losses(f.ctx, f.federation, action, 1, 1.5, 0, loss), MFPG_ERR_DOMAIN);
    assert_int_equal(
        mfpg_federation_own_losses(f.ctx, f.federation, action, 1, 0.5, -1, loss), MFPG_ERR_DOMAIN);
    assert_int_equal(
        mfpg_federation_own_losses(f.ctx, f.federation, action, 0, 0.5, 0, loss), MFPG_ERR_DOMAIN);
    fixture_close(&f);
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.kind = "input";
    f = fixture_open(
        1, "quadratic", 2, ROWS, &o, (mfpg_action){.control = MFPG_CONTROL_BUDGET, .budget = {1}});
    f.options.accountant = "data-particles";
    CHECK_OK(f.ctx, fixture_start(&f));
    assert_int_equal(
        mfpg_federation_own_losses(f.ctx, f.federation, f.action, 1, 0.5, 0, loss), MFPG_ERR_INPUT);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quadratic_losses_are_those_of_theory),
        cmocka_unit_test(test_from_zero_the_slope_is_the_own_cost),
        cmocka_unit_test(test_personalisation_mixes_the_two_models),
        cmocka_unit_test(test_a_run_does_not_notice),
        cmocka_unit_test(test_what_cannot_be_measured_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
