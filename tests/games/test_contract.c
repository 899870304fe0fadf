/* What every game and every cost promises, whatever its formula: certificates, doors, invariances. */
#include "games_testing.h"

#include "games/cost.h"

enum { SHAPES = 3 };

static void test_every_equilibrium_leaves_nothing_to_gain(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (ptrdiff_t c = 0; mfpg_kind_name(&mfpg_costs, c); c++) {
        for (int players = MFPG_PLAYERS_FINITE; players <= MFPG_PLAYERS_MEAN_FIELD; players++) {
            for (int repeat = 0; repeat < testing_repeats(90); repeat++) {
                random_game r;
                int shape = repeat % SHAPES;
                if (!playable(mfpg_kind_name(&mfpg_costs, c), shape)) continue;
                draw_game(&seed, mfpg_kind_name(&mfpg_costs, c), (mfpg_players)players, shape, &r);
                mfpg_equilibrium e = solved(ctx, &r.game);
                assert_true(e.converged);
                if (shape == 0 && e.mixing_count == 0) assert_true(e.exploitability_max == 0.0);
                assert_true(e.exploitability_max < 1e-9);
                assert_true(e.exploitability_mean <= e.exploitability_max);
                check_no_gain(&r.game, e.action, e.mean_action);
                double sum = 0;
                for (ptrdiff_t k = 0; k < e.clients; k++) sum += e.action[k];
                if (e.mixing_count == 0) check_near(e.mean_action, sum / (double)e.clients, 1e-15, 0, "mean");
                mfpg_equilibrium_clear(&e);
            }
        }
    }
}

static void make_wild(uint64_t *seed, random_game *r) {
    const double wild = 1e6;
    mfpg_game *g = &r->game;
    double *numbers[] = {
        &g->curvature, &g->dimension, &g->prior_variance, &g->step, &g->optimum_norm2, &g->rounds};
    double *arrays[] = {r->preference, r->noise_unit, r->privacy_scale, r->own_cost};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        *numbers[i] = between(seed, 1 / wild, wild);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        for (ptrdiff_t k = 0; k < g->clients; k++) arrays[i][k] = between(seed, 1 / wild, wild);
    g->interaction = between(seed, 1 / wild, wild) * (below(seed, 3) ? 1 : -1);
    if (g->actions.grid) {
        r->grid[0] = between(seed, 1 / wild, wild);
        for (ptrdiff_t j = 1; j < g->actions.count; j++)
            r->grid[j] = r->grid[j - 1] * between(seed, 1.000001, 1000);
    } else if (isfinite(g->actions.high)) {
        double a = between(seed, 1 / wild, wild), b = between(seed, 1 / wild, wild);
        g->actions = interval_of(fmin(a, b), fmax(a, b));
    }
}

/* Numbers over twelve decades: either a clear refusal, or a solution without NaN that leaves nothing to gain within the
 * rounding of its costs, next to the border where the averaged model diverges too. */
static void test_wild_numbers_end_in_a_solution_or_a_refusal(void **state) {
    uint64_t seed = testing_seed();
    int solutions = 0, refusals = 0;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(4000); repeat++) {
        random_game r;
        mfpg_equilibrium e;
        draw_game(&seed, mfpg_kind_name(&mfpg_costs, repeat % MFPG_COST_COUNT),
            (mfpg_players)(1 + below(&seed, 2)), (int)below(&seed, SHAPES), &r);
        make_wild(&seed, &r);
        mfpg_status status = mfpg_game_solve(ctx, &r.game, &e);
        if (status != MFPG_OK) {
            assert_true(status == MFPG_ERR_INPUT || status == MFPG_ERR_DOMAIN);
            refusals++;
            continue;
        }
        solutions++;
        assert_false(isnan(e.cost) || isnan(e.mean_action) || isnan(e.exploitability_max));
        assert_true(abs(e.unique) <= 1 && e.converged >> 1 == 0 && e.social_exact >> 1 == 0);
        assert_true(e.exploitability_max <= 1e-9 * fabs(e.cost));
        if (isinf(e.cost)) assert_true(e.exploitability_max == 0.0);
        if (r.game.actions.grid && e.mixing_count == 0) assert_true(e.exploitability_max == 0.0);
        if (e.social_action) assert_true(e.price_of_anarchy >= 1.0 || e.social_cost <= 0.0);
        mfpg_equilibrium_clear(&e);
    }
    assert_true(solutions > refusals && refusals > 0);
}

