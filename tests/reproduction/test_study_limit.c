/* The study of the limit: its slopes, its limit against closed forms, its parts against each other. */
#include "testing.h"

#include "reproduction/studies.h"

enum { RUNGS = 6 };
static const ptrdiff_t ladder[RUNGS] = {32, 64, 128, 256, 512, 1024};
static const double own_cost = 0.045, noise = 0.2;

/* The example of theory S3.3, and its likes for the other costs that couple. */
static mfpg_game game_of(const char *cost) {
    mfpg_game game = mfpg_game_default();
    game.cost = cost;
    game.dimension = 5;
    game.noise_unit_all = noise;
    game.privacy_scale_all = 1;
    game.own_cost_all = own_cost;
    game.actions = (mfpg_action_set){.low = 0.0, .high = INFINITY};
    if (strcmp(cost, "interaction") == 0) {
        game.own_cost_all = 1;
        game.interaction = 1.0;
    }
    return game;
}

static mfpg_limit_options small_options(void) {
    mfpg_limit_options options = mfpg_limit_options_default();
    options.population = ladder;
    options.rungs = RUNGS;
    options.repeats = 20;
    options.law_types = 1 << 14;
    return options;
}

static const mfpg_convergence_line *line_of(const mfpg_convergence *of, const char *name) {
    for (ptrdiff_t i = 0; i < of->line_count; i++)
        if (strcmp(of->line[i].name, name) == 0) return &of->line[i];
    fail_msg("no line %s", name);
    return NULL;
}

/* ---- the slope ---- */

static void test_a_power_law_has_its_exponent(void **state) {
    (void)state;
    double value[RUNGS];
    for (int i = 0; i < RUNGS; i++) value[i] = 3.0 * pow((double)ladder[i], -1.7);
    mfpg_slope fit = mfpg_slope_fit(ladder, value, RUNGS, -1.7, 0.01);
    check_near(fit.slope, -1.7, 1e-13, 0, "slope");
    check_near(fit.standard_error, 0, 0, 1e-7, "error"); /* root of a rounding */
    assert_int_equal(fit.verdict, MFPG_VERDICT_HOLDS);
    assert_int_equal(mfpg_slope_fit(ladder, value, RUNGS, -1.0, 0.1).verdict, MFPG_VERDICT_FAILS);
    /* x = log 2 (0, 1, 2, 3), y = 0, 1, 1, 2: slope 0.6/log 2, rest 0.2, error sqrt(0.2/2/5)/log 2 */
    static const ptrdiff_t two[4] = {1, 2, 4, 8};
    const double y[4] = {1.0, exp(1), exp(1), exp(2)};
    fit = mfpg_slope_fit(two, y, 4, 0.9, 0.1);
    check_near(fit.slope, 0.6 / log(2), 1e-13, 0, "slope");
    check_near(fit.standard_error, sqrt(0.02) / log(2), 1e-12, 0, "error");
    assert_int_equal(fit.verdict, MFPG_VERDICT_UNDECIDED); /* 0.87 +- 0.41 against 0.9 +- 0.1 */
    const double gaps[4] = {1.0, NAN, 0.0, 2.0};
    fit = mfpg_slope_fit(two, gaps, 4, 1.0, 0.1);
    assert_int_equal(fit.points, 2);
    assert_true(isnan(fit.slope));
    assert_int_equal(fit.verdict, MFPG_VERDICT_UNDECIDED);
}

/* ---- closed forms ---- */

/* Of e = sqrt(beta B/c), beta uniform on [l, u]: (2/3) (u^1.5 - l^1.5)/(u - l) sqrt(B/c). Of b = (2 A omega^2
 * k0^2/beta)^(1/3): (3/2) (u^(2/3) - l^(2/3))/(u - l) (2 A omega^2 k0^2)^(1/3). */
static void test_the_limit_is_that_of_the_law(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(2);
    mfpg_limit_options options = small_options();
    const double l = 0.025, u = 0.075;
    const double expected[2] = {2.0 / 3 * (pow(u, 1.5) - pow(l, 1.5)) / (u - l) * sqrt(1 / own_cost),
        1.5 * (pow(u, 2.0 / 3) - pow(l, 2.0 / 3)) / (u - l) * cbrt(2 * 2.5 * 0.25 * noise * noise)};
    static const char *const costs[2] = {"entropic", "gaussian"};
    for (int i = 0; i < 2; i++) {
        mfpg_game game = game_of(costs[i]);
        mfpg_convergence of;
        CHECK_OK(ctx, mfpg_study_limit(ctx, &game, &options, &of));
        assert_true(of.limit_error < 1e-8);
        check_near(of.limit, expected[i], 0, of.limit_error, costs[i]);
        mfpg_convergence_clear(&of);
    }
    mfpg_context_destroy(ctx);
}

