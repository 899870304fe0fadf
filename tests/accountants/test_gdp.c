#include "accountants/fixture.h"

static mfpg_accountant *gdp(mfpg_context *ctx, mfpg_adjacency adjacency) {
    mfpg_accountant_options options = mfpg_accountant_options_default();
    options.promise.adjacency = adjacency;
    mfpg_accountant *made = NULL;
    CHECK_OK(ctx, mfpg_accountant_create(ctx, "gdp", &options, &made));
    return made;
}

typedef struct figures {
    double mu, epsilon; /* at delta 1e-5 */
} figures;

static figures after(mfpg_context *ctx, mfpg_adjacency adjacency, const mfpg_release *release, int times) {
    figures out;
    mfpg_accountant *accountant = gdp(ctx, adjacency);
    for (int i = 0; i < times; i++) CHECK_OK(ctx, mfpg_accountant_record(ctx, accountant, release));
    out.mu = mfpg_accountant_mu(accountant);
    CHECK_OK(ctx, mfpg_accountant_epsilon(ctx, accountant, 1e-5, &out.epsilon));
    mfpg_accountant_destroy(accountant);
    return out;
}

/* One entropic step moves the state by tau S and blurs it with sd sqrt(2 e tau) (theory S2.2). S is the sensitivity of
 * the rows, hence recorded as it stands and accounted for by zero-out, which does not double it. */
static mfpg_release entropic_step(double s, double tau, double e) {
    return entropic_release(tau * s, sqrt(2.0 * e * tau), e);
}

/* Rows of kind comp_mu, comp_rdp (rdp = order mu^2/2) and secagg_step_mu; rel 1e-9. */
static void test_composition_meets_the_reference_rows(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const struct {
        double s, tau, e;
        int steps;
        double mu, rdp_8; /* 0: no such row */
    } rows[] = {
        {2.0, 0.1, 2.0, 1, 0.316227766017, 0.4},      /* T067, T068 */
        {2.0, 0.1, 2.0, 10, 0, 4.0},                  /* T070 */
        {1.0, 0.1, 0.5, 100, 3.16227766017, 0},       /* T071 */
        {0.02, 0.05, 0.1, 1000, 0.316227766017, 0.4}, /* T073, T074 */
        {2.0, 0.01, 1.0, 50, 0, 4.0},                 /* T076 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mfpg_release release = entropic_step(rows[i].s, rows[i].tau, rows[i].e);
        double mu = after(ctx, MFPG_ADJACENCY_ZERO_OUT, &release, rows[i].steps).mu;
        if (rows[i].mu > 0) check_near(mu, rows[i].mu, 1e-9, 0, "comp_mu");
        if (rows[i].rdp_8 > 0) check_near(8.0 * mu * mu / 2.0, rows[i].rdp_8, 1e-9, 0, "comp_rdp");
        release.steps = rows[i].steps; /* all of them in one release: the same */
        check_near(
            after(ctx, MFPG_ADJACENCY_ZERO_OUT, &release, 1).mu, mu, 1e-14 * rows[i].steps, 0, "steps");
    }
    mfpg_context_destroy(ctx);
}

/* Rows of kind paper_default_eps (rel 1e-7) and the figures of theory S2.2: e 1, tau .1, C 1, one step a round, with
 * sensitivity C; replace doubles it. T121, T122, T124, and K = 15 and 20 as printed there. */
static void test_default_strength_costs_what_theory_says(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_release one = entropic_step(1.0, 0.1, 1.0), two = entropic_step(1.0, 0.1, 2.0);
    const mfpg_adjacency zero_out = MFPG_ADJACENCY_ZERO_OUT, replace = MFPG_ADJACENCY_REPLACE;
    check_near(after(ctx, replace, &one, 10).epsilon, 6.57297006703, 1e-7, 0, "T121");
    check_near(after(ctx, zero_out, &one, 10).epsilon, 2.9432252398, 1e-7, 0, "T122");
    check_near(after(ctx, replace, &one, 20).epsilon, 9.99725614643, 1e-7, 0, "T124");
    check_near(after(ctx, replace, &one, 15).epsilon, 8.39, 0, 0.005, "replace, K 15");
    check_near(after(ctx, zero_out, &one, 15).epsilon, 3.71, 0, 0.005, "zero-out, K 15");
    check_near(after(ctx, zero_out, &one, 20).epsilon, 4.38, 0, 0.005, "zero-out, K 20");
    check_near(after(ctx, zero_out, &two, 10).epsilon, 1.99, 0, 0.005, "strength 2, K 10");
    check_near(after(ctx, zero_out, &two, 15).epsilon, 2.50, 0, 0.005, "strength 2, K 15");
    mfpg_context_destroy(ctx);
}

