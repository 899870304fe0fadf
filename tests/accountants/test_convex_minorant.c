/* The greatest convex minorant (theory S2.3) against reference values, closed forms, a quadratic program and exact laws. */
#include "accountants/accounting.h"
#include "accountants/fixture.h"

#include "mfpg/hidden_state.h"

static double mu_of(const mfpg_hidden_step *step, ptrdiff_t count, double start_gap) {
    mfpg_context *ctx = testing_context(1);
    double mu = -1.0;
    CHECK_OK(ctx, mfpg_hidden_mu(ctx, step, count, start_gap, &mu));
    mfpg_context_destroy(ctx);
    return mu;
}

/* count equal steps, each an entry of its own. */
static double mu_of_single_steps(double c, double shift, double sd, int count, double start_gap) {
    mfpg_hidden_step *step = calloc((size_t)count, sizeof *step);
    assert_non_null(step);
    for (int i = 0; i < count; i++) step[i] = (mfpg_hidden_step){c, shift, sd, 1};
    double mu = mu_of(step, count, start_gap);
    free(step);
    return mu;
}

static double mu_of_run(double c, double shift, double sd, int64_t times, double start_gap) {
    const mfpg_hidden_step run = {c, shift, sd, times};
    return mu_of(&run, 1, start_gap);
}

/* ---- reference values ---- */

/* T092, T094, T095 of the reference table (source: S2.3, cross-checked there against a QP). */
static void test_reference_sequences(void **state) {
    (void)state;
    const mfpg_hidden_step equal[] = {
        {0.9, 0.2, 0.5, 1}, {0.9, 0.2, 0.5, 1}, {0.9, 0.2, 0.5, 1}, {0.9, 0.2, 0.5, 1}, {0.9, 0.2, 0.5, 1}};
    const mfpg_hidden_step mixed[] = {
        {1.05, 0.2, 0.5, 1}, {1.02, 0.2, 0.6, 1}, {0.9, 0.2, 0.7, 1}, {0.9, 0.2, 0.8, 1}, {1.1, 0.2, 0.9, 1}};
    const mfpg_hidden_step once[] = {{1, 1, 1, 1}, {1, 0, 1, 5}};
    check_near(mu_of(equal, 5, 0.0), 0.884715377805, 1e-9, 0, "T092");
    check_near(mu_of(mixed, 5, 0.0), 0.611593776595, 1e-9, 0, "T094");
    check_near(mu_of(once, 2, 0.0), 0.408248290464, 1e-9, 0, "T095");
}

/* T097, T098, T100 (S5.2: only the start differs), by the general route and by the accountant of records. */
static void test_reference_data_particles(void **state) {
    (void)state;
    const struct {
        double c;
        int steps;
        double expected;
    } row[] = {{0.9, 1, 1.8}, {0.9, 10, 0.324324648363}, {1.0, 25, 0.4}};
    for (size_t i = 0; i < 3; i++) {
        double mu = mu_of_run(row[i].c, 0.0, 0.5, row[i].steps, 1.0);
        check_near(mu, row[i].expected, 1e-9, 0, "a gap at the start");
        check_near(mu, mfpg_data_exogenous_mu(1.0, 0.5, row[i].c, row[i].steps), 1e-12, 0, "as records");
    }
}

/* T119 (S2.3): the mean of the run itself, broadcast: Delta_t = tau (S + lam gap_t), c = 1 - tau (kap + lam); it meets the
 * exact law of S1.2. */
static void test_reference_broadcast_mean(void **state) {
    (void)state;
    enum { STEPS = 100 };
    double tau = 0.1, e = 2.0, kap = 2.0, lam = 0.01, s = 0.4, gap = 0.0;
    double c = 1.0 - tau * (kap + lam);
    mfpg_hidden_step step[STEPS];
    for (int k = 0; k < STEPS; k++) {
        step[k] = (mfpg_hidden_step){c, tau * (s + lam * gap), sqrt(2.0 * e * tau), 1};
        gap = (c + tau * lam) * gap + tau * s;
    }
    const linear_run run = {.tau = tau, .e = e, .sig2 = 1.0, .lam = lam, .center = 1, .dgrad = s};
    check_near(mu_of(step, STEPS, 0.0), 0.190157566206, 1e-9, 0, "T119");
    check_near(mu_of(step, STEPS, 0.0), exact_mu_of(&run, STEPS), 1e-12, 0, "exact law");
}

