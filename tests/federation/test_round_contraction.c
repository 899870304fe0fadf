/* Rounds that nobody sees (theory S2.4): what a plan says of them against the exact law of federated averaging, and when
 * they are not hidden. */
#include "federation/fixture.h"

#include "accountants/fixture.h"

enum { CLIENTS = 4, ROWS = 20 };

static mfpg_mechanism_options entropic_options(void) {
    mfpg_mechanism_options o = mfpg_mechanism_options_default();
    o.kind = "entropic";
    o.promise = (mfpg_promise){MFPG_UNIT_EXAMPLE, MFPG_ADJACENCY_ZERO_OUT, MFPG_VIEW_FINAL};
    o.sum_rounding = 1e-7; /* enough for the logistic model */
    return o;
}

static fixture hidden_fixture(const mfpg_mechanism_options *o, mfpg_action action, double smoothness) {
    fixture f = fixture_open(1, "logistic", CLIENTS, ROWS, o, action);
    f.options.accountant = "hidden-state";
    f.options.hidden = MFPG_HIDDEN_GLM;
    f.options.hidden_smoothness = smoothness;
    return f;
}

static mfpg_action strength(double value) {
    return (mfpg_action){.control = MFPG_CONTROL_STRENGTH, .strength = {value}};
}

static double certified_mu(fixture *f, const mfpg_release *release, int64_t rounds) {
    mfpg_accountant_options options = mfpg_accountant_options_default();
    mfpg_accountant *accountant = NULL;
    options.promise = f->options.promise;
    CHECK_OK(f->ctx, mfpg_accountant_create(f->ctx, "hidden-state", &options, &accountant));
    CHECK_OK(f->ctx, mfpg_accountant_record_times(f->ctx, accountant, release, rounds));
    double mu = mfpg_accountant_mu(accountant);
    mfpg_accountant_destroy(accountant);
    return mu;
}

/* Federated averaging in one direction in which every loss has curvature h and which the variance penalty leaves alone:
 * mean gap and variance of the global model, local step by local step, noise and all. Client k's gradient moves by
 * the whole sensitivity. */
static double exact_mu(
    const mfpg_release *plan, const mfpg_mechanism_options *o, ptrdiff_t k, double h, int rounds) {
    double gap = 0.0, variance = 0.0;
    for (int t = 0; t < rounds; t++) {
        double kept = 0.0, moved = 0.0, noise = 0.0;
        for (ptrdiff_t j = 0; j < CLIENTS; j++) {
            double e = plan[j].noise_sd * plan[j].noise_sd / (2.0 * o->step);
            double a = 1.0 - o->step * (h + e / o->prior_variance), power = 1.0, blur = 0.0, shift = 0.0;
            for (int64_t i = 0; i < plan[j].steps; i++) {
                blur = a * a * blur + plan[j].noise_sd * plan[j].noise_sd;
                shift = a * shift + (j == k ? plan[j].sensitivity : 0.0);
                power *= a;
            }
            kept += plan[j].weight * power;
            moved += plan[j].weight * shift;
            noise += plan[j].weight * plan[j].weight * blur;
        }
        gap = kept * gap + moved;
        variance = kept * kept * variance + noise;
    }
    return gap / sqrt(variance);
}

