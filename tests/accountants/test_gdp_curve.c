#include "accountants/fixture.h"
#include "accountants/accounting.h"

/* Rows of kind analytic_gaussian: the smallest sd for (eps, delta) at a sensitivity. source: Balle-Wang 2018 equation 6
 * by mpmath with 40 digits; rel 1e-9. sd = sensitivity / mu. */
static void test_calibration_meets_the_analytic_gaussian(void **state) {
    (void)state;
    const struct {
        double epsilon, delta, sensitivity, sd;
    } rows[] = {
        {1.0, 0.9, 1.0, 0.26817245989265035},                  /* A001 */
        {100.0, 1e-05, 1.0, 0.094669907014746388},             /* A002 */
        {0.5, 0.5, 2.0, 1.1818351985175618},                   /* A004 */
        {1.0, 1e-12, 1.0, 6.5578220674588501},                 /* A005 */
        {0.0, 0.3, 1.0, 1.2976211844172628},                   /* A007 */
        {0.0001, 1e-08, 5.0, 153111.97269628018},              /* A008 */
        {0.01, 1e-06, 1.0, 306.35037615381768},                /* A010 */
        {700.0, 1e-10, 1.0, 0.031629421631974085},             /* A011 */
        {8.0, 1e-05, 1.4142135623730951, 0.84885209443437701}, /* A013 */
        {HUGE_VAL, 1e-05, 1.0, 0.0},                           /* A014 */
        {0.0, 0.001, 1.0, 398.94217595855782},                 /* A016 */
        {1.0, 1e-05, 1.0, 3.7306316348159418},                 /* A017, A340 */
        {0.5, 1e-08, 100.0, 986.35337961738333},               /* A329: 10000 steps, sensitivity sqrt(T) */
        {10.0, 1e-05, 1.0, 0.49989},                           /* F14, printed to five digits */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double sd = rows[i].sensitivity / mfpg_gdp_mu(rows[i].epsilon, rows[i].delta);
        check_near(sd, rows[i].sd, rows[i].sd == 0.49989 ? 1e-5 : 1e-9, 0, "analytic Gaussian");
        if (rows[i].sd != 0.49989) assert_true(sd >= rows[i].sd * (1 - 1e-15)); /* never too little noise */
    }
    assert_true(mfpg_gdp_mu(1.0, 2.0) == 0.0);   /* A139: refused, so no mu is safe */
    assert_true(mfpg_gdp_mu(-1.0, 1e-5) == 0.0); /* A140 */
}