/* T101 (S2.3): projection onto a set of diameter 1, Delta = eta L/n, s = eta sigma. */
static void test_reference_bounded_set(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const mfpg_hidden_step step = {1.0, 0.1, 0.8, 400};
    double mu = -1.0;
    CHECK_OK(ctx, mfpg_hidden_bounded_mu(ctx, &step, 1.0, &mu));
    check_near(mu, 0.790569415042, 1e-9, 0, "T101");
    mfpg_context_destroy(ctx);
}

/* ---- closed forms of S2.3 ---- */

static void test_constant_contraction_has_the_published_form(void **state) {
    (void)state;
    const double contractions[] = {0.1, 0.5, 0.9, 0.99, 0.999999};
    const int steps[] = {1, 2, 7, 100, 3000};
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++) {
            double c = contractions[i], K = steps[j], power = pow(c, K);
            double expected = 0.4 * sqrt((1 - power) * (1 + c) / ((1 + power) * (1 - c)));
            double mu = mu_of_run(c, 0.2, 0.5, steps[j], 0.0);
            /* 1 - c^K of the formula itself cancels near c = 1: its error is eps/(K (1 - c)) */
            check_near(mu, expected, 1e-12 + 1e-15 / (K * (1 - c)), 0, "Bok-Su-Altschuler");
            check_near(mu_of_single_steps(c, 0.2, 0.5, steps[j], 0.0), mu, 1e-11, 0, "step by step");
        }
}

static void test_no_contraction_is_composition(void **state) {
    (void)state;
    for (int64_t steps = 1; steps <= 1000000000; steps *= 1000)
        check_near(mu_of_run(1.0, 0.3, 0.6, steps, 0.0), 0.5 * sqrt((double)steps), 1e-12, 0, "c = 1");
    check_near(mu_of_run(1.1, 0.3, 0.6, 500, 0.0), 0.5 * sqrt(500.0), 1e-12, 0, "c > 1");
    /* some two thousand steps of it are taken one by one, each rounded */
    check_near(mu_of_run(1.1, 0.3, 0.6, 1000000, 0.0), 500.0, 1e-11, 0, "c > 1, many");
}

/* One example, in the last of l batches of each of E epochs: cyclic batches of Bok, Su and Altschuler. */
static void test_cyclic_batches(void **state) {
    (void)state;
    enum { L = 5, E = 8 };
    double c = 0.95, power = pow(c, L), epochs = pow(power, E - 1);
    mfpg_hidden_step step[2 * E];
    for (int e = 0; e < E; e++) {
        step[2 * e] = (mfpg_hidden_step){c, 0.0, 0.5, L - 1};
        step[2 * e + 1] = (mfpg_hidden_step){c, 0.2, 0.5, 1};
    }
    double gain = pow(c, 2 * L - 2) * (1 - c * c) / ((1 - power) * (1 - power)) * (1 - epochs) / (1 + epochs);
    check_near(mu_of(step, 2 * E, 0.0), 0.4 * sqrt(1 + gain), 1e-12, 0, "cyclic");
}

/* One use, then j - 1 others (Feldman et al. 2018). */
static void test_one_use_is_forgotten(void **state) {
    (void)state;
    double c = 0.9;
    for (int j = 2; j < 60; j += 7) {
        const mfpg_hidden_step step[] = {{c, 0.2, 0.5, 1}, {c, 0.0, 0.5, j - 1}};
        double expected = 0.4 * pow(c, j - 1) * sqrt((1 - c * c) / (1 - pow(c, 2 * j)));
        check_near(mu_of(step, 2, 0.0), expected, 1e-12, 0, "forgotten");
    }
}

/* ---- long runs ---- */

