/* The entropic FedAvg game of theory S3.3. Reference values: vectors/theory_vectors.csv, enumeration, searches. */
#include "games_testing.h"

/* The game of the ent_* rows: beta evenly spaced in [.025, .075], h = sig2 = abar2 = B = 1, tau = .1, d = 5, c = .045. */
typedef struct vector_game {
    mfpg_game game;
    double preference[MOST], privacy_scale[MOST], own_cost[MOST];
} vector_game;

static void make_vector_game(ptrdiff_t clients, vector_game *out) {
    out->game = mfpg_game_default();
    out->game.cost = "entropic";
    out->game.players = MFPG_PLAYERS_FINITE;
    out->game.clients = clients;
    out->game.dimension = 5;
    linspace(0.025, 0.075, clients, out->preference);
    fill(1, clients, out->privacy_scale);
    fill(0.045, clients, out->own_cost);
    out->game.preference = out->preference;
    out->game.privacy_scale = out->privacy_scale;
    out->game.own_cost = out->own_cost;
}

static void test_nash_optimum_and_price_of_anarchy_match_the_reference(void **state) {
    const struct {
        const char *source; /* ent_nash_ebar, ent_nash_e1_eN, ent_social_ebar, ent_poa */
        ptrdiff_t clients;
        double ebar, first, last, social, anarchy;
    } rows[] = {
        {"T187 T188 T190 T191 S3.3", 5, 0.643715033755, 0.462961251071, 0.80187240879, 0.310509298806,
            1.214518631},
        {"T193 T194 T196 T197 S3.3", 20, 0.955984166023, 0.684317010466, 1.18527183061, 0.433277336891,
            1.28699862279},
        {"T199 T200 T202 T203 S3.3", 80, 1.02349871406, 0.731957616253, 1.26778778034, 0.483586660889,
            1.28001216529},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        vector_game g;
        make_vector_game(rows[i].clients, &g);
        mfpg_equilibrium e = solved(ctx, &g.game);
        check_near(e.mean_action, rows[i].ebar, 1e-6, 0, rows[i].source); /* the rows' own tolerance */
        check_near(e.action[0], rows[i].first, 1e-6, 0, rows[i].source);
        check_near(e.action[e.clients - 1], rows[i].last, 1e-6, 0, rows[i].source);
        check_near(e.social_mean, rows[i].social, 1e-6, 0, rows[i].source);
        check_near(e.price_of_anarchy, rows[i].anarchy, 1e-6, 0, rows[i].source);
        assert_int_equal(e.control, MFPG_CONTROL_STRENGTH);
        assert_int_equal(e.unique, 1);
        assert_true(e.converged && e.residual < 1e-14);
        assert_true(e.exploitability_max < 1e-9);
        mfpg_equilibrium_clear(&e);
    }
}