/* Any profile, not only equilibria: the certificate equals the gain that searches with the other formulas find. */
static void test_exploitability_of_any_profile_matches_a_search(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (ptrdiff_t c = 0; mfpg_kind_name(&mfpg_costs, c); c++) {
        for (int repeat = 0; repeat < testing_repeats(40); repeat++) {
            random_game r;
            int players = 1 + repeat % 2, shape = repeat / 2 % 2;
            if (!playable(mfpg_kind_name(&mfpg_costs, c), shape)) continue;
            draw_game(&seed, mfpg_kind_name(&mfpg_costs, c), (mfpg_players)players, shape, &r);
            double low = r.game.loss_table ? r.grid[0] : 0.05; /* a table says nothing beyond its ends */
            double high = r.game.loss_table ? r.grid[r.game.actions.count - 1] : 5;
            double action[MOST], mean_field = 0, largest = 0, sum = 0, scale = 0, max, mean;
            for (ptrdiff_t k = 0; k < r.game.clients; k++) {
                action[k] = fmin(high, fmax(low, between(&seed, low, high)));
                mean_field += action[k] / (double)r.game.clients;
            }
            for (ptrdiff_t k = 0; k < r.game.clients; k++) {
                deviation d = {.game = &r.game, .profile = action, .mean_field = mean_field, .client = k};
                double cost = deviation_cost(&d, action[k]), gain = fmax(0, cost - lowest_by_deviating(&d));
                largest = fmax(largest, gain);
                sum += gain;
                scale = fmax(scale, fabs(cost));
            }
            CHECK_OK(ctx, mfpg_game_exploitability(ctx, &r.game, action, &max, &mean));
            /* costs agree to roundings; golden section's minimum to the square of its position's error */
            check_near(max, largest, 1e-9, 1e-12 * scale, "largest gain");
            check_near(mean, sum / (double)r.game.clients, 1e-9, 1e-12 * scale, "mean gain");
        }
    }
}

/* The reported cost is the sum of the second formulas'. */
static void test_reported_cost_matches_the_formulas(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (ptrdiff_t c = 0; mfpg_kind_name(&mfpg_costs, c); c++) {
        for (int repeat = 0; repeat < testing_repeats(40); repeat++) {
            random_game r;
            int players = 1 + repeat % 2, shape = repeat / 2 % 2;
            if (!playable(mfpg_kind_name(&mfpg_costs, c), shape)) continue;
            draw_game(&seed, mfpg_kind_name(&mfpg_costs, c), (mfpg_players)players, shape, &r);
            mfpg_equilibrium e = solved(ctx, &r.game);
            double sum = 0;
            for (ptrdiff_t k = 0; k < e.clients; k++) {
                deviation d = {
                    .game = &r.game, .profile = e.action, .mean_field = e.mean_action, .client = k};
                sum += deviation_cost(&d, e.action[k]);
            }
            for (ptrdiff_t i = 0; i < e.mixing_count; i++) {
                const mfpg_mixing *m = &e.mixing[i];
                deviation d = {
                    .game = &r.game, .profile = e.action, .mean_field = e.mean_action, .client = m->client};
                sum += m->weight * (deviation_cost(&d, m->upper) - deviation_cost(&d, e.action[m->client]));
            }
            check_near(e.cost, sum, 1e-12, 0, "cost");
            mfpg_equilibrium_clear(&e);
        }
    }
}

static void reverse(double *values, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count / 2; i++) {
        double kept = values[i];
        values[i] = values[count - 1 - i];
        values[count - 1 - i] = kept;
    }
}

