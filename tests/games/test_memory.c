/* Every way through mfpg_game_solve and mfpg_game_exploitability with the k-th allocation failing, for all k until it
 * succeeds. */
#include "games_testing.h"

#include "failing_memory.h"

/* Returns how many allocations a solution takes. Address sanitizer finds what a failing call leaves behind. */
static long sweep_solve(mfpg_context *own, const mfpg_game *game) {
    long k = 0;
    for (int once = 0; once < 2; once++) {
        int failed = 1;
        for (k = -1; failed;) {
            mfpg_equilibrium e;
            begin_failing(++k, once);
            mfpg_status status = mfpg_game_solve(own, game, &e);
            failed = end_failing();
            mfpg_equilibrium_clear(&e);
            assert_int_equal(status, failed ? MFPG_ERR_MEMORY : MFPG_OK);
        }
    }
    return k;
}

static long sweep_exploitability(mfpg_context *own, const mfpg_game *game, const double *action) {
    long k = 0;
    for (int once = 0; once < 2; once++) {
        int failed = 1;
        for (k = -1; failed;) {
            double max = -1, mean = -1;
            begin_failing(++k, once);
            mfpg_status status = mfpg_game_exploitability(own, game, action, &max, &mean);
            failed = end_failing();
            assert_int_equal(status, failed ? MFPG_ERR_MEMORY : MFPG_OK);
            if (failed) assert_true(max == -1 && mean == -1);
        }
    }
    return k;
}

static void test_every_failing_allocation_is_reported(void **state) {
    uint64_t seed = testing_seed();
    mfpg_context *own = testing_context(1); /* one thread: the counter is not shared */
    (void)state;
    for (ptrdiff_t c = 0; mfpg_kind_name(&mfpg_costs, c); c++) {
        for (int players = MFPG_PLAYERS_FINITE; players <= MFPG_PLAYERS_MEAN_FIELD; players++) {
            for (int shape = 0; shape <= 1; shape++) {
                if (!playable(mfpg_kind_name(&mfpg_costs, c), shape)) continue;
                random_game r;
                double action[MOST];
                fill(1, MOST, action);
                draw_game(&seed, mfpg_kind_name(&mfpg_costs, c), (mfpg_players)players, shape, &r);
                assert_true(sweep_solve(own, &r.game) >= 2); /* the actions and the certificate's parts */
                assert_true(sweep_exploitability(own, &r.game, action) >= 1);
            }
        }
    }
    mfpg_context_destroy(own);
}

static void test_disutilities_survive_too(void **state) {
    uint64_t seed = testing_seed();
    mfpg_context *own = testing_context(1);
    double zero[MOST] = {0}, out[MOST * 16];
    random_game r;
    (void)state;
    draw_game(&seed, "paper", MFPG_PLAYERS_FINITE, 0, &r);
    for (int which = 0; which < 2; which++) {
        int failed = 1;
        for (long k = 0; failed; k++) {
            begin_failing(k, 0);
            mfpg_status status = which ? mfpg_game_disutilities(own, &r.game, out)
                                       : mfpg_game_disutility_changes(own, &r.game, zero, 1, zero, 1, out);
            failed = end_failing();
            assert_int_equal(status, failed ? MFPG_ERR_MEMORY : MFPG_OK);
            assert_true(failed || k >= 2);
        }
    }
    mfpg_context_destroy(own);
}

static void test_corrective_prices_survive_too(void **state) {
    uint64_t seed = testing_seed();
    mfpg_context *own = testing_context(1);
    const char *costs[] = {"gaussian", "entropic"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        random_game r;
        draw_game(&seed, costs[i], MFPG_PLAYERS_FINITE, 1, &r);
        int failed = 1;
        for (long k = 0; failed; k++) {
            double price[MOST] = {-1};
            begin_failing(k, 0);
            mfpg_status status = mfpg_game_corrective_price(own, &r.game, price);
            failed = end_failing();
            assert_int_equal(status, failed ? MFPG_ERR_MEMORY : MFPG_OK);
            assert_true(failed ? price[0] == -1 : price[0] >= 0);
        }
    }
    mfpg_context_destroy(own);
}

/* Four clients that tie: the list of who mixes is one allocation more. */
static void test_mixing_survives_too(void **state) {
    double ones[4], scale[4];
    mfpg_context *own = testing_context(1);
    mfpg_game g = mfpg_game_default();
    (void)state;
    fill(1, 4, ones);
    fill(0.2, 4, scale);
    g.cost = "interaction";
    g.clients = 4;
    g.preference = g.own_cost = ones;
    g.privacy_scale = scale;
    g.interaction = 1;
    g.actions = grid_of(PAPER_GRID, 5);
    long mixed = sweep_solve(own, &g);
    g.interaction = 1e-3; /* nobody ties */
    assert_int_equal(mixed, sweep_solve(own, &g) + 1);
    mfpg_context_destroy(own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_failing_allocation_is_reported),
        cmocka_unit_test(test_mixing_survives_too),
        cmocka_unit_test(test_disutilities_survive_too),
        cmocka_unit_test(test_corrective_prices_survive_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
