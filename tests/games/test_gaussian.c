/* The Gaussian game of theory S3.2. Reference values: vectors/theory_vectors.csv, closed forms. */
#include "games_testing.h"

typedef struct row {
    const char *source; /* case_id of theory_vectors.csv and the section it names */
    double h, d, omega;
    ptrdiff_t clients;
    double eta, clip, beta, power, expected;
} row;

/* Equal clients with k0 = 2 eta C on every positive budget. */
typedef struct equal_game {
    mfpg_game game;
    double preference[MOST], noise_unit[MOST];
} equal_game;

static void make_equal(const row *r, mfpg_players players, equal_game *out) {
    out->game = mfpg_game_default();
    fill(r->beta, r->clients, out->preference);
    fill(2 * r->eta * r->clip, r->clients, out->noise_unit);
    out->game.cost = "gaussian";
    out->game.players = players;
    out->game.clients = r->clients;
    out->game.preference = out->preference;
    out->game.noise_unit = out->noise_unit;
    out->game.curvature = r->h;
    out->game.dimension = r->d;
    out->game.personalisation = r->omega;
    out->game.privacy_power = r->power;
}

static void test_nash_budgets_match_the_reference(void **state) {
    const row rows[] = {
        {"T155 S3.2", 1, 5, 0.2, 5, 0.01, 1, 1, 1, 0.063759514151},
        {"T158 S3.2", 1, 5, 0.2, 50, 0.01, 1, 1, 1, 0.0453571577962},
        {"T161 S3.2", 4, 20, 0, 8, 0.01, 1, 1, 1, 0.0793700525984},
        {"T163 S3.2", 2, 10, 0.5, 20, 0.1, 1, 0.5, 2, 0.814910000328},
        {"T166 S3.2", 2, 10, 1, 20, 0.1, 1, 0.5, 2, 1.12468265038},
        {"T169 S3.2", 1, 5, 0, 100, 0.05, 2, 1.5, 2, 0.0604275079471},
        {"T176 S3.6 mapg_closed", 1, 5, 0, 5, 0.01, 1, 1, 1, 0.0430886938006},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        equal_game g;
        make_equal(&rows[i], MFPG_PLAYERS_FINITE, &g);
        mfpg_equilibrium e = solved(ctx, &g.game);
        for (ptrdiff_t k = 0; k < e.clients; k++)
            check_near(e.action[k], rows[i].expected, 1e-9, 0, rows[i].source);
        assert_int_equal(e.control, MFPG_CONTROL_BUDGET);
        assert_int_equal(e.unique, 1);
        assert_true(e.exploitability_max == 0.0);
        mfpg_equilibrium_clear(&e);
    }
}

static void test_mean_field_budgets_match_the_reference(void **state) {
    const row rows[] = {
        {"T164 S3.2", 2, 10, 0.5, 3, 0.1, 1, 0.5, 2, 0.795270728767},
        {"T167 S3.2", 2, 10, 1, 3, 0.1, 1, 0.5, 2, 1.12468265038},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        equal_game g;
        make_equal(&rows[i], MFPG_PLAYERS_MEAN_FIELD, &g);
        mfpg_equilibrium e = solved(ctx, &g.game);
        check_near(e.mean_action, rows[i].expected, 1e-9, 0, rows[i].source);
        assert_true(e.price_of_anarchy == 1.0); /* in the limit nobody's noise reaches others */
        mfpg_equilibrium_clear(&e);
    }
}

static void test_social_budgets_match_the_reference(void **state) {
    const row rows[] = {
        {"T154 S3.2", 1, 5, 0, 5, 0.01, 1, 1, 1, 0.0736806299728},
        {"T157 S3.2", 1, 5, 0.2, 5, 0.01, 1, 1, 1, 0.0774175328126},
        {"T160 S3.2", 1, 5, 0.2, 50, 0.01, 1, 1, 1, 0.0491040410477},
        {"T170 S3.2", 1, 5, 0, 100, 0.05, 2, 1.5, 2, 0.191088558441},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        equal_game g;
        make_equal(&rows[i], MFPG_PLAYERS_FINITE, &g);
        mfpg_equilibrium e = solved(ctx, &g.game);
        check_near(e.social_mean, rows[i].expected, 1e-9, 0, rows[i].source);
        check_near(e.social_action[0], rows[i].expected, 1e-9, 0, rows[i].source);
        mfpg_equilibrium_clear(&e);
    }
}

static void test_price_of_anarchy_matches_the_reference(void **state) {
    const row rows[] = {
        {"T172 S3.2", 1, 5, 0, 10, 0.01, 1, 1, 1, 1.85663553345},
        {"T173 S3.2", 1, 5, 0, 100, 0.01, 1, 1, 1, 7.32507794611},
        {"T175 S3.2", 1, 5, 0, 100, 0.01, 1, 1, 2, 5.05},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        equal_game g;
        make_equal(&rows[i], MFPG_PLAYERS_FINITE, &g);
        mfpg_equilibrium e = solved(ctx, &g.game);
        check_near(e.price_of_anarchy, rows[i].expected, 1e-9, 0, rows[i].source);
        mfpg_equilibrium_clear(&e);
    }
}

