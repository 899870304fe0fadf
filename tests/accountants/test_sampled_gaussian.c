#include "accountants/fixture.h"

#include "accountants/sampled/sampled_steps.h"

/* ---- closed forms ---- */

static void test_small_orders_have_closed_forms(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(2000); i++) {
        double q = random_scale(&random, 1e-9, 1), z = random_scale(&random, 0.1, 1000), w = 1 / z;
        double two = q * q * expm1(w * w),
               three = 3 * q * q * (1 - q) * expm1(w * w) + q * q * q * expm1(3 * w * w);
        double at_two = mfpg_sampled_gaussian_rdp(q, w, 2), at_three = mfpg_sampled_gaussian_rdp(q, w, 3);
        /* both sides are a dozen operations, but for the logarithms of numbers of size up to 100 */
        check_near(at_two, log1p(two), 1e-12, 0, "order 2");
        check_near(at_three, 0.5 * log1p(three), 1e-12, 0, "order 3");
        assert_true(at_two >= log1p(two) * (1 - 1e-14) && at_three >= 0.5 * log1p(three) * (1 - 1e-14));
        double order = 1 + random_scale(&random, 1e-6, 1000);
        check_near(mfpg_sampled_gaussian_rdp(1, w, order), 0.5 * order * w * w, 1e-14, 0, "no sampling");
        assert_true(
            mfpg_sampled_gaussian_rdp(0, w, order) == 0 && mfpg_sampled_gaussian_rdp(q, 0, order) == 0);
    }
}

/* As q -> 0 at a fixed order the divergence is (order/2) q^2 (e^(1/z^2) - 1); the next term is q times smaller, or
 * q^(order - 2) times. */
static void test_rare_sampling_has_the_limit_of_chi_square(void **state) {
    (void)state;
    for (double z = 0.5; z < 300; z *= 3)
        for (double order = 1.25; order < 8; order += 0.5) {
            if (order > 2 && order < 4) continue;
            double q = 1e-7, limit = 0.5 * order * q * q * expm1(1 / (z * z));
            if (pow(q, order - 2) * exp(order * (order - 1) / (2 * z * z)) > 1e-4 && order > 2) continue;
            if (order < 2 && q * exp(1 / (z * z)) > 1e-4) continue;
            check_near(mfpg_sampled_gaussian_rdp(q, 1 / z, order), limit, 1e-2, 0, "limit");
        }
    check_near(mfpg_sampled_gaussian_rdp(1e-9, 0.5, 4.5), 0.5 * 4.5 * 1e-18 * expm1(0.25), 1e-6, 0, "limit");
    check_near(mfpg_sampled_gaussian_rdp(1e-9, 0.01, 1.5), 0.5 * 1.5 * 1e-18 * expm1(1e-4), 1e-6, 0, "limit");
}

/* ---- a second route: the definition, integrated ---- */

/* log of the integral of P^a Q^(1-a) over a - 1, P the mixture and Q the Gaussian, or the other way round, by the midpoint
 * rule in long double. Its cells of 1/400 of a deviation leave nothing to be seen of the rule's error; the integral is
 * 1 + what is wanted, which 64 bits resolve to 1e-18. */
static long double by_definition(double q, double z, double order, int from_mixture) {
    const long double w = 1.0L / (long double)z, a = (long double)order, h = 0.0025L;
    long double sum = 0;
    for (long double u = -14.0L; u < 14.0L + fabsl(a) * w; u += h) {
        long double x = w * (u + h / 2) - w * w / 2, ratio = 1.0L - (long double)q + (long double)q * expl(x);
        long double power = from_mixture ? a : 1.0L - a;
        sum += h * expl(-(u + h / 2) * (u + h / 2) / 2 + power * logl(ratio));
    }
    return logl(sum / sqrtl(2.0L * acosl(-1.0L))) / (a - 1.0L);
}

static void test_definition_is_met_and_the_other_direction_is_smaller(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(60); i++) {
        double q = random_scale(&random, 1e-3, 0.999), z = random_scale(&random, 0.4, 10);
        double order = i % 3 ? 1 + random_scale(&random, 0.05, 15) : 2 + floor(12 * random_unit(&random));
        double bound = mfpg_sampled_gaussian_rdp(q, 1 / z, order);
        double removed = (double)by_definition(q, z, order, 1), added = (double)by_definition(q, z, order, 0);
        check_near(bound, removed, 1e-10, 2e-17 / (order - 1), "remove"); /* the integral's rounding */
        assert_true(bound >= removed - 2e-17 / (order - 1));
        assert_true(bound >= added - 2e-17 / (order - 1));
    }
}

/* ---- references ---- */

