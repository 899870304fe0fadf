/* The law of the averaged model, theory S3.3. Reference values: vectors/theory_vectors.csv. */
#include "testing.h"

#include "games/cost.h"

static const mfpg_fedavg_law UNIT = {.curvature = 1,
    .prior_variance = 1,
    .step = 0.1,
    .dimension = 5,
    .optimum_norm2 = 1,
    .variance_share = 0.2};

/* m_inf/abar = h/X, read off the excess loss without noise. */
static double shrinkage(mfpg_fedavg_law law, double ebar) {
    law.optimum_norm2 = 1;
    law.variance_share = 0;
    return 1 - sqrt(2 * mfpg_fedavg_excess(&law, ebar) / law.curvature);
}

static void test_law_and_excess_match_the_reference(void **state) {
    const struct {
        const char *source; /* fedavg_law | fedavg_excess rows */
        double ebar, clients, shrinkage, variance, excess;
    } rows[] = {
        {"T178 T179 S3.3", 0.5, 5, 0.666666666667, 0.0720720720721, 0.235735735736},
        {"T181 T182 S3.3", 1, 20, 0.5, 0.0277777777778, 0.194444444444},
        {"T184 T185 S3.3", 2, 100, 0.333333333333, 0.0078431372549, 0.241830065359},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mfpg_fedavg_law law = UNIT;
        law.variance_share = 1 / rows[i].clients;
        check_near(shrinkage(law, rows[i].ebar), rows[i].shrinkage, 1e-9, 0, rows[i].source);
        check_near(mfpg_fedavg_variance(&law, rows[i].ebar), rows[i].variance, 1e-9, 0, rows[i].source);
        check_near(mfpg_fedavg_excess(&law, rows[i].ebar), rows[i].excess, 1e-9, 0, rows[i].source);
    }
}

/* Second route: the recursions of mean and variance, run until they stand still. */
static void test_law_is_where_the_recursions_stand_still(void **state) {
    (void)state;
    for (double ebar = 0.05; ebar < 15; ebar *= 1.7) {
        mfpg_fedavg_law law = {.curvature = 1.3,
            .prior_variance = 0.9,
            .step = 0.1,
            .dimension = 3,
            .optimum_norm2 = 2,
            .variance_share = 0.25};
        double x = law.curvature + ebar / law.prior_variance, rho = 1 - law.step * x, mean = 0, variance = 0;
        for (int round = 0; round < 20000; round++) {
            mean = rho * mean + law.step * law.curvature;
            variance = rho * rho * variance + 2 * law.step * ebar * law.variance_share;
        }
        check_near(shrinkage(law, ebar), mean, 1e-12, 0, "mean");
        check_near(mfpg_fedavg_variance(&law, ebar), variance, 1e-12, 0, "variance");
    }
}

static void test_slope_is_the_difference_quotient_and_positive(void **state) {
    (void)state;
    for (double ebar = 0.01; ebar < 16; ebar *= 1.3) {
        double step = 1e-5 * ebar; /* central: error about step^2 f''', below 1e-6 of f' here */
        double quotient =
            (mfpg_fedavg_excess(&UNIT, ebar + step) - mfpg_fedavg_excess(&UNIT, ebar - step)) / (2 * step);
        check_near(mfpg_fedavg_slope(&UNIT, ebar), quotient, 1e-6, 0, "slope");
        assert_true(mfpg_fedavg_slope(&UNIT, ebar) > 0);
    }
}

/* s max(-f'', 0) <= 2 f' is what makes the equilibrium unique (entropic.c): checked by differences of the slope. */
static void test_curvature_of_the_excess_never_outruns_its_slope(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(2000); repeat++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double u = (double)(seed >> 40) * 0x1p-24, v = (double)(seed & 0xffff) * 0x1p-16;
        mfpg_fedavg_law law = {.curvature = 0.05 + 10 * u,
            .prior_variance = 0.1 + 3 * v,
            .step = 0.15 * v + 0.01,
            .dimension = 1 + 40 * v,
            .optimum_norm2 = 4 * u * v,
            .variance_share = 1.0 / (1 + (int)(30 * u))};
        double end = mfpg_fedavg_stable_below(&law);
        for (int i = 1; i < 20; i++) {
            double s = end * i / 20, step = 1e-6 * s;
            double bend =
                (mfpg_fedavg_slope(&law, s + step) - mfpg_fedavg_slope(&law, s - step)) / (2 * step);
            /* the quotient is good to about 1e-9 of slope/s: rounding 1e-16/1e-6 and step^2 f'''' */
            assert_true(-s * bend <= 2 * mfpg_fedavg_slope(&law, s) * (1 + 1e-8));
        }
    }
}

static void test_an_unstable_model_costs_infinity(void **state) {
    (void)state;
    assert_true(mfpg_fedavg_stable_below(&UNIT) == 19.0);
    assert_true(isfinite(mfpg_fedavg_excess(&UNIT, 18.9)));
    assert_true(isinf(mfpg_fedavg_excess(&UNIT, 19.0)));
    assert_true(isinf(mfpg_fedavg_slope(&UNIT, 19.0)));
    mfpg_fedavg_law limit = UNIT;
    limit.variance_share = 0;
    assert_true(isinf(mfpg_fedavg_excess(&limit, 20)));
    check_near(mfpg_fedavg_excess(&limit, 1), 0.125, 1e-15, 0, "bias alone");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_law_and_excess_match_the_reference),
        cmocka_unit_test(test_law_is_where_the_recursions_stand_still),
        cmocka_unit_test(test_slope_is_the_difference_quotient_and_positive),
        cmocka_unit_test(test_curvature_of_the_excess_never_outruns_its_slope),
        cmocka_unit_test(test_an_unstable_model_costs_infinity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
