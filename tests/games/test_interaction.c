/* The interaction game of theory S3.4: exact fixed points with mixing at ties, Nash equilibria of N players. Reference
 * values: vectors/theory_vectors.csv; second routes: the step function itself, enumeration, monotone iteration. */
#include "games_testing.h"

typedef struct test_game {
    mfpg_game game;
    double preference[MOST], privacy_scale[MOST], own_cost[MOST];
} test_game;

static void make_game(const double *beta, ptrdiff_t clients, double scale, double zeta, test_game *out) {
    out->game = mfpg_game_default();
    memcpy(out->preference, beta, (size_t)clients * sizeof *beta);
    fill(scale, clients, out->privacy_scale);
    fill(1, clients, out->own_cost);
    out->game.cost = "interaction";
    out->game.players = MFPG_PLAYERS_MEAN_FIELD;
    out->game.clients = clients;
    out->game.preference = out->preference;
    out->game.privacy_scale = out->privacy_scale;
    out->game.own_cost = out->own_cost;
    out->game.interaction = zeta;
    out->game.actions = grid_of(PAPER_GRID, 5);
}

/* A row of kind mf_grid_fixed_point: s*, the weight on the upper action, and who mixes (-1: all, -2: nobody). */
typedef struct row {
    const char *source;
    ptrdiff_t clients;
    double beta[10], scale, zeta, mean, weight;
    int mixes;
} row;

static void check_row(const row *r) {
    test_game g;
    make_game(r->beta, r->clients, r->scale, r->zeta, &g);
    mfpg_equilibrium e = solved(ctx, &g.game);
    check_near(e.mean_action, r->mean, 1e-9, 0, r->source); /* the rows' own tolerance */
    assert_int_equal(e.mixing_count, r->mixes == -1 ? r->clients : r->mixes == -2 ? 0 : 1);
    for (ptrdiff_t i = 0; i < e.mixing_count; i++) {
        check_near(e.mixing[i].weight, r->weight, 1e-9, 0, r->source);
        assert_int_equal(e.mixing[i].client, r->mixes == -1 ? i : r->mixes);
        assert_true(e.mixing[i].upper > e.action[e.mixing[i].client]);
    }
    assert_int_equal(e.unique, 1);
    assert_true(e.converged);
    assert_true(e.consistency_gap < 1e-14 && e.residual < 1e-14);
    assert_true(e.exploitability_max < 1e-14); /* ties cost the same up to a few roundings of costs near 1 */
    check_no_gain(&g.game, e.action, r->mean);
    mfpg_equilibrium_clear(&e);
}

