/* The equilibrium figure: reference numbers, the game solvers as the second route, and verdicts that can turn. */
#include "testing.h"

#include "reproduction/studies.h"

enum { READINGS = 7, CLIENTS = 20 };

static mfpg_figure_options few_draws(void) {
    mfpg_figure_options options = mfpg_figure_options_default();
    options.draws = 100;
    options.settings = 2000;
    return options;
}

static const mfpg_panels *panels_of(const mfpg_figure *figure, const char *name) {
    for (ptrdiff_t i = 0; i < figure->reading_count; i++)
        if (strcmp(figure->panels[i].reading.name, name) == 0) return &figure->panels[i];
    fail_msg("no reading %s", name);
    return NULL;
}

static const mfpg_reading *reading_of(const char *name) {
    for (ptrdiff_t i = 0; mfpg_reading_get(i); i++)
        if (strcmp(mfpg_reading_get(i)->name, name) == 0) return mfpg_reading_get(i);
    fail_msg("no reading %s", name);
    return NULL;
}

static ptrdiff_t statement_of(const char *name) {
    for (ptrdiff_t i = 0; mfpg_statement_get(i); i++)
        if (strcmp(mfpg_statement_get(i)->name, name) == 0) return i;
    fail_msg("no statement %s", name);
    return -1;
}

static mfpg_verdict verdict_of(const mfpg_panels *panels, const char *statement) {
    return panels->finding[statement_of(statement)].verdict;
}

/* ---- reference numbers ---- */

/* source: reproduction 3 and S3.4; the sweep has beta 0.1, 1 and 10 at its ends and in its middle */
static void test_readings_meet_the_references(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(2);
    mfpg_figure_options options = few_draws();
    mfpg_figure figure;
    CHECK_OK(ctx, mfpg_study_figure(ctx, NULL, 0, &options, &figure));
    assert_int_equal(figure.reading_count, READINGS);
    check_near(figure.beta[12], 1, 1e-14, 0, "middle of the sweep");

    const mfpg_panels *budget = panels_of(&figure, "budget");
    const double budget_means[3] = {1.0, 0.5, 0.1};
    for (int i = 0; i < 3; i++)
        check_near(budget->sweep[MFPG_SWEEP_MEAN][12 * i], budget_means[i], 1e-15, 0, "budget");
    assert_true(budget->count[1] == 4 && budget->count[2] == 16);
    check_near(budget->spread_mean, 0.46, 1e-14, 0, "budget, mean");

    /* One draw of G_k stands in the reference, of which means and counts have standard deviations of .018 and 1.9; the
     * draw has 15 and 5 clients, P(G_k < .49) = .238 expects 15.24 and 4.76. */
    const mfpg_panels *envelope = panels_of(&figure, "envelope");
    const double envelope_means[3] = {2.0, 0.5 - 0.2 * 5 / 21, 0.5 - 0.2 * 5 / 21};
    const double envelope_deltas[3] = {0.574, 0.101, 0.101};
    for (int i = 0; i < 3; i++) {
        check_near(envelope->sweep[MFPG_SWEEP_MEAN][12 * i], envelope_means[i], 0,
            4 * envelope->sweep_error[MFPG_SWEEP_MEAN][12 * i], "means");
        check_near(envelope->sweep[MFPG_SWEEP_DELTA][12 * i], envelope_deltas[i], 0,
            5e-4 + 4 * envelope->sweep_error[MFPG_SWEEP_DELTA][12 * i], "delta");
    }
    check_near(envelope->count[1], CLIENTS * 5.0 / 21, 0, 4 * envelope->count_error[1], "clients at 0.3");
    check_near(envelope->count_error[1], sqrt(20 * 5.0 / 21 * 16 / 21 / 100), 0.3, 0, "error of 100 draws");

    const mfpg_panels *literal = panels_of(&figure, "literal");
    for (int i = 0; i < 25; i++) {
        assert_true(literal->sweep[MFPG_SWEEP_MEAN][i] == 2.0);
        check_near(literal->sweep[MFPG_SWEEP_DELTA][i], 0.609570907296, 1e-11, 0, "delta"); /* vectors T049 */
    }
    /* e_i e_{i+1} < beta B/c: of beta_k evenly spaced on [.5, 1.5], those below .75 play .3 */
    const mfpg_panels *consistent = panels_of(&figure, "consistent");
    assert_true(consistent->count[1] == 5 && consistent->count[2] == 15);
    /* four equal clients, B/c = .2, zeta = 1: s* = 1/3, and rounds of best responses alternate for ever */
    const mfpg_panels *coupled = panels_of(&figure, "coupled");
    check_near(coupled->sweep[MFPG_SWEEP_MEAN][12], 1.0 / 3, 1e-12, 0, "coupled");
    assert_true(isinf(coupled->finding[statement_of("ten_iterations")].number));
    mfpg_figure_clear(&figure);
    mfpg_context_destroy(ctx);
}

