/* Filters and odometer: reference rows, decisions against exact integer arithmetic, budgets against the conversions. */
#include "accountants/accounting.h"
#include "accountants/fixture.h"

#include "mfpg/filter.h"

static mfpg_filter filter_of(mfpg_context *ctx, mfpg_filter_kind kind, double budget) {
    mfpg_filter filter;
    CHECK_OK(ctx, mfpg_filter_start_budget(ctx, kind, budget, &filter));
    return filter;
}

/* Steps admitted from the front of the list, as gdp_filter rows count them: the first that is not ends it. */
static int spend_all(mfpg_filter *filter, const double *mu, int count) {
    int admitted = 0;
    while (admitted < count && mfpg_filter_spend(filter, mu[admitted])) admitted++;
    return admitted;
}

/* ---- reference rows of theory S4: number of steps admitted and mu spent ---- */

static void test_reference_rows(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const double five[] = {0.3, 0.4, 0.5, 0.2, 0.6}; /* T223 */
    mfpg_filter filter = filter_of(ctx, MFPG_FILTER_GDP, 0.8);
    assert_int_equal(spend_all(&filter, five, 5), 4);
    check_near(mfpg_filter_spent(&filter), 0.734846922835, 1e-9, 0, "T223");
    double tenths[30]; /* T224 */
    for (int i = 0; i < 30; i++) tenths[i] = 0.1;
    filter = filter_of(ctx, MFPG_FILTER_GDP, 0.51);
    assert_int_equal(spend_all(&filter, tenths, 30), 26);
    check_near(mfpg_filter_spent(&filter), 0.509901951359, 1e-9, 0, "T224");
    mfpg_context_destroy(ctx);
}

/* ---- the boundary ---- */

/* The double nearest to 0.1 is above it, so 25 of its squares are above 0.25 by 1e-17: one too many. 24 fit, and so do
 * 100 of 0.125 within 1.25, which is the boundary to the last bit. */
static void test_the_boundary_itself_is_admitted_and_nothing_beyond(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    double step[101];
    for (int i = 0; i < 101; i++) step[i] = 0.1;
    mfpg_filter filter = filter_of(ctx, MFPG_FILTER_GDP, 0.5);
    assert_int_equal(spend_all(&filter, step, 101), 24);
    for (int i = 0; i < 101; i++) step[i] = 0.125;
    filter = filter_of(ctx, MFPG_FILTER_GDP, 1.25);
    assert_int_equal(spend_all(&filter, step, 101), 100);
    assert_true(mfpg_filter_spent(&filter) == 1.25);
    assert_true(mfpg_filter_admits(&filter, 0.0));
    assert_false(mfpg_filter_admits(&filter, 5e-324)); /* however little: it is charged as 1e-120 */
    filter = filter_of(ctx, MFPG_FILTER_ZCDP, 0.5);
    for (int i = 0; i < 4; i++) assert_true(mfpg_filter_spend(&filter, 0.5));
    assert_true(mfpg_filter_spent(&filter) == 0.5);
    assert_false(mfpg_filter_spend(&filter, 1e-9));
    mfpg_context_destroy(ctx);
}

/* Whole numbers of 2^-12 have squares that int64 adds without error: every decision must be the exact one. */
static void test_decisions_are_those_of_exact_arithmetic(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    mfpg_context *ctx = testing_context(1);
    int on_the_boundary = 0;
    for (int trial = 0; trial < testing_repeats(2000); trial++) {
        mfpg_filter_kind kind = trial % 2 ? MFPG_FILTER_GDP : MFPG_FILTER_ZCDP;
        int64_t limit = 1 + (int64_t)(40 * random_unit(&random)), spent = 0;
        int64_t most = kind == MFPG_FILTER_GDP ? limit * limit : limit;
        double unit = kind == MFPG_FILTER_GDP ? 0x1p-12 : 0x1p-25; /* rho = sum of squares / 2 */
        mfpg_filter filter = filter_of(ctx, kind, unit * (double)limit);
        for (int i = 0; i < 60; i++) {
            int64_t step = (int64_t)(6 * random_unit(&random));
            int fits = spent + step * step <= most;
            on_the_boundary += fits && step > 0 && spent + step * step == most;
            assert_int_equal(mfpg_filter_admits(&filter, 0x1p-12 * (double)step), fits);
            assert_int_equal(mfpg_filter_spend(&filter, 0x1p-12 * (double)step), fits);
            if (fits) spent += step * step;
        }
    }
    assert_true(on_the_boundary > 100);
    mfpg_context_destroy(ctx);
}

