/* Accountant hidden-state: what releases say of their rounds, and what it does where they say nothing. */
#include "accountants/accounting.h"
#include "accountants/fixture.h"

#include "mfpg/hidden_state.h"

static mfpg_accountant *created(mfpg_context *ctx, mfpg_view view, mfpg_adjacency adjacency) {
    mfpg_accountant_options options = mfpg_accountant_options_default();
    mfpg_accountant *made = NULL;
    options.promise.view = view;
    options.promise.adjacency = adjacency;
    CHECK_OK(ctx, mfpg_accountant_create(ctx, "hidden-state", &options, &made));
    return made;
}

static mfpg_release hidden_release(double contraction) {
    mfpg_release release = release_of(0.2, 0.5);
    release.hidden_contraction = contraction;
    release.hidden_shift = 0.2;
    return release;
}

static double composed(int rounds) {
    return 0.4 * sqrt(rounds);
}

static double limit(double c, int rounds) {
    double power = pow(c, rounds);
    return 0.4 * sqrt((1 - power) * (1 + c) / ((1 + power) * (1 - c)));
}

static void test_rounds_that_contract_are_forgotten(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_accountant *accountant = created(ctx, MFPG_VIEW_FINAL, MFPG_ADJACENCY_ZERO_OUT);
    mfpg_release release = hidden_release(0.9);
    for (int t = 1; t <= 200; t++) {
        double epsilon = 0.0;
        CHECK_OK(ctx, mfpg_accountant_record(ctx, accountant, &release));
        check_near(mfpg_accountant_mu(accountant), limit(0.9, t), 1e-12, 0, "mu");
        CHECK_OK(ctx, mfpg_accountant_epsilon(ctx, accountant, 1e-5, &epsilon));
        check_near(epsilon, mfpg_gdp_epsilon(limit(0.9, t), 1e-5), 1e-10, 0, "epsilon");
    }
    mfpg_accountant_destroy(accountant);
    accountant = created(ctx, MFPG_VIEW_FINAL, MFPG_ADJACENCY_ZERO_OUT);
    CHECK_OK(ctx, mfpg_accountant_record_times(ctx, accountant, &release, INT64_C(1) << 53));
    check_near(mfpg_accountant_mu(accountant), 0.4 * sqrt(1.9 / 0.1), 1e-12, 0, "for ever");
    mfpg_accountant_destroy(accountant);
    mfpg_context_destroy(ctx);
}

static void test_other_views_and_silent_rounds_compose(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const mfpg_view views[] = {MFPG_VIEW_LOCAL, MFPG_VIEW_AVERAGE};
    mfpg_release release = hidden_release(0.9), silent = hidden_release(0.0);
    for (size_t i = 0; i < 2; i++) {
        mfpg_accountant *accountant = created(ctx, views[i], MFPG_ADJACENCY_ZERO_OUT);
        CHECK_OK(ctx, mfpg_accountant_record_times(ctx, accountant, &release, 50));
        check_near(mfpg_accountant_mu(accountant), composed(50), 1e-14, 0, "seen");
        mfpg_accountant_destroy(accountant);
    }
    /* a round that says nothing may have shown everything: it and all before it are paid in full */
    mfpg_accountant *accountant = created(ctx, MFPG_VIEW_FINAL, MFPG_ADJACENCY_ZERO_OUT);
    CHECK_OK(ctx, mfpg_accountant_record_times(ctx, accountant, &release, 50));
    CHECK_OK(ctx, mfpg_accountant_record(ctx, accountant, &silent));
    check_near(mfpg_accountant_mu(accountant), composed(51), 1e-14, 0, "silent");
    CHECK_OK(ctx, mfpg_accountant_record_times(ctx, accountant, &release, 50));
    double expected = sqrt(composed(51) * composed(51) + limit(0.9, 50) * limit(0.9, 50));
    check_near(mfpg_accountant_mu(accountant), expected, 1e-12, 0, "hidden behind it");
    mfpg_accountant_destroy(accountant);
    mfpg_context_destroy(ctx);
}