/* source: theory_vectors T131, T133, T134, T136, T137 */
static void test_the_closed_form_meets_the_references(void **state) {
    (void)state;
    const struct {
        double alpha, rounds, gradient, dimension, clients, beta, m, expected;
    } rows[] = {
        {1, 10, 0.5, 5, 5, 1, 0.1, 3.72887582487},
        {1, 10, 0.5, 5, 5, 1, 0.2, 2.34258146375},
        {1, 10, 0.5, 5, 5, 1, -0.1, 5},
        {2, 20, 1, 20, 8, 1, 0.4, 1.53879163919},
        {1, 15, 0.3, 20, 8, 0.5, 0.3, 1.218385223},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mfpg_reading reading = {.rounds = rows[i].rounds,
            .bound = {.dimension = rows[i].dimension,
                .clients = rows[i].clients,
                .alpha = rows[i].alpha,
                .variance_penalty = 0.01,
                .gradient_norm = rows[i].gradient,
                .step = 0.1}};
        check_near(mfpg_reading_closed_form(&reading, rows[i].beta, rows[i].m, 0.1, 5), rows[i].expected,
            1e-9, 0, "eps*");
    }
    /* and it is where the cost of reading hamiltonian is least */
    mfpg_reading reading = *reading_of("hamiltonian");
    for (double beta = 0.5; beta < 2; beta += 0.25) {
        double best = mfpg_reading_closed_form(&reading, beta, reading.loss, 0.01, 50);
        double least = mfpg_reading_cost(&reading, best, 1, beta, reading.bound.gradient_norm);
        for (double e = 0.01; e < 50; e *= 1.01)
            assert_true(mfpg_reading_cost(&reading, e, 1, beta, reading.bound.gradient_norm) >= least);
    }
}

/* ---- the solvers of the games ---- */

/* The mean of the equilibrium of a game in costs.def that is the reading's own. */
static double solved_mean(
    mfpg_context *ctx, const mfpg_reading *reading, const char *cost, const double *beta) {
    mfpg_game game = mfpg_game_default();
    mfpg_equilibrium solved;
    game.cost = cost;
    game.clients = CLIENTS;
    game.preference = beta;
    game.privacy_scale_all = reading->privacy_scale;
    game.own_cost_all = reading->loss;
    game.actions = (mfpg_action_set){.grid = mfpg_reading_action, .count = MFPG_READING_ACTIONS};
    game.loss = reading->loss;
    game.offset = reading->offset;
    game.gradient_norm = reading->bound.gradient_norm;
    game.dimension = reading->bound.dimension;
    game.rounds = reading->rounds;
    CHECK_OK(ctx, mfpg_game_solve(ctx, &game, &solved));
    double mean = solved.mean_action;
    mfpg_equilibrium_clear(&solved);
    return mean;
}

