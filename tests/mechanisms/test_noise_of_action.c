/* Actions to noise and back: closed forms, reference vectors, what is refused. */
#include "mechanisms/fixture.h"
#include "mechanisms/mechanism_ops.h"
#include "base/release_parts.h"

static mfpg_release one_release(
    mfpg_context *ctx, const mfpg_mechanism_options *options, mfpg_action action, ptrdiff_t rows) {
    mfpg_mechanism *mechanism = make_mechanism(ctx, options);
    mfpg_release release = release_of(ctx, mechanism, action, rows);
    mfpg_mechanism_destroy(mechanism);
    return release;
}

static void test_sensitivities(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.sum_rounding = 0.0;
    options.clip = 2.0;
    const struct {
        mfpg_unit unit;
        mfpg_clip_at clip_at;
        double rate, gradient, weights;
    } known[] = {
        {MFPG_UNIT_CLIENT, MFPG_CLIP_STEP, 1.0, 2.0, 0.02},
        {MFPG_UNIT_CLIENT, MFPG_CLIP_STEP, 0.25, 2.0, 0.02},
        {MFPG_UNIT_CLIENT, MFPG_CLIP_UPDATE, 1.0, 2.0, 2.0},
        {MFPG_UNIT_EXAMPLE, MFPG_CLIP_STEP, 1.0, 0.05, 0.0005},
        {MFPG_UNIT_EXAMPLE, MFPG_CLIP_STEP, 0.25, 0.2, 0.002},
    };
    for (int k = 0; k < 5; k++) {
        options.promise.unit = known[k].unit;
        options.clip_at = known[k].clip_at;
        options.batch_rate = known[k].rate;
        options.local_steps = 7;
        mfpg_mechanism *mechanism = make_mechanism(ctx, &options);
        check_near(mfpg_mechanism_sensitivity(mechanism, 40), known[k].gradient, 1e-15, 0.0, "S_z");
        mfpg_release release = release_of(ctx, mechanism, budget_of(1.0), 40);
        check_near(release.sensitivity, known[k].weights, 1e-13, 0.0, "sensitivity in weight units");
        assert_int_equal(release.steps, known[k].clip_at == MFPG_CLIP_UPDATE ? 1 : 7);
        /* a client's own batches do not hide the client */
        assert_true(release.sampling_rate == (known[k].unit == MFPG_UNIT_EXAMPLE ? known[k].rate : 1.0));
        assert_true(release.last_sd == release.noise_sd);
        assert_true(release.round == 0 && release.client == 0 && release.weight == 0.0);
        mfpg_mechanism_destroy(mechanism);
    }
    mfpg_context_destroy(ctx);
}

/* The law of the games: the budget is the Gaussian-DP parameter of a step under replace, half of it under zero-out
 * (theory S2.2), whatever unit, clip and place of the clip. */
static void test_game_law_makes_the_budget_mu(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (int setting = 0; setting < 4; setting++) {
        mfpg_mechanism_options options = mfpg_mechanism_options_default();
        options.sum_rounding = 0.0;
        options.promise.unit = setting & 1 ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT;
        if (setting == 2) options.clip_at = MFPG_CLIP_UPDATE;
        options.clip = setting == 3 ? 0.3 : 1.0;
        const double budgets[] = {0.1, 1.0, 10.0};
        for (int b = 0; b < 3; b++) {
            mfpg_release release = one_release(ctx, &options, budget_of(budgets[b]), 50);
            check_near(mu_of(&release, MFPG_ADJACENCY_REPLACE), budgets[b], 1e-14, 0.0, "mu, replace");
            check_near(
                mu_of(&release, MFPG_ADJACENCY_ZERO_OUT), budgets[b] / 2.0, 1e-14, 0.0, "mu, zero-out");
        }
    }
    mfpg_context_destroy(ctx);
}

/* delta of a Gaussian-DP mechanism, theory S1.2. */
static double delta_of(double mu, double epsilon) {
    double upper = 0.5 * erfc(-(mu / 2.0 - epsilon / mu) / sqrt(2.0));
    double lower = 0.5 * erfc((mu / 2.0 + epsilon / mu) / sqrt(2.0));
    return upper - exp(epsilon) * lower;
}

