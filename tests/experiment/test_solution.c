/* Solutions told to people: the finite game behind a mean field, quantiles, the certificate, warnings, the file. */
#include <unistd.h>

#include "failing_memory.h"
#include "mfpg/solution.h"

static const double GRID[] = {0.1, 0.3, 0.5, 1, 2};

static mfpg_game game_of(
    const char *cost, mfpg_players players, ptrdiff_t clients, const double *preference) {
    mfpg_game game = mfpg_game_default();
    game.cost = cost;
    game.players = players;
    game.clients = clients;
    game.preference = preference;
    game.noise_unit_all = 0.02;
    game.privacy_scale_all = 1;
    game.own_cost_all = 1;
    return game;
}

static int warns_of(const mfpg_solution *solution, const char *part) {
    char text[1024];
    for (ptrdiff_t i = 0; mfpg_solution_warning(solution, i, text, sizeof text); i++)
        if (strstr(text, part)) return 1;
    return 0;
}

/* ---- the finite game ---- */

/* Four equal clients of S3.4 mix at 1/6 of 0.5 against 0.3: round(4/6) = 1 of them plays 0.5. */
static void test_those_that_mix_are_split_by_their_weight(void **state) {
    mfpg_context *ctx = testing_context(1);
    const double preference[] = {1, 1, 1, 1}, split[] = {0.5, 0.3, 0.3, 0.3};
    mfpg_game game = game_of("interaction", MFPG_PLAYERS_MEAN_FIELD, 4, preference);
    mfpg_equilibrium q;
    double max, mean, expected_max, expected_mean;
    (void)state;
    game.privacy_scale_all = 0.2;
    game.interaction = 1;
    game.actions = (mfpg_action_set){.grid = GRID, .count = 5};
    CHECK_OK(ctx, mfpg_game_solve(ctx, &game, &q));
    assert_int_equal(q.mixing_count, 4);
    CHECK_OK(ctx, mfpg_solution_judge_finite(ctx, &game, &q, &max, &mean));
    game.players = MFPG_PLAYERS_FINITE;
    CHECK_OK(ctx, mfpg_game_exploitability(ctx, &game, split, &expected_max, &expected_mean));
    assert_true(max == expected_max && mean == expected_mean && max > 0);
    for (long k = 0, failed = 1; failed; k++) {
        begin_failing(k, 0);
        mfpg_status status = mfpg_solution_judge_finite(ctx, &game, &q, &max, &mean);
        failed = end_failing();
        assert_int_equal(status, failed ? MFPG_ERR_MEMORY : MFPG_OK);
    }
    mfpg_equilibrium_clear(&q);
    mfpg_context_destroy(ctx);
}

/* Where N players have no game (unequal weights of the entropic cost) nothing is known, and that is no error. */
static void test_what_cannot_be_judged_is_not_known(void **state) {
    mfpg_context *ctx = testing_context(1);
    const double preference[] = {1, 2}, weight[] = {0.25, 0.75};
    mfpg_game game = game_of("entropic", MFPG_PLAYERS_MEAN_FIELD, 2, preference);
    mfpg_equilibrium q;
    double max = 0, mean = 0;
    (void)state;
    game.weight = weight;
    CHECK_OK(ctx, mfpg_game_solve(ctx, &game, &q));
    CHECK_OK(ctx, mfpg_solution_judge_finite(ctx, &game, &q, &max, &mean));
    assert_true(isnan(max) && isnan(mean));
    mfpg_equilibrium_clear(&q);
    mfpg_context_destroy(ctx);
}

/* ---- quantiles ---- */

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_quantiles_are_those_of_the_sorted_numbers(void **state) {
    enum { COUNT = 501, POINTS = 11 };
    mfpg_context *ctx = testing_context(1);
    uint64_t seed = testing_seed();
    double value[COUNT], sorted[COUNT], out[POINTS];
    (void)state;
    for (int order = 0; order < 3; order++) { /* as drawn, ascending, descending */
        for (int i = 0; i < COUNT; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            value[i] = (double)(seed >> 40);
        }
        if (order > 0) qsort(value, COUNT, sizeof *value, by_size);
        for (int i = 0; order == 2 && i < COUNT / 2; i++) {
            double kept = value[i];
            value[i] = value[COUNT - 1 - i];
            value[COUNT - 1 - i] = kept;
        }
        memcpy(sorted, value, sizeof value);
        qsort(sorted, COUNT, sizeof *sorted, by_size);
        CHECK_OK(ctx, mfpg_solution_quantiles(ctx, value, COUNT, POINTS, out));
        for (int i = 0; i < POINTS; i++) assert_true(out[i] == sorted[50 * i]);
    }
    CHECK_OK(ctx, mfpg_solution_quantiles(ctx, value, 1, POINTS, out));
    assert_true(out[0] == value[0] && out[POINTS - 1] == value[0]);
    value[0] = value[2] + 1; /* in no order: a copy is taken */
    begin_failing(0, 0);
    mfpg_status status = mfpg_solution_quantiles(ctx, value, COUNT, POINTS, out);
    assert_true(end_failing());
    assert_int_equal(status, MFPG_ERR_MEMORY);
    mfpg_context_destroy(ctx);
}

/* ---- words ---- */