static void test_readings_that_are_games_agree_with_their_solvers(void **state) {
    (void)state;
    static const struct {
        const char *reading, *cost;
    } pairs[] = {{"literal", "paper"}, {"consistent", "entropic"}};
    mfpg_context *ctx = testing_context(1);
    mfpg_figure_options options = few_draws();
    mfpg_figure figure;
    options.draws = 1;
    options.beta_count = 57; /* other betas than elsewhere */
    CHECK_OK(ctx, mfpg_study_figure(ctx, NULL, 0, &options, &figure));
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const mfpg_reading *reading = reading_of(pairs[i].reading);
        const mfpg_panels *panels = panels_of(&figure, pairs[i].reading);
        double beta[CLIENTS];
        for (ptrdiff_t b = 0; b < figure.beta_count; b++) {
            for (int k = 0; k < CLIENTS; k++) beta[k] = figure.beta[b];
            check_near(panels->sweep[MFPG_SWEEP_MEAN][b], solved_mean(ctx, reading, pairs[i].cost, beta),
                1e-14, 0, pairs[i].reading);
        }
        assert_true(panels->exploitability <= 1e-14);
    }
    mfpg_figure_clear(&figure);
    mfpg_context_destroy(ctx);
}

/* The coupled reading has no enumeration: its mean is a fixed point of the convexified answers, which straddle it. */
static void test_the_coupled_mean_lies_between_the_answers_to_its_sides(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const mfpg_reading *reading = reading_of("coupled");
    mfpg_figure_options options = few_draws();
    mfpg_figure figure;
    CHECK_OK(ctx, mfpg_study_figure(ctx, reading, 1, &options, &figure));
    for (ptrdiff_t b = 0; b < figure.beta_count; b++) {
        double mean = figure.panels[0].sweep[MFPG_SWEEP_MEAN][b], sides[2];
        for (int side = 0; side < 2; side++) {
            double at = mean * (side ? 1 + 1e-9 : 1 - 1e-9), least = INFINITY;
            for (int i = 0; i < MFPG_READING_ACTIONS; i++) {
                double e = mfpg_reading_action[i],
                       cost = mfpg_reading_cost(reading, e, at, figure.beta[b], 1);
                if (cost < least) least = cost, sides[side] = e;
            }
        }
        assert_true(sides[0] >= mean * (1 - 1e-12) && mean * (1 + 1e-12) >= sides[1]);
    }
    mfpg_figure_clear(&figure);
    mfpg_context_destroy(ctx);
}

/* ---- verdicts ---- */