/* R is beta B/c; thresholds e_i e_{i+1}. */
static void test_grid_best_responses_match_the_reference(void **state) {
    const struct {
        const char *source;
        double ratio, expected;
    } rows[] = {
        {"T142 S3.4", 0.02, 0.1}, {"T143 S3.4", 0.04, 0.3}, {"T145 S3.4", 0.6, 1}, {"T146 S3.4", 2.5, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        vector_game g;
        make_vector_game(1, &g);
        g.game.players = MFPG_PLAYERS_MEAN_FIELD;
        g.game.actions = grid_of(PAPER_GRID, 5);
        g.preference[0] = rows[i].ratio;
        g.own_cost[0] = 1;
        mfpg_equilibrium e = solved(ctx, &g.game);
        check_near(e.action[0], rows[i].expected, 0, 0, rows[i].source);
        mfpg_equilibrium_clear(&e);
    }
}

/* beta = .5, .8333, 1.1667, 1.5 with B = .5 and c = .75625: e = sqrt(beta B/c), four figures. */
static void test_four_hospitals_choose_their_strengths(void **state) {
    const double expected[] = {0.5750, 0.7423, 0.8783, 0.9959};
    (void)state;
    vector_game g;
    make_vector_game(4, &g);
    g.game.players = MFPG_PLAYERS_MEAN_FIELD;
    linspace(0.5, 1.5, 4, g.preference);
    fill(0.5, 4, g.privacy_scale);
    fill(0.75625, 4, g.own_cost);
    mfpg_equilibrium e = solved(ctx, &g.game);
    for (int k = 0; k < 4; k++)
        check_near(e.action[k], expected[k], 0, 5e-5, "hospital"); /* half the last digit */
    assert_true(e.exploitability_max == 0.0);
    assert_true(e.price_of_anarchy > 1.0);
    mfpg_equilibrium_clear(&e);
}

/* Walks through all profiles of count actions for N clients. Returns 0 after the last. */
static int next_profile(int *level, ptrdiff_t clients, int count) {
    for (ptrdiff_t k = 0; k < clients; k++) {
        if (++level[k] < count) return 1;
        level[k] = 0;
    }
    return 0;
}

static void levels_to_actions(const mfpg_game *game, const int *level, double *action) {
    for (ptrdiff_t k = 0; k < game->clients; k++) action[k] = game->actions.grid[level[k]];
}

static int is_nash(const mfpg_game *game, const double *action) {
    for (ptrdiff_t k = 0; k < game->clients; k++)
        for (ptrdiff_t j = 0; j < game->actions.count; j++)
            if (reference_cost(game, action, k, game->actions.grid[j]) <
                reference_cost(game, action, k, action[k]) - 1e-13)
                return 0;
    return 1;
}

static double potential(const mfpg_game *game, const double *action) {
    double mean = 0, sum = 0;
    for (ptrdiff_t k = 0; k < game->clients; k++) {
        mean += action[k] / (double)game->clients;
        sum += game->own_cost[k] * action[k] + game->preference[k] * game->privacy_scale[k] / action[k];
    }
    return sum + reference_excess(game, mean, 1 / (double)game->clients);
}

static double total_cost(const mfpg_game *game, const double *action) {
    double sum = 0;
    for (ptrdiff_t k = 0; k < game->clients; k++) sum += reference_cost(game, action, k, action[k]);
    return sum;
}

/* T205 (ent_grid_nash): .5 four times, the only pure equilibrium among 625 profiles and the potential's least one. */
static void test_grid_equilibrium_is_the_one_that_enumeration_finds(void **state) {
    (void)state;
    vector_game g;
    make_vector_game(4, &g);
    g.game.actions = grid_of(PAPER_GRID, 5);
    mfpg_equilibrium e = solved(ctx, &g.game);
    int level[4] = {0}, found = 0, profiles = 0;
    double least = INFINITY, best[4] = {0};
    do {
        double action[4];
        levels_to_actions(&g.game, level, action);
        profiles++;
        if (potential(&g.game, action) < least) {
            least = potential(&g.game, action);
            memcpy(best, action, sizeof best);
        }
        if (!is_nash(&g.game, action)) continue;
        found++;
        assert_memory_equal(action, e.action, sizeof action);
    } while (next_profile(level, 4, 5));
    assert_int_equal(profiles, 625);
    assert_int_equal(found, 1);
    assert_memory_equal(best, e.action, sizeof best);
    for (int k = 0; k < 4; k++) assert_true(e.action[k] == 0.5);
    assert_true(e.exploitability_max == 0.0);
    assert_true(e.converged);
    mfpg_equilibrium_clear(&e);
}

/* Random small games: the result is among the enumerated equilibria, and the planner's profile is the best of all. */
static void test_random_grids_agree_with_enumeration(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(150); repeat++) {
        random_game r;
        draw_game(&seed, "entropic", MFPG_PLAYERS_FINITE, 0, &r);
        r.game.clients = 1 + (r.game.clients - 1) % 4;
        mfpg_equilibrium e = solved(ctx, &r.game);
        assert_true(is_nash(&r.game, e.action));
        assert_true(e.exploitability_max == 0.0);
        double least = INFINITY;
        int level[4] = {0};
        do {
            double action[4];
            levels_to_actions(&r.game, level, action);
            least = fmin(least, total_cost(&r.game, action));
        } while (next_profile(level, r.game.clients, (int)r.game.actions.count));
        check_near(e.social_cost, least, 1e-12, 0, "social cost against enumeration");
        mfpg_equilibrium_clear(&e);
    }
}

/* Total cost where one client of the planner's profile moves. */
static double total_by_formula(const void *arg, double x) {
    const deviation *d = arg;
    double profile[MOST];
    memcpy(profile, d->profile, (size_t)d->game->clients * sizeof *profile);
    profile[d->client] = x;
    return total_cost(d->game, profile);
}

