/* Comparing a ratio with the steps of a grid gives the bits of the comparison of all costs: at random, at ties, a few
 * roundings beside them, and where numbers leave their range. */
#include "games_testing.h"

#include "games/best_response.h"

enum { MANY = 4000 };

/* A game with room for many clients. */
typedef struct crowd {
    mfpg_game game;
    double preference[MANY], scale[MANY], own[MANY], grid[128];
} crowd;

static void make_crowd(const char *cost, ptrdiff_t actions, crowd *c) {
    c->game = mfpg_game_default();
    c->game.cost = cost;
    c->game.clients = MANY;
    c->game.preference = c->preference;
    c->game.privacy_scale = c->scale;
    c->game.own_cost = c->game.noise_unit = c->own;
    c->game.interaction = 0.7;
    c->game.privacy_power = (double)(1 + actions % 2);
    c->game.actions = grid_of(c->grid, actions);
}

/* The reference: one client after the other, all costs compared. */
static void check_against_enumeration(const crowd *c) {
    static double found[MANY];
    mfpg_play play;
    CHECK_OK(ctx, mfpg_play_prepare(ctx, &c->game, 1, &play));
    int tied = mfpg_respond(&play, 0.4, found), tied_by_enumeration = 0;
    for (ptrdiff_t k = 0; k < MANY; k++) {
        mfpg_response expected = mfpg_best_response(&play, k, 0.4, 0);
        tied_by_enumeration |= expected.tied;
        if (found[k] != expected.action) {
            print_error("%s, client %td: %.17g by steps, %.17g by enumeration\n", c->game.cost, k, found[k],
                expected.action);
            fail();
        }
    }
    assert_int_equal(tied, tied_by_enumeration);
    mfpg_play_release(&play);
}

static double nudged(double x, ptrdiff_t roundings) {
    for (; roundings > 0; roundings--) x = nextafter(x, INFINITY);
    for (; roundings < 0; roundings++) x = nextafter(x, 0.0);
    return x;
}

/* Preferences at which client k ties between two neighbours, moved by up to eight roundings. Strengths tie where
 * beta B/u = e_i e_{i+1}, budgets where u/beta = (P_{i+1} - P_i)/(S_i - S_{i+1}). */
static void aim_at_ties(uint64_t *seed, crowd *c) {
    int gaussian = !strcmp(c->game.cost, "gaussian");
    for (ptrdiff_t k = 0; k < MANY; k++) {
        ptrdiff_t i = below(seed, c->game.actions.count - 1);
        double a = c->grid[i], b = c->grid[i + 1], power = c->game.privacy_power;
        double u = c->own[k] * (strcmp(c->game.cost, "interaction") ? 1.0 : 1.0 + c->game.interaction * 0.4);
        double tie = a * b * u / c->scale[k];
        if (gaussian) {
            double reach = c->game.personalisation * c->own[k];
            double noise = c->game.curvature * c->game.dimension / 2 * reach * reach;
            tie = noise * (1 / (a * a) - 1 / (b * b)) * power / (pow(b, power) - pow(a, power));
        }
        c->preference[k] = nudged(tie, below(seed, 17) - 8);
    }
}

static void test_steps_and_enumeration_agree_to_the_bit(void **state) {
    static crowd c;
    const char *costs[] = {"gaussian", "entropic", "interaction", "measured"};
    const ptrdiff_t sizes[] = {1, 2, 3, 5, 41, 42, 100}; /* both sides of where a search takes over */
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < 4; i++) {
        for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++) {
            for (int fine = 0; fine <= 1; fine++) {
                make_crowd(costs[i], sizes[j], &c);
                c.grid[0] = between(&seed, 0.01, 1);
                for (ptrdiff_t a = 1; a < sizes[j]; a++)
                    c.grid[a] =
                        c.grid[a - 1] * (fine ? 1 + 1e-9 * (1 + uniform(&seed)) : between(&seed, 1.01, 1.3));
                for (ptrdiff_t k = 0; k < MANY; k++) {
                    c.preference[k] = between(&seed, 1e-3, 1e3);
                    c.scale[k] = between(&seed, 0.1, 10);
                    c.own[k] = between(&seed, 0.1, 10);
                }
                check_against_enumeration(&c);
                if (sizes[j] == 1) continue;
                aim_at_ties(&seed, &c);
                check_against_enumeration(&c);
            }
        }
    }
}

/* e + 2/e is 3 at 1 and at 2, exactly: the choice and the report are those of the comparison. */
static void test_an_exact_tie_is_reported(void **state) {
    static crowd c;
    mfpg_play play;
    static double found[MANY];
    (void)state;
    make_crowd("entropic", 2, &c);
    c.grid[0] = 1, c.grid[1] = 2; /* costs u + v and 2 u + v/2 are exact */
    fill(1, MANY, c.own);
    fill(1, MANY, c.scale);
    fill(1, MANY, c.preference);
    CHECK_OK(ctx, mfpg_play_prepare(ctx, &c.game, 1, &play));
    assert_non_null(play.thresholds);
    assert_int_equal(mfpg_respond(&play, 0, found), 0);
    mfpg_play_release(&play);
    c.preference[MANY - 1] = 2; /* e + 2/e is 3 at 1 and at 2 */
    CHECK_OK(ctx, mfpg_play_prepare(ctx, &c.game, 1, &play));
    assert_int_equal(mfpg_respond(&play, 0, found), 1);
    assert_true(found[MANY - 1] == 2 && found[0] == 1); /* the more private one */
    mfpg_play_release(&play);
    check_against_enumeration(&c);
}