/* Every verdict turns where the reading is changed in one place. */
static void test_verdicts_turn(void **state) {
    (void)state;
    const struct {
        const char *statement, *reading;
        mfpg_verdict before;
        size_t offset; /* of a double of the reading */
        double changed;
    } turns[] = {
#define TURN(statement, reading, before, field, changed)                                                     \
    {statement, reading, MFPG_VERDICT_##before, offsetof(mfpg_reading, field), changed}
        TURN("mean_falls", "budget", HOLDS, loss, 1e4),
        TURN("delta_tightens", "consistent", HOLDS, privacy_scale, 1e4),
        TURN("delta_at_mean_tightens", "hamiltonian", HOLDS, loss, 1e3),
        TURN("privacy_falls", "budget", HOLDS, loss, 1e4),
        TURN("noise_grows", "consistent", HOLDS, loss, 1e4),
        TURN("two_actions", "consistent", HOLDS, privacy_scale, 1.0),
        TURN("two_actions", "coupled", HOLDS, interaction, 20.0),
        TURN("mean_half", "budget", HOLDS, loss, 0.02),
        TURN("mean_half", "coupled", FAILS, interaction, 0.1),
        TURN("ten_iterations", "coupled", FAILS, interaction, 1e-9),
        TURN("pure_equilibrium", "coupled", FAILS, interaction, 0.0),
        TURN("activation", "literal", HOLDS, bound.gradient_norm, 3.0),
        TURN("activation", "consistent", FAILS, bound.gradient_norm, 0.1),
        TURN("every_client", "consistent", FAILS, privacy_scale, 1e4),
        TURN("falls_with_curvature", "consistent", HOLDS, loss, 1e4),
#undef TURN
    };
    mfpg_context *ctx = testing_context(2);
    mfpg_figure_options options = few_draws();
    options.settings = 1;
    for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++) {
        mfpg_reading pair[2] = {*reading_of(turns[i].reading), *reading_of(turns[i].reading)};
        mfpg_figure figure;
        *(double *)((char *)&pair[1] + turns[i].offset) = turns[i].changed;
        CHECK_OK(ctx, mfpg_study_figure(ctx, pair, 2, &options, &figure));
        mfpg_verdict before = verdict_of(&figure.panels[0], turns[i].statement),
                     after = verdict_of(&figure.panels[1], turns[i].statement);
        int turned = before == turns[i].before &&
                     after == (before == MFPG_VERDICT_HOLDS ? MFPG_VERDICT_FAILS : MFPG_VERDICT_HOLDS);
        if (!turned)
            fail_msg("%s of %s: %s, then %s", turns[i].statement, turns[i].reading, mfpg_verdict_name(before),
                mfpg_verdict_name(after));
        mfpg_figure_clear(&figure);
    }
    /* and where its form is */
    mfpg_reading forms[4] = {
        *reading_of("envelope"), *reading_of("envelope"), *reading_of("hamiltonian"), *reading_of("literal")};
    mfpg_figure figure;
    forms[1].bound.envelope = 0;
    forms[3].privacy_form = MFPG_READING_PRIVACY_RECIPROCAL;
    forms[3].privacy_scale = 1;
    CHECK_OK(ctx, mfpg_study_figure(ctx, forms, 4, &options, &figure));
    assert_int_equal(verdict_of(&figure.panels[0], "delta_continuous"), MFPG_VERDICT_FAILS);
    assert_int_equal(verdict_of(&figure.panels[1], "delta_continuous"), MFPG_VERDICT_HOLDS);
    assert_int_equal(verdict_of(&figure.panels[0], "two_actions"), MFPG_VERDICT_HOLDS);
    assert_int_equal(verdict_of(&figure.panels[1], "two_actions"), MFPG_VERDICT_FAILS);
    assert_int_equal(verdict_of(&figure.panels[0], "closed_falls_with_beta"), MFPG_VERDICT_NONE);
    assert_int_equal(verdict_of(&figure.panels[2], "closed_falls_with_beta"), MFPG_VERDICT_FAILS);
    assert_int_equal(verdict_of(&figure.panels[2], "closed_falls_with_curvature"), MFPG_VERDICT_HOLDS);
    assert_int_equal(verdict_of(&figure.panels[2], "large_log_low"), MFPG_VERDICT_FAILS);
    assert_int_equal(verdict_of(&figure.panels[3], "delta_continuous"), MFPG_VERDICT_NONE);
    mfpg_figure_clear(&figure);
    mfpg_context_destroy(ctx);
}

/* Where one draw shows a statement and another does not, neither verdict is given: of two clients both play 0.5 in
 * (16/21)^2 = 58 of 100 draws. */
static void test_draws_that_differ_leave_a_statement_undecided(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(2);
    mfpg_figure_options options = few_draws();
    mfpg_figure figure;
    options.clients = 2;
    CHECK_OK(ctx, mfpg_study_figure(ctx, reading_of("envelope"), 1, &options, &figure));
    const mfpg_finding *found = &figure.panels[0].finding[statement_of("two_actions")];
    assert_int_equal(found->verdict, MFPG_VERDICT_UNDECIDED);
    check_near(found->share, 2 * 5.0 / 21 * 16 / 21, 0, 4 * sqrt(0.36 * 0.64 / 100), "share of draws");
    mfpg_figure_clear(&figure);
    mfpg_context_destroy(ctx);
}

/* ---- the corner ---- */