/* The same steps in any order end at the same sum, and admit the same last one. */
static void test_order_does_not_matter(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    mfpg_context *ctx = testing_context(1);
    for (int trial = 0; trial < testing_repeats(200); trial++) {
        double mu[40];
        for (int i = 0; i < 40; i++) mu[i] = random_scale(&random, 1e-9, 1e3);
        mfpg_filter forth = filter_of(ctx, MFPG_FILTER_GDP, (double)INFINITY), back = forth;
        for (int i = 0; i < 40; i++) assert_true(mfpg_filter_spend(&forth, mu[i]));
        for (int i = 39; i >= 0; i--) assert_true(mfpg_filter_spend(&back, mu[i]));
        assert_true(mfpg_filter_spent(&forth) == mfpg_filter_spent(&back));
    }
    mfpg_context_destroy(ctx);
}

/* Steps that are chosen by what is left, as an adversary would: the sum in long double, whose 11 more bits see every
 * overspending above 1e-16 of the budget. */
static void test_whoever_chooses_the_steps_cannot_overspend(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    mfpg_context *ctx = testing_context(1);
    for (int trial = 0; trial < testing_repeats(200); trial++) {
        double budget = random_scale(&random, 1e-3, 10);
        mfpg_filter filter = filter_of(ctx, MFPG_FILTER_GDP, budget);
        long double sum = 0.0L;
        for (int i = 0; i < 50; i++) {
            double left = (double)sqrtl((long double)budget * budget - sum);
            double mu = left * (i % 5 == 4 ? 1.0 + 0x1p-52 : random_unit(&random));
            if (mfpg_filter_spend(&filter, mu)) sum += (long double)mu * mu;
        }
        assert_true(sum <= (long double)budget * budget * (1.0L + 0x1p-58L));
        assert_true(mfpg_filter_spent(&filter) >= (double)sqrtl(sum) * (1.0 - 1e-15));
        assert_true(mfpg_filter_spent(&filter) <= budget * (1.0 + 1e-15));
    }
    mfpg_context_destroy(ctx);
}

static void test_extreme_numbers_fail_closed(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_filter filter = filter_of(ctx, MFPG_FILTER_GDP, 1.0), before = filter;
    const double none[] = {(double)NAN, -1e-300, -1.0, (double)INFINITY, 1e200};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_false(mfpg_filter_spend(&filter, none[i]));
    assert_memory_equal(&filter, &before, sizeof filter);
    assert_true(mfpg_filter_spend(&filter, 0.5));
    filter = filter_of(ctx, MFPG_FILTER_GDP, 0.0);
    assert_true(mfpg_filter_spend(&filter, 0.0)); /* what releases nothing costs nothing */
    assert_false(mfpg_filter_spend(&filter, 1e-200));
    filter = filter_of(ctx, MFPG_FILTER_GDP, 1e-130);
    assert_false(mfpg_filter_spend(&filter, 1e-131)); /* too small to tell: refused */
    filter = filter_of(ctx, MFPG_FILTER_GDP, 1e160);
    assert_true(mfpg_filter_spend(&filter, 1e100));
    assert_false(mfpg_filter_spend(&filter, 1e170));
    assert_int_equal(mfpg_filter_start_budget(ctx, MFPG_FILTER_GDP, (double)NAN, &filter), MFPG_ERR_DOMAIN);
    assert_int_equal(mfpg_filter_start_budget(ctx, MFPG_FILTER_ACCOUNTANT, 1.0, &filter), MFPG_ERR_DOMAIN);
    const double epsilons[] = {0.0, -1.0, (double)NAN, 1.0, 1.0, 1.0},
                 deltas[] = {1e-5, 1e-5, 1e-5, 0.0, 1.0, (double)NAN};
    for (int i = 0; i < 6; i++)
        assert_int_equal(
            mfpg_filter_start(ctx, MFPG_FILTER_ZCDP, epsilons[i], deltas[i], &filter), MFPG_ERR_DOMAIN);
    mfpg_context_destroy(ctx);
}

/* ---- budgets ---- */

static void test_budgets_are_the_largest_that_keep_the_promise(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const double epsilons[] = {1e-3, 0.1, 1.0, 3.0, 30.0}, deltas[] = {1e-12, 1e-5, 0.1};
    for (int i = 0; i < 15; i++) {
        double epsilon = epsilons[i % 5], delta = deltas[i / 5];
        mfpg_filter gdp, zcdp;
        CHECK_OK(ctx, mfpg_filter_start(ctx, MFPG_FILTER_GDP, epsilon, delta, &gdp));
        CHECK_OK(ctx, mfpg_filter_start(ctx, MFPG_FILTER_ZCDP, epsilon, delta, &zcdp));
        assert_true(mfpg_gdp_epsilon(gdp.budget, delta) <= epsilon);
        assert_true(mfpg_gdp_epsilon(gdp.budget * (1 + 1e-9), delta) > epsilon);
        assert_true(mfpg_zcdp_epsilon(zcdp.budget, delta) <= epsilon);
        assert_true(mfpg_zcdp_epsilon(zcdp.budget * (1 + 1e-9), delta) > epsilon);
        /* mu-GDP is mu^2/2-zCDP and more, so the zCDP filter is never the more generous one. */
        assert_true(2 * zcdp.budget <= gdp.budget * gdp.budget);
    }
    mfpg_context_destroy(ctx);
}

