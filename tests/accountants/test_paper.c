#include "accountants/fixture.h"

static mfpg_paper_bound bound_of(double d, double n, double alpha, double g) {
    return (mfpg_paper_bound){.dimension = d,
        .clients = n,
        .alpha = alpha,
        .variance_penalty = 0.01,
        .gradient_norm = g,
        .step = 0.1};
}

/* Rows of kind lsi_paper_raw, rel 1e-9. */
static void test_raw_bound_meets_the_reference_rows(void **state) {
    (void)state;
    const struct {
        double d, n, alpha, e, g, rounds, delta;
    } rows[] = {
        {1, 5, 1, 2.0, 1.0, 10, 0.272608397164},    /* T046 */
        {1, 5, 1, 2.0, 1.0, 100, 0.00316779677556}, /* T047 */
        {5, 5, 1, 2.0, 1.0, 10, 0.609570907296},    /* T049 */
        {21, 8, 1, 2.0, 1.0, 15, 0.771082773946},   /* T050 */
        {1000, 10, 1, 2.0, 1.0, 20, 1.17502866906}, /* T052 */
        {5, 5, 4, 0.5, 0.5, 10, 0.47473429994},     /* T053 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mfpg_paper_bound bound = bound_of(rows[i].d, rows[i].n, rows[i].alpha, rows[i].g);
        check_near(
            mfpg_paper_lsi_delta(&bound, rows[i].e, rows[i].rounds), rows[i].delta, 1e-9, 0, "raw bound");
    }
}

/* Table 1 of the paper: MFEP .0909, .1013, .1506 by the envelope (rows of kind lsi_paper_fallback), MFPG .6096 by the
 * bound and 1.0 by the clamp. Both switches act alone. */
static void test_envelope_and_clamp_switch_separately(void **state) {
    (void)state;
    mfpg_paper_bound quadratic = bound_of(5, 5, 1, 1), logistic = bound_of(21, 8, 1, 1),
                     images = bound_of(109386, 10, 1, 1);
    quadratic.envelope = logistic.envelope = images.envelope = 1;
    check_near(mfpg_paper_lsi_delta(&quadratic, 1, 10), 1.0 / 11, 1e-15, 0, ".0909");
    check_near(mfpg_paper_lsi_delta(&logistic, 1, 15), 0.101261573413, 1e-9, 0, "T055");
    check_near(mfpg_paper_lsi_delta(&images, 1, 20), 0.150584650484, 1e-9, 0, "T056");
    check_near(
        mfpg_paper_lsi_delta(&quadratic, 2, 10), 0.6096, 0, 5e-5, "MFPG quadratic: active, no envelope");
    check_near(mfpg_paper_lsi_delta(&images, 2, 20), 1.175, 0, 5e-4, "MFPG images, not clamped");
    images.clamp = 1;
    assert_true(mfpg_paper_lsi_delta(&images, 2, 20) == 1.0);
    images.envelope = 0; /* strength 1 is inactive: the raw bound exceeds 1, and the clamp alone cuts it */
    assert_true(mfpg_paper_lsi_delta(&images, 1, 20) == 1.0);
    images.clamp = 0;
    check_near(mfpg_paper_lsi_delta(&images, 1, 20), sqrt(10.0) * exp(0.01), 1e-14, 0, "neither");
}

/* Without a variance penalty, and without a gradient, the bound is what is left of the formula. */
static void test_constants_that_may_be_zero_are_left_out(void **state) {
    (void)state;
    mfpg_paper_bound bound = bound_of(4, 16, 2, 0);
    bound.variance_penalty = 0;
    check_near(
        mfpg_paper_lsi_delta(&bound, 1.5, 10), 0.5 * exp(-1.5), 1e-14, 0, "C/sqrt N e^(-alpha e K tau/2)");
    double *needed[] = {&bound.dimension, &bound.clients, &bound.alpha, &bound.step};
    for (int i = 0; i < 4; i++) {
        double value = *needed[i];
        *needed[i] = 0;
        assert_true(mfpg_paper_lsi_delta(&bound, 1.5, 10) == HUGE_VAL);
        *needed[i] = value;
    }
}

/* Rows of kind lsi_first_violation_K: from this K on the exact total variation exceeds what the paper promises. */
static void test_exact_law_violates_the_bound_from_a_known_round_on(void **state) {
    (void)state;
    const linear_run set_a = {0.1, 2.0, 1.0, 0.0, 0.01, 1, 0.4}, set_b = {0.1, 2.0, 1.0, 1.0, 0.01, 1, 0.2};
    const linear_run *runs[] = {&set_a, &set_b};
    const int expected[] = {36, 55}; /* T058, T059 */
    mfpg_paper_bound bound = bound_of(1, 5, 1, 1);
    for (int i = 0; i < 2; i++) {
        int first = 1;
        while (mfpg_gdp_delta(exact_mu_of(runs[i], first), 0.0) <= mfpg_paper_lsi_delta(&bound, 2.0, first))
            first++;
        assert_int_equal(first, expected[i]);
    }
    /* S1.3: at K = 1000 the bound is 1.4e-22 and the truth .0757. */
    check_near(mfpg_paper_lsi_delta(&bound, 2.0, 1000), 1.42213e-22, 1e-5, 0, "bound at K 1000");
    check_near(mfpg_gdp_delta(exact_mu_of(&set_a, 1000), 0.0), 0.0757477, 1e-6, 0, "truth at K 1000");
}

static void test_bound_refuses_what_is_no_number(void **state) {
    (void)state;
    mfpg_paper_bound good = bound_of(5, 5, 1, 1), bad = good;
    good.clamp = bad.clamp = 1;
    assert_true(mfpg_paper_lsi_delta(&good, NAN, 10) == HUGE_VAL);
    assert_true(mfpg_paper_lsi_delta(&good, -1, 10) == HUGE_VAL);
    assert_true(mfpg_paper_lsi_delta(&good, 1, NAN) == HUGE_VAL);
    bad.clients = 0;
    assert_true(mfpg_paper_lsi_delta(&bad, 1, 10) == HUGE_VAL);
    bad = good;
    bad.gradient_norm = NAN;
    assert_true(mfpg_paper_lsi_delta(&bad, 1, 10) == HUGE_VAL);
}

/* Noise multiplier 4.8448 (classical, budget 1): T/z^2 + ln(1e5) = 11.94, 12.15, 12.37 for T = 10, 15, 20. */
static void test_paper_rdp_prints_the_papers_dp_sgd_column(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_accountant *accountant = NULL;
    CHECK_OK(ctx, mfpg_accountant_create(ctx, "paper_rdp", NULL, &accountant));
    assert_false(mfpg_accountant_certifies(accountant));
    double multiplier = sqrt(2.0 * log(1.25 / 1e-5)), epsilon, delta;
    mfpg_release release = release_of(0.01, 0.01 * multiplier); /* weight units: z is the quotient */
    for (int t = 1; t <= 20; t++) {
        CHECK_OK(ctx, mfpg_accountant_record(ctx, accountant, &release));
        CHECK_OK(ctx, mfpg_accountant_epsilon(ctx, accountant, 1e-5, &epsilon));
        check_near(epsilon, t / (multiplier * multiplier) + log(1e5), 1e-13, 0, "the formula");
        if (t == 10) check_near(epsilon, 11.94, 0, 0.005, "T 10");
        if (t == 15) check_near(epsilon, 12.15, 0, 0.005, "T 15");
        if (t == 20) check_near(epsilon, 12.365, 0, 0.0005, "T 20"); /* 12.36 or 12.37, as one rounds */
    }
    release.steps = 4; /* a release counts as often as it has steps, and as often as it is recorded */
    CHECK_OK(ctx, mfpg_accountant_record_times(ctx, accountant, &release, 5));
    CHECK_OK(ctx, mfpg_accountant_epsilon(ctx, accountant, 1e-5, &epsilon));
    check_near(epsilon, 40 / (multiplier * multiplier) + log(1e5), 1e-13, 0, "20 steps more");
    CHECK_OK(ctx, mfpg_accountant_delta(ctx, accountant, 1.0, &delta));
    assert_true(delta == HUGE_VAL); /* its delta is the target, it has none of its own */
    assert_true(mfpg_accountant_mu(accountant) == HUGE_VAL);
    mfpg_accountant_destroy(accountant);
    mfpg_context_destroy(ctx);
}

static void test_paper_lsi_takes_latest_strength_and_all_steps(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_accountant *accountant = NULL;
    mfpg_accountant_options options = mfpg_accountant_options_default();
    options.paper.clamp = options.paper.envelope = 0;
    CHECK_OK(ctx, mfpg_accountant_create(ctx, "paper_lsi", &options, &accountant));
    assert_false(mfpg_accountant_certifies(accountant));
    mfpg_release release = entropic_release(0.1, 0.4, 1.5);
    double epsilon, delta;
    release.steps = 4;
    CHECK_OK(ctx, mfpg_accountant_record(ctx, accountant, &release));
    release.action.strength.value = 2.0;
    release.steps = 6;
    CHECK_OK(ctx, mfpg_accountant_record(ctx, accountant, &release));
    CHECK_OK(ctx, mfpg_accountant_epsilon(ctx, accountant, 1e-5, &epsilon));
    CHECK_OK(ctx, mfpg_accountant_delta(ctx, accountant, epsilon, &delta));
    assert_true(epsilon == 2.0);
    check_near(delta, 0.609570907296, 1e-9, 0, "T049: d 5, N 5, K 10, strength 2");
    mfpg_accountant_destroy(accountant);
    mfpg_context_destroy(ctx);
}

static void test_paper_lsi_refuses_budgets_and_constants_that_are_none(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_accountant *accountant = NULL;
    mfpg_accountant_options options = mfpg_accountant_options_default();
    options.paper.step = NAN;
    assert_int_equal(mfpg_accountant_create(ctx, "paper_lsi", &options, &accountant), MFPG_ERR_DOMAIN);
    assert_null(accountant);
    CHECK_OK(ctx, mfpg_accountant_create(ctx, "paper_lsi", NULL, &accountant));
    mfpg_release release = release_of(0.1, 0.4);
    release.action = (mfpg_action){.control = MFPG_CONTROL_BUDGET, .budget = {1.0}};
    double epsilon;
    assert_int_equal(mfpg_accountant_record(ctx, accountant, &release), MFPG_ERR_INPUT);
    CHECK_OK(ctx, mfpg_accountant_epsilon(ctx, accountant, 1e-5, &epsilon));
    assert_true(epsilon == HUGE_VAL);
    mfpg_accountant_destroy(accountant);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_raw_bound_meets_the_reference_rows),
        cmocka_unit_test(test_envelope_and_clamp_switch_separately),
        cmocka_unit_test(test_constants_that_may_be_zero_are_left_out),
        cmocka_unit_test(test_exact_law_violates_the_bound_from_a_known_round_on),
        cmocka_unit_test(test_bound_refuses_what_is_no_number),
        cmocka_unit_test(test_paper_rdp_prints_the_papers_dp_sgd_column),
        cmocka_unit_test(test_paper_lsi_takes_latest_strength_and_all_steps),
        cmocka_unit_test(test_paper_lsi_refuses_budgets_and_constants_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