/* source: reproduction 2: the largest action in 20,000 of 20,000 settings, also where delta is taken at the mean */
static void test_the_literal_reading_always_sits_in_the_corner(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    static const char *const corner[] = {"literal", "literal-mean"}, *const elsewhere[] = {"budget",
                                                                         "envelope", "hamiltonian",
                                                                         "consistent"};
    mfpg_corner found;
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ctx, mfpg_study_corner(ctx, reading_of(corner[i]), 20000, testing_seed(), &found));
        assert_int_equal(found.at_largest, 20000);
    }
    for (int i = 0; i < 4; i++) {
        CHECK_OK(ctx, mfpg_study_corner(ctx, reading_of(elsewhere[i]), 1000, testing_seed(), &found));
        assert_true(found.at_largest > 0 && found.at_largest < 950);
    }
    mfpg_reading clamped = *reading_of("literal");
    clamped.bound.clamp = 1;
    CHECK_OK(ctx, mfpg_study_corner(ctx, &clamped, 2000, testing_seed(), &found));
    assert_int_equal(found.at_largest, 2000);
    mfpg_context_destroy(ctx);
}

/* ---- invariance, input ---- */

static void test_threads_change_nothing(void **state) {
    (void)state;
    mfpg_figure_options options = few_draws();
    mfpg_figure figure[2];
    for (int i = 0; i < 2; i++) {
        mfpg_context *ctx = testing_context(i == 0 ? 1 : 3);
        CHECK_OK(ctx, mfpg_study_figure(ctx, NULL, 0, &options, &figure[i]));
        mfpg_context_destroy(ctx);
    }
    for (int r = 0; r < READINGS; r++) {
        const mfpg_panels *a = &figure[0].panels[r], *b = &figure[1].panels[r];
        assert_memory_equal(a->sweep[MFPG_SWEEP_MEAN], b->sweep[MFPG_SWEEP_MEAN], 25 * sizeof(double));
        assert_memory_equal(a->sweep[MFPG_SWEEP_DELTA], b->sweep[MFPG_SWEEP_DELTA], 25 * sizeof(double));
        assert_memory_equal(a->count, b->count, sizeof a->count);
        for (ptrdiff_t s = 0; s < figure[0].statement_count; s++)
            assert_int_equal(a->finding[s].verdict, b->finding[s].verdict);
    }
    mfpg_figure_clear(&figure[0]);
    mfpg_figure_clear(&figure[1]);
}

static void test_bad_input_is_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_figure figure;
    for (int i = 0; i < 7; i++) {
        mfpg_figure_options bad = mfpg_figure_options_default();
        if (i == 0) bad.clients = 1;
        if (i == 1) bad.beta_low = NAN;
        if (i == 2) bad.beta_high = bad.beta_low;
        if (i == 3) bad.beta_count = 1001;
        if (i == 4) bad.draws = 0;
        if (i == 5) bad.settings = 0;
        if (i == 6) bad.spread_high = INFINITY;
        assert_int_equal(mfpg_study_figure(ctx, NULL, 0, &bad, &figure), MFPG_ERR_DOMAIN);
        assert_non_null(strstr(mfpg_context_message(ctx), "allowed"));
    }
    for (int i = 0; i < 6; i++) {
        mfpg_reading bad = *reading_of("envelope");
        if (i == 0) bad.loss = 0;
        if (i == 1) bad.offset = NAN;
        if (i == 2) bad.gradient_spread = 1;
        if (i == 3) bad.bound.alpha = INFINITY;
        if (i == 4) bad.interaction = 1;
        if (i == 5) bad.rounds = 0;
        assert_int_equal(mfpg_study_figure(ctx, &bad, 1, NULL, &figure), MFPG_ERR_DOMAIN);
        assert_non_null(strstr(mfpg_context_message(ctx), "reading envelope"));
    }
    assert_int_equal(mfpg_study_figure(ctx, reading_of("literal"), 0, NULL, &figure), MFPG_ERR_DOMAIN);
    mfpg_figure_clear(NULL);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readings_meet_the_references),
        cmocka_unit_test(test_the_closed_form_meets_the_references),
        cmocka_unit_test(test_readings_that_are_games_agree_with_their_solvers),
        cmocka_unit_test(test_the_coupled_mean_lies_between_the_answers_to_its_sides),
        cmocka_unit_test(test_verdicts_turn),
        cmocka_unit_test(test_draws_that_differ_leave_a_statement_undecided),
        cmocka_unit_test(test_the_literal_reading_always_sits_in_the_corner),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