static void test_grid_fixed_points_match_the_reference(void **state) {
    const row rows[] = {
        {"T206 S3.4", 4, {1, 1, 1, 1}, 0.2, 1, 0.333333333333, 0.166666666667, -1},
        {"T208 S3.4", 10, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 0.036, 1, 0.2, 0.5, -1},
        {"T209 S3.4", 3, {1, 1, 1}, 0.7, 0.5, 0.8, 0.6, -1},
        {"T211 S3.4", 5, {0.5, 0.8, 0.81, 1.39, 1.47}, 1.21, 4.3, 0.594744186047, 0.947441860465, 4},
        {"T212 S3.4", 6, {0.71, 0.8, 1.13, 1.22, 1.24, 1.43}, 0.52, 6.8, 0.429019607843, 0.870588235294, 2},
        {"T214 S3.4", 8,
            {0.5, 0.6428571428571428, 0.7857142857142857, 0.9285714285714286, 1.0714285714285714,
                1.2142857142857142, 1.3571428571428572, 1.5},
            0.6, 3, 0.475, 0, -2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) check_row(&rows[i]);
}

/* T215 (mf_cont_fixed_point): E sqrt beta = 1, B/c = 1, zeta = 1. Unequal beta with the same mean root must agree. */
static void test_continuous_fixed_point_matches_the_reference(void **state) {
    const double equal[] = {1, 1, 1}, unequal[] = {0.25, 1, 2.25};
    (void)state;
    for (int i = 0; i < 2; i++) {
        test_game g;
        make_game(i ? unequal : equal, 3, 1, 1, &g);
        g.game.actions = interval_of(0, INFINITY);
        mfpg_equilibrium e = solved(ctx, &g.game);
        check_near(e.mean_action, 0.754877666247, 1e-9, 0, "T215 S3.4");
        assert_true(e.unique == 1 && e.converged && e.consistency_gap < 1e-15);
        assert_true(e.exploitability_max == 0.0);
        mfpg_equilibrium_clear(&e);
    }
}

/* zeta > 0: s* lies in [Phi(s*+), Phi(s*-)], the whole definition of the convexified fixed point (S7). */
static void test_random_grid_solutions_are_fixed_points_of_the_convexified_map(void **state) {
    uint64_t seed = testing_seed();
    int mixed = 0, pure = 0;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(400); repeat++) {
        random_game r;
        draw_game(&seed, "interaction", MFPG_PLAYERS_MEAN_FIELD, 0, &r);
        mfpg_equilibrium e = solved(ctx, &r.game);
        double s = e.mean_action,
               nudge = 1e-10 * s; /* well above rounding, well below the distance of breakpoints */
        assert_true(averaged_response(&r.game, s - nudge, 1) >= s * (1 - 1e-12));
        assert_true(averaged_response(&r.game, s + nudge, 0) <= s * (1 + 1e-12));
        assert_true(e.exploitability_max < 1e-12 * (1 + e.cost));
        if (e.mixing_count == 0) assert_true(e.exploitability_max == 0.0);
        mixed += e.mixing_count > 0;
        pure += e.mixing_count == 0;
        mfpg_equilibrium_clear(&e);
    }
    assert_true(mixed > 0 && pure > 0);
}

/* zeta < 0: the averaged response rises, so iterating it from below climbs to the smallest fixed point and from above
 * falls to the largest: a second route for the answer and for its uniqueness. */
static double iterate_from(const mfpg_game *g, double s) {
    for (int i = 0; i < 200000; i++) {
        double next = averaged_response(g, s, 0);
        if (next == s) break;
        s = next;
    }
    return s;
}

static void test_complements_return_the_smallest_fixed_point(void **state) {
    uint64_t seed = testing_seed();
    int several = 0, single = 0;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(300); repeat++) {
        random_game r;
        int interval = repeat % 2;
        draw_game(&seed, "interaction", MFPG_PLAYERS_MEAN_FIELD, interval, &r);
        double low = interval ? r.game.actions.low : r.grid[0];
        double high = interval ? r.game.actions.high : r.grid[r.game.actions.count - 1];
        r.game.interaction = -between(&seed, 0.05, 0.9) / low; /* the border of validity is -1/low */
        mfpg_equilibrium e = solved(ctx, &r.game);
        double smallest = iterate_from(&r.game, low), largest = iterate_from(&r.game, high);
        check_near(e.mean_action, smallest, 1e-9, 0, "smallest fixed point");
        assert_int_equal(e.mixing_count, 0);
        assert_int_equal(e.unique, largest - smallest < 1e-9 * largest);
        assert_true(e.exploitability_max < 1e-12 * (1 + fabs(e.cost)));
        several += !e.unique;
        single += e.unique;
        mfpg_equilibrium_clear(&e);
    }
    assert_true(several > 0 && single > 0);
}

/* One client, grid {1, 2, 4}, R = 1, zeta = -.9: at s = 1 the price is .1 and 2 or 4 beats 1 (R/price = 10 > 8): only 4
 * is left. R = .15: 1.5 < 2 keeps 1, and at s = 4 the price is negative, so 4 is a fixed point too. */