static void test_the_order_of_clients_does_not_matter(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (ptrdiff_t c = 0; mfpg_kind_name(&mfpg_costs, c); c++) {
        for (int repeat = 0; repeat < testing_repeats(60); repeat++) {
            random_game r;
            int shape = repeat % SHAPES, players = repeat % 4 ? MFPG_PLAYERS_MEAN_FIELD : MFPG_PLAYERS_FINITE;
            if (!playable(mfpg_kind_name(&mfpg_costs, c), shape)) continue;
            if (players == MFPG_PLAYERS_FINITE && shape == 0 && playable(mfpg_kind_name(&mfpg_costs, c), 1))
                shape = 1; /* a grid may have several pure equilibria, but where strategies are dominant */
            draw_game(&seed, mfpg_kind_name(&mfpg_costs, c), (mfpg_players)players, shape, &r);
            mfpg_equilibrium e = solved(ctx, &r.game);
            reverse(r.preference, e.clients);
            reverse(r.weight, e.clients);
            reverse(r.noise_unit, e.clients);
            reverse(r.privacy_scale, e.clients);
            reverse(r.own_cost, e.clients);
            mfpg_equilibrium f = solved(ctx, &r.game);
            /* sums in another order: roundings, which a mixing weight divides by the distance of two actions */
            check_near(e.mean_action, f.mean_action, 1e-13, 0, "mean");
            for (ptrdiff_t k = 0; k < e.clients; k++)
                check_near(e.action[k], f.action[e.clients - 1 - k], 1e-13, 0, "action");
            assert_int_equal(e.mixing_count, f.mixing_count);
            for (ptrdiff_t i = 0; i < e.mixing_count; i++)
                check_near(
                    e.mixing[i].weight, f.mixing[f.mixing_count - 1 - i].weight, 1e-9, 1e-12, "weight");
            mfpg_equilibrium_clear(&e);
            mfpg_equilibrium_clear(&f);
        }
    }
}

/* Many clients, so that the certificate runs in several tasks. */
static void test_one_and_four_threads_agree_to_the_bit(void **state) {
    enum { MANY = 20000 };
    const char *costs[] = {"gaussian", "entropic", "interaction", "paper", "measured", "measured-budget"};
    const double table[5] = {3, 1, 0.75, 0.5, 0.25};
    double *values = malloc(2 * MANY * sizeof *values);
    mfpg_context *four = testing_context(4);
    (void)state;
    assert_non_null(values);
    linspace(0.5, 1.5, MANY, values);
    fill(0.5, MANY, values + MANY);
    for (int c = 0; c < 6; c++) {
        for (int players = MFPG_PLAYERS_FINITE; players <= MFPG_PLAYERS_MEAN_FIELD; players++) {
            mfpg_game g = mfpg_game_default();
            g.cost = costs[c];
            g.players = (mfpg_players)players;
            g.clients = MANY;
            g.preference = values;
            g.noise_unit = g.privacy_scale = g.own_cost = values + MANY;
            g.interaction = 2;
            g.actions = grid_of(PAPER_GRID, 5);
            g.loss_table = c == 5 ? table : NULL;
            mfpg_equilibrium a = solved(ctx, &g), b = solved(four, &g);
            assert_memory_equal(a.action, b.action, MANY * sizeof *a.action);
            assert_true(a.cost == b.cost && a.mean_action == b.mean_action);
            assert_true(a.exploitability_max == b.exploitability_max);
            assert_true(a.exploitability_mean == b.exploitability_mean);
            mfpg_equilibrium_clear(&a);
            mfpg_equilibrium_clear(&b);
        }
    }
    mfpg_context_destroy(four);
    free(values);
}