/* source: mpmath 1.4.1, the formula of theory S2.1 with 900 digits. */
static void test_delta_meets_high_precision_values_from_above(void **state) {
    (void)state;
    const struct {
        double mu, epsilon, delta, complement;
    } rows[] = {
        {1e-08, 0.0, 3.98942280401432685e-9, 0.999999996010577196},
        {1e-08, 3e-08, 3.82154322780038845e-12, 0.999999999996178457},
        {1e-08, 3e-07, 1.63195697888502709e-207, 1.0},
        {0.0001, 0.0005, 5.34750223603888672e-12, 0.999999999994652498},
        {0.03, 0.1, 3.53437604951114406e-6, 0.999996465623950489},
        {0.0625, 0.25, 5.05815112660849328e-7,
            0.999999494184887339}, /* on both sides of the change of method */
        {0.0626, 0.25, 5.21168015926726093e-7, 0.999999478831984073},
        {0.5, 1.0, 0.00682959498311457538, 0.993170405016885425},
        {1.0, 0.0, 0.382924922548026207, 0.617075077451973793},
        {1.0, 20.0, 2.66470670536549765e-86, 1.0},
        {3.0, 40.0, 2.62809599003066948e-33, 1.0},
        {5.0, 3.0, 0.951848610117905864, 0.0481513898820941363},
        {30.0, 450.0, 0.486716650646016206, 0.513283349353983794},
        {30.0, 500.0, 0.044652092298350787, 0.955347907701649213},
        {1000.0, 500000.0, 0.499601058118539651, 0.500398941881460349},
        {1000.0, 530000.0, 4.76364162172783199e-198, 1.0},
        {1400.0, 1000000.0, 1.3295707085305186e-46, 1.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double delta = mfpg_gdp_delta(rows[i].mu, rows[i].epsilon);
        /* The margin is 16 units times at most 3 + 39^2/4, and for mu near 1/16 the Mills ratios' own 16 units times
         * 2 x/mu = 130 more: 1e-12 covers both. */
        check_near(delta, rows[i].delta, 1e-12, 0, "delta");
        assert_true(delta >= rows[i].delta * (1 - 1e-15));
    }
    assert_true(mfpg_gdp_delta(1000.0, 470000.0) == 1.0); /* 1 - 5e-198 */
    assert_true(mfpg_gdp_delta(1.0, 1e6) > 0.0);          /* below every double, but not nothing */
}

/* source: mpmath 1.4.1, bisection of the same with 400 digits. */
static void test_epsilon_meets_high_precision_values_from_above(void **state) {
    (void)state;
    const struct {
        double mu, delta, epsilon;
    } rows[] = {
        {1e-08, 1e-12, 3.3630153302891918e-8},
        {1e-08, 1e-300, 3.64483706904635897e-7},
        {0.0001, 1e-06, 0.000193839317247043835},
        {0.05, 1e-05, 0.160042034458132135},
        {0.1, 1e-300, 3.69372165831959679},
        {1.0, 1e-300, 37.4488479121391049},
        {1.0, 1e-05, 4.37717809568122461},
        {1.0, 0.1, 1.16033385279161719},
        {5.0, 0.5, 11.5120757776108423},
        {10.0, 0.9, 36.1189462488713068},
        {30.0, 1e-12, 660.136356746073026},
        {1000.0, 1e-05, 504263.89292065408},
        {1000.0, 1e-300, 537046.114378062675},
        {1000.0, 0.999, 496908.76614586151},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double epsilon = mfpg_gdp_epsilon(rows[i].mu, rows[i].delta);
        /* mu goes up by at most 2^-40; epsilon moves by at most 3.2 times as many parts in these rows. */
        check_near(epsilon, rows[i].epsilon, 3e-12, 0, "epsilon");
        assert_true(epsilon >= rows[i].epsilon * (1 - 1e-15));
    }
}

/* Rows of kind gdp_eps, paper_default_eps (rel 1e-7), and those of eps_pld and delta_pld without sampling, which are
 * exact Gaussians: an upper bound within 1e-4 is asked for, 1e-7 is kept. */
static void test_epsilon_meets_the_reference_rows(void **state) {
    (void)state;
    const struct {
        double mu, delta, epsilon;
    } rows[] = {
        {0.1, 1e-05, 0.340669364684},                           /* T103 */
        {0.5, 1e-05, 1.99309140442},                            /* T104 */
        {1.0, 1e-06, 4.88655411746},                            /* T106 */
        {3.0, 1e-05, 16.6754944028},                            /* T107 */
        {1 / 0.05, 1e-05, 284.39184949774245},                  /* A076 */
        {2 / 2.0, 0.6, 0.0},                                    /* A077: sigma 2, T 4 */
        {1000 / 100.0, 1e-06, 96.717271963867699},              /* A092: sigma 100, T 1e6 */
        {1.7320508075688772 / 30.0, 0.001, 0.1006042541398415}, /* A094: sigma 30, T 3 */
        {1 / 100.0, 1e-05, 0.027219419814577135},               /* A098 */
        {1.0, 1e-12, 7.2384944201788584},                       /* A109 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_near(mfpg_gdp_epsilon(rows[i].mu, rows[i].delta), rows[i].epsilon, 1e-7, 0, "epsilon of a row");
    check_near(mfpg_gdp_delta(1.4142135623730951 / 0.5, 8.0), 0.045724181792315267, 1e-9, 0, "A022");
    check_near(mfpg_gdp_delta(1.0, 20.0), 2.6647067053654977e-86, 1e-9, 0, "A025");
    check_near(mfpg_gdp_delta(1.0, 0.0), 0.38292492254802621, 1e-9, 0, "A038");
    check_near(mfpg_gdp_delta(1.0, 0.5), 0.23842170813487663, 1e-9, 0, "A052");
}

/* Errata 11 and F15: the classical noise C sqrt(2 ln(1.25/delta))/eps promises delta 1e-5 and breaks it from eps 8.42
 * on. Rows of kind classical_gauss_true_delta, rel 1e-7. */
static void test_classical_calibration_breaks_its_promise(void **state) {
    (void)state;
    double root = sqrt(2.0 * log(1.25 / 1e-5));
    check_near(mfpg_gdp_delta(5.0 / root, 5.0), 1.3490037186e-06, 1e-7, 0, "T115");
    check_near(mfpg_gdp_delta(10.0 / root, 10.0), 2.26537436479e-05, 1e-7, 0, "T116");
    check_near(mfpg_gdp_delta(9.0 / root, 9.0), 1.36e-5, 3e-3, 0, "F15 at 9"); /* printed to three digits */
    assert_true(mfpg_gdp_delta(8.41 / root, 8.41) < 1e-5 && mfpg_gdp_delta(8.43 / root, 8.43) > 1e-5);
    check_near(root, 4.8448, 1e-5, 0, "F15, noise at 1");
    check_near(1.0 / mfpg_gdp_mu(1.0, 1e-5), 3.7306, 1e-5, 0, "F15, noise that suffices");
}

/* max(p - e^eps q, 0) for N(mu, 1) against N(0, 1): the integrand of delta, zero to the left of the kink at
 * eps/mu + mu/2, where the two densities differ by e^eps. */
static double hockey_stick(double x, double mu, double epsilon) {
    double p = exp(-0.5 * (x - mu) * (x - mu)), q = exp(epsilon - 0.5 * x * x);
    return fmax(p - q, 0.0) / sqrt(2.0 * acos(-1.0));
}

/* Adaptive Simpson with Richardson's correction; depth bounds the recursion. */
static double integrate(double a, double b, double fa, double fm, double fb, double mu, double epsilon,
    double tolerance, int depth) {
    double m = 0.5 * (a + b), left = 0.5 * (a + m), right = 0.5 * (m + b);
    double fl = hockey_stick(left, mu, epsilon), fr = hockey_stick(right, mu, epsilon);
    double whole = (b - a) / 6.0 * (fa + 4.0 * fm + fb);
    double halves = (b - a) / 12.0 * (fa + 4.0 * fl + 2.0 * fm + 4.0 * fr + fb);
    if (depth == 0 || fabs(halves - whole) <= 15.0 * tolerance) return halves + (halves - whole) / 15.0;
    return integrate(a, m, fa, fl, fm, mu, epsilon, 0.5 * tolerance, depth - 1) +
           integrate(m, b, fm, fr, fb, mu, epsilon, 0.5 * tolerance, depth - 1);
}

/* Panels of half a standard deviation first, so that none can step over the peak. */
static double delta_by_quadrature(double mu, double epsilon) {
    double start = epsilon / mu + 0.5 * mu, stop = fmax(start, mu) + 12.0, sum = 0.0;
    for (double a = start; a < stop; a += 0.5) {
        double fa = hockey_stick(a, mu, epsilon), fm = hockey_stick(a + 0.25, mu, epsilon),
               fb = hockey_stick(a + 0.5, mu, epsilon);
        sum += integrate(a, a + 0.5, fa, fm, fb, mu, epsilon, 1e-15, 30);
    }
    return sum;
}

static void test_delta_agrees_with_quadrature_of_the_densities(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(300); i++) {
        double mu = random_scale(&random, 0.01, 6.0), x = random_between(&random, -2.0, 5.0);
        double epsilon = fmax(0.0, mu * (x + 0.5 * mu));
        /* 1e-15 was asked of each of some 30 panels; the differences of densities near the kink carry 1e-16 each. */
        check_near(mfpg_gdp_delta(mu, epsilon), delta_by_quadrature(mu, epsilon), 1e-10, 1e-12, "quadrature");
    }
}

static void test_inverses_undo_each_other_on_the_safe_side(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(2000); i++) {
        double epsilon = random_scale(&random, 1e-6, 1e5), delta = random_scale(&random, 1e-250, 0.5);
        double mu = mfpg_gdp_mu(epsilon, delta), back = mfpg_gdp_epsilon(mu, delta);
        assert_true(mu > 0.0 && mfpg_gdp_delta(mu, epsilon) <= delta);
        assert_true(back <= epsilon); /* a calibration never overshoots */
        /* mu was cut by 1.1e-12; d log epsilon / d log mu is 1 to a few, and exceeds 100 only where epsilon is a small
         * part of mu, as delta is then nearly that of epsilon 0. */
        if (epsilon > 0.05 * mu) check_near(back, epsilon, 1e-10, 0, "round trip");
        /* Noise of sd S/mu and its mu again, over T steps: rounding must not carry it over the promise. */
        double steps = floor(random_between(&random, 1, 1000)), sd = 0.3 * sqrt(steps) / mu;
        assert_true(mfpg_gdp_epsilon(sqrt(steps * (0.3 / sd) * (0.3 / sd)), delta) <= epsilon);
    }
}

/* Where Newton's guess can fail: next to nothing is allowed, or nearly everything. The answer is still the largest mu. */
static void test_the_largest_mu_is_found_in_the_corners(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(2000); i++) {
        double epsilon = random_scale(&random, 1e-300, 1e-20), delta = random_scale(&random, 1e-300, 1e-20);
        if (i % 2) epsilon = random_scale(&random, 1e3, 1e6), delta = 1.0 - random_scale(&random, 1e-15, 1.0);
        double mu = mfpg_gdp_mu(epsilon, delta);
        assert_true(mfpg_gdp_epsilon(mu, delta) <= epsilon);
        assert_true(
            mfpg_gdp_delta(mu, epsilon) <= delta + (delta > 0.5 ? 0x1p-52 : 0.0)); /* it is rounded up */
        assert_true(mfpg_gdp_delta(mu * (1.0 + 1e-6), epsilon) > delta);
    }
}

