/* Input canaries: rows of data under the configured model. Where the clip holds the row's gradient in every round they are as good
 * as the canary of a linear loss; where the model learns the row they prove less, and say so. */
#include "failing_memory.h"

#include "audit/faults.h"
#include "mechanisms/mechanism_ops.h"
#include "base/release_parts.h"

static const mfpg_promise replace_client = {MFPG_UNIT_CLIENT, MFPG_ADJACENCY_REPLACE, MFPG_VIEW_LOCAL};

/* 400 runs of fixture.h's four rows a client. */
static subject input_open(ptrdiff_t clients, int64_t rounds, const char *model,
    const mfpg_mechanism_options *mechanism, double multiplier) {
    subject s = subject_open(1, clients, rounds, model, mechanism, multiplier);
    s.audit.runs = 400;
    s.audit.input_canaries = 1;
    return s;
}

static void complain(const subject *s, const mfpg_audit_client *c, const char *what) {
    print_error("seed %llu, %s, %s %s %s: mu %.4f, by rows of data %.4f, fit %.4f, |g| %.3f, factor %.3f\n",
        (unsigned long long)testing_seed(), what, mfpg_unit_name(s->options.promise.unit),
        mfpg_adjacency_name(s->options.promise.adjacency), mfpg_view_name(s->options.promise.view), c->mu,
        c->input_mu_lower, c->input_mu_estimate, c->input_gradient, c->input_clip_factor);
    fail();
}

/* Five standard errors of a fitted mu. */
static double error_of(const subject *s, double mu) {
    return 5.0 * sqrt((4.0 + 0.5 * mu * mu) / (double)s->audit.runs);
}

/* Residuals by hand: sigmoid(m) for label 0, sigmoid(m) - 1 for label 1; margin - label. */
static void test_a_row_pulls_by_its_residual(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("gaussian", replace_client);
    const char *models[] = {"logistic", "linear", "quadratic"};
    for (int m = 0; m < 3; m++) {
        subject s = subject_open(1, 1, 1, models[m], &o, 1.0);
        mfpg_input_canary input;
        CHECK_OK(s.ctx, mfpg_input_canary_create(s.ctx, s.model, s.mechanism, 0.05, &input));
        for (double along = -2; along <= 2; along += 0.5) {
            double margin = input.norm * along, summed = m == 2 ? 4 : 1;
            for (int label = 0; label < 2; label++) {
                double residual =
                    m == 0 ? 1 / (1 + exp(-margin)) - label : margin - (double)input.label[label];
                double norm = fabs(residual) * input.norm * summed, moves = norm < 1 ? norm : 1;
                mfpg_input_pull pull = mfpg_input_pull_at(&input, s.mechanism, 4, label ? 1.0 : -1.0, along);
                check_near(pull.norm, norm, 1e-12, 1e-14, "norm");
                check_near(pull.factor, norm > 1 ? 1 / norm : 1, 1e-12, 0, "factor");
                check_near(pull.moves, residual < 0 ? moves : -moves, 1e-12, 1e-14, "moves");
            }
        }
        const mfpg_input_pull absent = mfpg_input_pull_at(&input, s.mechanism, 4, 0.0, 1.0);
        assert_true(absent.norm == 0 && absent.moves == 0 && absent.factor == 1);
        float w[5] = {0};
        double square = 0; /* of v, from its entries */
        for (int i = 0; i < (m == 2 ? 4 : 5); i++) {
            w[i] = 1;
            double entry = mfpg_input_project(&input, w);
            square += entry * entry;
            w[i] = 0;
        }
        check_near(square, 1, 1e-12, 0, "v is a unit vector");
        mfpg_input_canary_clear(&input);
        subject_close(&s);
    }
}

