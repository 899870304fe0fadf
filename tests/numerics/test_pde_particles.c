/* The particles: their moments against closed forms and against the law's, and what must not change them. */
#include "testing.h"

#include "pde_model.h"

enum { STEPS = 64, SHORT = 8, MOST = 1024 };
static const double ONE = 1;
static double mean[MOST + 1], variance[MOST + 1];

static void run_with(int threads, const mfpg_pde_model *model, const mfpg_pde_solution *solution,
    ptrdiff_t count, ptrdiff_t steps, uint64_t repeat) {
    mfpg_context *ctx = testing_context(threads);
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    const mfpg_pde_particles_options options = {
        .count = count, .steps = steps, .repeat = repeat, .key = &key, .fixed_control = 0.5};
    CHECK_OK(ctx, mfpg_pde_particles(ctx, model, solution, &options, mean, variance));
    mfpg_context_destroy(ctx);
}

/* Moments of Euler's own recursion for infinitely many particles at e = .5: drift -(1 + .25) x - .5 (x - m). */
static void euler_moments(ptrdiff_t steps, double *m, double *v) {
    double dt = 1.0 / (double)steps;
    *m = 1;
    *v = 0.25;
    for (ptrdiff_t n = 0; n < steps; n++) {
        *m *= 1 - 1.25 * dt;
        *v = *v * (1 - 1.75 * dt) * (1 - 1.75 * dt) + 2 * 0.5 * dt;
    }
}

static void test_moments_are_those_of_the_linear_recursion(void **state) {
    (void)state;
    mfpg_pde_model model = quadratic_game(&ONE, 1);
    const ptrdiff_t count = 16000;
    double m, v;
    run_with(1, &model, NULL, count, STEPS, 1);
    euler_moments(STEPS, &m, &v);
    /* four standard errors: of a mean sqrt(v/N), of a variance v sqrt(2/N) */
    check_near(mean[0], 1, 0, 4 * sqrt(0.25 / count), "mean at the start");
    check_near(variance[0], 0.25, 0, 4 * 0.25 * sqrt(2.0 / count), "variance at the start");
    check_near(mean[STEPS], m, 0, 4 * sqrt(v / count), "mean at the end");
    check_near(variance[STEPS], v, 0, 4 * v * sqrt(2.0 / count), "variance at the end");
    /* and in continuous time exp(-1.25), .25 exp(-3.5) + (1 - exp(-3.5))/3.5, reached as dt */
    check_near(m, exp(-1.25), 0, 0.4 / STEPS, "Euler's mean");
    check_near(v, 0.25 * exp(-3.5) + (1 - exp(-3.5)) / 3.5, 0, 0.5 / STEPS, "Euler's variance");
}

/* d = 1, N = 1: a single particle feels itself alone, so the attraction vanishes exactly. */
static void test_a_single_particle_is_not_attracted(void **state) {
    (void)state;
    mfpg_pde_model model = quadratic_game(&ONE, 1), free = quadratic_game(&ONE, 1);
    free.attraction = 0;
    run_with(1, &model, NULL, 1, STEPS, 2);
    double end = mean[STEPS];
    assert_true(variance[STEPS] == 0);
    run_with(1, &free, NULL, 1, STEPS, 2);
    assert_true(mean[STEPS] == end);
}

/* Root mean square error of the mean over repeats: slope of its logarithm on that of N. */
static void test_errors_fall_as_the_root_of_the_number_of_particles(void **state) {
    (void)state;
    mfpg_pde_model model = quadratic_game(&ONE, 1);
    double m, v, x[4], y[4], sx = 0, sy = 0, sxx = 0, sxy = 0;
    euler_moments(STEPS, &m, &v);
    for (int k = 0; k < 4; k++) {
        ptrdiff_t count = 16 << (2 * k);
        double sum = 0;
        int repeats = 40;
        for (int r = 0; r < repeats; r++) {
            run_with(1, &model, NULL, count, STEPS, (uint64_t)(100 * (k + 1) + r));
            sum += (mean[STEPS] - m) * (mean[STEPS] - m);
        }
        x[k] = log((double)count);
        y[k] = 0.5 * log(sum / repeats);
        sx += x[k] / 4, sy += y[k] / 4;
    }
    for (int k = 0; k < 4; k++) sxx += (x[k] - sx) * (x[k] - sx), sxy += (x[k] - sx) * (y[k] - sy);
    /* a log of a root mean square of 40 errs by 1/sqrt(80) = .11, the slope over log 64 by .035 */
    check_near(sxy / sxx, -0.5, 0, 0.1, "slope");
}

