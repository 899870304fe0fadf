/* Games over a loss table: equilibria by enumeration of the grid, a line in a table that is the formula, and doors. */
#include "games_testing.h"

static void draw_tabled(uint64_t *seed, const char *cost, int players, random_game *r) {
    draw_game(seed, cost, (mfpg_players)players, 0, r);
    draw_loss_table(seed, mfpg_cost_control(cost), r);
}

/* Others move no choice, so an equilibrium is what each client finds by trying every action. */
static void test_every_client_plays_the_cheapest_action(void **state) {
    const char *costs[] = {"measured", "measured-budget"};
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(200); repeat++) {
        random_game r;
        draw_tabled(&seed, costs[repeat % 2], 1 + repeat / 2 % 2, &r);
        mfpg_equilibrium e = solved(ctx, &r.game);
        assert_true(e.converged && e.exploitability_max == 0.0);
        for (ptrdiff_t k = 0; k < e.clients; k++) {
            double best = INFINITY;
            for (ptrdiff_t j = 0; j < r.game.actions.count; j++)
                best = fmin(best, reference_measured_cost(&r.game, k, r.grid[j]));
            /* two orders of the same sum of two products */
            check_near(reference_measured_cost(&r.game, k, e.action[k]), best, 1e-14, 1e-14, "cost");
        }
        mfpg_equilibrium_clear(&e);
    }
}

/* T(e) = L e is the formula that the table stands for; A k0^2/b^2 that of cost gaussian in the limit. */
static void test_a_table_of_the_formula_is_the_formula(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(100); repeat++) {
        random_game r;
        draw_game(&seed, repeat % 2 ? "measured" : "gaussian", MFPG_PLAYERS_MEAN_FIELD, 0, &r);
        mfpg_game *g = &r.game;
        for (ptrdiff_t k = 1; k < g->clients; k++) r.noise_unit[k] = r.noise_unit[0];
        mfpg_equilibrium formula = solved(ctx, g);
        double spread = g->personalisation * r.noise_unit[0];
        for (ptrdiff_t j = 0; j < g->actions.count; j++)
            r.loss_table[j] =
                repeat % 2 ? g->loss * r.grid[j]
                           : g->curvature * g->dimension / 2 * spread * spread / (r.grid[j] * r.grid[j]);
        g->loss_table = r.loss_table;
        if (repeat % 2 == 0) g->cost = "measured-budget";
        mfpg_equilibrium table = solved(ctx, g);
        assert_memory_equal(formula.action, table.action, (size_t)g->clients * sizeof *table.action);
        check_near(formula.cost, table.cost, 1e-12, 0, "cost");
        mfpg_equilibrium_clear(&formula);
        mfpg_equilibrium_clear(&table);
    }
}

/* Preferences 1 and 3, B = 1 on {1, 2, 4} with T = 0, 1, 1.2, by hand: U_0 = 1, 1.5, 1.45; U_1 = 3, 2.5, 1.95. A table with a
 * bend jumps over the middle action. */
static void test_a_bend_in_the_table_is_played(void **state) {
    const double grid[] = {1, 2, 4}, table[] = {0, 1, 1.2}, preference[] = {1, 3}, scale[] = {1, 1};
    mfpg_game g = mfpg_game_default();
    (void)state;
    g.cost = "measured";
    g.clients = 2;
    g.preference = preference;
    g.privacy_scale = scale;
    g.actions = grid_of(grid, 3);
    g.loss_table = table;
    mfpg_equilibrium e = solved(ctx, &g);
    assert_true(e.action[0] == 1 && e.action[1] == 4 && e.unique == 1);
    check_near(e.cost, 1 + 1.95, 1e-15, 0, "cost by hand");
    mfpg_equilibrium_clear(&e);
}

/* Off the grid nothing was measured: less noise than any action's costs what the quietest does, more has no price. */
static void test_profiles_off_the_grid_are_judged_safely(void **state) {
    const double grid[] = {1, 2}, table[] = {0, 1}, one = 1, profiles[] = {0.5, 1.5, 3};
    mfpg_game g = mfpg_game_default();
    double max, mean;
    (void)state;
    g.cost = "measured";
    g.clients = 1;
    g.preference = g.privacy_scale = &one;
    g.actions = grid_of(grid, 2);
    g.loss_table = table;
    CHECK_OK(ctx, mfpg_game_exploitability(ctx, &g, &profiles[0], &max, &mean));
    check_near(max, 2 - 1, 1e-15, 0, "U(0.5) = 0 + 2, best is U(1) = 1");
    CHECK_OK(ctx, mfpg_game_exploitability(ctx, &g, &profiles[1], &max, &mean));
    check_near(max, 0.5 + 1 / 1.5 - 1, 1e-15, 1e-15, "halfway");
    CHECK_OK(ctx, mfpg_game_exploitability(ctx, &g, &profiles[2], &max, &mean));
    assert_true(isinf(max));
}