static void test_extreme_scales_are_left_to_enumeration(void **state) {
    static crowd c;
    const double wild[] = {1e-320, 1e-200, 1, 1e200, 1e307};
    uint64_t seed = testing_seed();
    (void)state;
    make_crowd("entropic", 5, &c);
    memcpy(c.grid, PAPER_GRID, sizeof PAPER_GRID);
    for (ptrdiff_t k = 0; k < MANY; k++) {
        c.preference[k] = wild[below(&seed, 5)];
        c.scale[k] = 1;
        c.own[k] = wild[below(&seed, 5)];
    }
    check_against_enumeration(&c);
}

/* No step is usable where shapes are not convex against one another, or leave the range of the argument. */
static void test_steps_are_given_up_where_they_prove_nothing(void **state) {
    const double grid[] = {1, 2, 3}, falling[] = {3, 2, 1}, rising[] = {1, 2, 3}, crossing[] = {9, 8.9, 1};
    const double tiny[] = {1e-100, 1e-99, 1e-98}, equal[] = {1, 1 + 0x1p-52, 1 + 0x1p-51};
    mfpg_thresholds *s = NULL;
    (void)state;
    CHECK_OK(ctx, mfpg_thresholds_create(ctx, MFPG_CONTROL_STRENGTH, 3, grid, rising, falling, &s));
    assert_null(s); /* both steps at r = 1: their bands touch */
    CHECK_OK(ctx, mfpg_thresholds_create(ctx, MFPG_CONTROL_STRENGTH, 3, grid, rising, crossing, &s));
    assert_null(s); /* the second step comes before the first */
    CHECK_OK(ctx, mfpg_thresholds_create(ctx, MFPG_CONTROL_STRENGTH, 3, grid, falling, falling, &s));
    assert_null(s); /* the paper's directions */
    CHECK_OK(ctx, mfpg_thresholds_create(ctx, MFPG_CONTROL_STRENGTH, 3, grid, tiny, falling, &s));
    assert_null(s); /* below 2^-300 */
    CHECK_OK(ctx, mfpg_thresholds_create(ctx, MFPG_CONTROL_STRENGTH, 3, grid, equal, falling, &s));
    assert_null(s); /* costs that rounding hides */
    const double hollow[] = {3, 1, 0.5};
    CHECK_OK(ctx, mfpg_thresholds_create(ctx, MFPG_CONTROL_STRENGTH, 3, grid, rising, hollow, &s));
    assert_non_null(s);
    mfpg_thresholds_destroy(s);
    mfpg_thresholds_destroy(NULL);
}

/* The ends of a band belong to it, and the numbers next to them do not, with few steps (all are compared) and with many (a
 * search). Ratios are exact, because one scale is 1. */
static void check_bands(mfpg_control control, ptrdiff_t actions) {
    enum { RATIOS = 8 };
    double grid[64], rising[64], falling[64], ones[RATIOS], ratio[RATIOS], found[RATIOS];
    int strength = control == MFPG_CONTROL_STRENGTH;
    mfpg_thresholds *s = NULL;
    for (ptrdiff_t a = 0; a < actions; a++) {
        rising[a] = grid[a] = pow(1.1, (double)a);
        falling[a] = 1.0 / grid[a];
    }
    fill(1.0, RATIOS, ones);
    CHECK_OK(ctx, mfpg_thresholds_create(ctx, control, actions, grid, strength ? rising : falling,
                      strength ? falling : rising, &s));
    assert_true(s && s->count == actions - 1);
    for (ptrdiff_t i = 0; i < s->count; i++) {
        double low = s->step[i].below, high = s->step[i].above,
               answer[RATIOS] = {grid[i], NAN, NAN, NAN, grid[i + 1], grid[i], grid[i + 1], NAN};
        const double at[RATIOS] = {nudged(low, -1), low, (low + high) / 2, high, nudged(high, 1),
            i > 0 ? nudged(s->step[i - 1].above, 1) : low / 2, high * 1.001, nudged(low, 1)};
        memcpy(ratio, at, sizeof ratio);
        assert_true(mfpg_thresholds_choose(
            s, RATIOS, strength ? ones : ratio, strength ? ratio : ones, found, NULL, NULL));
        for (int j = 0; j < RATIOS; j++)
            assert_true(found[j] == answer[j] || (isnan(found[j]) && isnan(answer[j])));
    }
    mfpg_thresholds_destroy(s);
}

static void test_a_band_holds_its_ends(void **state) {
    (void)state;
    for (int control = MFPG_CONTROL_BUDGET; control <= MFPG_CONTROL_STRENGTH; control++) {
        check_bands((mfpg_control)control, 2);
        check_bands((mfpg_control)control, 40);
        check_bands((mfpg_control)control, 64);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_and_enumeration_agree_to_the_bit),
        cmocka_unit_test(test_an_exact_tie_is_reported),
        cmocka_unit_test(test_extreme_scales_are_left_to_enumeration),
        cmocka_unit_test(test_steps_are_given_up_where_they_prove_nothing),
        cmocka_unit_test(test_a_band_holds_its_ends),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