static void test_interval_equilibria_and_optima_survive_searches(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(40); repeat++) {
        random_game r;
        draw_game(&seed, "entropic", MFPG_PLAYERS_FINITE, 1 + repeat % 2, &r);
        mfpg_equilibrium e = solved(ctx, &r.game);
        check_no_gain(&r.game, e.action, NAN);
        assert_true(e.exploitability_max < 1e-9);
        for (ptrdiff_t k = 0; k < e.clients; k++) {
            deviation d = {.game = &r.game, .profile = e.social_action, .client = k};
            double low = fmax(r.game.actions.low, e.social_action[k] * 1e-3);
            double high = fmin(r.game.actions.high, e.social_action[k] * 1e3);
            assert_true(e.social_cost <= search_minimum(total_by_formula, &d, low, high, NULL) * (1 + 1e-12));
        }
        assert_true(e.social_cost <= e.cost * (1 + 1e-12));
        mfpg_equilibrium_clear(&e);
    }
}

/* Random starts of the planner's problem, descended by coordinates, never end below the returned optimum. */
static void test_no_random_profile_is_socially_better(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(100); repeat++) {
        random_game r;
        draw_game(&seed, "entropic", MFPG_PLAYERS_FINITE, 1, &r);
        mfpg_equilibrium e = solved(ctx, &r.game);
        for (int i = 0; i < 200; i++) {
            double action[MOST];
            for (ptrdiff_t k = 0; k < e.clients; k++)
                action[k] = between(&seed, r.game.actions.low, r.game.actions.high);
            assert_true(total_cost(&r.game, action) >= e.social_cost * (1 - 1e-12));
        }
        mfpg_equilibrium_clear(&e);
    }
}

/* S3.3: |e^N - e^MF| = e^MF f'(ebar)/(2 N c) + O(N^-2); N times the gap is 1.71, 1.50, 1.44 at N = 20, 80, 320 [N]. The
 * mean's gap is checked; mean-field play in the game of N gains O(N^-2): 0.0115, 3.40e-4, 1.54e-5 at N = 5, 20, 80 (S3.5). */
static void test_nash_approaches_the_mean_field_like_one_over_n(void **state) {
    const ptrdiff_t sizes[] = {5, 20, 80};
    const double gains[] = {0.0115, 3.40e-4, 1.54e-5};
    double last_gap = 0;
    (void)state;
    for (int i = 0; i < 3; i++) {
        vector_game g;
        make_vector_game(sizes[i], &g);
        mfpg_equilibrium nash = solved(ctx, &g.game);
        g.game.players = MFPG_PLAYERS_MEAN_FIELD;
        mfpg_equilibrium limit = solved(ctx, &g.game);
        double gap = (double)sizes[i] * (limit.mean_action - nash.mean_action), max, mean;
        if (i == 1) check_near(gap, 1.71, 0.02, 0, "N gap at 20"); /* the source gives three figures */
        if (i == 2) check_near(gap, 1.50, 0.02, 0, "N gap at 80");
        assert_true(gap > 0 && gap < 3);
        last_gap = gap;
        g.game.players = MFPG_PLAYERS_FINITE;
        CHECK_OK(ctx, mfpg_game_exploitability(ctx, &g.game, limit.action, &max, &mean));
        check_near(mean, gains[i], 0.01, 0, "mean gain of mean-field play");
        mfpg_equilibrium_clear(&nash);
        mfpg_equilibrium_clear(&limit);
    }
    assert_true(last_gap < 1.71);
}

static void test_strength_rises_with_preference_and_falls_with_curvature(void **state) {
    (void)state;
    for (int finite = 0; finite <= 1; finite++) {
        double before = 0;
        for (double beta = 0.01; beta < 1; beta *= 1.4) {
            vector_game g;
            make_vector_game(6, &g);
            g.game.players = finite ? MFPG_PLAYERS_FINITE : MFPG_PLAYERS_MEAN_FIELD;
            fill(beta, 6, g.preference);
            mfpg_equilibrium e = solved(ctx, &g.game);
            assert_true(e.mean_action > before);
            before = e.mean_action;
            mfpg_equilibrium_clear(&e);
        }
        before = INFINITY;
        for (double h = 0.2; h < 10; h *= 1.4) {
            vector_game g;
            make_vector_game(6, &g);
            g.game.players = finite ? MFPG_PLAYERS_FINITE : MFPG_PLAYERS_MEAN_FIELD;
            g.game.curvature = h;
            fill(h * 5 / 2 * 0.25 * 2 * 0.1, 6, g.own_cost); /* c = (h d/2) omega^2 2 tau */
            mfpg_equilibrium e = solved(ctx, &g.game);
            assert_true(e.mean_action < before);
            before = e.mean_action;
            mfpg_equilibrium_clear(&e);
        }
    }
}