/* Costs in another currency: all of them times 4 changes no action by a bit. */
static void test_the_unit_of_cost_does_not_matter(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(60); repeat++) {
        random_game r;
        const char *cost = repeat % 2 ? "gaussian" : "interaction";
        draw_game(&seed, cost, (mfpg_players)(1 + repeat / 2 % 2), repeat % SHAPES, &r);
        mfpg_equilibrium e = solved(ctx, &r.game);
        r.game.curvature *= 4;
        for (ptrdiff_t k = 0; k < e.clients; k++) {
            r.preference[k] *= 4;
            r.own_cost[k] *= 4;
        }
        mfpg_equilibrium f = solved(ctx, &r.game);
        assert_memory_equal(e.action, f.action, (size_t)e.clients * sizeof *e.action);
        check_near(f.cost, 4 * e.cost, 1e-15, 0, "cost");
        mfpg_equilibrium_clear(&e);
        mfpg_equilibrium_clear(&f);
    }
}

/* One number for everybody and an array of it are the same game, to the bit. */
static void test_one_number_for_all_is_the_array_of_it(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (ptrdiff_t c = 0; mfpg_kind_name(&mfpg_costs, c); c++) {
        for (int repeat = 0; repeat < testing_repeats(20); repeat++) {
            random_game r;
            int shape = repeat / 2 % 2;
            if (!playable(mfpg_kind_name(&mfpg_costs, c), shape)) continue;
            draw_game(&seed, mfpg_kind_name(&mfpg_costs, c), (mfpg_players)(1 + repeat % 2), shape, &r);
            mfpg_game *g = &r.game;
            fill(g->noise_unit_all = r.noise_unit[0], MOST, r.noise_unit);
            fill(g->privacy_scale_all = r.privacy_scale[0], MOST, r.privacy_scale);
            fill(g->own_cost_all = r.own_cost[0], MOST, r.own_cost);
            mfpg_equilibrium e = solved(ctx, g);
            g->noise_unit = g->privacy_scale = g->own_cost = NULL;
            mfpg_equilibrium f = solved(ctx, g);
            assert_memory_equal(e.action, f.action, (size_t)e.clients * sizeof *e.action);
            assert_true(e.cost == f.cost && e.exploitability_mean == f.exploitability_mean);
            assert_true(e.social_cost == f.social_cost || (isnan(e.social_cost) && isnan(f.social_cost)));
            mfpg_equilibrium_clear(&e);
            mfpg_equilibrium_clear(&f);
        }
    }
}

static void test_the_optimum_can_be_left_out(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    for (int players = MFPG_PLAYERS_FINITE; players <= MFPG_PLAYERS_MEAN_FIELD; players++) {
        random_game r;
        draw_game(&seed, "entropic", (mfpg_players)players, 1, &r);
        mfpg_equilibrium e = solved(ctx, &r.game);
        r.game.skip_optimum = 1;
        mfpg_equilibrium f = solved(ctx, &r.game);
        assert_non_null(e.social_action);
        assert_true(
            !f.social_action && isnan(f.social_mean) && isnan(f.social_cost) && isnan(f.price_of_anarchy));
        assert_memory_equal(e.action, f.action, (size_t)e.clients * sizeof *e.action);
        mfpg_equilibrium_clear(&e);
        mfpg_equilibrium_clear(&f);
    }
}

typedef struct valid_game {
    mfpg_game game;
    double preference[3], weight[3], noise_unit[3], privacy_scale[3], own_cost[3], grid[3], loss_table[3];
} valid_game;

static void make_valid(const char *cost, valid_game *out) {
    out->game = mfpg_game_default();
    fill(1, 3, out->preference);
    fill(1, 3, out->noise_unit);
    fill(1, 3, out->privacy_scale);
    fill(1, 3, out->own_cost);
    out->weight[0] = 0.25, out->weight[1] = 0.25, out->weight[2] = 0.5;
    out->grid[0] = 0.5, out->grid[1] = 1, out->grid[2] = 2;
    out->game.cost = cost;
    out->game.clients = 3;
    out->game.preference = out->preference;
    out->game.weight = out->weight;
    out->game.noise_unit = out->noise_unit;
    out->game.privacy_scale = out->privacy_scale;
    out->game.own_cost = out->own_cost;
    out->game.actions = grid_of(out->grid, 3);
    out->loss_table[0] = 3, out->loss_table[1] = 2, out->loss_table[2] = 1;
    if (cost && strcmp(cost, "measured-budget") == 0) out->game.loss_table = out->loss_table;
}