static void test_reference_rows_are_met_from_above(void **state) {
    (void)state;
    /* source: accountant_vectors.csv, kind rdp_sampled_gaussian: the definition by mpmath, 40 digits */
    const struct {
        double order, q, sigma, rdp, relative;
    } rows[] = {
        {1.01, 0.01, 1.0, 8.4670569136370438e-5, 1e-9},     /* A209 */
        {8, 0.001, 2.0, 1.1382237177147441e-6, 1e-9},       /* A211 */
        {1024, 0.25, 0.7, 1043.510309696101, 1e-9},         /* A212 */
        {1.5, 0.02, 100.0, 3.0001470046119166e-8, 1e-9},    /* A214 */
        {1.25, 0.001, 2.0, 1.7747453614646318e-7, 1e-9},    /* A215 */
        {3.5, 1e-06, 1.0, 3.0070053891838275e-12, 1e-6},    /* A217 */
        {2, 0.1, 0.5, 0.42916959059789972, 1e-9},           /* A218 */
        {1.5, 0.001, 2.0, 2.1298596930386087e-7, 1e-9},     /* A220 */
        {3.5, 0.01, 1.0, 0.00031311663858379341, 1e-9},     /* A221 */
        {256, 0.02, 100.0, 5.1228068666286079e-6, 1e-9},    /* A223 */
        {32, 1e-06, 1.0, 1.7388278466688965, 1e-9},         /* A224 */
        {2.5, 1.0, 0.3, 13.888888888888889, 1e-13},         /* A226 */
        {1.01, 0.05, 1.3, 0.00097478240241813555, 1e-9},    /* A227 */
        {256, 0.1, 0.5, 509.68838516154323, 1e-9},          /* A229 */
        {2, 0.5, 1.0, 0.35737401950878854, 1e-9},           /* A230 */
        {1.5, 1e-06, 1.0, 1.288709630023207e-12, 1e-6},     /* A232 */
        {4.5, 0.9, 4.0, 0.11609899755843042, 1e-9},         /* A233 */
        {6.2, 0.05, 1.3, 0.0079879912200570503, 1e-9},      /* A235 */
        {1.3, 0.0001, 0.6, 9.7476332812459976e-8, 1e-9},    /* A236 */
        {1.05, 0.9, 4.0, 0.026593944882733268, 1e-9},       /* A238 */
        {1.5, 0.9, 4.0, 0.038086506460758785, 1e-9},        /* A239 */
        {1.0, 0.004, 0.8, 2.9287003272036259e-5, 1e-9},     /* A241 */
        {256, 0.001, 2.0, 25.065155484629698, 1e-9},        /* A242 */
        {4, 1e-06, 1.0, 3.4365822312677575e-12, 1e-6},      /* A245 */
        {7.7, 0.0001, 0.6, 0.16804412802266302, 1e-9},      /* A247 */
        {256, 0.01, 1.0, 123.37677032308647, 1e-9},         /* A248 */
        {8, 0.5, 1.0, 3.2088792609697944, 1e-9},            /* A250 */
        {2, 0.001, 2.0, 2.8402537635253047e-7, 1e-9},       /* A251 */
        {64, 0.01, 1.0, 27.32173187455178, 1e-9},           /* A253 */
        {1.1, 0.25, 0.7, 0.11088448016813301, 1e-9},        /* A254 */
        {2, 0.01, 0.3, 2.0400442491240514, 1e-9},           /* A256 */
        {2.5, 0.01, 0.3, 6.21367359203047, 1e-9},           /* A257 */
        {1.25, 0.1, 0.5, 0.091264759873152001, 1e-9},       /* A259 */
        {64, 0.5, 1.0, 31.29585048324069, 1e-9},            /* A260 */
        {256, 0.5, 1.0, 127.30413459520256, 1e-9},          /* A262 */
        {2.5, 0.02, 100.0, 5.0002548089733032e-8, 1e-9},    /* A263 */
        {16.25, 0.01, 1.0, 3.217876580683952, 1e-9},        /* A265 */
        {16.25, 0.001, 2.0, 2.3179823764282383e-6, 1e-9},   /* A266 */
        {8, 0.01, 1.0, 0.00089364390760603189, 1e-9},       /* A268 */
        {33, 0.9, 4.0, 0.93822949548081206, 1e-9},          /* A269 */
        {10, 0.999999, 1.0, 4.9999988890254554, 1e-9},      /* A271 */
        {1.000001, 0.01, 1.0, 8.3812293466086996e-5, 1e-6}, /* A274 */
        {1.5, 0.01, 1.0, 0.00012725374332744984, 1e-9},     /* A275 */
        {1.7, 0.25, 0.7, 0.24136379104222962, 1e-9},        /* A277 */
        {16.25, 0.5, 1.0, 7.3864007991648014, 1e-9},        /* A278 */
        {512, 0.02, 100.0, 1.0250762657358029e-5, 1e-9},    /* A281 */
        {16.25, 0.1, 0.5, 30.046425720580115, 1e-9},        /* A283 */
        {1.5, 0.5, 1.0, 0.23515803448253102, 1e-9},         /* A284 */
        {2, 0.02, 100.0, 4.0001999266588352e-8, 1e-9},      /* A286 */
        {20, 0.0001, 0.6, 18.082682649381798, 1e-9},        /* A287 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double rdp = mfpg_sampled_gaussian_rdp(rows[i].q, 1 / rows[i].sigma, rows[i].order);
        check_near(rdp, rows[i].rdp, rows[i].relative, 0, "a row");
        assert_true(rdp >= rows[i].rdp * (1 - 1e-14)); /* 17 digits of the row, 1/sigma in double */
    }
}