/* a/b^2 + beta b^p/p on the paper's grid: one client alone has q = 1, so a = (h d/2) k0^2. */
static void test_grid_best_responses_match_the_reference(void **state) {
    const struct {
        const char *source;
        double a, power, expected;
    } rows[] = {
        {"T148 S3.2", 1, 1, 1},
        {"T149 S3.2", 0.01, 1, 0.3},
        {"T151 S3.2", 5, 2, 2},
        {"T152 S3.2", 0.001, 2, 0.3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        equal_game g;
        row one = {"", 2 * rows[i].a, 1, 0.5, 1, 0.5, 1, 1, rows[i].power, 0}; /* k0 = 1 */
        make_equal(&one, MFPG_PLAYERS_FINITE, &g);
        g.game.actions = grid_of(PAPER_GRID, 5);
        mfpg_equilibrium e = solved(ctx, &g.game);
        check_near(e.action[0], rows[i].expected, 0, 0, rows[i].source);
        mfpg_equilibrium_clear(&e);
    }
}

/* S3.2: the client moves from g_i to g_{i+1} where a/beta = (g_{i+1}^p - g_i^p)/(p (g_i^-2 - g_{i+1}^-2)). */
static void test_grid_best_response_switches_at_the_thresholds(void **state) {
    (void)state;
    for (int power = 1; power <= 2; power++) {
        for (int i = 0; i + 1 < 5; i++) {
            double low = PAPER_GRID[i], high = PAPER_GRID[i + 1];
            double a = (pow(high, power) - pow(low, power)) / power / (1 / (low * low) - 1 / (high * high));
            for (int above = 0; above <= 1; above++) {
                equal_game g;
                row one = {"", 2 * a * (above ? 1 + 1e-9 : 1 - 1e-9), 1, 0.5, 1, 0.5, 1, 1, power, 0};
                make_equal(&one, MFPG_PLAYERS_FINITE, &g);
                g.game.actions = grid_of(PAPER_GRID, 5);
                mfpg_equilibrium e = solved(ctx, &g.game);
                assert_true(e.action[0] == (above ? high : low));
                assert_int_equal(e.unique, 1);
                mfpg_equilibrium_clear(&e);
            }
        }
    }
}

/* a/b^2 + b^2/2 on {1, 2} with a = 2: 2.5 either way, exactly. */
static void test_a_tie_goes_to_the_more_private_budget_and_is_reported(void **state) {
    const double grid[] = {1, 2};
    (void)state;
    equal_game g;
    row one = {"", 4, 1, 0.5, 1, 0.5, 1, 1, 2, 0};
    make_equal(&one, MFPG_PLAYERS_FINITE, &g);
    g.game.actions = grid_of(grid, 2);
    mfpg_equilibrium e = solved(ctx, &g.game);
    assert_true(e.action[0] == 1.0);
    assert_int_equal(e.unique, 0);
    assert_true(e.exploitability_max == 0.0);
    mfpg_equilibrium_clear(&e);
}

/* S3.2: ratio Nash/MFNE = (1 + (1 - omega)/(omega N))^(2/(p+2)), so N (Nash - MFNE) tends to a constant. */
static void test_nash_approaches_the_mean_field_like_one_over_n(void **state) {
    (void)state;
    for (int power = 1; power <= 2; power++) {
        for (ptrdiff_t n = 4; n <= MOST; n *= 2) {
            row r = {"", 1, 5, 0.2, n, 0.01, 1, 1, power, 0};
            equal_game finite, limit;
            make_equal(&r, MFPG_PLAYERS_FINITE, &finite);
            make_equal(&r, MFPG_PLAYERS_MEAN_FIELD, &limit);
            mfpg_equilibrium a = solved(ctx, &finite.game), b = solved(ctx, &limit.game);
            double ratio = pow(1 + 0.8 / (0.2 * (double)n), 2.0 / (power + 2));
            check_near(a.action[0] / b.action[0], ratio, 1e-12, 0, "Nash/MFNE");
            double bound =
                2 * 0.8 / ((power + 2) * 0.2); /* the first-order term, an upper bound: 2/(p+2) < 1 */
            assert_true((double)n * (a.action[0] / b.action[0] - 1) <= bound);
            mfpg_equilibrium_clear(&a);
            mfpg_equilibrium_clear(&b);
        }
    }
}

/* Total cost of a profile from the formulas, as one planner sees one client's budget. */
static double total_by_formula(const void *arg, double x) {
    const deviation *d = arg;
    double profile[MOST], sum = 0;
    memcpy(profile, d->profile, (size_t)d->game->clients * sizeof *profile);
    profile[d->client] = x;
    for (ptrdiff_t k = 0; k < d->game->clients; k++) sum += reference_cost(d->game, profile, k, profile[k]);
    return sum;
}

/* The total is separable and convex in log b, so coordinate searches certify the optimum. */
static void test_social_optimum_survives_search_with_unequal_weights(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(30); repeat++) {
        random_game r;
        draw_game(&seed, "gaussian", MFPG_PLAYERS_FINITE, 1 + repeat % 2, &r);
        r.game.weight = r.weight;
        mfpg_equilibrium e = solved(ctx, &r.game);
        for (ptrdiff_t k = 0; k < e.clients; k++) {
            deviation d = {.game = &r.game, .profile = e.social_action, .client = k};
            double low = r.game.actions.low > 0 ? r.game.actions.low : e.social_action[k] * 1e-3;
            double high = isfinite(r.game.actions.high) ? r.game.actions.high : e.social_action[k] * 1e3;
            double best = search_minimum(total_by_formula, &d, low, high, NULL);
            assert_true(e.social_cost <= best * (1 + 1e-12));
            check_near(total_by_formula(&d, e.social_action[k]), e.social_cost, 1e-12, 0, "social cost");
        }
        assert_true(e.price_of_anarchy >= 1 - 1e-12);
        mfpg_equilibrium_clear(&e);
    }
}

