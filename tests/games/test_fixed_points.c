/* All fixed points of the interaction game: against every flat part and jump of the step function, a dense scan, monotone
 * iteration from both ends, and populations too large to be sorted. */
#include "games_testing.h"

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Every s at which some client is indifferent between neighbours, sorted, between two ends beyond all of them. */
static ptrdiff_t breakpoints(const mfpg_game *g, double *out) {
    ptrdiff_t count = 0;
    out[count++] = -1e9;
    for (ptrdiff_t k = 0; k < g->clients; k++)
        for (ptrdiff_t j = 0; j + 1 < g->actions.count; j++)
            out[count++] =
                (ratio_of(g, k) / (g->actions.grid[j] * g->actions.grid[j + 1]) - 1) / g->interaction;
    out[count++] = 1e9;
    qsort(out, (size_t)count, sizeof *out, ascending);
    return count;
}

/* The definition: a flat part that contains its own value, or a jump that passes s. */
static ptrdiff_t fixed_points_by_definition(const mfpg_game *g, mfpg_fixed_point *out) {
    static double at[MOST * 16 + 2];
    ptrdiff_t count = breakpoints(g, at), found = 0;
    for (ptrdiff_t i = 0; i + 1 < count; i++) {
        double here = averaged_response(g, at[i] / 2 + at[i + 1] / 2, 0);
        if (here >= at[i] && here <= at[i + 1]) out[found++] = (mfpg_fixed_point){here, 0};
        if (i + 2 == count) break;
        double next = averaged_response(g, at[i + 1] / 2 + at[i + 2] / 2, 0);
        if (fmin(here, next) < at[i + 1] && at[i + 1] < fmax(here, next))
            out[found++] = (mfpg_fixed_point){at[i + 1], 1};
    }
    return found;
}

static void draw_complements(uint64_t *seed, int interval, random_game *r) {
    draw_game(seed, "interaction", MFPG_PLAYERS_MEAN_FIELD, interval, r);
    double low = interval ? r->game.actions.low : r->grid[0];
    r->game.interaction = -between(seed, 0.05, 0.95) / low; /* the border of validity is -1/low */
}

static void test_grids_list_every_flat_part_and_jump(void **state) {
    uint64_t seed = testing_seed();
    ptrdiff_t most = 0, mixed = 0;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(600); repeat++) {
        random_game r;
        mfpg_fixed_point expected[MOST * 32];
        if (repeat % 4)
            draw_complements(&seed, 0, &r);
        else
            draw_game(&seed, "interaction", MFPG_PLAYERS_MEAN_FIELD, 0, &r);
        ptrdiff_t count = fixed_points_by_definition(&r.game, expected);
        mfpg_equilibrium e = solved(ctx, &r.game);
        assert_int_equal(e.fixed_point_count, count);
        for (ptrdiff_t i = 0; i < count; i++) {
            check_near(e.fixed_point[i].mean, expected[i].mean, 1e-13, 0, "fixed point");
            assert_int_equal(e.fixed_point[i].mixes, expected[i].mixes);
            mixed += expected[i].mixes;
        }
        assert_int_equal(e.unique, count == 1);
        assert_string_equal(e.selection, count == 1 ? "the only one" : "smallest mean");
        assert_true(!e.fixed_point_more);
        check_near(e.mean_action, e.fixed_point[0].mean, 1e-13, 0, "the smallest is played");
        if (r.game.interaction > 0) assert_int_equal(count, 1);
        most = count > most ? count : most;
        mfpg_equilibrium_clear(&e);
    }
    assert_true(most >= 3 && mixed > 0);
}

/* A scan sees every change of sign of the excess; what it cannot see are pairs between two of its points. */
static void test_intervals_list_every_change_of_sign(void **state) {
    enum { POINTS = 4000 };
    uint64_t seed = testing_seed();
    int several = 0;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int repeat = 0; repeat < testing_repeats(120); repeat++) {
        random_game r;
        draw_complements(&seed, 1, &r);
        mfpg_equilibrium e = solved(ctx, &r.game);
        double low = r.game.actions.low * 0.999, high = r.game.actions.high * 1.001, before = 1, left = low;
        ptrdiff_t listed = 0;
        for (int i = 1; i <= POINTS; i++) {
            double s = low + (high - low) * i / POINTS, now = averaged_response(&r.game, s, 0) - s;
            ptrdiff_t here = 0;
            for (ptrdiff_t j = 0; j < e.fixed_point_count; j++)
                here += e.fixed_point[j].mean > left && e.fixed_point[j].mean <= s;
            assert_int_equal(here % 2, (now > 0) != (before > 0));
            listed += here;
            before = now;
            left = s;
        }
        assert_int_equal(listed, e.fixed_point_count);
        for (ptrdiff_t j = 0; j < e.fixed_point_count; j++) {
            double s = e.fixed_point[j].mean;
            /* the excess is a few roundings of s over the distance to where the price vanishes */
            check_near(averaged_response(&r.game, s, 0), s, 1e-11, 0, "listed");
            if (j > 0) assert_true(s > e.fixed_point[j - 1].mean);
        }
        several += e.fixed_point_count > 1;
        mfpg_equilibrium_clear(&e);
    }
    assert_true(several > 0);
}

