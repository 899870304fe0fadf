#include "accountants/fixture.h"
#include "accountants/renyi.h"

enum { MOST_ORDERS = 10 };

typedef double (*conversion)(double rdp, double order, double delta);

/* The smallest over the orders, as an accountant would take it. */
static double best_of(conversion convert, int count, const double *orders, const double *rdp, double delta) {
    double best = HUGE_VAL;
    for (int i = 0; i < count; i++) best = fmin(best, convert(rdp[i], orders[i], delta));
    return best;
}

typedef struct row {
    int count;
    double orders[MOST_ORDERS], rdp[MOST_ORDERS], delta, epsilon; /* one is the answer */
} row;

static void check_rows(conversion convert, const row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double epsilon = best_of(convert, rows[i].count, rows[i].orders, rows[i].rdp, rows[i].delta);
        check_near(epsilon, rows[i].epsilon, 1e-12, 0, "epsilon of a row"); /* the rows' own tolerance */
        assert_true(epsilon >= rows[i].epsilon * (1 - 1e-15));              /* rounded up */
    }
}

/* Rows of kind rdp_to_eps, method improved (dp_accounting 0.6.0) and single-order rdp_to_eps (theory S2.1). */
static void test_tight_conversion_meets_the_reference_rows(void **state) {
    (void)state;
    const row rows[] = {
        {3, {1.01, 1.02, 2}, {0.0001, 0.0001, 0.0002}, 1e-06, 12.429416196844382},      /* A298 */
        {3, {2, 8, 32}, {0.5, HUGE_VAL, HUGE_VAL}, 1e-05, 10.626631103850338},          /* A299 */
        {2, {2, 4}, {0, 0}, 0.0, 0.0},                                                  /* A301 */
        {3, {4, 5, 6}, {1000, 1250, 1500}, 1e-05, 1003.0878616288317},                  /* A302 */
        {3, {2, 8, 32}, {HUGE_VAL, HUGE_VAL, HUGE_VAL}, 1e-05, HUGE_VAL},               /* A308 */
        {2, {1.000001, 2}, {1e-09, 1e-09}, 0.0001, 0.0},                                /* A310 */
        {4, {16, 64, 256, 1024}, {0.01, 0.04, 0.16, 0.64}, 1e-12, 0.24269725233160477}, /* A313 */
        {3, {2, 8, 32}, {0, 0, 0}, 1e-05, 0.0},                                         /* A314 */
        {3, {2, 8, 32}, {1e-12, 4e-12, 1.6e-11}, 1e-05, 0.0},                           /* A316 */
        {10, {1.25, 1.5, 2, 3.5, 8, 16, 32, 64, 128, 256}, {0.625, 0.75, 1, 1.75, 4, 8, 16, 32, 64, 128},
            1e-05, 5.214109167845534},                                      /* A317 */
        {1, {10}, {0.2}, 0.5, 0.0},                                         /* A319 */
        {2, {1.0, 2.0}, {0.05, 0.1}, 1e-05, 10.226631103850337},            /* A320 */
        {3, {1.5, 2, 3}, {0.001, 0.0013, 0.002}, 1e-06, 5.954984026539918}, /* A328 */
    };
    check_rows(mfpg_rdp_epsilon, rows, sizeof rows / sizeof rows[0]);
    check_near(mfpg_rdp_epsilon(0.5 * 4, 4, 1e-5), 5.08786162883, 1e-9, 0, "T110");
    check_near(mfpg_rdp_epsilon(0.01 * 40, 40, 1e-6), 0.634339399807, 1e-9, 0, "T112");
}

/* Rows of kind rdp_to_eps, method classic (Mironov 2017 by mpmath), and rdp_to_eps_classic. */
static void test_classic_conversion_meets_the_reference_rows(void **state) {
    (void)state;
    const row rows[] = {
        {10, {1.25, 1.5, 2, 3.5, 8, 16, 32, 64, 128, 256}, {0.625, 0.75, 1, 1.75, 4, 8, 16, 32, 64, 128},
            1e-05, 5.6447036378528898},                                        /* A304 */
        {3, {2, 8, 32}, {0, 0, 0}, 1e-05, 0.37138469241839446},                /* A305 */
        {1, {10}, {0.2}, 0.5, 0.27701635339554949},                            /* A307 */
        {2, {1.001, 1.005}, {0.1, 0.1}, 1e-05, 2302.6850929940948},            /* A311 */
        {3, {2, 8, 32}, {0.5, HUGE_VAL, HUGE_VAL}, 1e-05, 12.012925464970228}, /* A322 */
        {3, {4, 5, 6}, {1000, 1250, 1500}, 1e-05, 1003.8376418216567},         /* A323 */
        {9, {2, 3, 4, 5, 6, 7, 8, 9, 10}, {0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1}, 0.001,
            0.86752836433134856},                   /* A325 */
        {1, {2}, {0.5}, 1e-05, 12.012925464970228}, /* A326 */
    };
    check_rows(mfpg_rdp_epsilon_classic, rows, sizeof rows / sizeof rows[0]);
    check_near(mfpg_rdp_epsilon_classic(0.1 * 10, 10, 1e-5), 2.27921394055, 1e-9, 0, "T109");
    check_near(mfpg_rdp_epsilon_classic(0.01 * 40, 40, 1e-6), 0.754243860461, 1e-9, 0, "T113");
    check_near(mfpg_rdp_epsilon_classic(0.0, 2, 1e-5), 11.512925465, 1e-9, 0, "T118: the floor of order 2");
}