static void test_two_fixed_points_are_reported_as_not_unique(void **state) {
    const double grid[] = {1, 2, 4}, beta[] = {1};
    (void)state;
    test_game g;
    make_game(beta, 1, 1, -0.9, &g);
    g.game.actions = grid_of(grid, 3);
    mfpg_equilibrium e = solved(ctx, &g.game);
    assert_true(e.mean_action == 4 && e.unique == 1);
    mfpg_equilibrium_clear(&e);
    g.privacy_scale[0] = 0.15;
    e = solved(ctx, &g.game);
    assert_true(e.mean_action == 1 && e.unique == 0);
    mfpg_equilibrium_clear(&e);
}

/* s^2 (1 - .2 s) = R has its top 4/(27 .04) = 3.7 at s = 10/3: beyond it no fixed point exists without a bound. */
static void test_complements_without_bound_may_have_no_fixed_point(void **state) {
    const double beta[] = {1};
    (void)state;
    test_game g;
    mfpg_equilibrium e;
    make_game(beta, 1, 3.6, -0.2, &g);
    g.game.actions = interval_of(0, INFINITY);
    e = solved(ctx, &g.game);
    check_near(e.mean_action * e.mean_action * (1 - 0.2 * e.mean_action), 3.6, 1e-12, 0, "cubic");
    assert_true(e.mean_action < 10.0 / 3);
    assert_int_equal(e.unique, 0); /* the cubic's second root */
    mfpg_equilibrium_clear(&e);
    g.privacy_scale[0] = 3.8;
    assert_int_equal(mfpg_game_solve(ctx, &g.game, &e), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "no fixed point"));
    g.game.actions = interval_of(0, 100);
    e = solved(ctx, &g.game);
    assert_true(e.mean_action == 100 && e.unique == 1);
    mfpg_equilibrium_clear(&e);
}

static void test_without_interaction_everybody_answers_alone(void **state) {
    const double beta[] = {0.5, 1, 2};
    (void)state;
    test_game g;
    make_game(beta, 3, 1, 0, &g);
    g.game.actions = interval_of(0, INFINITY);
    for (int players = MFPG_PLAYERS_FINITE; players <= MFPG_PLAYERS_MEAN_FIELD; players++) {
        g.game.players = (mfpg_players)players;
        g.game.actions = interval_of(0, INFINITY);
        mfpg_equilibrium e = solved(ctx, &g.game);
        for (int k = 0; k < 3; k++) check_near(e.action[k], sqrt(beta[k]), 1e-15, 0, "sqrt R");
        mfpg_equilibrium_clear(&e);
        g.game.actions = grid_of(PAPER_GRID, 5);
        e = solved(ctx, &g.game);
        for (int k = 0; k < 3; k++) assert_true(e.action[k] == (k == 2 ? 2.0 : 1.0)); /* R = 2 ties 1 and 2 */
        assert_int_equal(e.unique, 0);
        assert_string_equal(e.selection, "dominant strategies");
        mfpg_equilibrium_clear(&e);
    }
}

static int is_nash(const mfpg_game *game, const double *action) {
    for (ptrdiff_t k = 0; k < game->clients; k++)
        for (ptrdiff_t j = 0; j < game->actions.count; j++)
            if (reference_cost(game, action, k, game->actions.grid[j]) <
                reference_cost(game, action, k, action[k]) - 1e-13)
                return 0;
    return 1;
}

/* Where the limit mixes, N players still have a pure equilibrium (the potential's minimum). */
static void test_finite_grid_games_have_pure_equilibria(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(300); repeat++) {
        random_game r;
        draw_game(&seed, "interaction", MFPG_PLAYERS_FINITE, 0, &r);
        if (repeat % 3 == 0) r.game.interaction = -0.9 / r.grid[0] * uniform(&seed);
        mfpg_equilibrium e = solved(ctx, &r.game);
        assert_true(is_nash(&r.game, e.action));
        assert_true(e.exploitability_max == 0.0 && e.converged);
        if (e.social_action) check_optimum(&r.game, &e);
        mfpg_equilibrium_clear(&e);
    }
    const double beta[] = {1, 1, 1, 1};
    test_game g;
    make_game(beta, 4, 0.2, 1, &g); /* T206 mixes in the limit */
    g.game.players = MFPG_PLAYERS_FINITE;
    mfpg_equilibrium e = solved(ctx, &g.game);
    assert_true(e.mixing_count == 0 && e.exploitability_max == 0.0);
    assert_true(is_nash(&g.game, e.action));
    mfpg_equilibrium_clear(&e);
}