/* Clip 1, delta 1e-5. The classical noise is derived from the clip, never given beside it; at epsilon 10 it misses its
 * delta, which the release shows: it promises a sensitivity and a noise, not an epsilon. */
static void test_classical_law(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const struct {
        double budget, sd, digits, delta; /* delta: vectors T115, T116, source theory S0 errata */
    } known[] = {{10.0, 0.48448, 5e-6, 2.26537436479e-05}, {5.0, 0.96896, 5e-6, 1.3490037186e-06},
        {1.0, 4.8448, 5e-5, NAN}};
    for (int k = 0; k < 3; k++) {
        mfpg_mechanism_options options = mfpg_mechanism_options_default();
        options.sum_rounding = 0.0;
        options.law = MFPG_LAW_CLASSICAL;
        options.clip_at = MFPG_CLIP_UPDATE;
        mfpg_release release = one_release(ctx, &options, budget_of(known[k].budget), 1);
        check_near(release.sensitivity, 1.0, 0.0, 0.0, "clip");
        check_near(release.noise_sd, known[k].sd, 0.0, known[k].digits, "classical sd");
        if (!isnan(known[k].delta))
            check_near(delta_of(mu_of(&release, MFPG_ADJACENCY_ZERO_OUT), known[k].budget), known[k].delta,
                1e-7, 0.0, "true delta at the classical sd");
        /* the same at a gradient step: eta times as much of both */
        options.clip_at = MFPG_CLIP_STEP;
        mfpg_release step = one_release(ctx, &options, budget_of(known[k].budget), 1);
        check_near(step.noise_sd, 0.01 * release.noise_sd, 1e-14, 0.0, "sd of a step");
    }
    mfpg_context_destroy(ctx);
}

/* Rows T067 to T076 of the theory's vectors, source S2.2: mu = S sqrt(K tau/(2e)) and rdp(8) = 8 S^2 K tau/(4e). */
static void test_entropic_reference_vectors(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const struct {
        double sensitivity, step, strength;
        int64_t steps;
        double mu, rdp8;
    } known[] = {
        {2.0, 0.1, 2.0, 1, 0.316227766017, 0.4},      /* T067, T068 */
        {2.0, 0.1, 2.0, 10, NAN, 4.0},                /* T070 */
        {1.0, 0.1, 0.5, 100, 3.16227766017, NAN},     /* T071 */
        {0.02, 0.05, 0.1, 1000, 0.316227766017, 0.4}, /* T073, T074 */
        {2.0, 0.01, 1.0, 50, NAN, 4.0},               /* T076 */
    };
    for (int k = 0; k < 5; k++) {
        mfpg_mechanism_options options = mfpg_mechanism_options_default();
        options.sum_rounding = 0.0;
        options.kind = "entropic";
        options.step = known[k].step;
        options.local_steps = known[k].steps;
        for (int way = 0; way < 3;
             way++) { /* the sensitivity as zero-out, as replace, and of one example of 50 */
            ptrdiff_t rows = way == 2 ? 50 : 3;
            mfpg_adjacency adjacency = way == 1 ? MFPG_ADJACENCY_REPLACE : MFPG_ADJACENCY_ZERO_OUT;
            options.promise.unit = way == 2 ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT;
            options.clip = known[k].sensitivity * (way == 0 ? 1.0 : way == 1 ? 0.5 : 50.0);
            mfpg_release release = one_release(ctx, &options, strength_of(known[k].strength), rows);
            double mu = mu_of(&release, adjacency);
            if (!isnan(known[k].mu)) check_near(mu, known[k].mu, 1e-9, 0.0, "mu");
            if (!isnan(known[k].rdp8)) check_near(8.0 * mu * mu / 2.0, known[k].rdp8, 1e-9, 0.0, "rdp(8)");
        }
    }
    mfpg_context_destroy(ctx);
}