static void test_exact_laws_of_averaging_stay_below(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    double nearest = 0.0;
    for (int run = 0; run < testing_repeats(150); run++) {
        mfpg_mechanism_options o = entropic_options();
        double smoothness = random_scale(&random, 0.05, 2);
        o.step = random_scale(&random, 0.02, 0.4);
        o.prior_variance = random_scale(&random, 0.3, 3);
        o.variance_penalty = random_unit(&random) < 0.5 ? 0.0 : 0.2;
        o.local_steps = 1 + (int64_t)(4 * random_unit(&random));
        fixture f = hidden_fixture(&o, strength(1.0), smoothness);
        mfpg_release plan[CLIENTS];
        for (int k = 0; k < CLIENTS; k++) f.action[k] = strength(random_scale(&random, 0.02, 1.5));
        f.options.weights = run % 2 ? MFPG_WEIGHTS_EQUAL : MFPG_WEIGHTS_INVERSE_NOISE;
        CHECK_OK(f.ctx, fixture_plan(&f, plan));
        int rounds = 1 + (int)(150 * random_unit(&random) * random_unit(&random));
        for (ptrdiff_t k = 0; k < CLIENTS; k++) {
            double bound = certified_mu(&f, &plan[k], rounds), composed = 0.0;
            for (int end = 0; end < 2; end++) {
                double exact = exact_mu(plan, &o, k, end * smoothness, rounds);
                assert_true(exact <= bound);
                nearest = fmax(nearest, exact / bound);
            }
            composed = sqrt(rounds) * mfpg_release_mu(&plan[k], MFPG_ADJACENCY_ZERO_OUT);
            assert_true(bound <= composed * (1 + 1e-12));
        }
        fixture_close(&f);
    }
    assert_true(nearest > 0.999); /* one local step, curvature 0: the bound is the truth */
}

/* Closed form: equal clients, one local step. c = |1 - tau kappa|, Delta = tau C/n, s = sqrt(N) sqrt(2 e tau). */
static void test_a_run_is_certified_by_its_contraction(void **state) {
    (void)state;
    enum { ROUNDS = 12 };
    mfpg_mechanism_options o = entropic_options();
    fixture f = hidden_fixture(&o, strength(1.0), 1.0);
    f.options.rounds = ROUNDS;
    CHECK_OK(f.ctx, fixture_start(&f));
    double rows = (double)f.data->client[0].train.rows, c = 0.9, power = pow(c, ROUNDS);
    double one = 0.1 / rows / sqrt(CLIENTS * 0.2);
    for (int t = 0; t < ROUNDS; t++) fixture_round(&f);
    mfpg_client_report report;
    CHECK_OK(f.ctx, mfpg_federation_client(f.ctx, f.federation, 2, &report));
    double expected = one * sqrt((1 - power) * (1 + c) / ((1 + power) * (1 - c)));
    /* c is raised by 2^-22 for coefficients of 32 bits, a tenth of a millionth of 1 - c = 0.1 each */
    check_near(report.mu, expected, 1e-5, 0, "mu");
    assert_true(report.mu >= expected);
    check_near(report.epsilon_other, mfpg_gdp_epsilon(2 * report.mu, 1e-5), 1e-9, 0, "replace");
    fixture_close(&f);
}

/* Gaussian steps shrink nothing: the price of composition, as in the average view. */
static void test_steps_without_decay_compose(void **state) {
    (void)state;
    mfpg_mechanism_options o = entropic_options();
    o.kind = "gaussian";
    mfpg_release hidden[CLIENTS], seen[CLIENTS];
    fixture f = hidden_fixture(&o, multiplier(3.0), 1.0);
    CHECK_OK(f.ctx, fixture_plan(&f, hidden));
    f.options.hidden = MFPG_HIDDEN_NONE;
    CHECK_OK(f.ctx, fixture_plan(&f, seen));
    assert_true(hidden[0].hidden_contraction >= 1.0 && seen[0].hidden_contraction == 0.0);
    assert_true(certified_mu(&f, &hidden[0], 30) == certified_mu(&f, &seen[0], 30));
    fixture_close(&f);
}

/* n local steps of c = 0.9 each keep c^n of a gap and move by (1 - c^n)/(1 - c) steps, neither less nor hardly more. */
static void test_local_steps_contract_one_by_one(void **state) {
    (void)state;
    for (int64_t n = 1; n <= 64; n *= 4) {
        mfpg_mechanism_options o = entropic_options();
        o.local_steps = n;
        mfpg_release plan[CLIENTS];
        fixture f = hidden_fixture(&o, strength(1.0), 1.0);
        CHECK_OK(f.ctx, fixture_plan(&f, plan));
        double power = pow(0.9, (double)n), shift = plan[0].sensitivity * (1 - power) / 0.1;
        assert_true(plan[0].hidden_contraction >= power && plan[0].hidden_shift >= shift);
        /* c is raised by 2^-22 for coefficients of 32 bits */
        check_near(plan[0].hidden_contraction, power, 1e-6 * (double)n, 0, "contraction");
        check_near(plan[0].hidden_shift, shift, 1e-4, 0, "shift");
        fixture_close(&f);
    }
}