/* The planner of the limit: sum over clients of c e + beta B/e + f(sum p e), by coordinate search, unequal weights. */
static double limit_total(const void *arg, double x) {
    const deviation *d = arg;
    double mean = 0, sum = 0;
    for (ptrdiff_t k = 0; k < d->game->clients; k++)
        mean += reference_weight(d->game, k) * (k == d->client ? x : d->profile[k]);
    for (ptrdiff_t k = 0; k < d->game->clients; k++)
        sum += reference_limit_cost(d->game, mean, k, k == d->client ? x : d->profile[k]);
    return sum;
}

static void test_limit_has_an_optimum_of_its_own_also_with_unequal_weights(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(30); repeat++) {
        random_game r;
        draw_game(&seed, "entropic", MFPG_PLAYERS_MEAN_FIELD, 1, &r);
        r.game.weight = r.weight;
        mfpg_equilibrium e = solved(ctx, &r.game);
        for (ptrdiff_t k = 0; k < e.clients; k++) {
            deviation d = {.game = &r.game, .profile = e.social_action, .client = k};
            double best = search_minimum(limit_total, &d, r.game.actions.low, r.game.actions.high, NULL);
            assert_true(e.social_cost <= best * (1 + 1e-12));
            check_near(limit_total(&d, e.social_action[k]), e.social_cost, 1e-12, 0, "limit's social cost");
            d.profile = e.action;
            check_near(limit_total(&d, e.action[k]), e.cost, 1e-12, 0, "limit's cost");
        }
        assert_true(e.price_of_anarchy >= 1 - 1e-12);
        mfpg_equilibrium_clear(&e);
    }
}

/* tau (h + e/sig2) = 2 at e = 19: strengths above it are refused to N players, and cost the limit infinity. */
static void test_divergence_of_the_model_is_a_border_not_an_accident(void **state) {
    (void)state;
    vector_game g;
    mfpg_equilibrium e;
    make_vector_game(3, &g);
    fill(1e6, 3, g.preference); /* wants e far above 19 */
    e = solved(ctx, &g.game);
    assert_true(e.mean_action < 19 && e.mean_action > 15);
    assert_true(isfinite(e.cost) && e.exploitability_max <= 1e-9 * e.cost);
    mfpg_equilibrium_clear(&e);
    g.game.actions = grid_of(PAPER_GRID, 5);
    e = solved(ctx, &g.game);
    assert_true(e.action[0] == 2 && e.action[2] == 2);
    mfpg_equilibrium_clear(&e);
    g.game.actions = interval_of(20, 30);
    assert_int_equal(mfpg_game_solve(ctx, &g.game, &e), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "diverges"));
    g.game.players = MFPG_PLAYERS_MEAN_FIELD;
    e = solved(ctx, &g.game);
    assert_true(e.mean_action == 30 && isinf(e.cost) && isnan(e.social_cost) && !e.social_action);
    assert_true(e.exploitability_max == 0.0);
    mfpg_equilibrium_clear(&e);
}

static void test_settings_that_break_the_game_are_named(void **state) {
    (void)state;
    vector_game g;
    mfpg_equilibrium e;
    make_vector_game(3, &g);
    g.own_cost[1] = 0;
    assert_int_equal(mfpg_game_solve(ctx, &g.game, &e), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "personalisation"));
    g.own_cost[1] = -1;
    assert_int_equal(mfpg_game_solve(ctx, &g.game, &e), MFPG_ERR_DOMAIN);
    g.own_cost[1] = 0.045;
    const double unequal[] = {0.3, 0.3, 0.4}, equal[] = {1.0 / 3, 1.0 / 3, 1 - 2.0 / 3};
    g.game.weight = unequal;
    assert_int_equal(mfpg_game_solve(ctx, &g.game, &e), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "equal weights"));
    g.game.weight = equal;
    e = solved(ctx, &g.game);
    mfpg_equilibrium_clear(&e);
    g.game.players = MFPG_PLAYERS_MEAN_FIELD;
    g.game.weight = unequal;
    e = solved(ctx, &g.game);
    mfpg_equilibrium_clear(&e);
}