/* theory S3.2: b_k = (2 A q_N^2 k0^2/beta_k)^(1/(p+2)), q_N = omega + (1 - omega)/N, in the game of N. */
static void test_gaps_of_the_gaussian_game_are_those_of_its_closed_form(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(2);
    mfpg_game game = game_of("gaussian");
    mfpg_limit_options options = small_options();
    mfpg_convergence of;
    CHECK_OK(ctx, mfpg_study_limit(ctx, &game, &options, &of));
    for (int i = 0; i < RUNGS; i++) {
        double n = (double)ladder[i], q = 0.5 + 0.5 / n, mean = 0, largest = 0;
        for (ptrdiff_t k = 0; k < ladder[i]; k++) {
            double beta = 0.025 + 0.05 * ((double)k + 0.5) / n, field = cbrt(5 * 0.25 * noise * noise / beta);
            mean += cbrt(5 * q * q * noise * noise / beta) / n;
            largest = fmax(largest, cbrt(5 * q * q * noise * noise / beta) - field);
        }
        check_near(line_of(&of, "even-mean")->value[i], fabs(mean - of.limit), 1e-9, 1e-12, "mean");
        check_near(line_of(&of, "even-largest")->value[i], largest, 1e-9, 1e-12, "largest");
    }
    mfpg_convergence_clear(&of);
    mfpg_context_destroy(ctx);
}

/* source: theory S3.5, mean exploitability of the mean field's actions in the entropic game of 5, 20 and 80 */
static void test_exploitability_of_mean_field_play_meets_the_references(void **state) {
    (void)state;
    static const ptrdiff_t clients[3] = {5, 20, 80};
    static const double expected[3] = {0.0115, 3.40e-4, 1.54e-5};
    mfpg_context *ctx = testing_context(1);
    for (int i = 0; i < 3; i++) {
        double preference[80], action[80], max, mean;
        mfpg_game game = game_of("entropic");
        for (ptrdiff_t k = 0; k < clients[i]; k++) {
            preference[k] = 0.025 + 0.05 * (double)k / (double)(clients[i] - 1);
            action[k] = sqrt(preference[k] / own_cost);
        }
        game.clients = clients[i];
        game.players = MFPG_PLAYERS_FINITE;
        game.preference = preference;
        CHECK_OK(ctx, mfpg_game_exploitability(ctx, &game, action, &max, &mean));
        check_near(mean, expected[i], 5e-3, 0, "mean gain"); /* three digits are printed */
    }
    mfpg_context_destroy(ctx);
}

/* ---- the study as a whole ---- */

static void test_every_line_agrees_with_theory(void **state) {
    (void)state;
    static const char *const costs[] = {"entropic", "gaussian", "interaction"};
    static const char *const sure[] = {"even-mean", "even-largest", "exploit-mean", "random-players"};
    mfpg_context *ctx = testing_context(2);
    for (int c = 0; c < 3; c++) {
        mfpg_game game = game_of(costs[c]);
        mfpg_limit_options options = small_options();
        mfpg_convergence of;
        CHECK_OK(ctx, mfpg_study_limit(ctx, &game, &options, &of));
        for (int i = 0; i < 4; i++)
            if (line_of(&of, sure[i])->slope.verdict != MFPG_VERDICT_HOLDS)
                fail_msg("%s, %s: slope %g +- %g", costs[c], sure[i], line_of(&of, sure[i])->slope.slope,
                    line_of(&of, sure[i])->slope.standard_error);
        const mfpg_convergence_line *sampling = line_of(&of, "random-sampling"),
                                    *players = line_of(&of, "random-players"),
                                    *whole = line_of(&of, "random-whole");
        /* of 20 draws a root mean square is known to 1/sqrt(40); the slope of six to 0.09 */
        check_near(sampling->slope.slope, -0.5, 0, 0.3, "sampling");
        for (int r = 0; r < RUNGS; r++) { /* the triangle inequality of the root mean square */
            assert_true(whole->value[r] <= (sampling->value[r] + players->value[r]) * (1 + 1e-12));
            assert_true(whole->value[r] >= fabs(sampling->value[r] - players->value[r]) * (1 - 1e-12));
            assert_true(whole->standard_error[r] > 0 && whole->standard_error[r] < whole->value[r]);
            if (r >= whole->first) assert_true(3 * players->value[r] <= sampling->value[r]);
        }
        assert_int_equal(whole->repeats, 20);
        assert_int_equal(line_of(&of, "even-mean")->repeats, 0);
        mfpg_convergence_clear(&of);
    }
    mfpg_context_destroy(ctx);
}

static void test_threads_change_nothing_and_seeds_do(void **state) {
    (void)state;
    mfpg_game game = game_of("interaction");
    mfpg_limit_options options = small_options();
    mfpg_convergence of[3];
    for (int i = 0; i < 3; i++) {
        mfpg_context *ctx = testing_context(i == 0 ? 1 : 3);
        options.seed = i == 2 ? 2 : 1;
        CHECK_OK(ctx, mfpg_study_limit(ctx, &game, &options, &of[i]));
        mfpg_context_destroy(ctx);
    }
    for (ptrdiff_t l = 0; l < of[0].line_count; l++) {
        size_t size = RUNGS * sizeof(double);
        assert_memory_equal(of[0].line[l].value, of[1].line[l].value, size);
        int random = of[0].line[l].repeats > 0;
        assert_int_equal(memcmp(of[0].line[l].value, of[2].line[l].value, size) != 0, random);
    }
    for (int i = 0; i < 3; i++) mfpg_convergence_clear(&of[i]);
}