static void test_budget_falls_with_preference_and_rises_with_curvature(void **state) {
    (void)state;
    double before = INFINITY;
    for (double beta = 0.1; beta < 10; beta *= 1.5) {
        row r = {"", 1, 5, 0.5, 4, 0.01, 1, beta, 1, 0};
        equal_game g;
        make_equal(&r, MFPG_PLAYERS_MEAN_FIELD, &g);
        mfpg_equilibrium e = solved(ctx, &g.game);
        assert_true(e.mean_action < before);
        before = e.mean_action;
        mfpg_equilibrium_clear(&e);
    }
    before = 0;
    for (double h = 0.1; h < 10; h *= 1.5) {
        row r = {"", h, 5, 0.5, 4, 0.01, 1, 1, 1, 0};
        equal_game g;
        make_equal(&r, MFPG_PLAYERS_FINITE, &g);
        mfpg_equilibrium e = solved(ctx, &g.game);
        assert_true(e.mean_action > before);
        before = e.mean_action;
        mfpg_equilibrium_clear(&e);
    }
}

static void test_free_riding_is_named_or_ends_at_the_most_private_action(void **state) {
    row r = {"", 1, 5, 0, 3, 0.01, 1, 1, 1, 0};
    equal_game g;
    mfpg_equilibrium e;
    (void)state;
    make_equal(&r, MFPG_PLAYERS_MEAN_FIELD, &g);
    assert_int_equal(mfpg_game_solve(ctx, &g.game, &e), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "free riding"));
    assert_non_null(strstr(mfpg_context_message(ctx), "personalisation"));
    assert_null(e.action);
    mfpg_equilibrium_clear(&e);
    g.game.actions = interval_of(0.2, 3);
    e = solved(ctx, &g.game);
    assert_true(e.action[0] == 0.2 && e.action[2] == 0.2);
    mfpg_equilibrium_clear(&e);
    g.game.actions = grid_of(PAPER_GRID, 5);
    e = solved(ctx, &g.game);
    check_near(e.mean_action, 0.1, 1e-15, 0, "grid");
    mfpg_equilibrium_clear(&e);
    /* A client of weight 0 rides free among N players too. */
    const double weight[] = {0.5, 0.5, 0};
    make_equal(&r, MFPG_PLAYERS_FINITE, &g);
    g.game.weight = weight;
    assert_int_equal(mfpg_game_solve(ctx, &g.game, &e), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "client 2"));
}

/* Budgets 0.1 and 2 cost 401/4000 both, and rounding tells them apart: that is no proof that one is the only answer. */
static void test_a_tie_that_rounding_breaks_is_not_called_unique(void **state) {
    (void)state;
    const double beta[] = {0.05}, grid[] = {0.05, 0.1, 2}, noise[] = {0.02};
    mfpg_game g = mfpg_game_default();
    g.cost = "gaussian";
    g.players = MFPG_PLAYERS_FINITE;
    g.clients = 1;
    g.preference = beta;
    g.noise_unit = noise;
    g.actions = grid_of(grid, 3);
    g.personalisation = 0.1;
    g.dimension = 5;
    g.privacy_power = 2;
    mfpg_equilibrium e = solved(ctx, &g);
    assert_true(e.unique != 1 && e.exploitability_max == 0.0);
    mfpg_equilibrium_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nash_budgets_match_the_reference),
        cmocka_unit_test(test_mean_field_budgets_match_the_reference),
        cmocka_unit_test(test_social_budgets_match_the_reference),
        cmocka_unit_test(test_price_of_anarchy_matches_the_reference),
        cmocka_unit_test(test_grid_best_responses_match_the_reference),
        cmocka_unit_test(test_grid_best_response_switches_at_the_thresholds),
        cmocka_unit_test(test_a_tie_goes_to_the_more_private_budget_and_is_reported),
        cmocka_unit_test(test_nash_approaches_the_mean_field_like_one_over_n),
        cmocka_unit_test(test_social_optimum_survives_search_with_unequal_weights),
        cmocka_unit_test(test_budget_falls_with_preference_and_rises_with_curvature),
        cmocka_unit_test(test_free_riding_is_named_or_ends_at_the_most_private_action),
        cmocka_unit_test(test_a_tie_that_rounding_breaks_is_not_called_unique),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