/* s^2 (1 - .2 s) = R: both roots of the cubic below its top at 10/3 and beyond. */
static void test_without_bounds_both_roots_are_listed(void **state) {
    double one = 1;
    mfpg_game g = mfpg_game_default();
    (void)state;
    g.cost = "interaction";
    g.clients = 1;
    g.preference = &one;
    g.own_cost_all = 1;
    g.privacy_scale_all = 3.6;
    g.interaction = -0.2;
    mfpg_equilibrium e = solved(ctx, &g);
    assert_int_equal(e.fixed_point_count, 2);
    for (int i = 0; i < 2; i++) {
        double s = e.fixed_point[i].mean;
        check_near(s * s * (1 - 0.2 * s), 3.6, 1e-12, 0, "cubic");
    }
    assert_true(e.fixed_point[0].mean < 10.0 / 3 && e.fixed_point[1].mean > 10.0 / 3);
    mfpg_equilibrium_clear(&e);
}

enum { CROWD = 40000, EQUALS = 1200000 };

/* Two actions 1 and 2; client j passes half-way between the means with j and with j + 1 at 2. So each of these means is a
 * pure fixed point, and each passing a mixed one: 2 n + 1. */
static void make_ladder(ptrdiff_t clients, double *preference, mfpg_game *g) {
    static const double actions[2] = {1, 2};
    *g = mfpg_game_default();
    g->cost = "interaction";
    g->clients = clients;
    g->preference = preference;
    g->privacy_scale_all = g->own_cost_all = 1;
    g->interaction = -0.4;
    g->actions = grid_of(actions, 2);
    for (ptrdiff_t j = 0; j < clients; j++)
        preference[j] = 2 * (1 - 0.4 * (1 + ((double)j + 0.5) / (double)clients));
}

static void test_a_ladder_is_listed_up_to_the_cap(void **state) {
    static double preference[CROWD];
    const ptrdiff_t sizes[] = {300, 1000, CROWD};
    (void)state;
    for (int i = 0; i < 3; i++) {
        mfpg_game g;
        make_ladder(sizes[i], preference, &g);
        mfpg_equilibrium e = solved(ctx, &g);
        ptrdiff_t all = 2 * sizes[i] + 1;
        assert_int_equal(e.fixed_point_count, all < MFPG_FIXED_POINTS_MOST ? all : MFPG_FIXED_POINTS_MOST);
        assert_int_equal(e.fixed_point_more, all > MFPG_FIXED_POINTS_MOST);
        for (ptrdiff_t j = 0; j < e.fixed_point_count; j++) {
            check_near(e.fixed_point[j].mean, 1 + (double)j / 2 / (double)sizes[i], 1e-14, 0, "rung");
            assert_int_equal(e.fixed_point[j].mixes, j % 2);
        }
        assert_true(e.mean_action == 1 && e.unique == 0 && e.exploitability_max == 0.0);
        mfpg_equilibrium_clear(&e);
    }
}

typedef struct crowd {
    mfpg_game game;
    double *preference;
} crowd;

static void make_crowd(uint64_t *seed, double slope, int grid, crowd *c) {
    c->preference = malloc(CROWD * sizeof *c->preference);
    assert_non_null(c->preference);
    for (ptrdiff_t k = 0; k < CROWD; k++) c->preference[k] = between(seed, 0.02, 2);
    c->game = mfpg_game_default();
    c->game.cost = "interaction";
    c->game.clients = CROWD;
    c->game.preference = c->preference;
    c->game.privacy_scale_all = c->game.own_cost_all = 1;
    c->game.interaction = slope;
    c->game.actions = grid ? grid_of(PAPER_GRID, 5) : interval_of(0.3, 1.5);
}

/* averaged_response reads arrays. */
static double crowd_response(const crowd *c, double s, int upper) {
    static double ones[CROWD];
    mfpg_game g = c->game;
    fill(1, CROWD, ones);
    g.privacy_scale = g.own_cost = ones;
    return averaged_response(&g, s, upper);
}