/* ---- properties ---- */

static void test_divergence_grows_with_rate_reach_and_order(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(3000); i++) {
        double q = random_scale(&random, 1e-9, 1), w = random_scale(&random, 1e-3, 20);
        double order = 1 + random_scale(&random, 1e-5, i % 10 ? 60 : 2000),
               factor = 1 + random_scale(&random, 1e-9, 1);
        double base = mfpg_sampled_gaussian_rdp(q, w, order);
        assert_true(base > 0 && base < HUGE_VAL);
        assert_true(base <= 0.5 * order * w * w * (1 + 1e-15)); /* never worse than no sampling */
        /* two values, each rounded up by at most 1e-11 */
        assert_true(mfpg_sampled_gaussian_rdp(fmin(1, q * factor), w, order) >= base * (1 - 1e-11));
        assert_true(mfpg_sampled_gaussian_rdp(q, w * factor, order) >= base * (1 - 1e-11));
        assert_true(mfpg_sampled_gaussian_rdp(q, w, ceil(order * factor)) >= base * (1 - 1e-11));
        /* the event that the example took part alone */
        double alone = (order * log(q) + 0.5 * order * (order - 1) * w * w) / (order - 1);
        assert_true(base >= alone * (1 - 1e-12));
    }
}

/* Integer orders are a finite sum, real ones an integral: they must join. */
static void test_real_orders_join_the_integer_ones(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(500); i++) {
        double q = random_scale(&random, 1e-9, 1), w = random_scale(&random, 1e-3, 4);
        double order = 2 + floor(20 * random_unit(&random)), near = order * (1 + 1e-13);
        double whole = mfpg_sampled_gaussian_rdp(q, w, order), real = mfpg_sampled_gaussian_rdp(q, w, near);
        check_near(real, whole, 1e-9, 0,
            "an order and its neighbour"); /* the divergence moves by some 1e-13 w^2 order^2 */
        check_near(mfpg_sampled_gaussian_rdp(q, w, 1 + 1e-9), mfpg_sampled_gaussian_rdp(q, w, 1), 1e-6, 0,
            "order 1");
    }
}

static void test_extremes_are_finite_and_what_is_no_number_is_not(void **state) {
    (void)state;
    const double rates[] = {1e-300, 1e-9, 0.5, 1 - 1e-16, 1}, reaches[] = {1e-150, 1e-3, 1, 20, 1e6};
    const double orders[] = {1, 1 + 1e-15, 1.5, 2, 63.5, 257, 4096, 16384, 1e6, 1e300};
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++)
            for (size_t k = 0; k < 10; k++) {
                double rdp = mfpg_sampled_gaussian_rdp(rates[i], reaches[j], orders[k]);
                assert_true(rdp >= 0 && (rdp < HUGE_VAL || orders[k] > 1e299));
            }
    const double wrong[][3] = {{NAN, 1, 2}, {0.1, NAN, 2}, {0.1, 1, NAN}, {-0.1, 1, 2}, {1.1, 1, 2},
        {0.1, -1, 2}, {0.1, 1, 0.99}, {0.1, 1, HUGE_VAL}, {0.1, HUGE_VAL, 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_true(mfpg_sampled_gaussian_rdp(wrong[i][0], wrong[i][1], wrong[i][2]) == HUGE_VAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_orders_have_closed_forms),
        cmocka_unit_test(test_rare_sampling_has_the_limit_of_chi_square),
        cmocka_unit_test(test_definition_is_met_and_the_other_direction_is_smaller),
        cmocka_unit_test(test_reference_rows_are_met_from_above),
        cmocka_unit_test(test_divergence_grows_with_rate_reach_and_order),
        cmocka_unit_test(test_real_orders_join_the_integer_ones),
        cmocka_unit_test(test_extremes_are_finite_and_what_is_no_number_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