/* Of a batch of rate q the gradient is divided by q n: its smoothness counts 1/q times. */
static void test_batches_count_with_their_largest_smoothness(void **state) {
    (void)state;
    mfpg_mechanism_options o = entropic_options();
    o.step = 0.4;
    o.batch_rate = 0.25;
    mfpg_release plan[CLIENTS];
    fixture f = hidden_fixture(&o, strength(1.0), 1.0);
    CHECK_OK(f.ctx, fixture_plan(&f, plan));
    /* |1 - 0.4 (1/0.25 + 1 + 0.01)| = 1.004, where full batches have |1 - 0.4| = 0.6 */
    check_near(plan[0].hidden_contraction, 1.004, 1e-6, 0, "c");
    fixture_close(&f);
}

static void refused(fixture *f, const char *part) {
    assert_int_equal(fixture_start(f), MFPG_ERR_INPUT);
    assert_null(f->federation);
    if (!strstr(mfpg_context_message(f->ctx), part))
        fail_msg("no '%s' in: %s", part, mfpg_context_message(f->ctx));
    fixture_close(f);
}

static void test_rounds_that_somebody_sees_are_refused(void **state) {
    (void)state;
    mfpg_mechanism_options o = entropic_options();
    unsigned char colluder[CLIENTS] = {0, 0, 1, 0};
    fixture f = hidden_fixture(&o, strength(1.0), 1.0);
    f.options.promise.view = MFPG_VIEW_AVERAGE;
    refused(&f, "view final");
    f = hidden_fixture(&o, strength(1.0), 1.0);
    f.options.participants = 1;
    refused(&f, "privacy.observers");
    f = hidden_fixture(&o, strength(1.0), 1.0);
    f.options.colluder = colluder;
    refused(&f, "privacy.colluders");
    f = hidden_fixture(&o, strength(1.0), 1.0);
    f.options.clients_per_round = 2;
    refused(&f, "train.clients_per_round");
    f = hidden_fixture(&o, strength(1.0), 1.0);
    f.options.client_rate = 0.5;
    refused(&f, "train.client_rate");
    f = hidden_fixture(&o, strength(1.0), 1.0);
    f.options.stop_at_epsilon = 3.0;
    refused(&f, "privacy.stop_at_epsilon");
}

static void test_steps_that_are_no_flow_are_refused(void **state) {
    (void)state;
    mfpg_mechanism_options o = entropic_options();
    o.regularisation.value = 1.0;
    fixture f = hidden_fixture(&o, strength(1.0), 1.0);
    refused(&f, "Sinkhorn");
    o = entropic_options();
    o.promise.unit = MFPG_UNIT_CLIENT;
    o.clip_at = MFPG_CLIP_UPDATE;
    f = hidden_fixture(&o, strength(1.0), 1.0);
    refused(&f, "privacy.clip_at");
    o.clip_at = MFPG_CLIP_STEP;
    f = hidden_fixture(&o, strength(1.0), 1.0);
    refused(&f, "clipped by itself"); /* case glm with the clip of a client's mean gradient */
    o = entropic_options();
    f = hidden_fixture(&o, strength(1.0), NAN);
    assert_int_equal(fixture_start(&f), MFPG_ERR_DOMAIN);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_laws_of_averaging_stay_below),
        cmocka_unit_test(test_a_run_is_certified_by_its_contraction),
        cmocka_unit_test(test_steps_without_decay_compose),
        cmocka_unit_test(test_local_steps_contract_one_by_one),
        cmocka_unit_test(test_batches_count_with_their_largest_smoothness),
        cmocka_unit_test(test_rounds_that_somebody_sees_are_refused),
        cmocka_unit_test(test_steps_that_are_no_flow_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