static void refused(valid_game *g, mfpg_status status, const char *word) {
    mfpg_equilibrium e;
    mfpg_status found = mfpg_game_solve(ctx, &g->game, &e);
    if (found != status || !strstr(mfpg_context_message(ctx), word)) {
        print_error("expected %s about '%s', got %s: %s\n", mfpg_status_text(status), word,
            mfpg_status_text(found), mfpg_context_message(ctx));
        fail();
    }
    assert_null(e.action);
    mfpg_equilibrium_clear(&e); /* an empty solution can be cleared */
}

/* Every number a cost reads refuses NaN, infinity and a negative value, and names itself. */
static void test_bad_numbers_are_refused_by_name(void **state) {
    const struct {
        const char *cost, *word;
        size_t offset;
    } fields[] = {
        {"gaussian", "curvature", offsetof(mfpg_game, curvature)},
        {"gaussian", "dimension", offsetof(mfpg_game, dimension)},
        {"gaussian", "personalisation", offsetof(mfpg_game, personalisation)},
        {"gaussian", "privacy power", offsetof(mfpg_game, privacy_power)},
        {"entropic", "curvature", offsetof(mfpg_game, curvature)},
        {"entropic", "dimension", offsetof(mfpg_game, dimension)},
        {"entropic", "personalisation", offsetof(mfpg_game, personalisation)},
        {"entropic", "prior variance", offsetof(mfpg_game, prior_variance)},
        {"entropic", "step", offsetof(mfpg_game, step)},
        {"entropic", "optimum norm2", offsetof(mfpg_game, optimum_norm2)},
        {"paper", "loss", offsetof(mfpg_game, loss)},
        {"paper", "offset", offsetof(mfpg_game, offset)},
        {"paper", "gradient norm", offsetof(mfpg_game, gradient_norm)},
        {"paper", "variance penalty", offsetof(mfpg_game, variance_penalty)},
        {"paper", "rounds", offsetof(mfpg_game, rounds)},
        {"paper", "step", offsetof(mfpg_game, step)},
        {"paper", "prior variance", offsetof(mfpg_game, prior_variance)},
        {"paper", "dimension", offsetof(mfpg_game, dimension)},
        {"measured", "loss", offsetof(mfpg_game, loss)},
    };
    const double bad[] = {NAN, INFINITY, -INFINITY, -1};
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        for (size_t j = 0; j < sizeof bad / sizeof bad[0]; j++) {
            valid_game g;
            make_valid(fields[i].cost, &g);
            memcpy((char *)&g.game + fields[i].offset, &bad[j], sizeof bad[j]);
            refused(&g, MFPG_ERR_DOMAIN, fields[i].word);
        }
    }
}

static void test_bad_clients_are_refused_by_number(void **state) {
    const double bad[] = {NAN, INFINITY, -1, 0};
    (void)state;
    for (size_t j = 0; j < sizeof bad / sizeof bad[0]; j++) {
        valid_game g;
        make_valid("gaussian", &g);
        g.preference[2] = bad[j];
        refused(&g, MFPG_ERR_DOMAIN, "preference of client 2");
        make_valid("gaussian", &g);
        g.noise_unit[1] = bad[j];
        refused(&g, MFPG_ERR_DOMAIN, "noise unit of client 1");
        make_valid("entropic", &g);
        g.privacy_scale[0] = bad[j];
        refused(&g, MFPG_ERR_DOMAIN, "privacy scale of client 0");
        make_valid("interaction", &g);
        g.own_cost[0] = bad[j];
        refused(&g, MFPG_ERR_DOMAIN, "own cost of client 0");
        make_valid("gaussian", &g);
        g.weight[1] = bad[j];
        refused(&g, bad[j] == 0 ? MFPG_ERR_INPUT : MFPG_ERR_DOMAIN,
            bad[j] == 0 ? "sum to 0.75" : "weight of client 1");
    }
}

