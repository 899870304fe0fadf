/* Audits of the library's own federations: they stand, and what is found is what is promised where the promise is tight. The
 * table of mechanism, unit, adjacency and view is in test_matrix.c. */
#include "audit/fixture.h"
#include "mechanisms/mechanism_ops.h"

#include "numerics/special/normal.h"
#include "base/release_parts.h"

static const mfpg_promise promises[] = {
    {MFPG_UNIT_CLIENT, MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_LOCAL},
    {MFPG_UNIT_CLIENT, MFPG_ADJACENCY_REPLACE, MFPG_VIEW_LOCAL},
    {MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_LOCAL},
    {MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_REPLACE, MFPG_VIEW_LOCAL},
    {MFPG_UNIT_CLIENT, MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_AVERAGE},
    {MFPG_UNIT_CLIENT, MFPG_ADJACENCY_REPLACE, MFPG_VIEW_AVERAGE},
    {MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_AVERAGE},
    {MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_REPLACE, MFPG_VIEW_AVERAGE},
    {MFPG_UNIT_CLIENT, MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_FINAL},
    {MFPG_UNIT_CLIENT, MFPG_ADJACENCY_REPLACE, MFPG_VIEW_FINAL},
    {MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_FINAL},
    {MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_REPLACE, MFPG_VIEW_FINAL},
};

static void complain(const subject *s, const mfpg_audit_client *c, const char *what) {
    print_error("seed %llu, %s, %s %s %s: mu %.4f, proved %.4f (%s, %s), estimate %.4f, auc %.4f; epsilon "
                "%.3f, direct %.3f; round %.4f, %.4f; cap %.4f, %.4f; stands %d\n",
        (unsigned long long)testing_seed(), what, mfpg_unit_name(s->options.promise.unit),
        mfpg_adjacency_name(s->options.promise.adjacency), mfpg_view_name(s->options.promise.view), c->mu,
        c->mu_lower, mfpg_audit_route_name(c->route), mfpg_audit_pattern_name(c->pattern), c->mu_estimate,
        c->auc, c->epsilon, c->epsilon_lower_direct, c->round_mu, c->round_mu_lower, c->auc_cap, c->auc_lower,
        c->stands);
    fail();
}

/* The fitted mu of n runs an arm has a standard error of about sqrt(2/n + mu^2/(4n)). tight 1: it is the promised one, within
 * five of them; else not above it. The proof is below the promise, and not far below the fit. */
static void check_clients(const subject *s, int tight, const char *what) {
    for (ptrdiff_t k = 0; k < s->data->clients; k++) {
        const mfpg_audit_client *c = &s->client[k];
        double error = 5.0 * sqrt((4.0 + 0.5 * c->mu * c->mu) / (double)s->audit.runs);
        if (!c->stands || c->mu_lower > c->mu || c->mu_lower > c->mu_estimate + error) complain(s, c, what);
        if (c->mu_estimate > c->mu + error) complain(s, c, what);
        if (tight && c->mu_estimate < c->mu - error) complain(s, c, what);
        if (tight && c->mu > 2.0 * error && !(c->mu_lower > c->mu - 2.0 * error)) complain(s, c, what);
        if (c->epsilon_lower > c->epsilon || c->epsilon_lower_direct > c->epsilon) complain(s, c, what);
    }
}

/* The paper's numbers: mu of T rounds of an entropic step of strength e is S sqrt(T tau/(2 e)); here 2 sqrt(10 0.1/2) = 1.4142. */
static void test_paper_settings_are_nearly_proved(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("entropic", promises[1]);
    subject s = subject_open(1, 1, 10, "logistic", &o, 1.0);
    s.action[0] = (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {1.0}};
    s.audit.runs = 4000;
    CHECK_OK(s.ctx, subject_audit(&s));
    check_near(s.client[0].mu, sqrt(2.0), 1e-6, 0, "mu");
    check_clients(&s, 1, "paper");
    assert_true(s.client[0].mu_lower >= 0.8 * s.client[0].mu);
    assert_true(s.client[0].round_mu_lower >= 0.5 * s.client[0].round_mu);
    check_near(s.client[0].epsilon_lower, mfpg_gdp_epsilon(s.client[0].mu_lower, 1e-5), 1e-6, 0, "epsilon");
    subject_close(&s);
}