static void refused(const mfpg_game *game, mfpg_status status, const char *word) {
    mfpg_equilibrium e;
    assert_int_equal(mfpg_game_solve(ctx, game, &e), status);
    if (strstr(mfpg_context_message(ctx), word)) return;
    print_error("no '%s' in: %s\n", word, mfpg_context_message(ctx));
    fail();
}

static void test_wrong_tables_are_refused_by_their_actions(void **state) {
    double table[] = {1, 2, 1.5}, grid[] = {0.5, 1, 2}, loss[] = {1, 1};
    uint64_t seed = testing_seed();
    random_game r;
    (void)state;
    draw_game(&seed, "measured", MFPG_PLAYERS_FINITE, 0, &r);
    r.game.clients = 2;
    r.game.weight = NULL;
    r.game.actions = grid_of(grid, 3);
    r.game.loss_table = table;
    refused(&r.game, MFPG_ERR_INPUT, "from 2 at action 1 to 1.5 at action 2");
    r.game.cost = "measured-budget";
    refused(&r.game, MFPG_ERR_INPUT,
        "from 2 at action 1 to 1 at action 0.5"); /* a table of strengths is none of budgets */
    table[0] = NAN;
    refused(&r.game, MFPG_ERR_DOMAIN, "nan for action 0.5");
    table[0] = INFINITY;
    refused(&r.game, MFPG_ERR_DOMAIN, "inf for action 0.5");
    r.game.loss_table = NULL;
    refused(&r.game, MFPG_ERR_INPUT, "needs a loss table");
    r.game.cost = "measured";
    table[0] = 0, table[2] = 3;
    r.game.loss_table = table;
    r.game.measured_loss = loss;
    refused(&r.game, MFPG_ERR_INPUT, "exclude each other");
    r.game.measured_loss = NULL;
    r.game.actions = interval_of(0.5, 2);
    refused(&r.game, MFPG_ERR_INPUT, "needs a grid");
    r.game.cost = "measured-budget";
    r.game.actions = grid_of(grid, 3);
    table[0] = 5, table[1] = 3, table[2] = 1;
    r.game.privacy_power = 3;
    refused(&r.game, MFPG_ERR_DOMAIN, "privacy power");
}

/* A table is public: nothing of a disutility moves with what a client measures. */
static void test_disutilities_of_a_table_do_not_move(void **state) {
    uint64_t seed = testing_seed();
    random_game r;
    (void)state;
    draw_tabled(&seed, "measured", MFPG_PLAYERS_FINITE, &r);
    double zero[MOST], out[MOST], five[MOST], table[MOST * 16], largest = 0;
    fill(0, MOST, zero);
    fill(5, MOST, five);
    CHECK_OK(ctx, mfpg_game_disutility_changes(ctx, &r.game, five, 5, zero, 1, out));
    CHECK_OK(ctx, mfpg_game_disutilities(ctx, &r.game, table));
    for (ptrdiff_t i = 0; i < r.game.clients * r.game.actions.count; i++)
        largest = fmax(largest, fabs(table[i]));
    for (ptrdiff_t k = 0; k < r.game.clients; k++)
        assert_true(out[k] <= 0x1p-36 * largest + 0x1p-36); /* the room for rounding alone */
    assert_int_equal(mfpg_cost_control("measured-budget"), MFPG_CONTROL_BUDGET);
    assert_int_equal(mfpg_cost_control("measured"), MFPG_CONTROL_STRENGTH);
    assert_int_equal(mfpg_cost_control("nonsense"), MFPG_CONTROL_NONE);
    assert_int_equal(mfpg_cost_measures("measured-budget"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_client_plays_the_cheapest_action),
        cmocka_unit_test(test_a_table_of_the_formula_is_the_formula),
        cmocka_unit_test(test_a_bend_in_the_table_is_played),
        cmocka_unit_test(test_profiles_off_the_grid_are_judged_safely),
        cmocka_unit_test(test_wrong_tables_are_refused_by_their_actions),
        cmocka_unit_test(test_disutilities_of_a_table_do_not_move),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