static void test_missing_arrays_are_refused(void **state) {
    valid_game g;
    (void)state;
    make_valid("gaussian", &g);
    g.game.preference = NULL;
    refused(&g, MFPG_ERR_INPUT, "preference is missing");
    make_valid("gaussian", &g);
    g.game.noise_unit = NULL;
    refused(&g, MFPG_ERR_INPUT, "noise unit is missing");
    make_valid("entropic", &g);
    g.game.own_cost = NULL;
    refused(&g, MFPG_ERR_INPUT, "own cost is missing");
    make_valid("interaction", &g);
    g.game.privacy_scale = NULL;
    refused(&g, MFPG_ERR_INPUT, "privacy scale is missing");
    g.game.privacy_scale_all = -1;
    refused(&g, MFPG_ERR_DOMAIN, "privacy scale is -1");
    g.game.privacy_scale_all = 1;
    g.game.price = g.preference;
    refused(&g, MFPG_ERR_INPUT, "cost interaction takes no price");
    make_valid("gaussian", &g);
    g.game.price = g.preference;
    g.preference[1] = NAN;
    g.game.preference = g.own_cost;
    refused(&g, MFPG_ERR_DOMAIN, "price of client 1 is nan");
    make_valid("paper", &g);
    g.game.clients = 0;
    refused(&g, MFPG_ERR_DOMAIN, "at least 1 client");
}

static void test_bad_action_sets_are_refused(void **state) {
    valid_game g;
    (void)state;
    make_valid("entropic", &g);
    g.grid[2] = 0.75;
    refused(&g, MFPG_ERR_INPUT, "0.75 follows 1");
    g.grid[2] = 1;
    refused(&g, MFPG_ERR_INPUT, "must ascend without repeats, but 1 follows 1 (actions 1 and 2)");
    g.grid[0] = 0;
    refused(&g, MFPG_ERR_DOMAIN, "action 0");
    g.grid[0] = NAN;
    refused(&g, MFPG_ERR_DOMAIN, "action 0");
    g.game.actions = grid_of(g.grid, 0);
    refused(&g, MFPG_ERR_INPUT, "empty");
    g.game.actions = interval_of(2, 1);
    refused(&g, MFPG_ERR_INPUT, "2 is above the largest, 1");
    g.game.actions = interval_of(-1, 1);
    refused(&g, MFPG_ERR_DOMAIN, "smallest action");
    g.game.actions = interval_of(NAN, 1);
    refused(&g, MFPG_ERR_DOMAIN, "smallest action");
    g.game.actions = interval_of(0, NAN);
    refused(&g, MFPG_ERR_DOMAIN, "largest action");
    g.game.actions = interval_of(0, 0);
    refused(&g, MFPG_ERR_DOMAIN, "largest action");
}

/* Shapes and scales that rounding turns into 0, infinity or no number at all are refused by action and by client, whatever
 * the cost. */
static void test_costs_out_of_range_are_refused_by_action_and_client(void **state) {
    valid_game g;
    (void)state;
    make_valid("gaussian", &g);
    g.grid[0] = 1e-200; /* 1/b^2 */
    refused(&g, MFPG_ERR_DOMAIN, "utility loss of action 1e-200");
    make_valid("gaussian", &g);
    g.game.privacy_power = 2;
    g.grid[2] = 1e200; /* b^2/2 */
    refused(&g, MFPG_ERR_DOMAIN, "privacy cost of action 1e+200");
    const char *strengths[] = {"entropic", "interaction", "measured"};
    for (int i = 0; i < 3; i++) {
        make_valid(strengths[i], &g);
        g.game.players = MFPG_PLAYERS_MEAN_FIELD;
        g.grid[0] = 1e-310; /* 1/e */
        refused(&g, MFPG_ERR_DOMAIN, "privacy cost of action");
        make_valid(strengths[i], &g);
        g.preference[1] = g.privacy_scale[1] = 1e-200;
        refused(&g, MFPG_ERR_DOMAIN, "costs of client 1");
        g.preference[1] = g.privacy_scale[1] = 1e200;
        refused(&g, MFPG_ERR_DOMAIN, "costs of client 1");
    }
    make_valid("gaussian", &g);
    g.noise_unit[2] = 1e200;
    refused(&g, MFPG_ERR_DOMAIN, "costs of client 2");
}

