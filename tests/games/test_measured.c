/* Costs that read what clients measure: closed forms, each client by its own numbers, and how far a disutility moves. */
#include "games_testing.h"

/* e = sqrt(beta B/L), clamped; on a grid the switch from e_i to e_{i+1} at beta B/L = e_i e_{i+1} (theory S3.4). */
static void test_the_measured_loss_prices_noise(void **state) {
    random_game r;
    uint64_t seed = testing_seed();
    double loss[MOST];
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(60); repeat++) {
        draw_game(&seed, "measured", (mfpg_players)(1 + repeat % 2), repeat % 3, &r);
        const mfpg_action_set *set = &r.game.actions;
        for (ptrdiff_t k = 0; k < r.game.clients; k++) loss[k] = between(&seed, 1e-3, 10);
        r.game.measured_loss = loss;
        mfpg_equilibrium e = solved(ctx, &r.game);
        for (ptrdiff_t k = 0; k < r.game.clients; k++) {
            double ratio = r.preference[k] * r.privacy_scale[k] / loss[k], expected = sqrt(ratio);
            ptrdiff_t j = 0;
            while (set->grid && j + 1 < set->count && ratio > set->grid[j] * set->grid[j + 1]) j++;
            expected = set->grid ? set->grid[j] : fmin(fmax(expected, set->low), set->high);
            check_near(e.action[k], expected, 1e-15, 0, "strength");
        }
        /* nobody moves anybody else: what is best for each is best for all */
        assert_true(e.price_of_anarchy == 1.0 && e.social_exact && e.exploitability_max <= 1e-9 * e.cost);
        mfpg_equilibrium_clear(&e);
    }
}

/* A client with its own measurements plays the game whose public constants these are. */
static void test_each_client_is_judged_by_its_own_measurements(void **state) {
    const char *costs[] = {"measured", "paper"};
    const double loss[] = {0.2, 3, 0}, gradient[] = {0.1, 1, 0.5};
    random_game r;
    uint64_t seed = testing_seed();
    (void)state;
    for (int c = 0; c < 2; c++) {
        draw_game(&seed, costs[c], MFPG_PLAYERS_MEAN_FIELD, 0, &r);
        r.game.clients = 3;
        linspace(0.1, 1, 3, r.preference);
        linspace(0.5, 2, 3, r.privacy_scale);
        ptrdiff_t count = r.game.actions.count;
        double table[3 * 16], alone[3 * 16];
        r.game.measured_loss = loss;
        r.game.measured_gradient = gradient;
        CHECK_OK(ctx, mfpg_game_disutilities(ctx, &r.game, table));
        r.game.measured_loss = r.game.measured_gradient = NULL;
        for (ptrdiff_t k = 0; k < 3; k++) {
            r.game.loss = loss[k];
            r.game.gradient_norm = gradient[k];
            CHECK_OK(ctx, mfpg_game_disutilities(ctx, &r.game, alone));
            for (ptrdiff_t j = 0; j < count; j++) {
                double own = r.game.actions.grid[j];
                /* two exponentials in place of one: a few roundings of arguments up to 20 */
                check_near(table[k * count + j], alone[k * count + j], 1e-13, 0, "own measurements");
                check_near(table[k * count + j], reference_cost(&r.game, gradient, k, own), 1e-13, 0,
                    "by the formula");
            }
        }
    }
}