/* One round from the start: the row is clipped whatever the model, and as good as the worst case. */
static void test_one_round_is_tight_for_every_promise(void **state) {
    (void)state;
    const char *kinds[] = {"gaussian", "entropic"}, *models[] = {"logistic", "logistic", "linear"};
    for (int variant = 0; variant < 24; variant++) {
        const mfpg_promise promise = {variant / 2 % 2 ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT,
            variant / 4 % 2 ? MFPG_ADJACENCY_REPLACE : MFPG_ADJACENCY_ZERO_OUT, (mfpg_view)(variant / 8)};
        mfpg_mechanism_options o = kind_options(kinds[variant % 2], promise);
        subject s = input_open(2, 1, models[variant % 3], &o, 1.0);
        s.audit.runs = 200;
        CHECK_OK(s.ctx, subject_audit(&s));
        for (int k = 0; k < 2; k++) {
            const mfpg_audit_client *c = &s.client[k];
            if (!c->stands || c->input_mu_lower > c->mu) complain(&s, c, "stands");
            if (!(fabs(c->input_mu_estimate - c->mu) < error_of(&s, c->mu))) complain(&s, c, "tight");
            if (!(c->input_gradient > 1 && c->input_clip_factor < 1)) complain(&s, c, "clip at work");
        }
        subject_close(&s);
    }
}

/* Labels of a regression can be so far off that nothing is learnt: tight in every round, in several steps and after a clip of the
 * whole update. A logistic model learns the row: less is proved, and |g| says why. */
static void test_later_rounds_prove_less_where_the_model_learns(void **state) {
    (void)state;
    const char *models[] = {"linear", "linear", "linear", "quadratic"};
    for (int variant = 0; variant < 4; variant++) {
        mfpg_mechanism_options o = kind_options("gaussian", replace_client);
        if (variant >= 1) o.local_steps = 2;
        if (variant == 2) o.clip_at = MFPG_CLIP_UPDATE;
        subject s = input_open(1, 5, models[variant], &o, 2.0);
        CHECK_OK(s.ctx, subject_audit(&s));
        const mfpg_audit_client *c = &s.client[0];
        if (!c->stands) complain(&s, c, "regression");
        if (!(fabs(c->input_mu_estimate - c->mu) < error_of(&s, c->mu))) complain(&s, c, "regression");
        subject_close(&s);
    }
    mfpg_mechanism_options o = kind_options("gaussian", replace_client);
    o.learning_rate = 1.0;
    subject s = input_open(1, 10, "logistic", &o, 1.0);
    CHECK_OK(s.ctx, subject_audit(&s));
    const mfpg_audit_client *c = &s.client[0];
    if (!c->stands || !(c->input_mu_lower < c->mu_lower)) complain(&s, c, "learnt");
    if (!(c->input_clip_factor > 0.5 && c->input_mu_lower > 0)) complain(&s, c, "learnt");
    check_near(c->gradient_norm, 10, 0, 0, "the canary's own");
    check_near(c->clip_factor, 0.1, 1e-15, 0, "the canary's own");
    subject_close(&s);
}

/* The clip of the model's own gradients is what this canary tests and the linear loss does not. */
static void test_a_skipped_clip_is_caught(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("gaussian", replace_client), wide = o;
    subject s = input_open(1, 1, "logistic", &o, 4);
    mfpg_mechanism *other = NULL;
    mfpg_model *canary = NULL;
    mfpg_audit_law law[1];
    wide.clip = 100;
    CHECK_OK(s.ctx, mfpg_mechanism_create(s.ctx, &wide, &other));
    const mfpg_mechanism *others[] = {other};
    const mfpg_action action[] = {mfpg_mechanism_action_for(other, 4.0 / 100, 4)};
    plant p = {FAULT_OTHER_MECHANISM, others, action};
    const mfpg_audit_promise promise = promise_of(4, 1, MFPG_ADJACENCY_REPLACE);
    s.options.evaluate = MFPG_EVALUATE_NONE;
    CHECK_OK(s.ctx, mfpg_canary_model_create(s.ctx, s.model, &canary));
    mfpg_audit_game game = {.options = &s.audit,
        .federation = &s.options,
        .data = s.data,
        .model = canary,
        .configured = s.model,
        .mechanism = s.mechanisms,
        .action = s.action,
        .law = law,
        .excess = 1, /* the linear loss alone would not tell */
        .clients = 1,
        .rounds = 1,
        .delta = 1e-5,
        .play = play_fault,
        .play_arg = &p};
    CHECK_OK(s.ctx, mfpg_audit_laws(s.ctx, &game, law));
    CHECK_OK(s.ctx, mfpg_audit_run(s.ctx, &game, &promise, s.client, &s.plan));
    if (s.client[0].stands || !(s.client[0].input_mu_lower > 2 * promise.mu) ||
        s.client[0].mu_lower > promise.mu)
        complain(&s, &s.client[0], "no clip");
    mfpg_model_destroy(canary);
    mfpg_mechanism_destroy(other);
    subject_close(&s);
}

