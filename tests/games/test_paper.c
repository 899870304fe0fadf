/* The paper's best response to the letter (eq. br): always the largest strength (theory S0 b). */
#include "games_testing.h"

#include "games/cost.h"

static void test_best_responses_match_the_reference(void **state) {
    const struct {
        const char *source;
        double loss, beta, gradient_norm;
    } rows[] = {{"T139 S0(b)", 0.01, 0.5, 0.3}, {"T140 S0(b)", 0, 1.5, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mfpg_game g = mfpg_game_default();
        double beta[5];
        fill(rows[i].beta, 5, beta);
        g.cost = "paper";
        g.clients = 5;
        g.preference = beta;
        g.dimension = 5;
        g.loss = rows[i].loss;
        g.gradient_norm = rows[i].gradient_norm;
        g.actions = grid_of(PAPER_GRID, 5);
        for (int finite = 0; finite <= 1; finite++) {
            g.players = finite ? MFPG_PLAYERS_FINITE : MFPG_PLAYERS_MEAN_FIELD;
            mfpg_equilibrium e = solved(ctx, &g);
            for (ptrdiff_t k = 0; k < 5; k++) check_near(e.action[k], 2, 0, 0, rows[i].source);
            assert_true(e.exploitability_max == 0.0);
            assert_true(e.social_cost == e.cost && e.price_of_anarchy == 1.0 && e.social_exact);
            double sum = 0;
            for (ptrdiff_t k = 0; k < 5; k++) sum += reference_cost(&g, e.action, k, e.action[k]);
            check_near(e.cost, sum, 1e-13, 0, "cost by eq. (br)");
            mfpg_equilibrium_clear(&e);
        }
    }
}

/* Whatever the numbers, overflow and underflow of the exponential included. */
static void test_the_largest_strength_always_wins(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(2000); repeat++) {
        random_game r;
        draw_game(&seed, "paper", MFPG_PLAYERS_MEAN_FIELD, repeat % 2, &r);
        if (repeat % 5 == 0) r.game.loss = 0;
        r.game.rounds = between(&seed, 1, 1e5);
        r.game.gradient_norm = between(&seed, 0.01, 10);
        mfpg_equilibrium e = solved(ctx, &r.game);
        const mfpg_action_set *set = &r.game.actions;
        double largest = set->grid ? set->grid[set->count - 1] : set->high;
        for (ptrdiff_t k = 0; k < e.clients; k++) assert_true(e.action[k] == largest);
        mfpg_equilibrium_clear(&e);
    }
}

static void test_without_a_largest_strength_there_is_no_answer(void **state) {
    const double beta[] = {1};
    mfpg_game g = mfpg_game_default();
    mfpg_equilibrium e;
    (void)state;
    g.cost = "paper";
    g.clients = 1;
    g.preference = beta;
    assert_int_equal(mfpg_game_solve(ctx, &g, &e), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "maximum"));
}

/* The defect itself: its loss falls with the client's own noise, so it must not claim the directions of a privacy game. */
static void test_its_loss_falls_with_noise(void **state) {
    const double beta[] = {1};
    mfpg_game g = mfpg_game_default();
    mfpg_play play = {.game = &g, .cost = &mfpg_cost_paper};
    (void)state;
    g.clients = 1;
    g.preference = beta;
    assert_true(mfpg_cost_paper.utility(&play, 2) < mfpg_cost_paper.utility(&play, 1));
    assert_true(mfpg_cost_paper.privacy(&play, 2) < mfpg_cost_paper.privacy(&play, 1));
    assert_int_equal(mfpg_cost_paper.consistent, 0);
}

/* reproduction.md 1: delta at strength 2 is .6096 (quadratic: d 5, N 5, K 10) and 1.175 (MNIST: C_d 10, N 10, K 20). */
static void test_delta_is_the_raw_exponential(void **state) {
    mfpg_game g = mfpg_game_default();
    mfpg_play play = {.game = &g, .cost = &mfpg_cost_paper};
    (void)state;
    g.clients = 5;
    g.dimension = 5;
    check_near(mfpg_cost_paper.privacy(&play, 2), 0.6096, 0, 5e-5, "quadratic"); /* half the last digit */
    g.clients = 10;
    g.dimension = 109386;
    g.rounds = 20;
    check_near(mfpg_cost_paper.privacy(&play, 2), 1.175, 0, 5e-4, "images");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_responses_match_the_reference),
        cmocka_unit_test(test_the_largest_strength_always_wins),
        cmocka_unit_test(test_without_a_largest_strength_there_is_no_answer),
        cmocka_unit_test(test_its_loss_falls_with_noise),
        cmocka_unit_test(test_delta_is_the_raw_exponential),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