/* A spread law: the gap of evenly spaced types falls likewise, and LOW:HIGH stands for the uniform law. */
static void test_laws_of_types(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(2);
    mfpg_game game = game_of("gaussian");
    mfpg_limit_options options = small_options();
    mfpg_convergence uniform, even, lognormal;
    CHECK_OK(ctx, mfpg_study_limit(ctx, &game, &options, &uniform));
    options.types.spread = MFPG_SPREAD_EVEN;
    CHECK_OK(ctx, mfpg_study_limit(ctx, &game, &options, &even));
    assert_true(uniform.limit == even.limit);
    options.types = (mfpg_population){.spread = MFPG_SPREAD_LOGNORMAL, .first = 0.05, .second = 0.5};
    CHECK_OK(ctx, mfpg_study_limit(ctx, &game, &options, &lognormal));
    /* E beta^(-1/3) = median^(-1/3) exp(sd^2/18); mid-quantiles of 2^14 reach it to their own error */
    double expected = cbrt(5 * 0.25 * noise * noise / 0.05) * exp(0.25 / 18);
    check_near(lognormal.limit, expected, 0, lognormal.limit_error, "lognormal");
    assert_int_equal(line_of(&lognormal, "even-largest")->slope.verdict, MFPG_VERDICT_HOLDS);
    mfpg_convergence_clear(&uniform);
    mfpg_convergence_clear(&even);
    mfpg_convergence_clear(&lognormal);
    mfpg_context_destroy(ctx);
}

static void refused(mfpg_context *ctx, const mfpg_game *game, const mfpg_limit_options *options,
    mfpg_status status, const char *part) {
    mfpg_convergence of = {0};
    assert_int_equal(mfpg_study_limit(ctx, game, options, &of), status);
    if (!strstr(mfpg_context_message(ctx), part)) fail_msg("no '%s' in: %s", part, mfpg_context_message(ctx));
    assert_null(of.line);
}

static void test_what_has_no_limit_is_refused(void **state) {
    (void)state;
    static const double grid[2] = {0.5, 1}, weight = 1;
    static const ptrdiff_t back[3] = {16, 64, 32}, tiny[3] = {1, 2, 4};
    mfpg_context *ctx = testing_context(1);
    mfpg_limit_options good = small_options(), bad = good;
    mfpg_game game = game_of("paper");
    refused(ctx, &game, &good, MFPG_ERR_INPUT, "couples no clients");
    game = game_of("measured");
    refused(ctx, &game, &good, MFPG_ERR_INPUT, "couples no clients");
    game = game_of("gaussian");
    game.personalisation = 0;
    refused(ctx, &game, &good, MFPG_ERR_INPUT, "free riding");
    game = game_of("gaussian");
    game.weight = &weight;
    refused(ctx, &game, &good, MFPG_ERR_INPUT, "equal weights");
    game = game_of("entropic");
    game.own_cost = &weight;
    refused(ctx, &game, &good, MFPG_ERR_INPUT, "alike in all but");
    game = game_of("entropic");
    game.actions = (mfpg_action_set){.grid = grid, .count = 2};
    refused(ctx, &game, &good, MFPG_ERR_INPUT, "interval");
    game = game_of("entropic");
    bad.population = back, bad.rungs = 3;
    refused(ctx, &game, &bad, MFPG_ERR_INPUT, "ascend");
    bad.population = tiny;
    refused(ctx, &game, &bad, MFPG_ERR_DOMAIN, "from 2");
    bad.rungs = 2;
    refused(ctx, &game, &bad, MFPG_ERR_INPUT, "from 3");
    bad = good, bad.repeats = 1;
    refused(ctx, &game, &bad, MFPG_ERR_DOMAIN, "repeats");
    bad = good, bad.law_types = 10;
    refused(ctx, &game, &bad, MFPG_ERR_DOMAIN, "types of the law");
    bad = good, bad.types = (mfpg_population){.first = 0.5};
    refused(ctx, &game, &bad, MFPG_ERR_INPUT, "law of preferences");
    bad = good, bad.types.second = NAN;
    refused(ctx, &game, &bad, MFPG_ERR_DOMAIN, "spread");
    bad = good, bad.types.second = bad.types.first;
    refused(ctx, &game, &bad, MFPG_ERR_DOMAIN, "spread");
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_power_law_has_its_exponent),
        cmocka_unit_test(test_the_limit_is_that_of_the_law),
        cmocka_unit_test(test_gaps_of_the_gaussian_game_are_those_of_its_closed_form),
        cmocka_unit_test(test_exploitability_of_mean_field_play_meets_the_references),
        cmocka_unit_test(test_every_line_agrees_with_theory),
        cmocka_unit_test(test_threads_change_nothing_and_seeds_do),
        cmocka_unit_test(test_laws_of_types),
        cmocka_unit_test(test_what_has_no_limit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
