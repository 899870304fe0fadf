/* The crossing of a falling function: from both sides, across gaps and jumps, on whole numbers, and how much it costs. */
#include "testing.h"

#include "numerics/special/roots.h"

typedef struct probe {
    double (*f)(double x);
    int asked;
    double low, high; /* NaN outside */
} probe;

static double ask(double x, const void *arg) {
    probe *p = (probe *)(size_t)arg;
    p->asked++;
    return x < p->low || x > p->high ? (double)NAN : p->f(x);
}

static probe probe_of(double (*f)(double x)) {
    return (probe){.f = f, .low = -(double)INFINITY, .high = (double)INFINITY};
}

static mfpg_crossing_options options_from(double start) {
    return (mfpg_crossing_options){
        .start = start, .low = -300, .high = 300, .first_step = 0.05, .growth = 4, .tolerance = 1e-7};
}

static double line(double x) {
    return 3.0 - x;
}
static double curve(double x) { /* root 1.5, steep on one side, flat on the other */
    return exp(-x) - exp(-1.5);
}
static double jump(double x) {
    return x < 2.25 ? 1.0 : -1.0;
}
static double cliff(
    double x) { /* infinite on both sides of a short smooth piece: epsilon of too little and too much noise */
    return x < -1.0 ? (double)INFINITY : x > 4.0 ? -(double)INFINITY : -x;
}
static double touches(double x) { /* 0 from 1 on */
    return fmax(1.0 - x, 0.0);
}

static mfpg_crossing found_from(double (*f)(double x), double start, double root) {
    probe p = probe_of(f);
    const mfpg_crossing_options options = options_from(start);
    mfpg_crossing c = mfpg_crossing_find(ask, &p, &options);
    assert_int_equal(c.kind, MFPG_CROSSING_FOUND);
    assert_int_equal(c.evaluations, p.asked);
    assert_true(c.outside < c.inside && c.inside - c.outside <= options.tolerance);
    assert_true(f(c.inside) <= 0.0 && f(c.outside) > 0.0);
    assert_true(root >= c.outside && root <= c.inside);
    return c;
}

static void test_both_sides_close_in_from_any_start(void **state) {
    (void)state;
    const double starts[] = {-200.0, -3.0, 0.0, 1.4999999, 1.5, 2.9, 3.0, 3.1, 100.0};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        found_from(line, starts[i], 3.0);
        found_from(curve, starts[i], 1.5);
        found_from(jump, starts[i], 2.25);
        found_from(cliff, starts[i], 0.0);
        found_from(touches, starts[i], 1.0);
    }
}

static void test_a_smooth_function_near_its_root_costs_few_evaluations(void **state) {
    (void)state;
    /* a guess that is off by ten per cent, as the central limit theorem's */
    assert_true(found_from(curve, 1.4, 1.5).evaluations <= 12);
    assert_true(found_from(curve, 1.6, 1.5).evaluations <= 12);
    assert_true(found_from(line, 2.8, 3.0).evaluations <= 8);
    /* two evaluations per halving, and the walk, at worst: log2(0.8/1e-7) = 23 */
    assert_true(found_from(jump, 2.0, 2.25).evaluations <= 2 * 23 + 8);
}

static void test_tolerance_zero_ends_at_neighbouring_doubles(void **state) {
    (void)state;
    double (*const all[])(double) = {line, curve, jump};
    for (int i = 0; i < 3; i++) {
        probe p = probe_of(all[i]);
        mfpg_crossing_options options = options_from(0.5);
        options.tolerance = 0;
        options.growth = 1;
        options.first_step = 1;
        mfpg_crossing c = mfpg_crossing_find(ask, &p, &options);
        assert_int_equal(c.kind, MFPG_CROSSING_FOUND);
        assert_true(all[i](c.inside) <= 0.0 && all[i](c.outside) > 0.0);
        if (i != 1) /* rounding of exp makes the sign change at more than one place */
            assert_true(nextafter(c.outside, c.inside) == c.inside);
        assert_true(c.inside - c.outside <= 1e-15);
    }
}

static double whole_root(double x) { /* not positive from -17 on: at most 17 steps */
    return x >= -17.5 ? -1e-3 - 0.01 * (17.5 + x) : log(-x / 17.5);
}

static void test_whole_positions_end_as_neighbours(void **state) {
    (void)state;
    const double starts[] = {-1, -16, -17, -18, -1000, -4503599627370496.0, 0};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        probe p = probe_of(whole_root);
        mfpg_crossing_options options = {.start = starts[i],
            .low = -9007199254740992.0,
            .high = 0,
            .first_step = 1,
            .growth = 4,
            .whole = 1};
        mfpg_crossing c = mfpg_crossing_find(ask, &p, &options);
        assert_int_equal(c.kind, MFPG_CROSSING_FOUND);
        assert_true(c.inside == -17.0 && c.outside == -18.0);
        assert_true(c.evaluations < 120); /* about two for each of 53 binary digits */
    }
}

static void test_no_crossing_is_said(void **state) {
    (void)state;
    probe p = probe_of(line);
    mfpg_crossing_options options = options_from(0);
    options.high = 2;
    mfpg_crossing c = mfpg_crossing_find(ask, &p, &options);
    assert_int_equal(c.kind, MFPG_CROSSING_NEVER);
    assert_true(c.outside == 2.0 && isnan(c.inside));
    options = options_from(10);
    options.low = 4;
    c = mfpg_crossing_find(ask, &p, &options);
    assert_int_equal(c.kind, MFPG_CROSSING_ALWAYS);
    assert_true(c.inside == 4.0 && isnan(c.outside));
    p.low = 1; /* undefined at the start */
    options = options_from(0);
    assert_int_equal(mfpg_crossing_find(ask, &p, &options).kind, MFPG_CROSSING_UNDEFINED);
}

/* A region without values is approached by ever smaller steps, and the crossing before it is found. */
static void test_gaps_are_approached(void **state) {
    (void)state;
    probe p = probe_of(line);
    p.high = 3.001;
    mfpg_crossing_options options = options_from(0);
    mfpg_crossing c = mfpg_crossing_find(ask, &p, &options);
    assert_int_equal(c.kind, MFPG_CROSSING_FOUND);
    assert_true(c.inside >= 3.0 && c.inside <= 3.0 + 1e-7);
    p.high = 2.5; /* the crossing lies beyond */
    c = mfpg_crossing_find(ask, &p, &options);
    assert_int_equal(c.kind, MFPG_CROSSING_NEVER);
    check_near(c.outside, 2.5, 0, 1e-6, "the edge");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_sides_close_in_from_any_start),
        cmocka_unit_test(test_a_smooth_function_near_its_root_costs_few_evaluations),
        cmocka_unit_test(test_tolerance_zero_ends_at_neighbouring_doubles),
        cmocka_unit_test(test_whole_positions_end_as_neighbours),
        cmocka_unit_test(test_no_crossing_is_said),
        cmocka_unit_test(test_gaps_are_approached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