/* Seven types, two of which tie at one mean up to a rounding: with all of them at their lower actions they would take turns,
 * one pair a sweep. From the equilibrium of the limit a few sweeps are enough. */
static void test_types_that_tie_together_do_not_take_turns(void **state) {
    enum { CLIENTS = 7000 };
    static double preference[CLIENTS];
    (void)state;
    for (ptrdiff_t k = 0; k < CLIENTS; k++) preference[k] = 0.2 * (double)(k % 7 + 1);
    mfpg_game g = mfpg_game_default();
    g.cost = "interaction";
    g.players = MFPG_PLAYERS_FINITE;
    g.clients = CLIENTS;
    g.preference = preference;
    g.privacy_scale_all = 0.05;
    g.own_cost_all = 0.25;
    g.interaction = 1;
    g.actions = grid_of(PAPER_GRID, 5);
    mfpg_equilibrium e = solved(ctx, &g);
    assert_true(e.converged && e.iterations <= 10 && e.exploitability_max == 0.0);
    mfpg_equilibrium_clear(&e);
}

/* Walks through all profiles of count actions for N clients. Returns 0 after the last. */
static int next_profile(int *level, ptrdiff_t clients, ptrdiff_t count) {
    for (ptrdiff_t k = 0; k < clients; k++) {
        if (++level[k] < count) return 1;
        level[k] = 0;
    }
    return 0;
}

/* Complements: of all Nash equilibria that enumeration finds, the one that nobody's action exceeds. */
static void test_finite_complements_return_the_smallest_equilibrium(void **state) {
    uint64_t seed = testing_seed();
    int several = 0;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(200); repeat++) {
        random_game r;
        draw_game(&seed, "interaction", MFPG_PLAYERS_FINITE, 0, &r);
        r.game.clients = 1 + (r.game.clients - 1) % 4;
        r.game.interaction = -0.95 / r.grid[0] * uniform(&seed);
        mfpg_equilibrium e = solved(ctx, &r.game);
        int level[4] = {0}, found = 0;
        do {
            double action[4];
            for (ptrdiff_t k = 0; k < e.clients; k++) action[k] = r.grid[level[k]];
            if (!is_nash(&r.game, action)) continue;
            found++;
            for (ptrdiff_t k = 0; k < e.clients; k++) assert_true(e.action[k] <= action[k]);
        } while (next_profile(level, e.clients, r.game.actions.count));
        assert_true(found > 0);
        assert_string_equal(e.selection, "smallest mean");
        several += found > 1;
        mfpg_equilibrium_clear(&e);
    }
    assert_true(several > 0);
}

static void test_finite_interval_equilibria_survive_searches(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(60); repeat++) {
        random_game r;
        draw_game(&seed, "interaction", MFPG_PLAYERS_FINITE, 1 + repeat % 2, &r);
        mfpg_equilibrium e = solved(ctx, &r.game);
        check_no_gain(&r.game, e.action, NAN);
        assert_true(e.exploitability_max < 1e-9);
        assert_true(e.unique == 1 && e.converged && e.iterations < 80); /* a contraction by 1/2 */
        mfpg_equilibrium_clear(&e);
    }
}