/* scale sensitivity: e = strength S^2 with S under the promise, so that strength s means mu = sqrt(tau/(2s)) a step
 * under that promise, whatever clip, unit and number of rows. */
static void test_strength_in_units_of_the_sensitivity(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    for (int setting = 0; setting < 8; setting++) {
        mfpg_mechanism_options options = mfpg_mechanism_options_default();
        options.sum_rounding = 0.0;
        options.kind = "entropic";
        options.scale = MFPG_SCALE_SENSITIVITY;
        options.promise.unit = setting & 1 ? MFPG_UNIT_EXAMPLE : MFPG_UNIT_CLIENT;
        options.promise.adjacency = setting & 2 ? MFPG_ADJACENCY_REPLACE : MFPG_ADJACENCY_ZERO_OUT;
        options.clip = setting & 4 ? 0.3 : 1.0;
        mfpg_release release = one_release(ctx, &options, strength_of(1.7), 100);
        check_near(mu_of(&release, options.promise.adjacency), sqrt(0.1 / (2.0 * 1.7)), 1e-13, 0.0, "mu");
    }
    mfpg_context_destroy(ctx);
}

static void check_round_trip(const mfpg_mechanism_options *options, void *user) {
    mfpg_context *ctx = user;
    mfpg_mechanism *mechanism = make_mechanism(ctx, options);
    const double multipliers[] = {0.2, 1.0, 2.5};
    for (int m = 0; m < 3; m++) {
        mfpg_action action = mfpg_mechanism_action_for(mechanism, multipliers[m], 30);
        assert_int_equal(action.control, mfpg_mechanism_control(mechanism));
        mfpg_release release = release_of(ctx, mechanism, action, 30);
        if (action.control == MFPG_CONTROL_NONE) {
            assert_true(release.noise_sd == 0.0 && release.sensitivity > 0.0); /* mu is infinite */
            continue;
        }
        check_near(release.noise_sd / release.sensitivity, multipliers[m], 1e-14, 0.0, "round trip");
        mfpg_release direct = release_of(ctx, mechanism, multiplier_of(multipliers[m]), 30);
        check_near(release.noise_sd, direct.noise_sd, 1e-14, 0.0, "action against multiplier");
        check_near(release.sensitivity, direct.sensitivity, 0.0, 0.0, "sensitivity");
    }
    const double bad[] = {0.0, -1.0, NAN};
    for (int b = 0; b < 3; b++) {
        if (mfpg_mechanism_control(mechanism) == MFPG_CONTROL_NONE) break;
        mfpg_release release;
        mfpg_action action = mfpg_mechanism_action_for(mechanism, bad[b], 30);
        assert_int_equal(mfpg_mechanism_release(ctx, mechanism, action, 30, &release), MFPG_ERR_DOMAIN);
    }
    mfpg_mechanism_destroy(mechanism);
}

static void test_action_for_round_trips_everywhere(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    assert_true(each_setting(check_round_trip, ctx) >= 3 * 48);
    assert_true(each_setting_of(MFPG_PARTICLES_DATA, check_round_trip, ctx) >= 2 * 48);
    mfpg_context_destroy(ctx);
}

static void test_noise_is_monotone_in_the_control(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.sum_rounding = 0.0;
    double budgets = 0.0, strengths = 0.0;
    for (double value = 0.1; value < 10.0; value *= 1.3) {
        options.kind = "gaussian";
        double sd = one_release(ctx, &options, budget_of(value), 1).noise_sd;
        assert_true(budgets == 0.0 || sd < budgets); /* more budget, less noise */
        budgets = sd;
        options.kind = "entropic";
        sd = one_release(ctx, &options, strength_of(value), 1).noise_sd;
        assert_true(sd > strengths); /* more strength, more noise */
        strengths = sd;
    }
    mfpg_context_destroy(ctx);
}

static void check_refused(
    mfpg_context *ctx, const mfpg_mechanism *mechanism, mfpg_action action, ptrdiff_t rows) {
    mfpg_release release = {.noise_sd = 5.0, .sensitivity = 1.0};
    assert_int_equal(mfpg_mechanism_release(ctx, mechanism, action, rows, &release), MFPG_ERR_DOMAIN);
    assert_true(strlen(mfpg_context_message(ctx)) > 0);
    assert_true(release.noise_sd == 0.0 && release.last_sd == 0.0 && isinf(release.sensitivity));
}