/* No neighbour's disutility lies farther away than stated, and at the top of the ranges the bound is met. */
static void test_disutilities_move_by_no_more_than_stated(void **state) {
    const char *costs[] = {"measured", "paper"};
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(400); repeat++) {
        random_game r;
        draw_game(&seed, costs[repeat % 2], MFPG_PLAYERS_FINITE, 0, &r);
        ptrdiff_t n = r.game.clients, count = r.game.actions.count;
        double first[MOST], second[MOST], slope[MOST], steeper[MOST], dl[MOST], dg[MOST], bound[MOST];
        double a[16 * 16], b[16 * 16], loss_most = between(&seed, 0.1, 20), most = between(&seed, 0.1, 2);
        int top = below(&seed, 4) == 0;
        for (ptrdiff_t k = 0; k < n; k++) {
            dl[k] = loss_most * uniform(&seed);
            dg[k] = most * uniform(&seed);
            first[k] = top ? loss_most : loss_most * uniform(&seed);
            slope[k] = top ? most : most * uniform(&seed);
            second[k] = top ? loss_most - dl[k]
                            : fmin(loss_most, fmax(0, first[k] + dl[k] * (2 * uniform(&seed) - 1)));
            steeper[k] =
                top ? most - dg[k] : fmin(most, fmax(0, slope[k] + dg[k] * (2 * uniform(&seed) - 1)));
        }
        CHECK_OK(ctx, mfpg_game_disutility_changes(ctx, &r.game, dl, loss_most, dg, most, bound));
        r.game.measured_loss = first;
        r.game.measured_gradient = slope;
        CHECK_OK(ctx, mfpg_game_disutilities(ctx, &r.game, a));
        r.game.measured_loss = second;
        r.game.measured_gradient = steeper;
        CHECK_OK(ctx, mfpg_game_disutilities(ctx, &r.game, b));
        for (ptrdiff_t k = 0; k < n; k++) {
            double moved = 0, largest = 0;
            for (ptrdiff_t j = 0; j < count; j++) {
                moved = fmax(moved, fabs(a[k * count + j] - b[k * count + j]));
                largest = fmax(largest, a[k * count + j]);
            }
            assert_true(moved <= bound[k]);
            /* the room left for rounding is 2^-38 of the largest disutility */
            if (top) check_near(moved, bound[k], 1e-11, 0x1p-37 * largest, "the bound is met");
        }
    }
}

static void test_what_measures_nothing_is_refused(void **state) {
    (void)state;
    random_game r;
    double out[MOST * 16], zero[MOST] = {0};
    uint64_t seed = testing_seed();
    assert_int_equal(mfpg_cost_measures("measured"), MFPG_MEASURES_LOSS);
    assert_int_equal(mfpg_cost_measures("paper"), MFPG_MEASURES_LOSS | MFPG_MEASURES_GRADIENT);
    assert_int_equal(mfpg_cost_measures("entropic"), 0);
    assert_int_equal(mfpg_cost_measures(NULL), 0);
    draw_game(&seed, "entropic", MFPG_PLAYERS_FINITE, 0, &r);
    assert_int_equal(mfpg_game_disutilities(ctx, &r.game, out), MFPG_ERR_INPUT);
    draw_game(&seed, "measured", MFPG_PLAYERS_FINITE, 1, &r);
    assert_int_equal(mfpg_game_disutilities(ctx, &r.game, out), MFPG_ERR_INPUT);
    double wrong[] = {NAN, -1, INFINITY};
    for (int i = 0; i < 3; i++) {
        draw_game(&seed, "measured", MFPG_PLAYERS_FINITE, 0, &r);
        r.game.clients = 1;
        r.game.measured_loss = &wrong[i];
        assert_int_equal(mfpg_game_disutilities(ctx, &r.game, out), MFPG_ERR_DOMAIN);
        assert_non_null(strstr(mfpg_context_message(ctx), "measured loss of client 0"));
    }
    draw_game(&seed, "measured", MFPG_PLAYERS_FINITE, 2, &r);
    r.game.measured_loss = zero;
    mfpg_equilibrium e;
    assert_int_equal(mfpg_game_solve(ctx, &r.game, &e), MFPG_ERR_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_measured_loss_prices_noise),
        cmocka_unit_test(test_each_client_is_judged_by_its_own_measurements),
        cmocka_unit_test(test_disutilities_move_by_no_more_than_stated),
        cmocka_unit_test(test_what_measures_nothing_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