/* The same mu in few rounds and in many: what looks like a round without noise by chance, once in many of them, drowns nothing. */
static void test_many_rounds_hide_nothing(void **state) {
    (void)state;
    const int64_t rounds[] = {3, 300};
    for (int i = 0; i < 2; i++) {
        mfpg_mechanism_options o = kind_options("gaussian", promises[1]);
        subject s = subject_open(1, 1, rounds[i], "logistic", &o, 2.0 * sqrt((double)rounds[i]));
        s.audit.runs = 1000;
        CHECK_OK(s.ctx, subject_audit(&s));
        check_near(s.client[0].mu, 1.0, 1e-9, 0, "mu");
        check_clients(&s, 1, "rounds");
        check_near(s.client[0].auc, mfpg_normal_cdf(1 / sqrt(2.0)), 0, 5 * sqrt(1 / 3000.0), "auc");
        subject_close(&s);
    }
}

/* Several noisy steps a round, a clip of the whole update, other kinds of model, projections, unequal noise and weights; seen by
 * themselves, and in the average. The average hides the last of several steps only, and no attack is known that sees the others;
 * where states are projected, what is promised of the average is what was promised without. */
static void test_other_updates_stand(void **state) {
    (void)state;
    for (int variant = 0; variant < 12; variant++) {
        int average = variant >= 6, kind = variant % 6;
        mfpg_mechanism_options o =
            kind_options(kind == 5 ? "entropic" : "gaussian", promises[4 * average + variant % 2]);
        if (kind <= 1) o.local_steps = 3;
        if (kind == 2) {
            o.clip_at = MFPG_CLIP_UPDATE;
            o.local_steps = 2;
        }
        if (kind == 5) o.regularisation.value = 0.05;
        subject s = subject_open(1, 3, 2, kind == 3 ? "quadratic" : kind == 4 ? "mlp" : "logistic", &o, 1.0);
        s.action[1] = mfpg_mechanism_action_for(s.mechanism, 2.0, 4);
        s.options.weights = MFPG_WEIGHTS_INVERSE_NOISE;
        s.audit.runs = 200;
        CHECK_OK(s.ctx, subject_audit(&s));
        check_clients(&s, kind < 5 && !(average && kind <= 1), "update");
        assert_true(s.client[1].mu < 0.6 * s.client[0].mu);
        subject_close(&s);
    }
}

/* A client that stops where its budget ends was promised what it had released by then, and that is what is found: of five rounds,
 * the two that a budget of two and a half of them pays for. */
static void test_a_budget_that_ends_is_audited_as_it_was_spent(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("gaussian", promises[1]);
    subject s = subject_open(1, 2, 5, "logistic", &o, 1.0);
    s.options.stop_at_epsilon = mfpg_gdp_epsilon(2.0 * sqrt(2.5), s.options.delta);
    s.audit.runs = 400;
    CHECK_OK(s.ctx, subject_audit(&s));
    check_near(s.client[0].mu, 2.0 * sqrt(2.0), 1e-9, 0, "mu of two rounds");
    check_clients(&s, 1, "budget");
    subject_close(&s);
}

/* Whoever watches the average, knows its own noise, or colludes: what is promised against them is what is found. */
static void test_observers_of_the_average_find_what_is_promised(void **state) {
    (void)state;
    const unsigned char colluder[MOST_CLIENTS] = {0, 0, 1, 0};
    mfpg_mechanism_options o = kind_options("gaussian", promises[5]);
    for (int variant = 0; variant < 3; variant++) {
        subject s = subject_open(1, 4, 2, "logistic", &o, 1.0);
        s.audit.runs = 400;
        s.options.participants = variant > 0;
        s.options.colluder = variant > 1 ? colluder : NULL;
        CHECK_OK(s.ctx, subject_audit(&s));
        /* four members' noise, less the observer's, less the colluder's */
        check_near(s.client[0].mu, 2.0 * sqrt(2.0) / sqrt(4.0 - variant), 1e-6, 0, "mu");
        subject whole = s;
        if (variant ==
            2) { /* the colluder itself is granted its own noise alone, and here it is watched by another */
            assert_true(s.client[2].stands);
            s.client[2] = s.client[0];
        }
        check_clients(&s, 1, "average");
        subject_close(&whole);
    }
}

/* Poisson batches: no mu is promised, and the order of two runs is right no more often than the certificate allows. One round
 * of zero-out reaches (1-q)/2 + q Phi(mu/sqrt 2); its certificate is for both directions, joining and leaving, and admits
 * a little more. */
static void test_sampling_is_held_against_the_cap_of_its_certificate(void **state) {
    (void)state;
    for (int p = 2; p <= 3; p++) {
        mfpg_mechanism_options o = kind_options("gaussian", promises[p]);
        o.batch_rate = 0.4;
        subject s = subject_open(1, 1, 1, "logistic", &o, 0.5);
        s.options.accountant = "exact";
        s.audit.runs = 2000;
        CHECK_OK(s.ctx, subject_audit(&s));
        const mfpg_audit_client *c = &s.client[0];
        double found = 0.3 + 0.4 * mfpg_normal_cdf(2.0 / sqrt(2.0));
        assert_true(isnan(c->mu) && isnan(c->round_mu) && c->stands);
        assert_true(c->auc_cap < 0.9);
        if (p == 2) {
            assert_true(c->auc_cap >= found && c->auc_cap < found + 0.1);
            check_near(c->auc, found, 0, 0.06, "auc"); /* five standard errors of two times 1000 runs */
        }
        assert_true(c->auc_lower > 0.5 && c->auc_lower <= c->auc_cap);
        subject_close(&s);
    }
}

