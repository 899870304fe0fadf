/* Games by options as calls: closed forms, numbers that are borrowed, what does not go together, and the k-th allocation failing.
 * What the games are worth is tested where they are solved, and by the command line. */
#include "fixture.h"

#include <math.h>

#include "failing_memory.h"
#include "mfpg/game_from_options.h"

static mfpg_game_options of_cost(const char *cost) {
    mfpg_solve_request none = {0};
    mfpg_options_begin(mfpg_solve_options(), &none);
    none.game.cost = cost;
    return none.game;
}

/* The mean field of cost entropic plays e = sqrt(beta B/c), c = (h d/2) omega^2 2 tau (theory S3.3): with h 2, d 3, omega 1/2,
 * tau 0.1 and B 1, c is 0.15. */
static void test_a_posed_game_is_solved_in_closed_form(void **state) {
    (void)state;
    mfpg_game_options options = of_cost("entropic");
    mfpg_posed_game posed;
    mfpg_equilibrium q;
    options.curvature = 2;
    options.dimension = 3;
    options.beta.text = "0.5,0.8";
    options.actions.text = "continuous";
    CHECK_OK(ctx, mfpg_game_pose(ctx, &options, &posed));
    assert_true(posed.game.clients == 2 && !posed.named_population);
    CHECK_OK(ctx, mfpg_game_solve(ctx, &posed.game, &q));
    check_near(q.action[0], sqrt(0.5 / 0.15), 1e-9, 0, "beta 0.5");
    check_near(q.action[1], sqrt(0.8 / 0.15), 1e-9, 0, "beta 0.8");
    mfpg_equilibrium_clear(&q);
    mfpg_posed_game_clear(&posed);
}

/* The same game by texts and by numbers, of which no copy is made. */
static void test_numbers_are_borrowed(void **state) {
    (void)state;
    const double beta[] = {0.5, 0.25, 2}, weights[] = {0.5, 0.25, 0.25}, actions[] = {0.1, 1, 4};
    mfpg_game_options typed = of_cost("gaussian"), given = of_cost("gaussian");
    mfpg_posed_game a, b;
    typed.players = given.players = 0;
    typed.beta.text = "0.5,0.25,2";
    typed.weights.text = "0.5,0.25,0.25";
    typed.actions.text = "0.1,1,4";
    given.beta = (mfpg_numbers){.value = beta, .count = 3};
    given.weights = (mfpg_numbers){.value = weights, .count = 3};
    given.actions = (mfpg_numbers){.value = actions, .count = 3};
    CHECK_OK(ctx, mfpg_game_pose(ctx, &typed, &a));
    CHECK_OK(ctx, mfpg_game_pose(ctx, &given, &b));
    assert_true(b.game.preference == beta && b.game.weight == weights && b.game.actions.grid == actions);
    for (int k = 0; k < 3; k++)
        assert_true(a.game.preference[k] == beta[k] && a.game.weight[k] == weights[k] &&
                    a.game.actions.grid[k] == actions[k]);
    mfpg_posed_game_clear(&a);
    mfpg_posed_game_clear(&b);
    mfpg_posed_game_clear(NULL);
}

static void test_defaults_are_those_of_the_help(void **state) {
    (void)state;
    const struct {
        const char *cost;
        int players;
        double own_cost, personalisation;
    } rows[] = {{"interaction", -1, 1, 0.5}, {"gaussian", 0, 1, 0}, {"gaussian", 1, 1, 0.5},
        {"entropic", 1, 0.5 * 0.25 * 2 * 0.1, 0.5}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mfpg_game_options options = of_cost(rows[i].cost);
        mfpg_posed_game posed;
        options.players = rows[i].players;
        options.population = rows[i].players == 0 ? 7 : (double)NAN;
        CHECK_OK(ctx, mfpg_game_pose(ctx, &options, &posed));
        assert_true(posed.game.clients == (rows[i].players == 0 ? 7 : 1000)); /* the law's stand-ins */
        check_near(posed.game.own_cost_all, rows[i].own_cost, 1e-15, 0, "own cost");
        assert_true(posed.game.personalisation == rows[i].personalisation);
        assert_true(posed.game.noise_unit_all == 0.02 && posed.game.actions.count == 5);
        mfpg_posed_game_clear(&posed);
    }
}

static void test_what_does_not_go_together_is_refused(void **state) {
    (void)state;
    const double falling[] = {1, 0.5}, none[] = {1, (double)NAN};
    mfpg_game_options wrong[14];
    const char *parts[14];
    int count = 0;
#define WRONG(cost, part, ...)                                                                               \
    do {                                                                                                     \
        mfpg_game_options o = of_cost(cost);                                                                 \
        __VA_ARGS__;                                                                                         \
        wrong[count] = o;                                                                                    \
        parts[count++] = part;                                                                               \
    } while (0)
    WRONG(NULL, "--cost: missing", (void)o);
    WRONG("entropc", "did you mean \"entropic\"", (void)o);
    WRONG("gaussian", "--price and --no-optimum", o.price = o.no_optimum = 1);
    WRONG("entropic", "--own-cost and --personalisation", o.own_cost = o.personalisation = 0.5);
    WRONG("measured-budget", "--loss-table: missing", (void)o);
    WRONG("measured", "--loss and --loss-table", (o.loss = 1, o.loss_table = "t.csv"));
    WRONG("gaussian", "--beta and --beta-file", (o.beta.text = "1", o.beta_file = "b.csv"));
    WRONG("gaussian", "--column belongs", o.column = "b");
    WRONG("gaussian", "--population: missing", o.players = 0);
    WRONG("gaussian", "ascending order", o.actions = ((mfpg_numbers){.value = falling, .count = 2}));
    WRONG("gaussian", "number 2 is nan", o.actions = ((mfpg_numbers){.value = none, .count = 2}));
    WRONG("gaussian", "number 2 of '1,x'", o.actions.text = "1,x");
    WRONG("gaussian", "--beta: 2 numbers for 3 clients",
        (o.beta = (mfpg_numbers){.value = falling, .count = 2}, o.population = 3));
    WRONG("gaussian", "--weights: 2 numbers for 3 clients", (o.population = 3, o.weights.text = "0.5,0.5"));
    for (int i = 0; i < count; i++) {
        mfpg_posed_game posed = {.named_population = 7};
        assert_int_equal(mfpg_game_pose(ctx, &wrong[i], &posed), MFPG_ERR_INPUT);
        check_message((const char *const[]){parts[i], NULL});
        assert_int_equal(posed.named_population, 7);
    }
}

static mfpg_status pose(void *arg) {
    mfpg_posed_game posed;
    mfpg_status status = mfpg_game_pose(ctx, arg, &posed);
    if (status == MFPG_OK) mfpg_posed_game_clear(&posed);
    return status;
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    mfpg_game_options options = of_cost("gaussian");
    options.players = 0;
    options.beta.text = "0.5,1";
    options.weights.text = "0.5,0.5";
    assert_true(sweep_allocations(pose, &options) >= 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_posed_game_is_solved_in_closed_form),
        cmocka_unit_test(test_numbers_are_borrowed), cmocka_unit_test(test_defaults_are_those_of_the_help),
        cmocka_unit_test(test_what_does_not_go_together_is_refused),
        cmocka_unit_test(test_every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