static void test_long_runs_neither_underflow_nor_overflow(void **state) {
    (void)state;
    double limit = 0.4 * sqrt((1 + 0.5) / (1 - 0.5));
    check_near(mu_of_run(0.5, 0.2, 0.5, 4000000000, 0.0), limit, 1e-12, 0, "a run");
    check_near(mu_of_single_steps(0.5, 0.2, 0.5, 100000, 0.0), limit, 1e-10, 0, "single steps");
    /* Growth in the middle: all before it is far dearer to hide than to pay. */
    const mfpg_hidden_step step[] = {{0.5, 0.2, 0.5, 10000}, {3.0, 0.2, 0.5, 1000}, {0.5, 0.2, 0.5, 10000}};
    double mu = mu_of(step, 3, 0.0), composed = 0.4 * sqrt(21000.0);
    assert_true(mu > 0.4 * sqrt(1000.0) && mu < composed);
    /* A vast gap at the start is forgotten, and a step that keeps nothing forgets at once. */
    check_near(mu_of_run(0.5, 0.2, 0.5, 100000, 1e300), limit, 1e-12, 0, "start");
    const mfpg_hidden_step wiped[] = {{2.0, 1.0, 0.1, 500}, {0.0, 0.2, 0.5, 1}};
    check_near(mu_of(wiped, 2, 1e10), 0.4, 1e-12, 0, "c = 0");
    const mfpg_hidden_step vast[] = {{1e250, 1e250, 1e200, 3}, {1e-300, 1e250, 1e200, 2}};
    double huge = mu_of(vast, 2, 0.0);
    assert_true(huge >= 1e50 && !isnan(huge));
}

/* Steps that expand, more of them than are treated one by one, are paid in full, and so is what came before them: the squares add up. */
static void test_very_long_expansion_is_paid_in_full(void **state) {
    (void)state;
    const double full = 0.2 / 0.5;
    const mfpg_hidden_step runs[] = {{0.9, 0.3, 0.4, 20}, {1.0001, 0.2, 0.5, 65537}};
    double before = mu_of(runs, 1, 0.5), together = mu_of(runs, 2, 0.5);
    double expected = sqrt(before * before + 65537 * full * full);
    assert_true(together >= expected);
    check_near(together, expected, 1e-10, 0, "a run before it");
    assert_true(mu_of_run(1.0001, 0.2, 0.5, 65537, 0.0) >= sqrt(65537) * full);
}

/* ---- what cannot be hidden, and what is refused ---- */

static void test_a_gap_without_noise_is_infinite(void **state) {
    (void)state;
    const mfpg_hidden_step bare[] = {{0.9, 0.2, 0.5, 10}, {0.9, 0.2, 0.0, 1}};
    const mfpg_hidden_step still[] = {{0.9, 0.2, 0.5, 10}, {0.9, 0.0, 0.0, 1}};
    const mfpg_hidden_step early[] = {{0.9, 0.2, 0.0, 1}, {0.9, 0.0, 0.5, 1}};
    assert_true(mu_of(bare, 2, 0.0) == HUGE_VAL);
    check_near(mu_of(still, 2, 0.0), mu_of(still, 1, 0.0), 1e-12, 0, "nothing new to pay");
    check_near(mu_of(early, 2, 0.0), 0.9 * 0.2 / 0.5, 1e-12, 0, "paid one step later");
    assert_true(mu_of_run(0.9, 0.0, 0.0, 3, 0.0) == 0.0);
    assert_true(mu_of(NULL, 0, 0.0) == 0.0);
    assert_true(mu_of(NULL, 0, 1.0) == HUGE_VAL);
}

static void test_what_is_no_number_is_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const double faults[] = {NAN, -1.0, HUGE_VAL};
    double mu;
    for (size_t i = 0; i < 3; i++)
        for (int field = 0; field < 5; field++) {
            mfpg_hidden_step step = {0.9, 0.2, 0.5, 2};
            if (field == 0) step.contraction = faults[i];
            if (field == 1) step.shift = faults[i];
            if (field == 2) step.noise_sd = faults[i];
            if (field == 4) step.times = -(int64_t)i;
            mu = 0.0;
            assert_int_equal(
                mfpg_hidden_mu(ctx, &step, 1, field == 3 ? faults[i] : 0.0, &mu), MFPG_ERR_DOMAIN);
            assert_true(mu == HUGE_VAL);
            mu = 0.0;
            if (field != 3) assert_int_equal(mfpg_hidden_bounded_mu(ctx, &step, 1.0, &mu), MFPG_ERR_DOMAIN);
            if (field != 3) assert_true(mu == HUGE_VAL);
        }
    const mfpg_hidden_step sound = {0.9, 0.2, 0.5, 2};
    const double diameters[] = {0.0, -1.0, NAN, HUGE_VAL};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(mfpg_hidden_bounded_mu(ctx, &sound, diameters[i], &mu), MFPG_ERR_DOMAIN);
    mfpg_context_destroy(ctx);
}

/* ---- an independent route: the quadratic program itself ---- */

enum { MOST = 6 };