/* Classical noise at budget 1: multiplier 4.8448; the certified column of DP-SGD. */
static void test_classical_noise_at_budget_one_costs_what_theory_says(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_release release = release_of(1.0, sqrt(2.0 * log(1.25 / 1e-5)));
    check_near(after(ctx, MFPG_ADJACENCY_ZERO_OUT, &release, 10).epsilon, 2.688, 0, 0.0005, "T 10");
    check_near(after(ctx, MFPG_ADJACENCY_ZERO_OUT, &release, 15).epsilon, 3.384, 0, 0.0005, "T 15");
    check_near(after(ctx, MFPG_ADJACENCY_ZERO_OUT, &release, 20).epsilon, 3.991, 0, 0.0005, "T 20");
    mfpg_context_destroy(ctx);
}

/* F1: replace-one with clip C has sensitivity 2C; an accountant that forgets it says 4.7285 where 9.9973 is true. */
static void test_replace_doubles_the_sensitivity(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_release release = release_of(1.0, 1.0);
    figures zero_out = after(ctx, MFPG_ADJACENCY_ZERO_OUT, &release, 1);
    figures replace = after(ctx, MFPG_ADJACENCY_REPLACE, &release, 1);
    assert_true(zero_out.mu == 1.0 && replace.mu == 2.0);               /* exact numbers stay exact */
    check_near(zero_out.epsilon, 4.377178095681, 1e-11, 0, "zero-out"); /* mpmath, test_gdp_curve.c */
    assert_true(replace.epsilon >= 9.99725);
    check_near(replace.epsilon, 9.9973, 0, 5e-5, "replace");
    mfpg_context_destroy(ctx);
}

/* F24: n = 100, 1000, 10000 examples in batches of 10, one epoch a round, five rounds, sigma 1: T = 50, 500, 5000 steps
 * at q = 0.1, 0.01, 0.001. Sampling is not credited, so mu = sqrt(T). One accountant a client; nothing is summed over
 * clients. F6: the same for batches of a shuffled epoch, whose amplification is not known. */
static void test_every_client_counts_its_own_steps(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const int rows[] = {100, 1000, 10000};
    for (int client = 0; client < 3; client++) {
        mfpg_release release = release_of(1.0, 1.0);
        release.client = client;
        release.steps = rows[client] / 10;
        release.sampling_rate = 10.0 / rows[client];
        double mu = after(ctx, MFPG_ADJACENCY_ZERO_OUT, &release, 5).mu;
        check_near(mu, sqrt(5.0 * rows[client] / 10), 1e-13, 0, "mu of a client");
    }
    mfpg_context_destroy(ctx);
}

/* F13: the central-limit figure 1.838 for q .2, sigma 3, T 50, delta 1/48000 lies below the truth 1.9608. */
static void test_no_sampling_credit_is_never_below_the_truth(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_accountant *accountant = gdp(ctx, MFPG_ADJACENCY_ZERO_OUT);
    mfpg_release release = release_of(1.0, 3.0);
    release.steps = 50;
    release.sampling_rate = 0.2;
    double epsilon;
    CHECK_OK(ctx, mfpg_accountant_record(ctx, accountant, &release));
    CHECK_OK(ctx, mfpg_accountant_epsilon(ctx, accountant, 1.0 / 48000, &epsilon));
    assert_true(epsilon >= 1.9608);
    check_near(epsilon, mfpg_gdp_epsilon(sqrt(50.0) / 3.0, 1.0 / 48000), 1e-11, 0, "without amplification");
    mfpg_accountant_destroy(accountant);
    mfpg_context_destroy(ctx);
}

/* Rows of kind gdp_filter: steps that a budget admits, and what they spend. */
static void test_running_mu_serves_a_filter(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const double few[] = {0.3, 0.4, 0.5, 0.2, 0.6};
    double many[30];
    for (int i = 0; i < 30; i++) many[i] = 0.1;
    const struct {
        const double *mu;
        int count, admitted;
        double budget, spent;
    } rows[] = {{few, 5, 4, 0.8, 0.734846922835}, {many, 30, 26, 0.51, 0.509901951359}}; /* T223, T224 */
    for (size_t i = 0; i < 2; i++) {
        mfpg_accountant *accountant = gdp(ctx, MFPG_ADJACENCY_ZERO_OUT);
        int admitted = 0;
        for (int t = 0; t < rows[i].count; t++) {
            mfpg_release release = release_of(rows[i].mu[t], 1.0);
            double next = mfpg_release_mu(&release, MFPG_ADJACENCY_ZERO_OUT);
            if (hypot(mfpg_accountant_mu(accountant), next) > rows[i].budget) break;
            CHECK_OK(ctx, mfpg_accountant_record(ctx, accountant, &release));
            admitted++;
        }
        assert_int_equal(admitted, rows[i].admitted);
        check_near(mfpg_accountant_mu(accountant), rows[i].spent, 1e-9, 0, "mu spent");
        mfpg_accountant_destroy(accountant);
    }
    mfpg_context_destroy(ctx);
}

