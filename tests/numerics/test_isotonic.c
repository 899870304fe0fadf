/* Isotonic regression against the max-min formula and the conditions of the projection. */
#include "testing.h"

#include "numerics/sorting.h"

enum { MOST = 12 };

static double uniform(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* fit_i = max over a <= i of min over b >= i of the mean of y_a .. y_b (the classical formula). */
static double by_max_min(const double *y, int count, int i) {
    double highest = -INFINITY;
    for (int a = 0; a <= i; a++) {
        double lowest = INFINITY;
        for (int b = i; b < count; b++) {
            double sum = 0;
            for (int c = a; c <= b; c++) sum += y[c];
            lowest = fmin(lowest, sum / (b - a + 1));
        }
        highest = fmax(highest, lowest);
    }
    return highest;
}

static void test_the_fit_is_that_of_the_formula(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(500); repeat++) {
        int count = 1 + (int)(uniform(&seed) * MOST);
        double y[MOST], fit[MOST];
        ptrdiff_t work[MOST], moved = 0;
        for (int i = 0; i < count; i++) y[i] = floor(8 * uniform(&seed)) - 3 + 0.25 * i; /* ties too */
        ptrdiff_t pooled = mfpg_isotonic_fit(count, y, fit, work);
        for (int i = 0; i < count; i++) {
            /* a pool's mean is updated at most 12 times, each rounding below 2^-50 of numbers up to 8 */
            check_near(fit[i], by_max_min(y, count, i), 1e-14, 1e-14, "fit");
            if (i > 0) assert_true(fit[i] >= fit[i - 1]);
            moved += fit[i] != y[i];
        }
        assert_true(moved <= pooled);
    }
}

static void test_what_ascends_stays_and_what_falls_becomes_its_mean(void **state) {
    double up[] = {-1, 0.1, 0.1, 7}, down[] = {4, 3, 2, 1}, mixed[] = {1, 3, 2, 5}, fit[4];
    ptrdiff_t work[4];
    (void)state;
    assert_int_equal(mfpg_isotonic_fit(4, up, fit, work), 0);
    assert_memory_equal(fit, up, sizeof up);
    assert_int_equal(mfpg_isotonic_fit(4, down, down, work), 4); /* in place */
    for (int i = 0; i < 4; i++) check_near(down[i], 2.5, 1e-15, 0, "one pool");
    assert_int_equal(mfpg_isotonic_fit(4, mixed, fit, work), 2);
    assert_true(fit[0] == 1 && fit[1] == 2.5 && fit[2] == 2.5 && fit[3] == 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_fit_is_that_of_the_formula),
        cmocka_unit_test(test_what_ascends_stays_and_what_falls_becomes_its_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
