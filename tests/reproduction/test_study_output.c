/* The game of perturbed models: its report against closed forms, and verdicts that can turn. */
#include "testing.h"

#include "reproduction/studies.h"

enum { CLIENTS = 3, ROWS = 20, DIMENSION = 4, SIZE = CLIENTS * ROWS * DIMENSION };

typedef struct instance {
    double features[SIZE], target[CLIENTS * ROWS], preference[CLIENTS];
    mfpg_output_game game;
} instance;

static void build(instance *made, double noise, double apart, double beta) {
    made->game = (mfpg_output_game){
        .clients = CLIENTS, .rows = ROWS, .dimension = DIMENSION, .features = made->features};
    made->game.target = made->target;
    made->game.preference = made->preference;
    mfpg_output_instance(&made->game, noise, apart, testing_seed(), made->features, made->target);
    for (int k = 0; k < CLIENTS; k++) made->preference[k] = beta;
}

static void test_the_point_without_perturbation_is_no_equilibrium(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    instance made;
    for (int apart = 0; apart < 2; apart++) {
        mfpg_output_report r;
        build(&made, 0.5 * apart, 0.5 * apart, 0.7);
        for (ptrdiff_t k = 0; k < CLIENTS; k++) {
            CHECK_OK(ctx, mfpg_study_output(ctx, &made.game, k, 20, 1, &r));
            assert_int_equal(r.kkt, apart ? MFPG_VERDICT_FAILS : MFPG_VERDICT_HOLDS);
            assert_int_equal(r.minimum, MFPG_VERDICT_FAILS);
            assert_int_equal(r.nash, MFPG_VERDICT_FAILS);
            /* W stays, so the cost falls by beta t^2 and nothing else: evaluated to rounding */
            assert_true(r.deviation_error < 1e-12);
            for (int i = 0; i < MFPG_OUTPUT_STEPS; i++) {
                check_near(r.step[i], pow(10, i), 1e-14, 0, "t");
                check_near(r.deviation[i], r.cost - 0.7 * r.step[i] * r.step[i], 1e-12, 0, "cost at t");
            }
            check_near(r.direction_curvature, -0.7, 1e-12, 0, "along (-u, u)/sqrt 2: -beta");
            assert_true(r.least_curvature <= r.direction_curvature);
            assert_int_equal(r.improved, 20);
            if (apart)
                assert_true(r.refit_gain > 0.01 && r.stationarity > 0.1);
            else
                assert_true(fabs(r.refit_gain) < 1e-12 && r.cost < 1e-12);
        }
    }
    mfpg_context_destroy(ctx);
}

/* In one dimension with a = (mean x^2)/N^2 the Hessian is [[a, a], [a, a - 2 beta]]: its least eigenvalue is a - beta -
 * sqrt(a^2 + beta^2), that in v alone a - 2 beta. */
static void test_curvatures_are_those_of_the_closed_form(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const double x[4] = {1, 2, 3, 1}, y[4] = {1, 1, 0, 2}; /* two clients of two rows */
    for (double beta = 1e-3; beta < 1e3; beta *= 10) {
        const double preference[2] = {beta, 2 * beta};
        mfpg_output_game game = {
            .clients = 2, .rows = 2, .dimension = 1, .features = x, .target = y, .preference = preference};
        for (ptrdiff_t k = 0; k < 2; k++) {
            mfpg_output_report r;
            double a = (x[2 * k] * x[2 * k] + x[2 * k + 1] * x[2 * k + 1]) / 2 / 4, b = preference[k];
            CHECK_OK(ctx, mfpg_study_output(ctx, &game, k, 1, 1, &r));
            check_near(r.least_curvature, a - b - sqrt(a * a + b * b), 1e-13, 1e-13 * (a + b), "least");
            check_near(r.perturb_curvature, a - 2 * b, 1e-13, 1e-13 * (a + b), "in v");
            /* W = (sum x y)/(sum x^2) of all rows */
            double w = 5.0 / 15, rest0 = x[2 * k] * w - y[2 * k], rest1 = x[2 * k + 1] * w - y[2 * k + 1];
            check_near(r.cost, (rest0 * rest0 + rest1 * rest1) / 4, 1e-13, 0, "cost");
        }
    }
    mfpg_context_destroy(ctx);
}

/* Where the term that rewards perturbation is too small to be seen, nothing speaks against the point. */
static void test_verdicts_turn(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    instance made;
    mfpg_output_report r;
    build(&made, 0, 0, 1e-300);
    CHECK_OK(ctx, mfpg_study_output(ctx, &made.game, 0, 20, 1, &r));
    assert_int_equal(r.kkt, MFPG_VERDICT_HOLDS);
    assert_int_equal(r.minimum, MFPG_VERDICT_HOLDS);
    assert_int_equal(r.nash, MFPG_VERDICT_UNDECIDED);
    mfpg_context_destroy(ctx);
}

static void test_bad_input_is_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    instance made;
    mfpg_output_report r;
    for (int i = 0; i < 7; i++) {
        ptrdiff_t client = i == 0 ? CLIENTS : 0, profiles = i == 1 ? 0 : 1;
        build(&made, 0.1, 0.1, i == 2 ? NAN : i == 3 ? -1 : 1);
        if (i == 4) made.features[7] = NAN;
        if (i == 5) made.target[3] = INFINITY;
        if (i == 6) made.game.dimension = 65;
        assert_int_equal(mfpg_study_output(ctx, &made.game, client, profiles, 1, &r), MFPG_ERR_DOMAIN);
    }
    build(&made, 0.1, 0.1, 1);
    made.game.rows = 2; /* a client's two rows do not determine four numbers */
    assert_int_equal(mfpg_study_output(ctx, &made.game, 0, 1, 1, &r), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "not unique"));
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_point_without_perturbation_is_no_equilibrium),
        cmocka_unit_test(test_curvatures_are_those_of_the_closed_form),
        cmocka_unit_test(test_verdicts_turn),
        cmocka_unit_test(test_bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