static void test_release_mu_is_the_formula_rounded_up(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(2000); i++) {
        mfpg_release release = release_of(random_scale(&random, 1e-6, 1e3), random_scale(&random, 1e-6, 1e3));
        release.steps = 1 + (int64_t)(20 * random_unit(&random));
        release.last_sd = release.noise_sd * random_between(&random, 1, 50);
        long double s = release.sensitivity, early = s / release.noise_sd, last = s / release.last_sd;
        long double mu = sqrtl((long double)(release.steps - 1) * early * early + last * last);
        double got = mfpg_release_mu(&release, MFPG_ADJACENCY_ZERO_OUT);
        assert_true((long double)got >= mu * (1 - 1e-18L)); /* long double carries 1e-19 an operation */
        check_near(got, (double)mu, 1e-15, 0, "mu of a release");
        check_near(mfpg_release_mu(&release, MFPG_ADJACENCY_REPLACE), 2 * (double)mu, 1e-15, 0, "replace");
    }
}

static void test_noise_that_is_missing_certifies_nothing(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_release bare = release_of(1.0, 0.0), still = release_of(0.0, 0.0), minus = release_of(1.0, -0.0);
    assert_true(after(ctx, MFPG_ADJACENCY_ZERO_OUT, &bare, 1).epsilon == HUGE_VAL);
    assert_true(after(ctx, MFPG_ADJACENCY_ZERO_OUT, &bare, 1).mu == HUGE_VAL);
    assert_true(after(ctx, MFPG_ADJACENCY_ZERO_OUT, &minus, 1).mu == HUGE_VAL);
    assert_true(after(ctx, MFPG_ADJACENCY_ZERO_OUT, &still, 3).epsilon == 0.0);
    mfpg_release unfilled = release_of(1.0, 1.0); /* a view that nobody applied */
    unfilled.last_sd = 0.0;
    assert_true(after(ctx, MFPG_ADJACENCY_ZERO_OUT, &unfilled, 1).mu == HUGE_VAL);
    mfpg_context_destroy(ctx);
}

/* On sets of theory S1.3 the certificate covers the exact law of the released end state, at every K and epsilon. */
static void test_certificate_covers_the_exact_law(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    mfpg_context *ctx = testing_context(1);
    for (int i = 0; i < testing_repeats(200); i++) {
        linear_run run = {.tau = random_scale(&random, 0.01, 0.3),
            .e = random_scale(&random, 0.05, 3),
            .sig2 = random_scale(&random, 0.3, 10),
            .h = random_between(&random, 0, 2),
            .dgrad = random_scale(&random, 0.01, 2)};
        int steps = 1 + (int)(50 * random_unit(&random));
        if (fabs(1.0 - run.tau * (run.h + run.e / run.sig2)) > 1.0) continue; /* a run that diverges */
        mfpg_release release = entropic_step(run.dgrad, run.tau, run.e);
        double certified = after(ctx, MFPG_ADJACENCY_ZERO_OUT, &release, steps).mu;
        assert_true(certified >= exact_mu_of(&run, steps) * (1 - 1e-13)); /* the recursion's own rounding */
    }
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_composition_meets_the_reference_rows),
        cmocka_unit_test(test_default_strength_costs_what_theory_says),
        cmocka_unit_test(test_classical_noise_at_budget_one_costs_what_theory_says),
        cmocka_unit_test(test_replace_doubles_the_sensitivity),
        cmocka_unit_test(test_every_client_counts_its_own_steps),
        cmocka_unit_test(test_no_sampling_credit_is_never_below_the_truth),
        cmocka_unit_test(test_running_mu_serves_a_filter),
        cmocka_unit_test(test_release_mu_is_the_formula_rounded_up),
        cmocka_unit_test(test_noise_that_is_missing_certifies_nothing),
        cmocka_unit_test(test_certificate_covers_the_exact_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