/* What particles do under an equilibrium's feedback is what the law does: types, a control that varies, two wells. */
static void test_particles_follow_the_law_of_the_equilibrium(void **state) {
    (void)state;
    const double weights[] = {0.5, 2}, shares[] = {0.7, 0.3};
    mfpg_pde_model model = quadratic_game(&ONE, 1);
    model.potential = model.running = mfpg_pde_double_well(1, 0.5);
    model.start_mean = 0.3;
    model.weight = weights;
    model.share = shares;
    model.types = 2;
    mfpg_pde_options grid = mfpg_pde_options_default();
    grid.low = -5;
    grid.high = 5;
    grid.nodes = 201;
    grid.steps = 128;
    mfpg_context *ctx = testing_context(1);
    mfpg_pde_solution *s = NULL;
    CHECK_OK(ctx, mfpg_pde_solve(ctx, &model, &grid, &s));
    const ptrdiff_t count = 8000;
    run_with(1, &model, s, count, 256, 7);
    double expected = 0;
    for (int k = 0; k < 2; k++) {
        const mfpg_pde_moments *m = &s->moments[k * 129 + 128];
        expected += shares[k] * (m->variance + pow(m->mean - s->mean_path[128], 2));
    }
    /* four standard errors, and dt times a rate of 3 for the two schemes of time together */
    check_near(mean[256], s->mean_path[128], 0, 4 * sqrt(expected / count) + 3e-3, "mean");
    check_near(variance[256], expected, 0, 4 * expected * sqrt(2.0 / count) + 1e-2, "variance");
    mfpg_pde_solution_destroy(s);
    mfpg_context_destroy(ctx);
}

static void test_threads_change_no_bit_and_repeats_differ(void **state) {
    (void)state;
    mfpg_pde_model model = quadratic_game(&ONE, 1);
    double held[SHORT + 1];
    run_with(1, &model, NULL, 9000, SHORT, 3);
    memcpy(held, mean, sizeof held);
    run_with(4, &model, NULL, 9000, SHORT, 3);
    assert_memory_equal(held, mean, sizeof held);
    run_with(1, &model, NULL, 9000, SHORT, 4);
    for (int n = 0; n <= SHORT; n++) assert_true(held[n] != mean[n]);
}

static void test_wrong_numbers_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_key key = mfpg_key_from_seed(1);
    mfpg_pde_model model = quadratic_game(&ONE, 1), broken = quadratic_game(&ONE, 1);
    broken.attraction = (double)NAN;
    for (int k = 0; k < 5; k++) {
        mfpg_pde_particles_options o = {.count = 10, .steps = STEPS, .key = &key, .fixed_control = 0.5};
        if (k == 0) o.count = 0;
        if (k == 1) o.steps = 0;
        if (k == 2) o.fixed_control = (double)NAN;
        if (k == 3) o.count = PTRDIFF_MAX;
        assert_int_equal(
            mfpg_pde_particles(ctx, k == 4 ? &broken : &model, NULL, &o, mean, variance), MFPG_ERR_DOMAIN);
    }
    model.potential = mfpg_pde_double_well(0.01, 1e6); /* far too stiff for explicit steps */
    const mfpg_pde_particles_options o = {.count = 10, .steps = STEPS, .key = &key, .fixed_control = 0.5};
    assert_int_equal(mfpg_pde_particles(ctx, &model, NULL, &o, mean, variance), MFPG_ERR_NUMERIC);
    assert_non_null(strstr(mfpg_context_message(ctx), "take more steps"));
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments_are_those_of_the_linear_recursion),
        cmocka_unit_test(test_a_single_particle_is_not_attracted),
        cmocka_unit_test(test_errors_fall_as_the_root_of_the_number_of_particles),
        cmocka_unit_test(test_particles_follow_the_law_of_the_equilibrium),
        cmocka_unit_test(test_threads_change_no_bit_and_repeats_differ),
        cmocka_unit_test(test_wrong_numbers_are_refused),
    };
    return cmocka_run_group_tests_name("numerics.pde_particles", tests, NULL, NULL);
}