/* 160,000 breakpoints are more than are sorted at once. */
static void test_large_populations_meet_the_definition(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int grid = 0; grid <= 1; grid++) {
        crowd c;
        make_crowd(&seed, 2.5, grid, &c);
        mfpg_equilibrium e = solved(ctx, &c.game);
        double s = e.fixed_point[0].mean, nudge = 1e-10 * s;
        assert_true(crowd_response(&c, s - nudge, 1) >= s * (1 - 1e-12));
        assert_true(crowd_response(&c, s + nudge, 0) <= s * (1 + 1e-12));
        assert_true(e.consistency_gap < 1e-14 && e.exploitability_max < 1e-14);
        if (e.mixing_count == 0 && grid) assert_true(e.exploitability_max == 0.0);
        mfpg_equilibrium_clear(&e);
        free(c.preference);
    }
}

/* Complements: the smallest fixed point is where iteration from below stops, the largest where it stops from above. */
static void test_large_complements_end_where_iteration_does(void **state) {
    uint64_t seed = testing_seed();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int grid = 0; grid <= 1; grid++) {
        crowd c;
        make_crowd(&seed, -0.45, grid, &c);
        mfpg_equilibrium e = solved(ctx, &c.game);
        const double starts[] = {0.1, 2};
        for (int end = 0; end < 2; end++) {
            double s = starts[end];
            for (int i = 0; i < 60; i++) {
                double next = crowd_response(&c, s, 0);
                if (next == s) break;
                s = next;
            }
            ptrdiff_t which = end ? e.fixed_point_count - 1 : 0;
            check_near(e.fixed_point[which].mean, s, 1e-9, 0, end ? "largest" : "smallest");
        }
        mfpg_equilibrium_clear(&e);
        free(c.preference);
    }
}

/* Equal clients tie all at once: T206 of theory_vectors.csv says s* = 1/3, weight 1/6, for any number of them. From 2^20 on
 * a sixth of them play 0.5 and the rest 0.3. */
static void test_equal_clients_tie_in_any_number(void **state) {
    const ptrdiff_t sizes[] = {4, CROWD, EQUALS};
    double *ones = malloc(EQUALS * sizeof *ones);
    (void)state;
    assert_non_null(ones);
    fill(1, EQUALS, ones);
    for (int i = 0; i < 3; i++) {
        mfpg_game g = mfpg_game_default();
        g.cost = "interaction";
        g.clients = sizes[i];
        g.preference = ones;
        g.privacy_scale_all = 0.2;
        g.own_cost_all = g.interaction = 1;
        g.actions = grid_of(PAPER_GRID, 5);
        mfpg_equilibrium e = solved(ctx, &g);
        check_near(e.fixed_point[0].mean, 1.0 / 3, 1e-14, 0, "T206 S3.4");
        check_near(e.mean_action, 1.0 / 3, 1e-14, 0, "T206 S3.4");
        assert_true(e.fixed_point[0].mixes && e.exploitability_max < 1e-14);
        if (sizes[i] < EQUALS) {
            assert_int_equal(e.mixing_count, sizes[i]);
            check_near(e.mixing[sizes[i] - 1].weight, 1.0 / 6, 1e-12, 0, "weight");
        } else {
            ptrdiff_t upper = 0;
            for (ptrdiff_t k = 0; k < EQUALS; k++) upper += e.action[k] == 0.5;
            assert_true(e.mixing_count <= 1 && labs((long)upper - EQUALS / 6) <= 1);
            assert_true(e.action[0] == 0.5 && e.action[EQUALS - 1] == 0.3);
        }
        mfpg_equilibrium_clear(&e);
    }
    free(ones);
}

static void test_threads_do_not_move_a_bit(void **state) {
    uint64_t seed = testing_seed();
    mfpg_context *four = testing_context(4);
    (void)state;
    for (int which = 0; which < 4; which++) {
        crowd c;
        make_crowd(&seed, which / 2 ? -0.45 : 2.5, which % 2, &c);
        mfpg_equilibrium a = solved(ctx, &c.game), b = solved(four, &c.game);
        assert_memory_equal(a.action, b.action, CROWD * sizeof *a.action);
        assert_int_equal(a.fixed_point_count, b.fixed_point_count);
        for (ptrdiff_t i = 0; i < a.fixed_point_count; i++)
            assert_true(a.fixed_point[i].mean == b.fixed_point[i].mean);
        mfpg_equilibrium_clear(&a);
        mfpg_equilibrium_clear(&b);
        free(c.preference);
    }
    mfpg_context_destroy(four);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grids_list_every_flat_part_and_jump),
        cmocka_unit_test(test_intervals_list_every_change_of_sign),
        cmocka_unit_test(test_without_bounds_both_roots_are_listed),
        cmocka_unit_test(test_a_ladder_is_listed_up_to_the_cap),
        cmocka_unit_test(test_large_populations_meet_the_definition),
        cmocka_unit_test(test_large_complements_end_where_iteration_does),
        cmocka_unit_test(test_equal_clients_tie_in_any_number),
        cmocka_unit_test(test_threads_do_not_move_a_bit),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