/* Never above composition, to the last bit, also where a round has several local steps or nothing contracts. */
static void test_composition_is_never_exceeded(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    mfpg_context *ctx = testing_context(1);
    mfpg_accountant_options options = mfpg_accountant_options_default();
    options.promise.view = MFPG_VIEW_FINAL;
    for (int run = 0; run < testing_repeats(300); run++) {
        mfpg_accountant *hidden = created(ctx, MFPG_VIEW_FINAL, MFPG_ADJACENCY_ZERO_OUT), *gdp = NULL;
        CHECK_OK(ctx, mfpg_accountant_create(ctx, "gdp", &options, &gdp));
        for (int t = 0; t < 5; t++) {
            mfpg_release release = hidden_release(random_between(&random, 0.5, 1.1));
            release.steps = 1 + (int64_t)(3 * random_unit(&random));
            release.last_sd = release.noise_sd * random_between(&random, 1, 3);
            release.hidden_shift = release.sensitivity * (double)release.steps;
            int64_t times = 1 + (int64_t)(40 * random_unit(&random));
            CHECK_OK(ctx, mfpg_accountant_record_times(ctx, hidden, &release, times));
            CHECK_OK(ctx, mfpg_accountant_record_times(ctx, gdp, &release, times));
        }
        assert_true(mfpg_accountant_mu(hidden) <= mfpg_accountant_mu(gdp));
        mfpg_accountant_destroy(hidden);
        mfpg_accountant_destroy(gdp);
    }
    mfpg_context_destroy(ctx);
}

static void test_replace_doubles_the_shift(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_accountant *zero = created(ctx, MFPG_VIEW_FINAL, MFPG_ADJACENCY_ZERO_OUT),
                    *replace = created(ctx, MFPG_VIEW_FINAL, MFPG_ADJACENCY_REPLACE);
    mfpg_release release = hidden_release(0.8);
    double other = 0.0, own = 0.0;
    CHECK_OK(ctx, mfpg_accountant_record_times(ctx, zero, &release, 30));
    CHECK_OK(ctx, mfpg_accountant_record_times(ctx, replace, &release, 30));
    check_near(mfpg_accountant_mu(replace), 2 * mfpg_accountant_mu(zero), 1e-14, 0, "mu");
    CHECK_OK(ctx, mfpg_accountant_epsilon_under(ctx, zero, MFPG_ADJACENCY_REPLACE, 1e-5, &other));
    CHECK_OK(ctx, mfpg_accountant_epsilon(ctx, replace, 1e-5, &own));
    check_near(other, own, 1e-12, 0, "the other adjacency");
    mfpg_accountant_destroy(zero);
    mfpg_accountant_destroy(replace);
    mfpg_context_destroy(ctx);
}

static void test_affording_and_covering_leave_it_as_it_was(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_accountant *some = created(ctx, MFPG_VIEW_FINAL, MFPG_ADJACENCY_ZERO_OUT),
                    *more = created(ctx, MFPG_VIEW_FINAL, MFPG_ADJACENCY_ZERO_OUT);
    mfpg_release slow = hidden_release(0.9), fast = hidden_release(0.7);
    CHECK_OK(ctx, mfpg_accountant_record_times(ctx, some, &fast, 10));
    CHECK_OK(ctx, mfpg_accountant_record_times(ctx, more, &slow, 10));
    assert_int_equal(mfpg_accountant_covers(more, some), 1);
    assert_int_equal(mfpg_accountant_covers(some, more), 0);
    double mu = mfpg_accountant_mu(more), epsilon = mfpg_gdp_epsilon(limit(0.9, 11), 1e-5);
    assert_int_equal(mfpg_accountant_affords(ctx, more, &slow, 1e-5, epsilon * (1 + 1e-9)), 1);
    assert_int_equal(mfpg_accountant_affords(ctx, more, &slow, 1e-5, epsilon * (1 - 1e-9)), 0);
    assert_int_equal(mfpg_accountant_affords(ctx, more, &fast, 1e-5, 1e3), 1);
    assert_true(mfpg_accountant_mu(more) == mu);
    mfpg_accountant_destroy(some);
    mfpg_accountant_destroy(more);
    mfpg_context_destroy(ctx);
}

static void test_records_have_no_hidden_state(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_accountant *records = NULL;
    CHECK_OK(ctx, mfpg_accountant_create(ctx, "data-particles", NULL, &records));
    mfpg_release release = hidden_release(0.9);
    release.particles = MFPG_PARTICLES_DATA;
    release.contraction = 1.0;
    assert_int_equal(mfpg_accountant_record(ctx, records, &release), MFPG_ERR_DOMAIN);
    assert_non_null(strstr(mfpg_context_message(ctx), "hidden state"));
    mfpg_accountant_destroy(records);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds_that_contract_are_forgotten),
        cmocka_unit_test(test_other_views_and_silent_rounds_compose),
        cmocka_unit_test(test_composition_is_never_exceeded),
        cmocka_unit_test(test_replace_doubles_the_shift),
        cmocka_unit_test(test_affording_and_covering_leave_it_as_it_was),
        cmocka_unit_test(test_records_have_no_hidden_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