static void test_wrong_actions_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const double bad[] = {0.0, -1.0, NAN, INFINITY, 1e-60, 1e60};
    for (ptrdiff_t k = 0; mfpg_kind_name(&mfpg_mechanisms, k); k++) {
        mfpg_mechanism_options options = mfpg_mechanism_options_default();
        options.sum_rounding = 0.0;
        options.kind = mfpg_kind_name(&mfpg_mechanisms, k);
        mfpg_mechanism *mechanism = make_mechanism(ctx, &options);
        mfpg_control own = mfpg_mechanism_control(mechanism);
        const mfpg_action actions[] = {
            {.control = MFPG_CONTROL_NONE}, budget_of(1.0), strength_of(1.0), multiplier_of(1.0)};
        for (int a = 0; a < 4; a++) {
            int fits = actions[a].control == own ||
                       (own != MFPG_CONTROL_NONE && actions[a].control == MFPG_CONTROL_MULTIPLIER);
            if (fits) {
                release_of(ctx, mechanism, actions[a], 1);
                check_refused(ctx, mechanism, actions[a], 0);
            } else {
                check_refused(ctx, mechanism, actions[a], 1);
            }
        }
        mfpg_action strange = {.control = (mfpg_control)17};
        check_refused(ctx, mechanism, strange, 1);
        for (int b = 0; b < 6; b++) {
            if (own == MFPG_CONTROL_NONE) break;
            check_refused(
                ctx, mechanism, own == MFPG_CONTROL_BUDGET ? budget_of(bad[b]) : strength_of(bad[b]), 1);
            check_refused(ctx, mechanism, multiplier_of(bad[b]), 1);
        }
        mfpg_mechanism_destroy(mechanism);
    }
    mfpg_context_destroy(ctx);
}

/* tau (e/sigma^2 + lambda) <= 2: with tau .1, lambda .01 strengths up to 19.99 sigma^2. */
static void test_unstable_entropic_steps_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.sum_rounding = 0.0;
    options.kind = "entropic";
    mfpg_mechanism *mechanism = make_mechanism(ctx, &options);
    release_of(ctx, mechanism, strength_of(19.98), 1);
    check_refused(ctx, mechanism, strength_of(20.0), 1);
    const char *named[] = {"strength 20 ", "step 0.1", "prior variance 1", "up to 19.9"};
    for (int n = 0; n < 4; n++) assert_non_null(strstr(mfpg_context_message(ctx), named[n]));
    /* multiplier z: e = z^2 tau S^2/2, so that z = 20 is e = 20 */
    check_refused(ctx, mechanism, multiplier_of(20.0), 1);
    release_of(ctx, mechanism, multiplier_of(19.98), 1);
    mfpg_mechanism_destroy(mechanism);
    /* a wider prior decays less; units of S^2 count as e = strength S^2 */
    options.prior_variance = 10.0;
    mechanism = make_mechanism(ctx, &options);
    release_of(ctx, mechanism, strength_of(199.0), 1);
    mfpg_mechanism_destroy(mechanism);
    options.scale = MFPG_SCALE_SENSITIVITY;
    options.clip = 2.0;
    mechanism = make_mechanism(ctx, &options);
    release_of(ctx, mechanism, strength_of(49.9), 1);
    check_refused(ctx, mechanism, strength_of(50.0), 1);
    mfpg_mechanism_destroy(mechanism);
    options.variance_penalty = 21.0;
    mechanism = make_mechanism(ctx, &options);
    check_refused(ctx, mechanism, strength_of(1e-3), 1);
    assert_non_null(strstr(mfpg_context_message(ctx), "none"));
    mfpg_mechanism_destroy(mechanism);
    mfpg_context_destroy(ctx);
}