/* Monotone to the last bit, also between neighbouring doubles, where rounding would show. */
static void test_epsilon_never_falls_as_mu_grows(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(500); i++) {
        double mu = random_scale(&random, 1e-6, 300.0), delta = random_scale(&random, 1e-200, 0.9);
        double previous = mfpg_gdp_epsilon(mu, delta), step = mu * 0x1p-42;
        for (int j = 0; j < 8; j++) {
            mu = j & 1 ? nextafter(mu, HUGE_VAL) : mu + step;
            double epsilon = mfpg_gdp_epsilon(mu, delta);
            assert_true(epsilon >= previous);
            previous = epsilon;
        }
    }
}

static void test_values_out_of_range_fail_closed(void **state) {
    (void)state;
    assert_true(mfpg_gdp_delta(NAN, 1.0) == HUGE_VAL && mfpg_gdp_delta(1.0, NAN) == HUGE_VAL);
    assert_true(mfpg_gdp_delta(-1.0, 1.0) == HUGE_VAL && mfpg_gdp_delta(1.0, -1.0) == HUGE_VAL);
    assert_true(mfpg_gdp_delta(0.0, 1.0) == 0.0 && mfpg_gdp_delta(HUGE_VAL, 1.0) == 1.0);
    assert_true(mfpg_gdp_delta(2.0, HUGE_VAL) == 0.0);
    assert_true(mfpg_gdp_epsilon(NAN, 0.1) == HUGE_VAL && mfpg_gdp_epsilon(1.0, NAN) == HUGE_VAL);
    assert_true(mfpg_gdp_epsilon(-1.0, 0.1) == HUGE_VAL && mfpg_gdp_epsilon(1.0, 1.0) == HUGE_VAL);
    assert_true(mfpg_gdp_epsilon(1.0, -1e-9) == HUGE_VAL && mfpg_gdp_epsilon(1.0, 0.0) == HUGE_VAL);
    assert_true(mfpg_gdp_epsilon(0.0, 0.0) == 0.0 && mfpg_gdp_epsilon(HUGE_VAL, 0.5) == HUGE_VAL);
    assert_true(mfpg_gdp_epsilon(1e200, 0.5) == HUGE_VAL); /* mu^2/2 exceeds every double */
    assert_true(mfpg_gdp_mu(NAN, 0.1) == 0.0 && mfpg_gdp_mu(1.0, NAN) == 0.0);
    assert_true(mfpg_gdp_mu(1.0, 0.0) == 0.0 && mfpg_gdp_mu(1.0, 1.0) == 0.0);
}