/* min sum (a_k/s_k)^2 over the sets of steps at which the gap is paid down to nothing: between two such steps the
 * payments follow the Lagrange condition a_k ~ w_k s_k^2, and the plan counts if no gap is negative. The optimum is one
 * of these 2^(K-1) plans. */
static double cheapest_plan(const mfpg_hidden_step *step, int count, double start_gap) {
    double best = HUGE_VAL;
    for (unsigned zeros = 0; zeros < 1u << (count - 1); zeros++) {
        double cost = 0.0, gap = start_gap;
        int first = 0, allowed = 1;
        for (int last = 0; last < count; last++) {
            if (last < count - 1 && !(zeros >> last & 1u)) continue;
            double owed = gap, weight = 1.0, pull = 0.0, w[MOST];
            for (int k = first; k <= last; k++) owed = step[k].contraction * owed + step[k].shift;
            for (int k = last; k >= first; k--) {
                w[k] = weight;
                pull += weight * weight * step[k].noise_sd * step[k].noise_sd;
                weight *= step[k].contraction;
            }
            for (int k = first; k <= last; k++) {
                double paid = owed / pull * w[k] * step[k].noise_sd * step[k].noise_sd;
                gap = step[k].contraction * gap + step[k].shift - paid;
                if (gap < -1e-12) allowed = 0;
            }
            cost += owed * owed / pull;
            gap = 0.0;
            first = last + 1;
        }
        if (allowed) best = fmin(best, cost);
    }
    return sqrt(best);
}

static void test_the_minorant_is_the_cheapest_plan(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int run = 0; run < testing_repeats(1000); run++) {
        mfpg_hidden_step step[MOST];
        int count = 1 + (int)(MOST * random_unit(&random));
        for (int k = 0; k < count; k++)
            step[k] = (mfpg_hidden_step){random_between(&random, 0.3, 1.4),
                random_unit(&random) < 0.2 ? 0.0 : random_scale(&random, 0.01, 10),
                random_scale(&random, 0.1, 10), 1};
        double start_gap = random_unit(&random) < 0.5 ? 0.0 : random_scale(&random, 0.01, 10);
        double expected = cheapest_plan(step, count, start_gap), mu = mu_of(step, count, start_gap);
        check_near(mu, expected, 1e-10, 0, "plan");
        assert_true(mu >= expected * (1 - 1e-13));
    }
}

/* ---- exact laws (theory S2.5): the bound lies between them and composition ---- */

/* mu of a Gaussian chain in d dimensions with one Hessian for both data sets: per eigenvalue h of H (and lambda on all
 * but the mean direction, with which H is taken to commute) the mean gap and the variance follow S1.2. */
typedef struct chain {
    double tau, e, kappa, lambda, least, most;
    int dimension, steps;
    double hessian[4], gap[4]; /* data gap of the gradient along each eigenvector */
} chain;

static chain random_chain(uint64_t *random) {
    chain r = {.tau = random_scale(random, 0.01, 0.3), .e = random_scale(random, 0.05, 3)};
    r.kappa = r.e / random_scale(random, 0.3, 5);
    r.lambda = random_unit(random) < 0.5 ? 0.0 : random_scale(random, 0.001, 0.5);
    r.dimension = 1 + (int)(4 * random_unit(random));
    r.steps = 1 + (int)(200 * random_unit(random) * random_unit(random));
    r.least = HUGE_VAL;
    for (int i = 0; i < r.dimension; i++) {
        r.hessian[i] = random_scale(random, 0.01, 3);
        r.gap[i] = random_between(random, -1, 1);
        r.least = fmin(r.least, r.hessian[i]);
        r.most = fmax(r.most, r.hessian[i]);
    }
    return r;
}

static double exact_chain_mu(const chain *r) {
    double sum = 0.0;
    for (int i = 0; i < r->dimension; i++) {
        double pulled = i == 0 ? 0.0 : r->lambda; /* direction 0 is the mean */
        double a = 1.0 - r->tau * (r->hessian[i] + r->kappa + pulled), gap = 0.0, variance = 0.0;
        for (int k = 0; k < r->steps; k++) {
            gap = a * gap + r->tau * r->gap[i];
            variance = a * a * variance + 2.0 * r->e * r->tau;
        }
        sum += gap * gap / variance;
    }
    return sqrt(sum);
}

static double sensitivity_of(const chain *r) {
    double sum = 0.0;
    for (int i = 0; i < r->dimension; i++) sum += r->gap[i] * r->gap[i];
    return sqrt(sum);
}