static void check_options(mfpg_context *ctx, mfpg_mechanism_options options, mfpg_status expected) {
    mfpg_mechanism *mechanism = NULL;
    assert_int_equal(mfpg_mechanism_create(ctx, &options, &mechanism), expected);
    assert_null(mechanism);
    assert_true(strlen(mfpg_context_message(ctx)) > 0);
}

static void test_wrong_options_are_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const double bad[] = {NAN, -1.0, INFINITY, -INFINITY, 0.0};
    for (int b = 0; b < 5; b++) {
        mfpg_mechanism_options start = mfpg_mechanism_options_default();
        double *const positive[] = {
            &start.clip, &start.learning_rate, &start.step, &start.prior_variance, &start.batch_rate};
        double *const nonnegative[] = {&start.variance_penalty, &start.regularisation.value, &start.delta};
        for (int f = 0; f < 5; f++) {
            double kept = *positive[f];
            *positive[f] = bad[b];
            check_options(ctx, start, MFPG_ERR_DOMAIN);
            *positive[f] = kept;
        }
        for (int f = 0; f < 3 && bad[b] != 0.0; f++) {
            double kept = *nonnegative[f];
            *nonnegative[f] = bad[b];
            check_options(ctx, start, MFPG_ERR_DOMAIN);
            *nonnegative[f] = kept;
        }
    }
    mfpg_mechanism_options options = mfpg_mechanism_options_default();
    options.sum_rounding = 0.0;
    options.law = MFPG_LAW_CLASSICAL;
    options.delta = 0.0;
    check_options(ctx, options, MFPG_ERR_DOMAIN);
    options = mfpg_mechanism_options_default();
    options.batch_rate = 1.5;
    check_options(ctx, options, MFPG_ERR_DOMAIN);
    options = mfpg_mechanism_options_default();
    options.local_steps = 0;
    check_options(ctx, options, MFPG_ERR_DOMAIN);
    options = mfpg_mechanism_options_default();
    options.transport_cap = -1;
    check_options(ctx, options, MFPG_ERR_DOMAIN);
    options = mfpg_mechanism_options_default();
    options.clip_at = (mfpg_clip_at)2;
    check_options(ctx, options, MFPG_ERR_INPUT);
    options = mfpg_mechanism_options_default();
    options.promise.unit = MFPG_UNIT_EXAMPLE;
    options.clip_at = MFPG_CLIP_UPDATE;
    check_options(ctx, options, MFPG_ERR_INPUT);
    options = mfpg_mechanism_options_default();
    options.kind = "gausian";
    check_options(ctx, options, MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "\"gaussian\""));
    mfpg_context_destroy(ctx);
}

static void test_names_of_promises(void **state) {
    (void)state;
    assert_string_equal(mfpg_unit_name(MFPG_UNIT_CLIENT), "client");
    assert_string_equal(mfpg_unit_name(MFPG_UNIT_EXAMPLE), "example");
    assert_string_equal(mfpg_adjacency_name(MFPG_ADJACENCY_ZERO_OUT), "zero-out");
    assert_string_equal(mfpg_adjacency_name(MFPG_ADJACENCY_REPLACE), "replace");
    assert_string_equal(mfpg_view_name(MFPG_VIEW_LOCAL), "local");
    assert_string_equal(mfpg_view_name(MFPG_VIEW_AVERAGE), "average");
    assert_string_equal(mfpg_view_name(MFPG_VIEW_FINAL), "final");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sensitivities),
        cmocka_unit_test(test_game_law_makes_the_budget_mu),
        cmocka_unit_test(test_classical_law),
        cmocka_unit_test(test_entropic_reference_vectors),
        cmocka_unit_test(test_strength_in_units_of_the_sensitivity),
        cmocka_unit_test(test_action_for_round_trips_everywhere),
        cmocka_unit_test(test_noise_is_monotone_in_the_control),
        cmocka_unit_test(test_wrong_actions_are_refused),
        cmocka_unit_test(test_unstable_entropic_steps_are_refused),
        cmocka_unit_test(test_wrong_options_are_refused),
        cmocka_unit_test(test_names_of_promises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