/* Two equal clients, e^2 (1 - .1 e) = R: just above the top of the cubic nobody's answer stands still, but next to it the
 * passes hardly move. They stop early with the last profile and what it leaves to gain. */
static void test_a_solver_that_stops_early_returns_its_profile(void **state) {
    valid_game g;
    (void)state;
    make_valid("interaction", &g);
    g.game.players = MFPG_PLAYERS_FINITE;
    g.game.clients = 2;
    g.game.weight = NULL;
    g.game.interaction = -0.2;
    g.game.actions = interval_of(0, INFINITY);
    fill(4 / (27 * 0.1 * 0.1) * (1 + 2e-8), 2, g.privacy_scale);
    mfpg_equilibrium e = solved(ctx, &g.game);
    assert_int_equal(e.converged, 0);
    assert_true(e.residual > 0 && e.residual < 1e-3);
    assert_true(e.exploitability_max > 0 && e.exploitability_max < 1e-6);
    check_near(e.mean_action, 20.0 / 3, 0.05, 0, "the top of the cubic");
    mfpg_equilibrium_clear(&e);
    fill(4 / (27 * 0.1 * 0.1) * (1 - 1e-3), 2, g.privacy_scale);
    e = solved(ctx, &g.game);
    assert_int_equal(e.converged, 1);
    assert_string_equal(e.selection, "smallest mean");
    mfpg_equilibrium_clear(&e);
}

static void test_unknown_names_come_with_the_nearest(void **state) {
    valid_game g;
    (void)state;
    make_valid("gausian", &g);
    refused(&g, MFPG_ERR_INPUT, "did you mean \"gaussian\"?");
    make_valid("laplace", &g);
    refused(&g, MFPG_ERR_INPUT, "allowed: gaussian, entropic, interaction, paper");
    make_valid(NULL, &g);
    refused(&g, MFPG_ERR_INPUT, "no cost");
    make_valid("gaussian", &g);
    g.game.players = MFPG_PLAYERS_NONE;
    refused(&g, MFPG_ERR_INPUT, "players none");
    g.game.players = (mfpg_players)17;
    refused(&g, MFPG_ERR_INPUT, "unknown players");
}

/* 2 a k0^2/beta overflows: an error, not an infinite budget. */
static void test_overflow_is_an_error(void **state) {
    valid_game g;
    (void)state;
    make_valid("gaussian", &g);
    fill(1e200, 3, g.noise_unit);
    g.game.actions = interval_of(0, INFINITY);
    refused(&g, MFPG_ERR_DOMAIN, "range of numbers");
}

static void test_lists_name_and_explain_everything(void **state) {
    (void)state;
    enum { GAMES = 3 };
    assert_int_equal(MFPG_COST_COUNT, 6);
    assert_string_equal(mfpg_kind_name(&mfpg_costs, 0), "gaussian");
    assert_string_equal(mfpg_kind_name(&mfpg_games, 2), "mean-field");
    assert_string_equal(mfpg_players_name(MFPG_PLAYERS_NONE), "none");
    assert_string_equal(mfpg_players_name(MFPG_PLAYERS_FINITE), "finite");
    assert_string_equal(mfpg_players_name(MFPG_PLAYERS_MEAN_FIELD), "mean-field");
    for (ptrdiff_t i = 0; i < MFPG_COST_COUNT; i++) assert_true(strlen(mfpg_kind_help(&mfpg_costs, i)) > 10);
    for (ptrdiff_t i = 0; i < GAMES; i++) assert_true(strlen(mfpg_kind_help(&mfpg_games, i)) > 10);
    assert_null(mfpg_kind_name(&mfpg_costs, MFPG_COST_COUNT));
    assert_null(mfpg_kind_help(&mfpg_costs, -1));
    assert_null(mfpg_kind_name(&mfpg_games, GAMES));
    assert_null(mfpg_kind_help(&mfpg_games, -1));
}

