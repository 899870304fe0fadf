#include "testing.h"

#include "numerics/special/roots.h"

static double shifted_square(double x, const void *arg) {
    return x * x - *(const double *)arg;
}

static double step(double x, const void *arg) {
    return x < *(const double *)arg ? -1.0 : 1.0;
}

static double steep(double x, const void *arg) {
    return exp(50.0 * (x - *(const double *)arg)) - 1.0;
}

static double never_a_number(double x, const void *arg) {
    (void)arg;
    return x > 0.5 ? (double)NAN : x - 1.0;
}

static void test_root_of_a_square_is_found_to_the_last_bit(void **state) {
    (void)state;
    double two = 2.0;
    mfpg_root root = mfpg_root_bracket(shifted_square, &two, 0.0, 2.0, 0.0);
    assert_true(root.converged);
    assert_true(root.low <= sqrt(2.0) && sqrt(2.0) <= root.high);
    assert_true(root.high - root.low <= 4.5e-16); /* two units in the last place of sqrt 2 */
}

static void test_a_jump_and_a_steep_curve_keep_their_bracket(void **state) {
    (void)state;
    double at = 0.3;
    mfpg_root jump = mfpg_root_bracket(step, &at, 0.0, 1.0, 1e-12);
    assert_true(jump.converged && jump.low < at && at <= jump.high);
    mfpg_root curve = mfpg_root_bracket(steep, &at, 0.0, 10.0, 1e-14);
    assert_true(curve.converged && curve.iterations < 120);
    check_near(curve.low, at, 1e-13, 0, "root of a steep curve");
}

static void test_no_sign_change_or_nan_does_not_converge(void **state) {
    (void)state;
    double negative = -1.0, any = 0.0;
    assert_false(mfpg_root_bracket(shifted_square, &negative, 0.0, 1.0, 1e-12).converged);
    assert_false(mfpg_root_bracket(never_a_number, &any, 0.0, 1.0, 1e-12).converged);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_root_of_a_square_is_found_to_the_last_bit),
        cmocka_unit_test(test_a_jump_and_a_steep_curve_keep_their_bracket),
        cmocka_unit_test(test_no_sign_change_or_nan_does_not_converge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