/* Theory S1.2: the exact law of a linear run. Rows of kind exact_mu (rel 1e-9), exact_delta (rel 1e-7) and exact_tv
 * (rel 1e-6); the runs are sets A to E. */
static const linear_run set_a = {0.1, 2.0, 1.0, 0.0, 0.01, 1, 0.4},
                        set_b = {0.1, 2.0, 1.0, 1.0, 0.01, 1, 0.2},
                        set_c = {0.05, 0.5, 4.0, 0.5, 0.0, 0, 0.05},
                        set_d = {0.1, 1.0, 1.0, 0.0, 0.0, 0, 2.0}, set_e = {0.1, 2.0, 1.0, 0.0, 0.01, 0, 0.4};

static void test_exact_laws_of_linear_runs_have_their_curve(void **state) {
    (void)state;
    const struct {
        const linear_run *run;
        int steps;
        double mu;
    } mus[] = {{&set_a, 1, 0.0632455532034}, {&set_a, 10, 0.170701985334}, {&set_a, 100, 0.190157566206},
        {&set_a, 1000, 0.190157566244}, {&set_b, 1, 0.0316227766017}, {&set_b, 10, 0.0732795487211},
        {&set_b, 100, 0.0753804424974}, {&set_b, 1000, 0.0753804424974}, {&set_c, 1, 0.0111803398875},
        {&set_c, 10, 0.0352095029802}, {&set_c, 100, 0.0851062365196}, {&set_c, 1000, 0.0887411967465},
        {&set_d, 1, 0.4472135955}, {&set_d, 10, 1.35467562964}, {&set_d, 100, 1.94930709195},
        {&set_d, 1000, 1.94935886896}, {&set_e, 1, 0.0632455532034}, {&set_e, 10, 0.170348681039},
        {&set_e, 100, 0.189736659571}, {&set_e, 1000, 0.18973665961}}; /* T001..T041 */
    for (size_t i = 0; i < sizeof mus / sizeof mus[0]; i++)
        check_near(exact_mu_of(mus[i].run, mus[i].steps), mus[i].mu, 1e-9, 0, "exact mu");
    const struct {
        const linear_run *run;
        double epsilon, delta;
    } deltas[] = {{&set_a, 0.1, 0.0378794933921}, {&set_a, 0.5, 0.000324134678188},
        {&set_b, 0.1, 0.00340686347566}, {&set_b, 0.5, 2.29961412933e-13}, {&set_c, 0.1, 0.00606480242732},
        {&set_c, 0.5, 1.67764302159e-10}, {&set_d, 0.1, 0.653611234761}, {&set_d, 0.5, 0.583755213569},
        {&set_e, 0.1, 0.0377265020907}, {&set_e, 0.5, 0.000317419061096}}; /* T007..T044, K = 1000 */
    for (size_t i = 0; i < sizeof deltas / sizeof deltas[0]; i++)
        check_near(mfpg_gdp_delta(exact_mu_of(deltas[i].run, 1000), deltas[i].epsilon), deltas[i].delta, 1e-7,
            0, "exact delta");
    linear_run small = set_a;
    check_near(mfpg_gdp_delta(exact_mu_of(&set_a, 1000), 0.0), 0.075747749665, 1e-6, 0, "T061");
    small.e = 0.02;
    small.sig2 = 0.01;
    check_near(mfpg_gdp_delta(exact_mu_of(&small, 1000), 0.0), 0.658287908888, 1e-6, 0, "T062");
    check_near(mfpg_gdp_delta(10.0, 0.0), 0.999999426697, 1e-9, 0, "T064, T065: TV of means ten sd apart");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calibration_meets_the_analytic_gaussian),
        cmocka_unit_test(test_delta_meets_high_precision_values_from_above),
        cmocka_unit_test(test_epsilon_meets_high_precision_values_from_above),
        cmocka_unit_test(test_epsilon_meets_the_reference_rows),
        cmocka_unit_test(test_classical_calibration_breaks_its_promise),
        cmocka_unit_test(test_delta_agrees_with_quadrature_of_the_densities),
        cmocka_unit_test(test_inverses_undo_each_other_on_the_safe_side),
        cmocka_unit_test(test_the_largest_mu_is_found_in_the_corners),
        cmocka_unit_test(test_epsilon_never_falls_as_mu_grows),
        cmocka_unit_test(test_values_out_of_range_fail_closed),
        cmocka_unit_test(test_exact_laws_of_linear_runs_have_their_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