static void test_certificate_never_says_less_than_the_gain(void **state) {
    (void)state;
    const double gains[] = {1.0, 0.12345, 9.9999e-7, 0.09996, 3e-300, 123456.7};
    const double preference[] = {1};
    mfpg_game game = game_of("gaussian", MFPG_PLAYERS_FINITE, 1, preference);
    for (size_t i = 0; i < sizeof gains / sizeof gains[0]; i++) {
        double action = 1;
        char text[1024];
        mfpg_equilibrium q = {.control = MFPG_CONTROL_BUDGET,
            .clients = 1,
            .action = &action,
            .converged = 1,
            .cost = 0, /* no gain is rounding beside it */
            .exploitability_max = gains[i]};
        mfpg_solution solution = {.game = &game, .equilibrium = &q};
        mfpg_solution_certificate(&solution, text, sizeof text);
        const char *at = strstr(text, "more than ");
        assert_non_null(at);
        double said = strtod(at + 10, NULL);
        assert_true(said >= gains[i] && said <= gains[i] * 1.01);
        q.converged = 0;
        mfpg_solution_certificate(&solution, text, sizeof text);
        assert_non_null(strstr(text, "not solved"));
    }
}

static void solve_and_ask(mfpg_context *ctx, const mfpg_game *game, const char *part, int expected) {
    mfpg_equilibrium q;
    CHECK_OK(ctx, mfpg_game_solve(ctx, game, &q));
    mfpg_solution solution = {.game = game, .equilibrium = &q};
    if (warns_of(&solution, part) != expected)
        fail_msg(
            "cost %s, %td clients: '%s' %s", game->cost, game->clients, part, expected ? "missing" : "said");
    mfpg_equilibrium_clear(&q);
}

static void test_warnings_come_where_a_game_decides_nothing(void **state) {
    mfpg_context *ctx = testing_context(1);
    const double preference[] = {0.5, 1, 1.5};
    mfpg_game game = game_of("gaussian", MFPG_PLAYERS_FINITE, 3, preference);
    (void)state;
    solve_and_ask(ctx, &game, "free riding", 0);
    game.personalisation = 0;
    solve_and_ask(ctx, &game, "pure public good", 1);
    game.clients = 1; /* feels all of its noise */
    solve_and_ask(ctx, &game, "free riding", 0);
    game = game_of("gaussian", MFPG_PLAYERS_MEAN_FIELD, 3, preference);
    game.personalisation = 0;
    game.actions = (mfpg_action_set){.grid = GRID, .count = 5};
    solve_and_ask(ctx, &game, "free riding", 1);
    solve_and_ask(ctx, &game, "most private action", 0); /* said already */
    game = game_of("entropic", MFPG_PLAYERS_FINITE, 3, preference);
    solve_and_ask(ctx, &game, "free riding", 0);
    game.own_cost_all = 1e-6;
    solve_and_ask(ctx, &game, "own cost is so near 0", 1);
    game.players = MFPG_PLAYERS_MEAN_FIELD;
    game.actions = (mfpg_action_set){.low = 0.1, .high = 2};
    solve_and_ask(ctx, &game, "most private action", 1);
    game.own_cost_all = 1;
    solve_and_ask(ctx, &game, "most private action", 0);
    game = game_of("paper", MFPG_PLAYERS_MEAN_FIELD, 3, preference);
    game.actions = (mfpg_action_set){.grid = GRID, .count = 5};
    solve_and_ask(ctx, &game, "both of its terms", 1);
    solve_and_ask(ctx, &game, "most private action", 0);
    mfpg_context_destroy(ctx);
}

/* ---- the file ---- */

static const char *name_of(const void *user, ptrdiff_t client) {
    (void)user;
    return client == 0 ? "north, upper" : "south";
}

static void test_file_has_a_row_a_client(void **state) {
    mfpg_context *ctx = testing_context(1);
    const double preference[] = {0.25, 4};
    mfpg_game game = game_of("interaction", MFPG_PLAYERS_FINITE, 2, preference);
    mfpg_equilibrium q;
    char path[] = "/tmp/mfpg-solution-XXXXXX", text[512] = "";
    int descriptor = mkstemp(path);
    (void)state;
    assert_true(descriptor >= 0);
    CHECK_OK(ctx, mfpg_game_solve(ctx, &game, &q)); /* no interaction: sqrt(beta) */
    mfpg_solution solution = {.game = &game, .equilibrium = &q, .name = name_of};
    CHECK_OK(ctx, mfpg_solution_write(ctx, &solution, path));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "client,name,preference,action,upper_action,upper_weight,social_action,price\n"
                              "0,\"north, upper\",0.25,0.5,,,,\n1,south,4,2,,,,\n");
    assert_int_equal(mfpg_solution_write(ctx, &solution, "/dev/null/x.csv"), MFPG_ERR_IO);
    close(descriptor);
    remove(path);
    mfpg_equilibrium_clear(&q);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_those_that_mix_are_split_by_their_weight),
        cmocka_unit_test(test_what_cannot_be_judged_is_not_known),
        cmocka_unit_test(test_quantiles_are_those_of_the_sorted_numbers),
        cmocka_unit_test(test_certificate_never_says_less_than_the_gain),
        cmocka_unit_test(test_warnings_come_where_a_game_decides_nothing),
        cmocka_unit_test(test_file_has_a_row_a_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