/* Cohorts, and a view of the last model with hidden rounds. */
static void test_cohorts_and_hidden_rounds_stand(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("gaussian", promises[1]);
    subject s = subject_open(1, 4, 3, "logistic", &o, 2.0);
    s.options.clients_per_round = 2;
    s.audit.runs = 200;
    CHECK_OK(s.ctx, subject_audit(&s));
    for (int k = 0; k < 4; k++) assert_true(s.client[k].stands);
    subject_close(&s);
    o = kind_options("entropic", promises[11]);
    s = subject_open(1, 2, 6, "logistic", &o, 1.0);
    s.options.accountant = "hidden-state";
    s.options.hidden = MFPG_HIDDEN_GLM;
    s.options.hidden_smoothness = 0.0; /* a linear loss: the promise is tight for the attack's own data */
    CHECK_OK(s.ctx, subject_audit(&s));
    check_clients(&s, 1, "hidden");
    subject_close(&s);
}

static void test_threads_and_repetition_change_nothing(void **state) {
    (void)state;
    mfpg_audit_client first[2];
    mfpg_mechanism_options o = kind_options("gaussian", promises[1]);
    for (int threads = 1; threads <= 3; threads++) {
        subject s = subject_open(threads, 2, 2, "logistic", &o, 1.0);
        s.audit.runs = 60;
        CHECK_OK(s.ctx, subject_audit(&s));
        if (threads == 1) memcpy(first, s.client, sizeof first);
        assert_memory_equal(first, s.client, sizeof first);
        s.audit.seed++;
        CHECK_OK(s.ctx, subject_audit(&s));
        assert_true(first[0].auc != s.client[0].auc);
        subject_close(&s);
    }
}

static void test_what_cannot_be_audited_is_refused(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("none", promises[0]);
    subject s = subject_open(1, 2, 2, "logistic", &o, 1.0);
    assert_int_equal(subject_audit(&s), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(s.ctx), "nothing is promised"));
    subject_close(&s);
    o = kind_options("gaussian", promises[0]);
    s = subject_open(1, 2, 2, "logistic", &o, 1.0);
    const int64_t runs[] = {0, 18, 21, -2, (int64_t)INT32_MAX + 1};
    for (int i = 0; i < 5; i++) {
        s.audit.runs = runs[i];
        assert_int_equal(subject_audit(&s), MFPG_ERR_DOMAIN);
    }
    s.audit.runs = 20;
    const double confidences[] = {0.0, 1.0, (double)NAN, 0.5};
    for (int i = 0; i < 4; i++) {
        s.audit.confidence = confidences[i];
        assert_int_equal(subject_audit(&s), MFPG_ERR_DOMAIN);
    }
    subject_close(&s);
}

static void count_calls(void *user, int64_t done, int64_t total) {
    int64_t *last = user;
    assert_true(done > *last && done <= total);
    *last = done;
}

static void test_progress_is_told_and_a_stop_is_heeded(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("gaussian", promises[1]);
    subject s = subject_open(1, 2, 2, "logistic", &o, 1.0);
    volatile int stop = 0;
    int64_t last = 0;
    s.audit.runs = 60;
    s.audit.stop = &stop;
    s.audit.progress = count_calls;
    s.audit.progress_user = &last;
    CHECK_OK(s.ctx, subject_audit(&s));
    assert_int_equal(last, 60 + 60 + 30);
    stop = 1;
    assert_int_equal(subject_audit(&s), MFPG_ERR_INTERRUPTED);
    subject_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paper_settings_are_nearly_proved),
        cmocka_unit_test(test_many_rounds_hide_nothing),
        cmocka_unit_test(test_other_updates_stand),
        cmocka_unit_test(test_a_budget_that_ends_is_audited_as_it_was_spent),
        cmocka_unit_test(test_observers_of_the_average_find_what_is_promised),
        cmocka_unit_test(test_sampling_is_held_against_the_cap_of_its_certificate),
        cmocka_unit_test(test_cohorts_and_hidden_rounds_stand),
        cmocka_unit_test(test_threads_and_repetition_change_nothing),
        cmocka_unit_test(test_what_cannot_be_audited_is_refused),
        cmocka_unit_test(test_progress_is_told_and_a_stop_is_heeded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