/* Rows of kind rdp_to_delta, method improved (dp_accounting 0.6.0). */
static void test_delta_meets_the_reference_rows(void **state) {
    (void)state;
    const row rows[] = {
        {6, {2, 4, 8, 16, 32, 64}, {0.1, 0.2, 0.4, 0.8, 1.6, 3.2}, 0.0007360876990238826, 1}, /* A289 */
        {6, {2, 4, 8, 16, 32, 64}, {0.1, 0.2, 0.4, 0.8, 1.6, 3.2}, 0, 50},                    /* A290 */
        {4, {16, 64, 256, 1024}, {0.01, 0.04, 0.16, 0.64}, 4.508186632087963e-19, 0.3},       /* A293 */
        {10, {1.25, 1.5, 2, 3.5, 8, 16, 32, 64, 128, 256}, {0.625, 0.75, 1, 1.75, 4, 8, 16, 32, 64, 128},
            0.00044432976375374886, 4}, /* A295 */
        {9, {2, 3, 4, 5, 6, 7, 8, 9, 10}, {0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1},
            0.0010585769911830355, 0.5}, /* A296 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double best = 1;
        for (int k = 0; k < rows[i].count; k++)
            best = fmin(best, mfpg_rdp_delta(rows[i].rdp[k], rows[i].orders[k], rows[i].epsilon));
        check_near(best, rows[i].delta, 1e-12, 1e-300, "delta of a row");
        assert_true(best >= rows[i].delta * (1 - 1e-15));
    }
    /* A292, epsilon 0: .19217659222868652 by the same formula; the distance by Pinsker is smaller here only at .1 / 2 */
    check_near(mfpg_rdp_delta(0.2, 4, 0), 0.19217659222868652, 1e-12, 0, "A292");
    assert_true(mfpg_rdp_delta(NAN, 2, 1) == HUGE_VAL && mfpg_rdp_delta(0.1, 1, 1) == HUGE_VAL);
    assert_true(mfpg_rdp_delta(0.1, 2, -1) == HUGE_VAL && mfpg_rdp_delta(-0.1, 2, 1) == HUGE_VAL); /* A155 */
    assert_true(mfpg_rdp_delta(HUGE_VAL, 2, 1) == 1 && mfpg_rdp_delta(0.1, 2, HUGE_VAL) == 0);
}

/* A mu-GDP mechanism has rdp(order) = order mu^2/2, so every order must give at least its exact epsilon. */
static void test_every_order_is_an_upper_bound_of_gaussian_privacy(void **state) {
    (void)state;
    uint64_t random = announced_seed();
    for (int i = 0; i < testing_repeats(2000); i++) {
        double mu = random_scale(&random, 1e-3, 20), delta = random_scale(&random, 1e-30, 0.5);
        double order = 1.0 + random_scale(&random, 1e-3, 1e4), rdp = 0.5 * order * mu * mu;
        double tight = mfpg_rdp_epsilon(rdp, order, delta);
        assert_true(tight >= mfpg_gdp_epsilon(mu, delta) * (1 - 1e-11));
        assert_true(mfpg_rdp_epsilon_classic(rdp, order, delta) >= tight * (1 - 1e-14));
    }
}

static void test_values_out_of_range_fail_closed(void **state) {
    (void)state;
    const conversion both[] = {mfpg_rdp_epsilon, mfpg_rdp_epsilon_classic};
    for (int i = 0; i < 2; i++) {
        assert_true(both[i](-0.1, 2, 1e-5) == HUGE_VAL);  /* A157 */
        assert_true(both[i](0.1, 0.5, 1e-5) == HUGE_VAL); /* A160 */
        assert_true(both[i](NAN, 2, 1e-5) == HUGE_VAL && both[i](0.1, NAN, 1e-5) == HUGE_VAL);
        assert_true(both[i](0.1, 2, NAN) == HUGE_VAL && both[i](0.1, 2, 1.0) == HUGE_VAL);
        assert_true(both[i](0.1, 2, -1e-5) == HUGE_VAL && both[i](0.1, 2, 0.0) == HUGE_VAL);
        assert_true(both[i](0.7, HUGE_VAL, 0.0) == 0.7); /* order infinity is pure differential privacy */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tight_conversion_meets_the_reference_rows),
        cmocka_unit_test(test_classic_conversion_meets_the_reference_rows),
        cmocka_unit_test(test_delta_meets_the_reference_rows),
        cmocka_unit_test(test_every_order_is_an_upper_bound_of_gaussian_privacy),
        cmocka_unit_test(test_values_out_of_range_fail_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