/* The same game counted in other units: an action x of client k is the strength units[k] x, so B becomes B/unit and c
 * becomes c unit. */
static void count_in_units(random_game *r, const double *units, const double *grid) {
    r->game.strength_unit = units;
    for (ptrdiff_t k = 0; k < r->game.clients; k++) {
        r->privacy_scale[k] /= units[k];
        r->own_cost[k] *= units[k];
    }
    if (grid)
        r->game.actions.grid = grid;
    else
        r->game.actions = interval_of(r->game.actions.low / units[0], r->game.actions.high / units[0]);
}

/* Units of strength change the numbers that are written, not the strengths: any units where every positive number is
 * allowed, one unit for all where the actions are bounded. Tolerance: both solvers reach 1e-9 of the price. */
static void test_units_of_strength_do_not_change_the_solution(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(120); repeat++) {
        int shape = repeat % 3;
        random_game plain, counted;
        double units[MOST], grid[16], same = between(&seed, 0.1, 10);
        draw_game(
            &seed, "entropic", repeat % 2 ? MFPG_PLAYERS_FINITE : MFPG_PLAYERS_MEAN_FIELD, shape, &plain);
        mfpg_equilibrium a = solved(ctx, &plain.game);
        counted = plain;
        counted.game.privacy_scale = counted.privacy_scale;
        counted.game.own_cost = counted.own_cost;
        for (ptrdiff_t k = 0; k < plain.game.clients; k++)
            units[k] = shape == 2 ? between(&seed, 0.1, 10) : same;
        for (ptrdiff_t j = 0; j < plain.game.actions.count; j++) grid[j] = plain.grid[j] / same;
        count_in_units(&counted, units, shape == 0 ? grid : NULL);
        mfpg_equilibrium b = solved(ctx, &counted.game);
        for (ptrdiff_t k = 0; k < a.clients; k++) {
            check_near(units[k] * b.action[k], a.action[k], 1e-7, 0, "strength");
            check_near(units[k] * b.social_action[k], a.social_action[k], 1e-7, 0, "optimum");
        }
        check_near(b.cost, a.cost, 1e-9, 0, "cost");
        check_near(b.price_of_anarchy, a.price_of_anarchy, 1e-9, 0, "price of anarchy");
        mfpg_equilibrium_clear(&a);
        mfpg_equilibrium_clear(&b);
    }
}

/* Sweeps end in local minima of the planner; of few profiles the least is known. The first case misled them. */
static void test_the_optimum_of_few_profiles_is_the_least_of_all(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    const double preference[] = {2.0418, 1.7912, 0.9344, 0.9885}, grid[] = {0.243, 1.7264, 2.413};
    mfpg_game g = mfpg_game_default();
    g.cost = "entropic";
    g.players = MFPG_PLAYERS_FINITE;
    g.clients = 4;
    g.preference = preference;
    g.actions = grid_of(grid, 3);
    g.curvature = 0.618;
    g.dimension = 20;
    g.prior_variance = 1.989;
    g.optimum_norm2 = 1.253;
    g.own_cost_all = 0.0786;
    g.privacy_scale_all = 0.334;
    mfpg_equilibrium e = solved(ctx, &g);
    check_near(e.social_cost, 9.78998, 1e-6, 0, "least of 81 profiles");
    check_near(e.price_of_anarchy, 1.01542, 1e-5, 0, "price of anarchy");
    mfpg_equilibrium_clear(&e);
    for (int repeat = 0; repeat < testing_repeats(60); repeat++) {
        random_game r;
        draw_game(&seed, "entropic", MFPG_PLAYERS_FINITE, 0, &r);
        r.game.clients = 1 + repeat % 5;
        for (ptrdiff_t k = 0; k < r.game.clients; k++) r.weight[k] = 1.0 / (double)r.game.clients;
        e = solved(ctx, &r.game);
        if (e.social_action && pow((double)r.game.actions.count, (double)r.game.clients) <= 1e5)
            check_optimum(&r.game, &e);
        mfpg_equilibrium_clear(&e);
    }
}

/* Too many profiles to try, but of alike clients only the numbers count: the sweeps from all starts find the least of them, where that
 * from the equilibrium alone would end elsewhere. */