/* s_N solves s^2 (1 + zeta s (N-1)/N) = R for equal clients. */
static void test_equal_clients_meet_their_cubic_and_its_limit(void **state) {
    double beta[MOST];
    (void)state;
    fill(1, MOST, beta);
    for (ptrdiff_t n = 1; n <= MOST; n *= 2) {
        test_game g;
        make_game(beta, n, 1, 1, &g);
        g.game.actions = interval_of(0, INFINITY);
        g.game.players = MFPG_PLAYERS_FINITE;
        mfpg_equilibrium e = solved(ctx, &g.game);
        double s = e.mean_action, share = (double)(n - 1) / (double)n;
        check_near(s * s * (1 + s * share), 1, 1e-14, 0, "cubic");
        assert_true((double)n * fabs(s - 0.754877666247) < 0.25); /* N (Nash - MFNE) bounded: about .17 */
        mfpg_equilibrium_clear(&e);
    }
}

/* Complements on an interval: s^2 (1 + zeta s (N-1)/N) = R with R such that s = 1 solves it, below the left side's largest value:
 * the smaller of two roots. There may be others, as far as the solver knows. */
static void test_equal_complements_meet_the_smaller_root(void **state) {
    double beta[MOST];
    (void)state;
    fill(1, MOST, beta);
    for (ptrdiff_t n = 1; n <= MOST; n *= 2)
        for (int open = 0; open <= 1; open++) {
            test_game g;
            double zeta = -0.5, share = (double)(n - 1) / (double)n;
            make_game(beta, n, 1, zeta, &g);
            fill(1 + zeta * share, n, g.privacy_scale);
            g.game.actions = open ? interval_of(0, INFINITY) : interval_of(0.1, 3);
            g.game.players = MFPG_PLAYERS_FINITE;
            mfpg_equilibrium e = solved(ctx, &g.game);
            for (ptrdiff_t k = 0; k < n; k++) check_near(e.action[k], 1, 1e-12, 0, "root");
            assert_int_equal(e.unique, -1);
            assert_string_equal(e.selection, "smallest mean");
            mfpg_equilibrium_clear(&e);
        }
}

static void test_noise_that_pays_is_refused(void **state) {
    const double beta[] = {1, 1};
    (void)state;
    test_game g;
    mfpg_equilibrium e;
    make_game(beta, 2, 1, -10, &g); /* 1 - 10 x .1 = 0 */
    assert_int_equal(mfpg_game_solve(ctx, &g.game, &e), MFPG_ERR_INPUT);
    g.game.interaction = NAN;
    assert_int_equal(mfpg_game_solve(ctx, &g.game, &e), MFPG_ERR_DOMAIN);
    g.game.interaction = -1;
    g.game.players = MFPG_PLAYERS_FINITE;
    g.game.actions = interval_of(0, INFINITY);
    fill(10, 2, g.privacy_scale);
    assert_int_equal(mfpg_game_solve(ctx, &g.game, &e), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "no equilibrium"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid_fixed_points_match_the_reference),
        cmocka_unit_test(test_continuous_fixed_point_matches_the_reference),
        cmocka_unit_test(test_random_grid_solutions_are_fixed_points_of_the_convexified_map),
        cmocka_unit_test(test_complements_return_the_smallest_fixed_point),
        cmocka_unit_test(test_two_fixed_points_are_reported_as_not_unique),
        cmocka_unit_test(test_complements_without_bound_may_have_no_fixed_point),
        cmocka_unit_test(test_without_interaction_everybody_answers_alone),
        cmocka_unit_test(test_finite_grid_games_have_pure_equilibria),
        cmocka_unit_test(test_types_that_tie_together_do_not_take_turns),
        cmocka_unit_test(test_finite_complements_return_the_smallest_equilibrium),
        cmocka_unit_test(test_finite_interval_equilibria_survive_searches),
        cmocka_unit_test(test_equal_clients_meet_their_cubic_and_its_limit),
        cmocka_unit_test(test_equal_complements_meet_the_smaller_root),
        cmocka_unit_test(test_noise_that_pays_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
