/* Corrective prices (theory S3.2, and the Pigou price for S3.3): the priced equilibrium is the social optimum, prices are no
 * cost, and what a price adds to a client's bill is what its noise costs the others. */
#include "games_testing.h"

static double largest_distance(const mfpg_equilibrium *e, const double *action) {
    double most = 0;
    for (ptrdiff_t k = 0; k < e->clients; k++) most = fmax(most, fabs(e->action[k] / action[k] - 1));
    return most;
}

static void check_priced_game(random_game *r, int on_grid) {
    double price[MOST];
    mfpg_equilibrium selfish = solved(ctx, &r->game);
    CHECK_OK(ctx, mfpg_game_corrective_price(ctx, &r->game, price));
    r->game.price = price;
    mfpg_equilibrium priced = solved(ctx, &r->game);
    assert_true(priced.exploitability_max < 1e-9);
    assert_true(priced.converged && priced.unique);
    if (on_grid) /* a tie may fall to either side */
        check_near(priced.cost, selfish.social_cost, 1e-12, 0, "cost of the priced equilibrium");
    else
        assert_true(largest_distance(&priced, selfish.social_action) < 1e-9);
    check_near(priced.social_cost, selfish.social_cost, 1e-12, 0, "the planner minds no price");
    check_near(priced.price_of_anarchy, 1, 1e-9, 0, "price of anarchy");
    double again[MOST];
    CHECK_OK(ctx, mfpg_game_corrective_price(ctx, &r->game, again)); /* of the game without its price */
    assert_memory_equal(price, again, (size_t)priced.clients * sizeof *price);
    mfpg_equilibrium_clear(&selfish);
    mfpg_equilibrium_clear(&priced);
}

static void test_the_priced_gaussian_equilibrium_is_the_optimum(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(150); repeat++) {
        random_game r;
        int shape = repeat % 3;
        draw_game(&seed, "gaussian", (mfpg_players)(1 + repeat / 3 % 2), shape, &r);
        check_priced_game(&r, shape == 0);
    }
}

static void test_the_priced_entropic_equilibrium_is_the_optimum(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(150); repeat++) {
        random_game r;
        double unit[MOST];
        int players = 1 + repeat / 2 % 2;
        draw_game(&seed, "entropic", (mfpg_players)players, 1 + repeat % 2, &r);
        if (players == MFPG_PLAYERS_MEAN_FIELD) r.game.weight = r.weight;
        for (ptrdiff_t k = 0; k < r.game.clients; k++) unit[k] = between(&seed, 0.5, 2);
        if (repeat % 5 == 0) r.game.strength_unit = unit;
        check_priced_game(&r, 0);
    }
}

/* Client k's Gaussian price is tied to the formula: ((1 - omega) p_k)^2 (N - 1) A k0^2. */
static void test_the_gaussian_price_is_the_formula(void **state) {
    uint64_t seed = testing_seed();
    random_game r;
    double price[MOST];
    (void)state;
    draw_game(&seed, "gaussian", MFPG_PLAYERS_FINITE, 2, &r);
    r.game.weight = r.weight;
    CHECK_OK(ctx, mfpg_game_corrective_price(ctx, &r.game, price));
    for (ptrdiff_t k = 0; k < r.game.clients; k++) {
        double reach = (1 - r.game.personalisation) * r.weight[k] * r.noise_unit[k];
        check_near(price[k],
            (double)(r.game.clients - 1) * r.game.curvature * r.game.dimension / 2 * reach * reach, 1e-14, 0,
            "price");
    }
    r.game.players = MFPG_PLAYERS_MEAN_FIELD; /* nobody reaches anybody */
    CHECK_OK(ctx, mfpg_game_corrective_price(ctx, &r.game, price));
    for (ptrdiff_t k = 0; k < r.game.clients; k++) assert_true(price[k] == 0);
}