/* A cost that claims directions it does not have is caught: the paper's, declared consistent. */
static void test_directions_are_asserted_for_consistent_costs(void **state) {
    valid_game g;
    (void)state;
    for (ptrdiff_t i = 0; i < MFPG_COST_COUNT; i++) {
        mfpg_cost_ops claimed = *(const mfpg_cost_ops *)mfpg_costs.kind[i];
        mfpg_play play = {.game = &g.game, .cost = &claimed};
        claimed.consistent = 1;
        make_valid(claimed.name, &g);
        for (int shape = 0; shape < SHAPES; shape++) {
            if (g.game.loss_table && shape > 0) break; /* which needs a grid */
            if (shape == 1) g.game.actions = interval_of(0.5, 2);
            if (shape == 2) g.game.actions = interval_of(0, INFINITY);
            assert_int_equal(mfpg_check_directions(ctx, &play),
                ((const mfpg_cost_ops *)mfpg_costs.kind[i])->consistent ? MFPG_OK : MFPG_ERR_INPUT);
        }
        /* Turning the control round turns the directions round. */
        claimed.control =
            claimed.control == MFPG_CONTROL_BUDGET ? MFPG_CONTROL_STRENGTH : MFPG_CONTROL_BUDGET;
        assert_int_equal(mfpg_check_directions(ctx, &play), MFPG_ERR_INPUT);
        assert_non_null(strstr(mfpg_context_message(ctx), "but from action"));
    }
}

static void test_exploitability_checks_its_actions(void **state) {
    valid_game g;
    double action[] = {1, 1, NAN}, max = 7, mean = 7;
    (void)state;
    make_valid("interaction", &g);
    assert_int_equal(mfpg_game_exploitability(ctx, &g.game, action, &max, &mean), MFPG_ERR_DOMAIN);
    assert_non_null(strstr(mfpg_context_message(ctx), "action of client 2"));
    assert_int_equal(mfpg_game_exploitability(ctx, &g.game, NULL, &max, &mean), MFPG_ERR_INPUT);
    g.game.players = MFPG_PLAYERS_NONE;
    assert_int_equal(mfpg_game_exploitability(ctx, &g.game, action, &max, &mean), MFPG_ERR_INPUT);
    assert_true(max == 7 && mean == 7);
    mfpg_equilibrium_clear(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_equilibrium_leaves_nothing_to_gain),
        cmocka_unit_test(test_wild_numbers_end_in_a_solution_or_a_refusal),
        cmocka_unit_test(test_exploitability_of_any_profile_matches_a_search),
        cmocka_unit_test(test_reported_cost_matches_the_formulas),
        cmocka_unit_test(test_the_order_of_clients_does_not_matter),
        cmocka_unit_test(test_one_and_four_threads_agree_to_the_bit),
        cmocka_unit_test(test_the_unit_of_cost_does_not_matter),
        cmocka_unit_test(test_one_number_for_all_is_the_array_of_it),
        cmocka_unit_test(test_the_optimum_can_be_left_out),
        cmocka_unit_test(test_bad_numbers_are_refused_by_name),
        cmocka_unit_test(test_bad_clients_are_refused_by_number),
        cmocka_unit_test(test_missing_arrays_are_refused),
        cmocka_unit_test(test_bad_action_sets_are_refused),
        cmocka_unit_test(test_costs_out_of_range_are_refused_by_action_and_client),
        cmocka_unit_test(test_a_solver_that_stops_early_returns_its_profile),
        cmocka_unit_test(test_unknown_names_come_with_the_nearest),
        cmocka_unit_test(test_overflow_is_an_error),
        cmocka_unit_test(test_lists_name_and_explain_everything),
        cmocka_unit_test(test_directions_are_asserted_for_consistent_costs),
        cmocka_unit_test(test_exploitability_checks_its_actions),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
