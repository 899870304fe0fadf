/* Propagation of chaos: the law against closed forms, the particles' scatter against its own, the slope. */
#include "testing.h"

#include "reproduction/studies.h"

enum { RUNGS = 6 };
static const ptrdiff_t ladder[RUNGS] = {16, 32, 64, 128, 256, 512};

/* The coupled game with a closed form: transport_and_pde 4.6 c, kappa = 1, lambda = 1/2, q = 1. */
static mfpg_pde_model quadratic_model(void) {
    static const double weight[] = {1.0};
    mfpg_pde_model model = mfpg_chaos_model();
    model.potential = model.running = mfpg_pde_quadratic(1.0);
    model.start_mean = 1.0;
    model.weight = weight;
    model.types = 1;
    return model;
}

static mfpg_chaos_options small_options(void) {
    mfpg_chaos_options options = mfpg_chaos_options_default();
    options.population = ladder;
    options.rungs = RUNGS;
    options.repeats = 40;
    options.grid.low = -6;
    options.grid.high = 6;
    options.grid.nodes = 121;
    options.grid.steps = 25;
    return options;
}

/* eps*(t) = clip(e0 + log(theta beta C/A)/theta), A(t) = q/(2k) (1 - exp(-2k (T - t))), k = kappa + lambda. */
static double control_at(double t) {
    double k = 1.5, a = (1 - exp(-2 * k * (1 - t))) / (2 * k);
    double e = 0.2 + log(2 * 0.5 / a) / 2;
    return e < 0.05 ? 0.05 : e > 1.5 ? 1.5 : e;
}

/* The solution of v' = -2 pull v + 2 eps*(t) at 1 from v(0) = 1/4, by the midpoint rule. */
static double variance_at_end(double pull) {
    enum { STEPS = 100000 };
    double v = 0.25, h = 1.0 / STEPS;
    for (int i = 0; i < STEPS; i++) {
        double t = (i + 0.5) * h, half = v + 0.5 * h * (2 * control_at(i * h) - 2 * pull * v);
        v += h * (2 * control_at(t) - 2 * pull * half);
    }
    return v;
}

static double line_value(const mfpg_convergence *of, const char *name, int rung) {
    for (ptrdiff_t i = 0; i < of->line_count; i++)
        if (strcmp(of->line[i].name, name) == 0) return of->line[i].value[rung];
    fail_msg("no line %s", name);
    return 0;
}

static void test_particles_scatter_as_the_closed_form_says(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(2);
    mfpg_pde_model model = quadratic_model();
    mfpg_chaos_options options = small_options();
    mfpg_convergence of;
    options.repeats = 100;
    /* source: transport_and_pde 4.6 c, variance of a particle with pull kappa + lambda */
    check_near(variance_at_end(1.5), 0.745753, 2e-6, 0, "this test's own integral");
    CHECK_OK(ctx, mfpg_study_chaos(ctx, &model, &options, &of));
    check_near(of.limit, exp(-1), 0, of.limit_error, "mean");
    assert_true(of.limit_error > 0 && of.limit_error < 0.02); /* of first order, 25 steps */
    /* The mean of all is pulled by kappa alone: sd sqrt(v/N). A root mean square of 100 draws is known to 1/sqrt(200). A
     * normal variance scatters by sqrt(2/N) of itself, and dividing by N moves it by 1/N. */
    double free_sd = sqrt(variance_at_end(1.0)), own = variance_at_end(1.5);
    for (int i = 0; i < RUNGS; i++) {
        double n = (double)ladder[i];
        check_near(
            line_value(&of, "chaos-mean", i), free_sd / sqrt(n), 4 / sqrt(200), of.limit_error, "mean");
        check_near(line_value(&of, "chaos-variance", i), own * sqrt(2 / n + 1 / n / n), 5 / sqrt(200), 0.01,
            "variance");
        assert_true(line_value(&of, "chaos-path", i) >= line_value(&of, "chaos-mean", i) - of.limit_error);
    }
    mfpg_convergence_clear(&of);
    mfpg_context_destroy(ctx);
}

static void test_slopes_are_one_half_and_threads_change_nothing(void **state) {
    (void)state;
    mfpg_pde_model model = mfpg_chaos_model();
    mfpg_chaos_options options = small_options();
    mfpg_convergence of[2];
    for (int i = 0; i < 2; i++) {
        mfpg_context *ctx = testing_context(i == 0 ? 1 : 3);
        CHECK_OK(ctx, mfpg_study_chaos(ctx, &model, &options, &of[i]));
        mfpg_context_destroy(ctx);
    }
    for (ptrdiff_t l = 0; l < of[0].line_count; l++) {
        const mfpg_convergence_line *line = &of[0].line[l];
        assert_memory_equal(line->value, of[1].line[l].value, RUNGS * sizeof(double));
        check_near(line->slope.slope, -0.5, 0, 0.1, line->name); /* known to 0.04 with 40 draws of six */
        assert_true(line->slope.points >= 3 && line->slope.standard_error < 0.1);
        for (int i = 0; i < RUNGS; i++) assert_true(line->standard_error[i] > 0);
    }
    mfpg_convergence_clear(&of[0]);
    mfpg_convergence_clear(&of[1]);
}

static void test_values_below_the_floor_are_not_fitted(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(2);
    mfpg_pde_model model = quadratic_model();
    mfpg_chaos_options options = small_options();
    mfpg_convergence of;
    options.grid.steps = 4; /* the law is known to .2 */
    CHECK_OK(ctx, mfpg_study_chaos(ctx, &model, &options, &of));
    assert_true(of.line[0].floor > line_value(&of, "chaos-mean", RUNGS - 1));
    assert_true(of.line[0].slope.points < RUNGS);
    if (of.line[0].slope.points < 3) assert_int_equal(of.line[0].slope.verdict, MFPG_VERDICT_UNDECIDED);
    mfpg_convergence_clear(&of);
    mfpg_context_destroy(ctx);
}

static void test_bad_input_is_refused(void **state) {
    (void)state;
    static const ptrdiff_t back[3] = {16, 8, 32};
    mfpg_context *ctx = testing_context(1);
    mfpg_pde_model model = mfpg_chaos_model();
    mfpg_convergence of = {0};
    mfpg_chaos_options bad = small_options();
    bad.population = back, bad.rungs = 3;
    assert_int_equal(mfpg_study_chaos(ctx, &model, &bad, &of), MFPG_ERR_INPUT);
    bad = small_options(), bad.repeats = 1;
    assert_int_equal(mfpg_study_chaos(ctx, &model, &bad, &of), MFPG_ERR_DOMAIN);
    bad = small_options(), bad.grid.nodes = 60001;
    assert_int_equal(mfpg_study_chaos(ctx, &model, &bad, &of), MFPG_ERR_DOMAIN);
    bad = small_options(), bad.grid.iterations = 1;
    assert_int_equal(mfpg_study_chaos(ctx, &model, &bad, &of), MFPG_ERR_NUMERIC);
    assert_non_null(strstr(mfpg_context_message(ctx), "did not converge"));
    bad = small_options(), model.horizon = NAN;
    assert_int_equal(mfpg_study_chaos(ctx, &model, &bad, &of), MFPG_ERR_DOMAIN);
    assert_null(of.line);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_particles_scatter_as_the_closed_form_says),
        cmocka_unit_test(test_slopes_are_one_half_and_threads_change_nothing),
        cmocka_unit_test(test_values_below_the_floor_are_not_fitted),
        cmocka_unit_test(test_bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