/* Bun and Steinke 2016: rho + 2 sqrt(rho ln(1/delta)), the classic conversion at its best order; the tight one is below it
 * and, for a Gaussian, above what that Gaussian really costs. */
static void test_zcdp_stands_between_the_gaussian_and_the_classic_formula(void **state) {
    (void)state;
    const double deltas[] = {1e-12, 1e-5, 0.01};
    for (int i = 0; i < 60; i++) {
        double rho = pow(10.0, -4 + 0.1 * (i / 3)), delta = deltas[i % 3];
        double epsilon = mfpg_zcdp_epsilon(rho, delta);
        assert_true(epsilon <= rho + 2 * sqrt(-rho * log(delta)) + 1e-9);
        assert_true(epsilon >= mfpg_gdp_epsilon(sqrt(2 * rho), delta) * (1 - 1e-11));
        assert_true(mfpg_zcdp_epsilon(rho * 1.01, delta) >= epsilon);
    }
    assert_true(mfpg_zcdp_epsilon(0.0, 0.0) == 0.0);
    assert_true(isinf(mfpg_zcdp_epsilon((double)NAN, 1e-5)) && isinf(mfpg_zcdp_epsilon(1.0, 0.0)));
    assert_true(mfpg_zcdp_rho((double)NAN, 1e-5) == 0.0 && mfpg_zcdp_rho(1.0, 1.0) == 0.0);
    assert_true(isinf(mfpg_zcdp_rho((double)INFINITY, 1e-5)));
}

/* ---- odometer ---- */

static void test_the_odometer_reads_the_first_filter_that_is_not_exceeded(void **state) {
    (void)state;
    const double delta = 1e-5;
    mfpg_odometer zero = mfpg_odometer_read(0.0, delta);
    assert_true(zero.index == 0 && zero.rho == 1.0 / 128 && zero.delta == delta / 2);
    /* mu^2/2 = rho_i is not exceeded: mu = 1/8, 1/4, 1/2, 1 are rho_0, rho_2, rho_4, rho_6 */
    for (int i = 0; i < 4; i++) {
        double mu = ldexp(0.125, i);
        mfpg_odometer at = mfpg_odometer_read(mu, delta), above = mfpg_odometer_read(nextafter(mu, 9), delta);
        assert_int_equal(at.index, 2 * i);
        assert_int_equal(above.index, 2 * i + 1);
        assert_true(at.rho == mu * mu / 2 && at.delta == delta / ldexp(2, 2 * i));
        check_near(at.epsilon, mfpg_gdp_epsilon(mu, at.delta), 1e-12, 0, "the filter's own epsilon");
    }
    double before = 0.0, spent = 0.0;
    for (int i = 0; i < 400; i++) {
        double mu = pow(10.0, -3 + 0.01 * i);
        mfpg_odometer at = mfpg_odometer_read(mu, delta);
        assert_true(at.epsilon >= before);
        assert_true(at.epsilon >= mfpg_gdp_epsilon(mu, delta)); /* never below what was spent */
        assert_true(2 * at.rho >= mu * mu * (1 - 1e-15) && (at.index == 0 || at.rho < mu * mu));
        before = at.epsilon;
    }
    for (int i = 0; i < 60; i++) spent += ldexp(delta, -(i + 1));
    assert_true(spent <= delta);
    assert_int_equal(mfpg_odometer_read((double)NAN, delta).index, -1);
    assert_true(isinf(mfpg_odometer_read((double)INFINITY, delta).epsilon));
    assert_true(isinf(mfpg_odometer_read(1.0, 0.0).epsilon));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_rows),
        cmocka_unit_test(test_the_boundary_itself_is_admitted_and_nothing_beyond),
        cmocka_unit_test(test_decisions_are_those_of_exact_arithmetic),
        cmocka_unit_test(test_order_does_not_matter),
        cmocka_unit_test(test_whoever_chooses_the_steps_cannot_overspend),
        cmocka_unit_test(test_extreme_numbers_fail_closed),
        cmocka_unit_test(test_budgets_are_the_largest_that_keep_the_promise),
        cmocka_unit_test(test_zcdp_stands_between_the_gaussian_and_the_classic_formula),
        cmocka_unit_test(test_the_odometer_reads_the_first_filter_that_is_not_exceeded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