static void test_sampling_and_cohorts_stand(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("gaussian", replace_client);
    o.promise.unit = MFPG_UNIT_EXAMPLE;
    o.batch_rate = 0.5;
    subject s = input_open(2, 3, "logistic", &o, 1.0);
    s.options.accountant = "pld";
    CHECK_OK(s.ctx, subject_audit(&s));
    for (int k = 0; k < 2; k++) assert_true(s.client[k].stands && s.client[k].input_mu_estimate > 0.1);
    subject_close(&s);
    o = kind_options("gaussian", replace_client);
    s = input_open(3, 3, "logistic", &o, 1.0);
    s.options.clients_per_round = 1;
    CHECK_OK(s.ctx, subject_audit(&s));
    for (int k = 0; k < 3; k++) assert_true(s.client[k].stands);
    subject_close(&s);
}

static void test_threads_change_nothing_and_the_others_are_as_without(void **state) {
    (void)state;
    mfpg_audit_client first[2];
    mfpg_mechanism_options o = kind_options("gaussian", replace_client);
    for (int threads = 1; threads <= 3; threads++) {
        subject s = subject_open(threads, 2, 2, "logistic", &o, 1.0);
        s.audit.runs = 60;
        s.audit.input_canaries = 1;
        CHECK_OK(s.ctx, subject_audit(&s));
        if (threads == 1) memcpy(first, s.client, sizeof first);
        assert_memory_equal(first, s.client, sizeof first);
        assert_int_equal(s.plan.patterns, 4);
        s.audit.input_canaries = 0;
        CHECK_OK(s.ctx, subject_audit(&s));
        assert_true(isnan(s.client[0].input_mu_lower) && isnan(s.client[0].input_gradient));
        assert_true(s.client[0].auc == first[0].auc); /* of the same runs */
        subject_close(&s);
    }
}

static void test_what_has_no_such_rows_is_refused(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("gaussian", replace_client);
    subject s = input_open(1, 1, "mlp", &o, 1.0);
    assert_int_equal(subject_audit(&s), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(s.ctx), "model mlp is not one"));
    s.audit.method = MFPG_AUDIT_FEW_RUNS;
    assert_int_equal(subject_audit(&s), MFPG_ERR_DOMAIN);
    subject_close(&s);
}

static mfpg_status audit_once(void *arg) {
    return subject_audit(arg);
}

static void test_an_audit_survives_every_failing_allocation(void **state) {
    (void)state;
    mfpg_mechanism_options o = kind_options("gaussian", replace_client);
    subject s = input_open(2, 1, "logistic", &o, 1.0);
    s.audit.runs = 20;
    assert_true(sweep_allocations(audit_once, &s) > 20);
    subject_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_row_pulls_by_its_residual),
        cmocka_unit_test(test_one_round_is_tight_for_every_promise),
        cmocka_unit_test(test_later_rounds_prove_less_where_the_model_learns),
        cmocka_unit_test(test_a_skipped_clip_is_caught),
        cmocka_unit_test(test_sampling_and_cohorts_stand),
        cmocka_unit_test(test_threads_change_nothing_and_the_others_are_as_without),
        cmocka_unit_test(test_what_has_no_such_rows_is_refused),
        cmocka_unit_test(test_an_audit_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