static void test_the_optimum_of_alike_clients_is_that_of_their_numbers(void **state) {
    enum { ALIKE = 16 };
    const double grid[] = {0.243, 1.7264, 2.413};
    double beta[ALIKE], scale[ALIKE], own[ALIKE];
    (void)state;
    fill(1.25, ALIKE, beta);
    fill(0.334, ALIKE, scale);
    fill(0.0786, ALIKE, own);
    mfpg_game g = mfpg_game_default();
    g.cost = "entropic";
    g.players = MFPG_PLAYERS_FINITE;
    g.clients = ALIKE;
    g.preference = beta;
    g.privacy_scale = scale;
    g.own_cost = own;
    g.actions = grid_of(grid, 3);
    g.curvature = 0.618;
    g.prior_variance = 1.989;
    g.optimum_norm2 = 1.253;
    for (g.dimension = 10; g.dimension < 400; g.dimension *= 2) {
        double action[ALIKE], least = (double)INFINITY;
        for (ptrdiff_t i = 0; i <= ALIKE; i++)
            for (ptrdiff_t j = i; j <= ALIKE; j++) {
                double sum = 0;
                for (ptrdiff_t k = 0; k < ALIKE; k++) action[k] = grid[(k >= i) + (k >= j)];
                for (ptrdiff_t k = 0; k < ALIKE; k++) sum += reference_cost(&g, action, k, action[k]);
                least = fmin(least, sum);
            }
        mfpg_equilibrium e = solved(ctx, &g);
        check_near(e.social_cost, least, 1e-12, 0, "least of all numbers");
        assert_int_equal(e.social_exact, 0); /* it is not known to be */
        mfpg_equilibrium_clear(&e);
    }
}

/* The model is stable for means below 0.7: of alike clients who choose 0.25 or 1 at most half may be loud, which pays if they
 * prefer privacy. Which half costs the same, to the bit with powers of two, and the first clients are taken. */
static void test_of_equal_optima_the_first_clients_have_the_larger_actions(void **state) {
    const double grid[] = {0.25, 1}, preference[] = {1024, 1024, 1024, 1024}, ones[] = {1, 1, 1, 1};
    (void)state;
    mfpg_game g = mfpg_game_default();
    g.cost = "entropic";
    g.players = MFPG_PLAYERS_FINITE;
    g.actions = grid_of(grid, 2);
    g.curvature = g.prior_variance = g.optimum_norm2 = 1;
    g.step = 2 / 1.7;
    g.own_cost = g.privacy_scale = ones;
    g.preference = preference;
    for (g.clients = 2; g.clients <= 4; g.clients += 2) {
        mfpg_equilibrium e = solved(ctx, &g);
        check_optimum(&g, &e);
        for (ptrdiff_t k = 0; k < g.clients; k++) assert_true(e.social_action[k] == grid[2 * k < g.clients]);
        mfpg_equilibrium_clear(&e);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nash_optimum_and_price_of_anarchy_match_the_reference),
        cmocka_unit_test(test_grid_best_responses_match_the_reference),
        cmocka_unit_test(test_four_hospitals_choose_their_strengths),
        cmocka_unit_test(test_grid_equilibrium_is_the_one_that_enumeration_finds),
        cmocka_unit_test(test_random_grids_agree_with_enumeration),
        cmocka_unit_test(test_interval_equilibria_and_optima_survive_searches),
        cmocka_unit_test(test_no_random_profile_is_socially_better),
        cmocka_unit_test(test_nash_approaches_the_mean_field_like_one_over_n),
        cmocka_unit_test(test_strength_rises_with_preference_and_falls_with_curvature),
        cmocka_unit_test(test_limit_has_an_optimum_of_its_own_also_with_unequal_weights),
        cmocka_unit_test(test_divergence_of_the_model_is_a_border_not_an_accident),
        cmocka_unit_test(test_settings_that_break_the_game_are_named),
        cmocka_unit_test(test_units_of_strength_do_not_change_the_solution),
        cmocka_unit_test(test_the_optimum_of_few_profiles_is_the_least_of_all),
        cmocka_unit_test(test_the_optimum_of_alike_clients_is_that_of_their_numbers),
        cmocka_unit_test(test_of_equal_optima_the_first_clients_have_the_larger_actions),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