/* A second route for the entropic price: by how much the others' costs grow with client k's strength at the optimum. */
static void test_the_entropic_price_is_the_harm_to_others(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(40); repeat++) {
        random_game r;
        double price[MOST];
        draw_game(&seed, "entropic", MFPG_PLAYERS_FINITE, 2, &r);
        CHECK_OK(ctx, mfpg_game_corrective_price(ctx, &r.game, price));
        mfpg_equilibrium e = solved(ctx, &r.game);
        for (ptrdiff_t k = 0; k < e.clients; k++) {
            double harm = 0, x[MOST], step = 1e-4 * e.social_action[k];
            memcpy(x, e.social_action, (size_t)e.clients * sizeof *x);
            for (ptrdiff_t j = 0; j < e.clients; j++) {
                if (j == k) continue;
                x[k] = e.social_action[k] + step;
                harm += reference_cost(&r.game, x, j, x[j]);
                x[k] = e.social_action[k] - step;
                harm -= reference_cost(&r.game, x, j, x[j]);
            }
            /* central differences: step^2 of the third derivative, and roundings of costs over the step */
            check_near(price[k], harm / (2 * step), 1e-5, 1e-9 * e.cost / step, "harm to others");
        }
        mfpg_equilibrium_clear(&e);
    }
}

/* Any price, not only the corrective one: the certificate counts it, the cost does not. */
static void test_prices_count_for_the_client_and_not_for_society(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(80); repeat++) {
        random_game r;
        double price[MOST], max, mean;
        draw_game(&seed, repeat % 2 ? "gaussian" : "entropic", (mfpg_players)(1 + repeat / 2 % 2),
            repeat / 4 % 2, &r);
        mfpg_equilibrium free_of_price = solved(ctx, &r.game);
        for (ptrdiff_t k = 0; k < r.game.clients; k++) price[k] = between(&seed, 0.01, 1);
        r.game.price = price;
        mfpg_equilibrium e = solved(ctx, &r.game);
        assert_true(e.exploitability_max < 1e-9);
        double sum = 0;
        for (ptrdiff_t k = 0; k < e.clients; k++) {
            deviation d = {.game = &r.game, .profile = e.action, .mean_field = e.mean_action, .client = k};
            sum += deviation_cost(&d, e.action[k]);
            /* a price on noise makes noise rarer: budgets rise, strengths fall */
            if (repeat % 2)
                assert_true(e.action[k] >= free_of_price.action[k]);
            else if (r.game.players == MFPG_PLAYERS_MEAN_FIELD)
                assert_true(e.action[k] <= free_of_price.action[k]);
        }
        check_near(e.cost, sum, 1e-12, 0, "cost without payments");
        CHECK_OK(ctx, mfpg_game_exploitability(ctx, &r.game, free_of_price.action, &max, &mean));
        assert_true(max >= 0 && mean <= max);
        mfpg_equilibrium_clear(&e);
        mfpg_equilibrium_clear(&free_of_price);
    }
}

static void test_what_has_no_price_says_so(void **state) {
    uint64_t seed = testing_seed();
    random_game r;
    double price[MOST] = {7};
    (void)state;
    draw_game(&seed, "interaction", MFPG_PLAYERS_FINITE, 1, &r);
    assert_int_equal(mfpg_game_corrective_price(ctx, &r.game, price), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "cost interaction has no known optimum"));
    draw_game(&seed, "entropic", MFPG_PLAYERS_FINITE, 0, &r);
    assert_int_equal(mfpg_game_corrective_price(ctx, &r.game, price), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "on an interval"));
    r.game.players = MFPG_PLAYERS_NONE;
    assert_int_equal(mfpg_game_corrective_price(ctx, &r.game, price), MFPG_ERR_INPUT);
    assert_true(price[0] == 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_priced_gaussian_equilibrium_is_the_optimum),
        cmocka_unit_test(test_the_priced_entropic_equilibrium_is_the_optimum),
        cmocka_unit_test(test_the_gaussian_price_is_the_formula),
        cmocka_unit_test(test_the_entropic_price_is_the_harm_to_others),
        cmocka_unit_test(test_prices_count_for_the_client_and_not_for_society),
        cmocka_unit_test(test_what_has_no_price_says_so),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