static double bound_of(mfpg_context *ctx, const chain *r) {
    const mfpg_hidden_assumption assumption = {.kind = MFPG_HIDDEN_QUADRATIC,
        .strong_convexity = r->least,
        .smoothness = r->most,
        .projection_radius = (double)INFINITY};
    double c;
    CHECK_OK(ctx, mfpg_hidden_contraction(ctx, &assumption, r->tau, r->kappa, r->lambda, r->dimension, &c));
    return mu_of_run(c, r->tau * sensitivity_of(r), sqrt(2.0 * r->e * r->tau), r->steps, 0.0);
}

static void test_exact_laws_are_below_and_composition_above(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    mfpg_context *ctx = testing_context(1);
    int met = 0;
    for (int run = 0; run < testing_repeats(1000); run++) {
        chain r = random_chain(&random);
        double bound = bound_of(ctx, &r), exact = exact_chain_mu(&r);
        double composed = sensitivity_of(&r) * sqrt(r.steps * r.tau / (2.0 * r.e));
        assert_true(exact <= bound);
        assert_true(bound <= composed * (1 + 1e-12));
        met += exact >= bound * (1 - 1e-9); /* one dimension, a > 0: the bound is the truth */
    }
    assert_true(met > 0);
    mfpg_context_destroy(ctx);
}

static void test_mu_is_monotone(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int run = 0; run < testing_repeats(1000); run++) {
        double c = random_between(&random, 0.5, 1.05), shift = random_scale(&random, 0.01, 1);
        double sd = random_scale(&random, 0.1, 3), more = 1.0 + random_scale(&random, 1e-9, 1);
        int64_t times = 1 + (int64_t)(300 * random_unit(&random));
        double mu = mu_of_run(c, shift, sd, times, 0.0), slack = 1 + 1e-12;
        assert_true(mu <= mu_of_run(c, shift, sd, times + 1, 0.0) * slack);
        assert_true(mu <= mu_of_run(c, shift * more, sd, times, 0.0) * slack);
        assert_true(mu <= mu_of_run(c, shift, sd / more, times, 0.0) * slack);
        assert_true(mu <= mu_of_run(c * more, shift, sd, times, 0.0) * slack);
        assert_true(mu <= mu_of_run(c, shift, sd, times, 0.1) * slack);
    }
}

/* How a sequence is cut into runs does not show, and a public waypoint only costs more. */
static void test_runs_may_be_cut_anywhere(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int run = 0; run < testing_repeats(300); run++) {
        mfpg_hidden_step step[4], cut[8];
        for (int i = 0; i < 4; i++) {
            step[i] = (mfpg_hidden_step){random_between(&random, 0.6, 1.1), random_scale(&random, 0.01, 1),
                random_scale(&random, 0.1, 3), 2 + (int64_t)(30 * random_unit(&random))};
            cut[2 * i] = cut[2 * i + 1] = step[i];
            cut[2 * i].times = 1 + (int64_t)((double)(step[i].times - 1) * random_unit(&random));
            cut[2 * i + 1].times -= cut[2 * i].times;
        }
        double whole = mu_of(step, 4, 0.0);
        check_near(mu_of(cut, 8, 0.0), whole, 1e-11, 0, "cut");
        double early = mu_of(step, 2, 0.0), late = mu_of(step + 2, 2, 0.0);
        assert_true(whole <= sqrt(early * early + late * late) * (1 + 1e-12));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_sequences),
        cmocka_unit_test(test_reference_data_particles),
        cmocka_unit_test(test_reference_broadcast_mean),
        cmocka_unit_test(test_reference_bounded_set),
        cmocka_unit_test(test_constant_contraction_has_the_published_form),
        cmocka_unit_test(test_no_contraction_is_composition),
        cmocka_unit_test(test_cyclic_batches),
        cmocka_unit_test(test_one_use_is_forgotten),
        cmocka_unit_test(test_long_runs_neither_underflow_nor_overflow),
        cmocka_unit_test(test_very_long_expansion_is_paid_in_full),
        cmocka_unit_test(test_a_gap_without_noise_is_infinite),
        cmocka_unit_test(test_what_is_no_number_is_refused),
        cmocka_unit_test(test_the_minorant_is_the_cheapest_plan),
        cmocka_unit_test(test_exact_laws_are_below_and_composition_above),
        cmocka_unit_test(test_mu_is_monotone),
        cmocka_unit_test(test_runs_may_be_cut_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
